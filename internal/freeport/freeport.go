// Package freeport finds TCP ports for servers that tests start as processes.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// Take names n different loopback ports that nobody listens on. They are below those that
// systems give to outgoing connections: until a server has its port, and while it is
// restarted, none of its clients may happen to take it.
func Take(n int) (ports []int, err error) {
	var taken []net.Listener
	defer func() {
		for _, l := range taken {
			err = errors.Join(err, l.Close())
		}
	}()
	for range n + 100 {
		if len(ports) == n {
			return ports, nil
		}
		port := 15000 + rand.IntN(15000)
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			taken, ports = append(taken, l), append(ports, port)
		}
	}
	return nil, fmt.Errorf("no %d free ports from 15000 to 30000", n)
}
