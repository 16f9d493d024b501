package wire

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// requestTimeout bounds one request to JetStream, so that a missing permission,
// which looks like silence, is an error within a few seconds.
const requestTimeout = 5 * time.Second

// Ensure creates the streams and the operators' buckets that are missing. It leaves
// existing ones as they are: settings that Weirkeeper can live with are its
// owner's business, and one that it cannot live with is a [*MismatchError]. A
// request that is not answered is an [*AccessError] naming the missing right.
// Several processes may do this at the same time.
func Ensure(ctx context.Context, js jetstream.JetStream, n Names) error {
	_, err := EnsureCreated(ctx, js, n)
	return err
}

// EnsureCreated is [Ensure] for whoever wants to know what was missing.
func EnsureCreated(ctx context.Context, js jetstream.JetStream, n Names) (created []string, err error) {
	all, err := ensureEach(ctx, js, n, n.OperatorBuckets())
	for _, o := range all {
		if o.Created {
			created = append(created, o.Name)
		}
	}
	return created, err
}

// Ensured is a stream or bucket that is there now.
type Ensured struct {
	Name    string // "stream WEIR_CHUNKS"
	Created bool   // just now
}

// EnsureEach is [Ensure] with the bucket of the workers, which each worker
// otherwise makes for itself, for whoever wants to know of everything.
func EnsureEach(ctx context.Context, js jetstream.JetStream, n Names) ([]Ensured, error) {
	return ensureEach(ctx, js, n, append(n.OperatorBuckets(), n.workersBucketConfig()))
}

func ensureEach(ctx context.Context, js jetstream.JetStream, n Names, buckets []jetstream.KeyValueConfig) (all []Ensured, err error) {
	if n.ns == "" {
		return nil, &NamespaceError{}
	}
	for _, want := range n.Streams() {
		created, err := ensureStream(ctx, js, want)
		if err != nil {
			return all, err
		}
		all = append(all, Ensured{"stream " + want.Name, created})
	}
	for _, want := range buckets {
		created, err := ensureBucket(ctx, js, want)
		if err != nil {
			return all, err
		}
		all = append(all, Ensured{"bucket " + want.Bucket, created})
	}
	return all, nil
}

func ensureStream(ctx context.Context, js jetstream.JetStream, want jetstream.StreamConfig) (created bool, err error) {
	have, err := streamConfig(ctx, js, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		err = createStream(ctx, js, want)
		if !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			return err == nil, err
		}
		// Somebody else was faster.
		have, err = streamConfig(ctx, js, want.Name)
	}
	if err != nil {
		return false, accessError(js, "stream "+want.Name, "STREAM.INFO."+want.Name, err)
	}
	return false, checkStream(want, have, js.Conn().MaxPayload())
}

func streamConfig(ctx context.Context, js jetstream.JetStream, name string) (jetstream.StreamConfig, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	stream, err := js.Stream(ctx, name)
	if err != nil {
		return jetstream.StreamConfig{}, err
	}
	return stream.CachedInfo().Config, nil
}

func createStream(ctx context.Context, js jetstream.JetStream, want jetstream.StreamConfig) error {
	object := "stream " + want.Name
	rctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	_, err := js.CreateStream(rctx, want)
	var api *jetstream.APIError
	switch {
	case err == nil || errors.Is(err, jetstream.ErrStreamNameAlreadyInUse):
		return err
	case errors.As(err, &api) && api.ErrorCode == codeSubjectsOverlap:
		other := "another stream"
		if name, err := js.StreamNameBySubject(rctx, want.Subjects[0]); err == nil {
			other = "stream " + name
		}
		return &MismatchError{object, "subjects", strings.Join(want.Subjects, ", "), "already taken by " + other}
	default:
		return accessError(js, object, "STREAM.CREATE."+want.Name, err)
	}
}

// codeSubjectsOverlap: two streams may not listen to the same subject.
const codeSubjectsOverlap jetstream.ErrorCode = 10065

// covers reports whether every subject that matches filter matches pattern.
func covers(pattern, filter string) bool {
	p, f := strings.Split(pattern, "."), strings.Split(filter, ".")
	for i, token := range p {
		switch {
		case token == ">":
			return len(f) > i
		case i >= len(f):
			return false
		case token == "*" && f[i] != ">":
		case token != f[i]:
			return false
		}
	}
	return len(p) == len(f)
}

// EnsureLimits creates the limits bucket if it is missing.
func EnsureLimits(ctx context.Context, js jetstream.JetStream, n Names) (created bool, err error) {
	return ensureBucket(ctx, js, n.limitsBucketConfig())
}

// EnsurePauses creates the pause bucket if it is missing.
func EnsurePauses(ctx context.Context, js jetstream.JetStream, n Names) (created bool, err error) {
	return ensureBucket(ctx, js, n.pauseBucketConfig())
}

// EnsureWorkers creates the bucket in which workers count each other if it is
// missing.
func EnsureWorkers(ctx context.Context, js jetstream.JetStream, n Names) (created bool, err error) {
	return ensureBucket(ctx, js, n.workersBucketConfig())
}

func ensureBucket(ctx context.Context, js jetstream.JetStream, want jetstream.KeyValueConfig) (created bool, err error) {
	object := "bucket " + want.Bucket
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	_, err = js.KeyValue(ctx, want.Bucket)
	if err == nil {
		return false, nil
	}
	if !errors.Is(err, jetstream.ErrBucketNotFound) {
		return false, accessError(js, object, "STREAM.INFO.KV_"+want.Bucket, err)
	}
	_, err = js.CreateKeyValue(ctx, want)
	if err == nil || errors.Is(err, jetstream.ErrBucketExists) {
		return err == nil, nil
	}
	return false, accessError(js, object, "STREAM.CREATE.KV_"+want.Bucket, err)
}

// accessError names the right that a request needs.
func accessError(js jetstream.JetStream, object, request string, err error) error {
	right := APIPrefix(js) + request
	// Before it creates a bucket the client asks for the account.
	for _, subject := range []string{right, APIPrefix(js) + "INFO"} {
		if denied := deniedPublish(js.Conn(), subject); denied != nil && errors.Is(err, context.DeadlineExceeded) {
			return &AccessError{Object: object, Right: subject, Err: denied}
		}
	}
	return &AccessError{Object: object, Right: right, Err: err}
}
