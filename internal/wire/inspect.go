package wire

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"
)

// Inspect looks at what [Ensure] would look at and creates nothing. It returns
// the objects that are missing; what exists is judged as by Ensure.
func Inspect(ctx context.Context, js jetstream.JetStream, n Names) (missing []string, err error) {
	if n.ns == "" {
		return nil, &NamespaceError{}
	}
	for _, want := range n.Streams() {
		have, err := streamConfig(ctx, js, want.Name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			missing = append(missing, "stream "+want.Name)
			continue
		}
		if err != nil {
			return missing, accessError(js, "stream "+want.Name, "STREAM.INFO."+want.Name, err)
		}
		if err := checkStream(want, have, js.Conn().MaxPayload()); err != nil {
			return missing, err
		}
	}
	for _, want := range n.OperatorBuckets() {
		have, err := BucketExists(ctx, js, want.Bucket)
		if err != nil {
			return missing, err
		}
		if !have {
			missing = append(missing, "bucket "+want.Bucket)
		}
	}
	return missing, nil
}

// BucketExists reports whether there is a KeyValue bucket of that name.
func BucketExists(ctx context.Context, js jetstream.JetStream, bucket string) (bool, error) {
	return exists(ctx, js, "bucket "+bucket, "KV_"+bucket)
}

// StreamExists reports whether there is a stream of that name. As with
// [BucketExists], the error is an [*AccessError].
func StreamExists(ctx context.Context, js jetstream.JetStream, name string) (bool, error) {
	return exists(ctx, js, "stream "+name, name)
}

func exists(ctx context.Context, js jetstream.JetStream, object, stream string) (bool, error) {
	_, err := streamConfig(ctx, js, stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return false, nil
	}
	if err != nil {
		return false, accessError(js, object, "STREAM.INFO."+stream, err)
	}
	return true, nil
}
