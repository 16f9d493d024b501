package natskv

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// ensureBucket creates or completes the bucket.
func (c *Cache) ensureBucket(ctx context.Context) (standing, error) {
	want := jetstream.StreamConfig{
		Name:                   "KV_" + c.bucket,
		Description:            "state shared by several processes: one plain text value per key",
		Subjects:               []string{c.stored + ">"},
		Storage:                c.storage,
		Replicas:               c.replicas,
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
	have, err := c.ensureStream(ctx, want)
	if err != nil {
		return have, err
	}
	if err := fitBucket(have.StreamConfig, want); err != nil {
		return have, err
	}
	have.StreamConfig, err = c.complete(ctx, have.StreamConfig)
	return have, err
}

// feature is something that a bucket made by hand does not have, and that only
// adds to what can be done with it.
type feature struct {
	field string
	need  string
	on    func(jetstream.StreamConfig) bool
	add   func(*jetstream.StreamConfig)
}

var features = [...]feature{
	{"allow_msg_ttl", "true",
		func(s jetstream.StreamConfig) bool { return s.AllowMsgTTL },
		func(s *jetstream.StreamConfig) { s.AllowMsgTTL = true }},
	{"subject_delete_marker_ttl", markerTTL.String(),
		func(s jetstream.StreamConfig) bool { return s.SubjectDeleteMarkerTTL > 0 },
		func(s *jetstream.StreamConfig) { s.SubjectDeleteMarkerTTL = markerTTL }},
	{"allow_atomic", "true",
		func(s jetstream.StreamConfig) bool { return s.AllowAtomicPublish },
		func(s *jetstream.StreamConfig) { s.AllowAtomicPublish = true }},
}

// lacking are the features that a bucket does not have.
func lacking(have jetstream.StreamConfig) (missing []feature) {
	for _, f := range features {
		if !f.on(have) {
			missing = append(missing, f)
		}
	}
	return missing
}

const (
	// mostUpdates is how often features are switched on before the server is
	// blamed: an update carries the whole configuration, so one that somebody
	// else makes from an older copy switches them off again.
	mostUpdates = 6

	// updatePause is the longest wait between two of these.
	updatePause = 200 * time.Millisecond
)

// complete switches on what a bucket lacks, all at once and in what was read last.
func (c *Cache) complete(ctx context.Context, have jetstream.StreamConfig) (jetstream.StreamConfig, error) {
	var problem error
	for range mostUpdates {
		missing := lacking(have)
		if len(missing) == 0 {
			return have, nil
		}
		have, problem = c.switchOn(ctx, have, missing...)
		switch {
		case errors.Is(problem, kvcache.ErrUnavailable):
			return have, problem
		case problem == nil && len(lacking(have)) == 0:
			return have, nil
		}
		if err := c.wait(ctx, updatePause); err != nil {
			return have, err
		}
		var err error
		if have, err = c.bucketConfig(ctx); err != nil {
			return have, err
		}
	}
	missing := lacking(have)
	if len(missing) == 0 {
		return have, nil
	}
	culprit := missing[0]
	if problem != nil {
		culprit, problem = c.refused(ctx, have, missing, problem)
	} else {
		problem = fmt.Errorf("it was switched on %d times and did not stay: a server older than nats-server 2.12 does not know it (this is %s), or something else switches it off",
			mostUpdates, c.nc.ConnectedServerVersion())
	}
	return have, &MismatchError{Stream: have.Name, Field: culprit.field, Have: "off", Need: culprit.need, Err: problem}
}

// refused finds out which of the features the server refuses to switch on.
func (c *Cache) refused(ctx context.Context, have jetstream.StreamConfig, missing []feature, all error) (feature, error) {
	for _, f := range missing {
		next, err := c.switchOn(ctx, have, f)
		if err != nil {
			return f, err
		}
		have = next
	}
	return missing[0], all
}

// switchOn returns the configuration as it was right after the update.
func (c *Cache) switchOn(ctx context.Context, have jetstream.StreamConfig, missing ...feature) (jetstream.StreamConfig, error) {
	for _, f := range missing {
		f.add(&have)
	}
	s, err := c.js.UpdateStream(ctx, have)
	if err != nil {
		return have, refusal(ctx, err)
	}
	return s.CachedInfo().Config, nil
}

func (c *Cache) bucketConfig(ctx context.Context) (jetstream.StreamConfig, error) {
	s, err := c.findStream(ctx, "KV_"+c.bucket)
	if err != nil {
		return jetstream.StreamConfig{}, fmt.Errorf("natskv: stream KV_%s: %w", c.bucket, refusal(ctx, err))
	}
	return s.CachedInfo().Config, nil
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
