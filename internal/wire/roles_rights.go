package wire

func (r *rights) worker() {
	n := r.n
	r.informed()
	// Lanes: one consumer for each tenant.
	r.api("CONSUMER.CREATE."+n.ChunkStream()+".*."+n.ChunkFilter(), "CONSUMER.INFO."+n.ChunkStream()+".*",
		"CONSUMER.MSG.NEXT."+n.ChunkStream()+".*", "CONSUMER.NAMES."+n.ChunkStream(),
		"CONSUMER.DELETE."+n.ChunkStream()+"."+n.ChunkConsumer()) // that of earlier versions
	r.api("STREAM.MSG.GET." + n.ChunkStream()) // of copies
	documents := n.DocumentStream() + "." + n.DocumentConsumer()
	r.api("CONSUMER.CREATE."+documents+"."+n.DocumentFilter(), "CONSUMER.INFO."+documents, "CONSUMER.MSG.NEXT."+documents)
	r.publish("$JS.ACK."+n.ChunkStream()+".>", "$JS.ACK."+n.DocumentStream()+".>")
	r.publish(n.ChunkFilter(), n.ResultStreamFilter(), n.DeadFilter())
	r.api("DIRECT.GET." + n.ResultStream() + "." + n.ResultStreamFilter())

	for _, bucket := range []string{n.CircuitBucket(), n.AttemptsBucket()} {
		r.state(bucket)
		r.publish("$KV." + bucket + ".>")
	}
	r.api("STREAM.INFO.HITS_" + n.RateLimitBucket()) // as in state; the windows are in the ledger
	r.choose("KV_" + n.CircuitBucket())              // some of its keys
	ledger := "LEDGER_" + n.RateLimitBucket()
	r.api("DIRECT.GET."+ledger, "STREAM.MSG.GET."+ledger)
	r.publish("$LEDGER." + n.RateLimitBucket() + ".*")
	for _, b := range n.OperatorBuckets() {
		r.readBucket(b.Bucket)
	}
	r.publish("$KV." + n.WorkersBucket() + ".>")
	// What worker check has written, to prove that it can be.
	r.api("STREAM.PURGE.KV_"+n.CircuitBucket(), "STREAM.PURGE.KV_"+n.RateLimitBucket(), "STREAM.PURGE."+ledger)
	r.subscribe(n.ArrivedFilter(), "$LEDGERFEED."+n.RateLimitBucket()+".*")
}

func (r *rights) view() {
	n := r.n
	r.read(n.DeadStream(), n.DeadFilter())
	r.choose(n.DeadStream())
	r.api("DIRECT.GET."+n.DeadStream(), "DIRECT.GET."+n.DeadStream()+".>")
	r.overview()
}

// overview is how the fleet is doing.
func (r *rights) overview() {
	n := r.n
	r.informed()
	r.api("CONSUMER.INFO."+n.ChunkStream()+".*", "DIRECT.GET."+n.ResultStream()) // what is in hand; when the last was done
	r.readBucket(n.CircuitBucket())
	r.choose("KV_" + n.CircuitBucket()) // some of its keys
	r.state(n.CircuitBucket())
	for _, bucket := range []string{n.LimitsBucket(), n.PauseBucket(), n.WorkersBucket()} {
		r.readBucket(bucket)
		r.state(bucket)
	}
	ledger := "LEDGER_" + n.RateLimitBucket()
	r.state(n.RateLimitBucket())
	r.api("DIRECT.GET."+ledger, "STREAM.MSG.GET."+ledger)
}

func (r *rights) operate() {
	n := r.n
	r.view()
	r.publish(n.RightsToCreate()...)
	documents := n.DocumentStream() + "." + n.DocumentConsumer()
	r.api("CONSUMER.CREATE."+documents+"."+n.DocumentFilter(), "CONSUMER.INFO."+documents)
	r.publish("$KV."+n.CircuitBucket()+".>", "$KV."+n.LimitsBucket()+".>", "$KV."+n.PauseBucket()+".>")
	// Dead letters are sent again, and then removed.
	r.publish(n.ChunkFilter(), n.DocumentFilter())
	r.api("STREAM.MSG.DELETE." + n.DeadStream())
	r.api("DIRECT.GET." + n.ResultStream() + "." + n.ResultStreamFilter())
}
