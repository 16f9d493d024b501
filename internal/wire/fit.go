package wire

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// checkStream compares only what the contract depends on, and names all that does
// not do. maxPayload is what the server takes in one message.
func checkStream(want, have jetstream.StreamConfig, maxPayload int64) error {
	var found mismatches
	differs := func(wrong bool, field string, wanted, got any) {
		if wrong {
			found = append(found, &MismatchError{"stream " + want.Name, field, fmt.Sprint(wanted), fmt.Sprint(got)})
		}
	}
	for _, subject := range want.Subjects {
		heard := slices.ContainsFunc(have.Subjects, func(s string) bool { return covers(s, subject) })
		differs(!heard, "subjects", subject, strings.Join(have.Subjects, ", "))
	}
	results := want.MaxMsgsPerSubject == 1
	differs(have.Retention != want.Retention, "retention", want.Retention, have.Retention)
	differs(have.Storage != want.Storage, "storage", want.Storage, have.Storage)
	differs(have.NoAck, "no_ack", false, true) // nothing would prove that a message is stored
	differs(have.Sealed, "sealed", false, true)
	if have.Mirror != nil {
		differs(true, "mirror", "none", have.Mirror.Name)
	}
	// A full queue must refuse new messages; it must not lose waiting ones. A dead
	// letter is all that is left of a chunk.
	differs(!results && bounded(have) && have.Discard == jetstream.DiscardOld, "discard", "DiscardNew with a limit on size", have.Discard)
	// A dead letter is made to fit what the server takes.
	dead := !results && want.Retention == jetstream.LimitsPolicy
	differs(dead && have.MaxMsgSize > 0 && int64(have.MaxMsgSize) < maxPayload, "max_msg_size",
		fmt.Sprintf("at least max_payload of the server, %d", maxPayload), have.MaxMsgSize)
	differs(results && have.DiscardNewPerSubject, "discard_new_per_subject", false, true) // a newer result could not replace an older one
	switch len(found) {
	case 0:
		return nil
	case 1:
		return found[0]
	}
	return found
}

// bounded reports a limit on how much the stream holds.
func bounded(c jetstream.StreamConfig) bool {
	return c.MaxMsgs > 0 || c.MaxBytes > 0 || c.MaxMsgsPerSubject > 0
}

// Cautions are settings of existing streams that a worker can live with, and that
// lose something sooner or later: each is a sentence for who runs it. Streams that
// are missing have none.
func Cautions(ctx context.Context, js jetstream.JetStream, n Names) ([]string, error) {
	var all []string
	for _, want := range n.Streams() {
		have, err := streamConfig(ctx, js, want.Name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			continue
		}
		if err != nil {
			return nil, accessError(js, "stream "+want.Name, "STREAM.INFO."+want.Name, err)
		}
		all = append(all, cautions(want, have, js.Conn().MaxPayload())...)
	}
	return all, nil
}

func cautions(want, have jetstream.StreamConfig, maxPayload int64) (all []string) {
	caution := func(is bool, format string, args ...any) {
		if is {
			all = append(all, "stream "+want.Name+": "+fmt.Sprintf(format, args...))
		}
	}
	results := want.MaxMsgsPerSubject == 1
	holds := "messages that nobody has worked on yet"
	switch {
	case results:
		holds = "results"
	case want.Retention == jetstream.LimitsPolicy:
		holds = "dead letters"
	}
	caution(have.MaxAge > 0, "max_age is %s: %s that are older are lost", have.MaxAge, holds)
	if !results {
		return all
	}
	caution(have.Discard == jetstream.DiscardOld && have.MaxMsgs > 0, "max_msgs is %d, and it discards old ones: with more results the oldest are lost", have.MaxMsgs)
	caution(have.Discard == jetstream.DiscardOld && have.MaxBytes > 0, "max_bytes is %d, and it discards old ones: with more results the oldest are lost", have.MaxBytes)
	caution(have.MaxMsgSize > 0 && int64(have.MaxMsgSize) < maxPayload,
		"max_msg_size is %d, and the server takes %d: chunks with a larger result are dead-lettered", have.MaxMsgSize, maxPayload)
	return all
}
