package health

import (
	"net"
	"net/http"
	"net/http/pprof"
)

// profiles are Go's, but for the one that shows the command line, where somebody may
// have written a key.
func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.Handle("GET /debug/pprof/cmdline", http.NotFoundHandler())
	return mux
}

// local lets only clients of this machine in, whatever address the server listens on:
// not those for whom a proxy on this machine asks, nor a page that a browser was
// tricked into taking for this machine's.
func local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback(r.RemoteAddr) || !(loopback(r.Host) || r.Host == "") || forwarded(r) {
			http.Error(w, "profiles are for clients on the same machine", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func forwarded(r *http.Request) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if r.Header.Get(name) != "" {
			return true
		}
	}
	return false
}

// loopback reports whether an address, with or without a port, is this machine's.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
