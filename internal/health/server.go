package health

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Server is a listening HTTP server.
type Server struct {
	listener net.Listener
	http     *http.Server
	done     chan struct{}
}

// AddressError is an address that is not of the form host:port.
type AddressError struct{ Address string }

func (e *AddressError) Error() string {
	return fmt.Sprintf("%q: want host:port, such as 127.0.0.1:9464", e.Address)
}

// CheckAddress returns address with its host. An address without one is on the
// loopback interface: to be seen from elsewhere is a decision. The error is an
// [*AddressError].
func CheckAddress(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || port == "" {
		return "", &AddressError{address}
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// Loopback reports whether only this machine can reach the address of a listener.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && net.ParseIP(host).IsLoopback()
}

// Clients that hold a connection and send nothing are cut off.
const (
	bodyPatience = 10 * time.Second // for the body of a request
	idlePatience = 2 * time.Minute  // for the next request of a connection
)

// inTime bounds how long the body of a request may take to come, also one that nobody
// reads: the server waits for its end before it answers. A deadline for the whole request
// (http.Server.ReadTimeout) would end profiles, too, which may take longer.
func inTime(patience time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != http.NoBody {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(patience)) // only a connection that is over has none
		}
		next.ServeHTTP(w, r)
	})
}

// patient is a server that waits so long, and no longer.
func patient(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: inTime(bodyPatience, handler), ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: idlePatience,
	}
}

// Listen opens address and serves handler on it, see [CheckAddress].
func Listen(address string, handler http.Handler) (*Server, error) {
	address, err := CheckAddress(address)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &Server{listener: listener, http: patient(handler), done: make(chan struct{})}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(listener) // ErrServerClosed, once Close is called
	}()
	return s, nil
}

// Address is where the server listens.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Close lets running requests finish for a second.
func (s *Server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
	<-s.done
}
