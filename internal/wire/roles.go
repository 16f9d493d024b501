package wire

import (
	"slices"
)

// Role is a kind of user of a fleet's NATS account.
type Role string

// A process that does what two roles do needs the rights of both.
const (
	RoleSender    Role = "sender"    // any NATS client that sends documents or chunks, and reads nothing
	RolePublisher Role = "publisher" // every command of publisher, which read results and dead letters
	RoleWorker    Role = "worker"    // worker run and check, where everything exists already
	RoleViewer    Role = "viewer"    // looks at the fleet and changes nothing
	RoleOperator  Role = "operator"  // worker setup, circuit, limits, pause, resume and dead
)

// Roles are all roles.
func Roles() []Role { return []Role{RoleSender, RolePublisher, RoleWorker, RoleViewer, RoleOperator} }

// Rights are the subjects that a user may publish and subscribe to.
type Rights struct {
	Publish   []string
	Subscribe []string
}

// InboxPrefix keeps users of a role from hearing answers to another role.
func (r Role) InboxPrefix() string { return "_INBOX_" + string(r) }

// RightsOf are what a role needs and no more, with JetStream's own prefix, in the
// order in which people read them. Without a role's inbox, no request is answered.
func (n Names) RightsOf(role Role) Rights {
	r := rights{n: n, Rights: Rights{Subscribe: []string{role.InboxPrefix() + ".>"}}}
	switch role {
	case RoleSender:
		r.publish(n.ChunkFilter(), n.DocumentFilter())
	case RolePublisher:
		r.ensured()
		r.publish(n.ChunkFilter(), n.DocumentFilter())
		r.api("STREAM.MSG.GET." + n.ChunkStream()) // does a copy of this wait already, or this itself still?
		r.choose(n.ResultStream())
		r.choose(n.DeadStream())
		r.view() // what keeps a tenant waiting
	case RoleWorker:
		r.worker()
		r.view() // for the status page on --listen
	case RoleViewer:
		r.view()
	case RoleOperator:
		r.operate()
	}
	return r.Rights
}

// RightsToCreate are what a worker needs beside those of its role where nobody
// created streams and buckets before.
func (n Names) RightsToCreate() []string {
	r := rights{n: n}
	r.api("INFO") // what the client asks before it creates a bucket
	for _, stream := range n.allStreams() {
		r.api("STREAM.CREATE." + stream)
	}
	for _, bucket := range n.stateBuckets() {
		r.api("STREAM.UPDATE.KV_" + bucket) // features that a bucket made by hand lacks
	}
	return r.Publish
}

// RightsToSteer are what a worker needs beside those of its role where its status page
// takes orders.
func (n Names) RightsToSteer() []string {
	held := n.RightsOf(RoleWorker).Publish
	return slices.DeleteFunc(n.RightsOf(RoleOperator).Publish, func(right string) bool {
		return slices.Contains(held, right) || slices.Contains(n.RightsToCreate(), right)
	})
}

// allStreams are the streams of the contract and those below its buckets.
func (n Names) allStreams() []string {
	var all []string
	for _, s := range n.Streams() {
		all = append(all, s.Name)
	}
	for _, bucket := range append(n.stateBuckets(), n.LimitsBucket(), n.PauseBucket(), n.WorkersBucket()) {
		all = append(all, "KV_"+bucket)
	}
	return append(all, "LEDGER_"+n.RateLimitBucket())
}

// stateBuckets are those that workers keep their shared state in.
func (n Names) stateBuckets() []string {
	return []string{n.CircuitBucket(), n.RateLimitBucket(), n.AttemptsBucket()}
}

// rights collects them.
type rights struct {
	Rights
	n Names
}

func (r *rights) publish(subjects ...string) {
	for _, subject := range subjects {
		if !slices.Contains(r.Publish, subject) {
			r.Publish = append(r.Publish, subject)
		}
	}
}

func (r *rights) subscribe(subjects ...string) { r.Subscribe = append(r.Subscribe, subjects...) }

func (r *rights) api(requests ...string) {
	for _, request := range requests {
		r.publish("$JS.API." + request)
	}
}

// ensured is what [Ensure] asks where nothing is missing.
func (r *rights) ensured() {
	for _, s := range r.n.Streams() {
		r.api("STREAM.INFO." + s.Name)
	}
	for _, b := range r.n.OperatorBuckets() {
		r.api("STREAM.INFO.KV_" + b.Bucket)
	}
}

// informed is the state of every stream, and of the account.
func (r *rights) informed() {
	r.api("INFO")
	for _, stream := range r.n.allStreams() {
		r.api("STREAM.INFO." + stream)
	}
}

// read is a consumer of one's own with one filter, pulled from.
func (r *rights) read(stream, filter string) {
	r.api("CONSUMER.CREATE." + stream + ".*." + filter)
	r.pull(stream)
}

// choose is a consumer of one's own with several filters, which the subject of the
// request does not have: no right bounds what it reads of the stream.
func (r *rights) choose(stream string) {
	r.api("CONSUMER.CREATE." + stream + ".*")
	r.pull(stream)
}

func (r *rights) pull(stream string) {
	r.api("CONSUMER.INFO."+stream+".*", "CONSUMER.MSG.NEXT."+stream+".*", "CONSUMER.DELETE."+stream+".*")
}

// readBucket reads a bucket whole.
func (r *rights) readBucket(bucket string) { r.read("KV_"+bucket, "$KV."+bucket+".>") }

// state is the shared state of the workers, through the cache on JetStream.
func (r *rights) state(bucket string) {
	r.api("DIRECT.GET.KV_"+bucket, "DIRECT.GET.KV_"+bucket+".>", "STREAM.MSG.GET.KV_"+bucket)
	r.api("STREAM.INFO.HITS_"+bucket, "STREAM.INFO.LEDGER_"+bucket) // does a key that is deleted have more than a value?
}
