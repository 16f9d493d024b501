package wire

import "github.com/nats-io/nats.go"

// DeadLetterReserve is what a message leaves free of max_payload, so that it
// still fits with the headers of a dead letter.
const DeadLetterReserve = 4096

// CheckSize reports, as a [*TooLargeError], a message that would not pass a
// server with the given max_payload, or not once it becomes a dead letter.
func CheckSize(msg *nats.Msg, maxPayload int64) error {
	limit := maxPayload - DeadLetterReserve
	if size := payloadSize(msg); size > limit {
		return &TooLargeError{Size: size, Limit: limit}
	}
	return nil
}

// payloadSize is what the server counts toward max_payload: body and encoded
// headers.
func payloadSize(msg *nats.Msg) int64 {
	return int64(len(msg.Data)) + headerSize(msg)
}

func headerSize(msg *nats.Msg) int64 {
	if len(msg.Header) == 0 {
		return 0
	}
	size := int64(len("NATS/1.0\r\n\r\n"))
	for key, values := range msg.Header {
		for _, v := range values {
			size += int64(len(key) + len(": ") + len(v) + len("\r\n"))
		}
	}
	return size
}
