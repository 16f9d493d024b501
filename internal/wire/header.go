package wire

// Headers of a raw document.
const (
	HeaderDocumentID  = "Weir-Document-Id"
	HeaderTitle       = "Weir-Title"
	HeaderURI         = "Weir-Uri"
	HeaderDomain      = "Weir-Domain"
	HeaderContentType = "Content-Type"
)

// Headers that a dead letter has in addition to the original's.
const (
	HeaderErrorKind      = "Weir-Error-Kind"
	HeaderError          = "Weir-Error"
	HeaderAttempts       = "Weir-Attempts"
	HeaderDeliveries     = "Weir-Deliveries"
	HeaderOriginSubject  = "Weir-Origin-Subject"
	HeaderOriginSequence = "Weir-Origin-Sequence"
	HeaderUsage          = "Weir-Usage" // JSON, only if the last attempt was answered
	HeaderFailedAt       = "Weir-Failed-At"

	// HeaderOriginMsgID keeps the original's Nats-Msg-Id; the dead letter has
	// one of its own.
	HeaderOriginMsgID = "Weir-Origin-Msg-Id"
	// HeaderContentEncoding is "gzip" on a dead letter that would not have fitted
	// otherwise; see [DeadLetterBody].
	HeaderContentEncoding = "Content-Encoding"
	// HeaderBodyCut is the original size in bytes, on a dead letter whose body
	// had to be cut because it did not fit even compressed.
	HeaderBodyCut = "Weir-Body-Cut"
)

// HeaderOriginTime, on a result, is when the chunk was accepted by its stream:
// of two versions of a chunk the later one stays, whichever is finished last.
const HeaderOriginTime = "Weir-Origin-Time"
