package wire

import (
	"strconv"
	"strings"
)

// DefaultNamespace is what names begin with unless told otherwise.
const DefaultNamespace = "weir"

// Names spells every stream, subject, bucket and consumer of one namespace:
// subjects begin with the namespace as given, streams with it in upper case,
// buckets and consumers with it in lower case. The zero value names nothing;
// see [NewNames].
type Names struct {
	ns       string
	replicas int // 0 is 1
}

// NewNames checks the namespace; "" is [DefaultNamespace]. The error is a
// [*NamespaceError].
func NewNames(namespace string) (Names, error) {
	if namespace == "" {
		namespace = DefaultNamespace
	}
	first := namespace[0]
	if len(namespace) > 32 || !isPlain(namespace) || first == '-' || first == '_' {
		return Names{}, &NamespaceError{Namespace: namespace}
	}
	return Names{ns: namespace}, nil
}

// WithReplicas says on how many servers streams and buckets are kept that have to
// be made; existing ones stay as they are. 1 to 5.
func (n Names) WithReplicas(servers int) Names {
	n.replicas = servers
	return n
}

// Replicas returns what [Names.WithReplicas] has said, or 1.
func (n Names) Replicas() int { return max(n.replicas, 1) }

// Namespace returns what the names begin with; "" for the zero value.
func (n Names) Namespace() string { return n.ns }

const (
	kindChunks    = "chunks"
	kindDocuments = "documents"
	kindResults   = "results"
	kindDead      = "dead"
)

func (n Names) ChunkSubject(tenant string) string { return n.subject(kindChunks, EncodeToken(tenant)) }
func (n Names) ChunkFilter() string               { return n.subject(kindChunks, "*") }
func (n Names) ChunkStream() string               { return n.stream(kindChunks) }

// ChunkConsumer is the one consumer of all chunks that earlier versions had; see
// [Names.Lane].
func (n Names) ChunkConsumer() string { return n.bucket(kindChunks) }

func (n Names) DocumentSubject(tenant string) string {
	return n.subject(kindDocuments, EncodeToken(tenant))
}
func (n Names) DocumentFilter() string   { return n.subject(kindDocuments, "*") }
func (n Names) DocumentStream() string   { return n.stream(kindDocuments) }
func (n Names) DocumentConsumer() string { return n.bucket(kindDocuments) }

// ResultSubject is unique per tenant, document and index.
func (n Names) ResultSubject(tenant, document string, index int) string {
	return n.subject(kindResults, EncodeToken(tenant)+"."+EncodeToken(document)+"."+strconv.Itoa(index))
}

// ResultFilter matches the results of one document, or of all documents of the
// tenant for document "".
func (n Names) ResultFilter(tenant, document string) string {
	if document == "" {
		return n.subject(kindResults, EncodeToken(tenant)+".*.*")
	}
	return n.subject(kindResults, EncodeToken(tenant)+"."+EncodeToken(document)+".*")
}

// ResultStreamFilter matches the results of all tenants.
func (n Names) ResultStreamFilter() string { return n.subject(kindResults, "*.*.*") }
func (n Names) ResultStream() string       { return n.stream(kindResults) }

func (n Names) DeadSubject(tenant string) string { return n.subject(kindDead, EncodeToken(tenant)) }

// DeadSubjectFor is the dead letter subject for a message that came on the
// subject origin. It keeps the tenant's token as it is, even one that does not
// decode, so that nothing is ever without a place to be set aside.
func (n Names) DeadSubjectFor(origin string) string {
	_, token, ok := n.split(origin)
	if !ok {
		token = EncodeToken("")
	}
	return n.subject(kindDead, token)
}
func (n Names) DeadFilter() string { return n.subject(kindDead, "*") }
func (n Names) DeadStream() string { return n.stream(kindDead) }

func (n Names) CircuitBucket() string   { return n.bucket("circuit") }
func (n Names) RateLimitBucket() string { return n.bucket("ratelimit") }

// LimitsBucket holds what operators grant: <tenant token> = limits in JSON.
func (n Names) LimitsBucket() string { return n.bucket("limits") }

// PauseBucket holds what operators have paused: "fleet" and "tenant.<token>" = when
// that ends, in JSON.
func (n Names) PauseBucket() string { return n.bucket("pause") }

// AttemptsBucket holds failed attempts per message, apart from deliveries.
func (n Names) AttemptsBucket() string { return n.bucket("attempts") }

// Tenant decodes the tenant out of any subject of this namespace. The error is
// a [*TokenError].
func (n Names) Tenant(subject string) (string, error) {
	_, token, ok := n.split(subject)
	if !ok {
		return "", &TokenError{subject, "not a subject of namespace " + n.ns}
	}
	tenant, err := DecodeToken(token)
	if err != nil {
		return "", err
	}
	if len(tenant) > MaxIDBytes {
		return "", &TokenError{token, "tenant is longer than " + strconv.Itoa(MaxIDBytes) + " bytes"}
	}
	return tenant, nil
}

// split takes "<ns>.<kind>.<token>[.…]" apart.
func (n Names) split(subject string) (kind, token string, ok bool) {
	rest, ok := strings.CutPrefix(subject, n.ns+".")
	if !ok {
		return "", "", false
	}
	kind, rest, ok = strings.Cut(rest, ".")
	if !ok {
		return "", "", false
	}
	switch kind {
	case kindChunks, kindDocuments, kindResults, kindDead:
	default:
		return "", "", false
	}
	token, _, _ = strings.Cut(rest, ".")
	return kind, token, token != ""
}

func (n Names) subject(kind, rest string) string { return n.ns + "." + kind + "." + rest }
func (n Names) stream(kind string) string        { return strings.ToUpper(n.ns + "_" + kind) }
func (n Names) bucket(kind string) string        { return strings.ToLower(n.ns) + "_" + kind }
