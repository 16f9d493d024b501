package natskv

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// ensureBucket returns the configuration of the bucket, created or completed.
func (c *Cache) ensureBucket(ctx context.Context) (jetstream.StreamConfig, error) {
	want := jetstream.StreamConfig{
		Name:                   "KV_" + c.bucket,
		Description:            "state shared by several processes: one plain text value per key",
		Subjects:               []string{c.stored + ">"},
		Storage:                c.options.storage,
		Replicas:               c.options.replicas,
		MaxMsgsPerSubject:      1,
		MaxMsgs:                -1,
		MaxBytes:               -1,
		MaxMsgSize:             -1,
		MaxConsumers:           -1,
		Discard:                jetstream.DiscardNew,
		Duplicates:             2 * time.Minute,
		AllowRollup:            true,
		DenyDelete:             true,
		AllowDirect:            true,
		AllowMsgTTL:            true,
		AllowAtomicPublish:     true,
		SubjectDeleteMarkerTTL: markerTTL,
	}
	have, err := ensureStream(ctx, c.js, want)
	if err != nil {
		return have, err
	}
	if err := fitBucket(have, want); err != nil {
		return have, err
	}
	for _, f := range []struct {
		field   string
		missing bool
		need    string
		add     func(*jetstream.StreamConfig)
	}{
		{"allow_msg_ttl", !have.AllowMsgTTL, "true", func(s *jetstream.StreamConfig) { s.AllowMsgTTL = true }},
		{"subject_delete_marker_ttl", have.SubjectDeleteMarkerTTL == 0, markerTTL.String(), func(s *jetstream.StreamConfig) { s.SubjectDeleteMarkerTTL = markerTTL }},
		{"allow_atomic", !have.AllowAtomicPublish, "true", func(s *jetstream.StreamConfig) { s.AllowAtomicPublish = true }},
	} {
		if !f.missing {
			continue
		}
		mismatch := &MismatchError{Stream: have.Name, Field: f.field, Have: "off", Need: f.need}
		f.add(&have)
		s, err := c.js.UpdateStream(ctx, have)
		if err != nil {
			if mismatch.Err = refusal(err); errors.Is(mismatch.Err, kvcache.ErrUnavailable) {
				return have, mismatch.Err
			}
			return have, mismatch
		}
		// A server that does not know a feature leaves it out without a word.
		have = s.CachedInfo().Config
		if !have.AllowMsgTTL || f.field == "allow_atomic" && !have.AllowAtomicPublish || f.field == "subject_delete_marker_ttl" && have.SubjectDeleteMarkerTTL == 0 {
			mismatch.Err = errors.New("the server does not know it; nats-server 2.12 does")
			return have, mismatch
		}
	}
	return have, nil
}

// ensureStream creates a stream unless there is one of that name, and returns
// the configuration of the one that is there.
func ensureStream(ctx context.Context, js jetstream.JetStream, want jetstream.StreamConfig) (jetstream.StreamConfig, error) {
	s, err := js.Stream(ctx, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		s, err = js.CreateStream(ctx, want)
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // by somebody else just now
			s, err = js.Stream(ctx, want.Name)
		}
	}
	if err != nil {
		return want, fmt.Errorf("natskv: stream %s: %w", want.Name, refusal(err))
	}
	return s.CachedInfo().Config, nil
}

// busy is the code of an answer that may be another one a moment later.
const busy = 503

// refusal tells a server that says no from one that says nothing.
func refusal(err error) error {
	refused := new(jetstream.APIError)
	if errors.As(err, &refused) && refused.Code != busy {
		return err
	}
	return unavailable(err)
}

// fitBucket reports what makes a bucket unfit that is there already.
func fitBucket(have, want jetstream.StreamConfig) error {
	evicts := have.Discard == jetstream.DiscardOld && (have.MaxBytes > 0 || have.MaxMsgs > 0)
	return firstMismatch(have.Name, []requirement{
		{"mirror", have.Mirror == nil, "set", "unset, because a mirror cannot be written to"},
		{"sealed", !have.Sealed, "true", "false"},
		{"subjects", len(have.Subjects) == 1 && have.Subjects[0] == want.Subjects[0], have.Subjects, want.Subjects},
		{"retention", have.Retention == jetstream.LimitsPolicy, have.Retention, jetstream.LimitsPolicy},
		{"max_age", have.MaxAge == 0, have.MaxAge, "0, because a value without a ttl stays"},
		{"discard", !evicts, have.Discard, "new, because a full bucket must not forget values"},
		{"allow_rollup_hdrs", have.AllowRollup, have.AllowRollup, true},
	})
}

// requirement is one field that has to be in a certain way.
type requirement struct {
	field string
	met   bool
	have  any
	need  any
}

func firstMismatch(stream string, requirements []requirement) error {
	for _, r := range requirements {
		if !r.met {
			return &MismatchError{Stream: stream, Field: r.field, Have: fmt.Sprint(r.have), Need: fmt.Sprint(r.need)}
		}
	}
	return nil
}
