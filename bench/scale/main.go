// Command scale carries the design of the fleet to sizes that one machine cannot
// run: it measures what single steps cost, simulates workers that share a throttled
// tenant with the consumer's own arithmetic, and works out what a fleet asks of
// its NATS server. docs/scale.md explains the results.
//
//	go run ./scale [-seed 1]
//	go run ./scale -lanes 1000	# only what lanes take of three servers, beside one
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

func main() {
	seed := flag.Uint64("seed", 1, "of the simulation")
	lanes := flag.Int("lanes", 0, "measure only what so many lanes take of three servers, beside one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if *lanes > 0 {
		err = compareLanes(ctx, *lanes)
	} else {
		err = run(ctx, *seed)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, seed uint64) error {
	tenants := []int{1_000, 10_000, 100_000}
	c, err := measure(ctx, tenants)
	if err != nil {
		return err
	}
	fmt.Printf("processor time of single steps, server and client together\n")
	fmt.Printf("  %-52s %10v\n", "an arrival told to one more worker", c.signal)
	fmt.Printf("  %-52s %10v\n", "a pull that finds nothing", c.emptyPull.Round(time.Microsecond))
	fmt.Printf("  %-52s %10v\n", "a lane made, of 200", c.lane.Round(time.Microsecond))
	for _, n := range tenants {
		fmt.Printf("  %-52s %10v\n", fmt.Sprintf("a look at what waits of %d tenants", n), c.look[n].Round(10*time.Microsecond))
	}

	fmt.Printf("\none throttled tenant with a backlog, simulated: deliveries per call, and how much of the limit is used\n")
	fmt.Printf("  %-16s %8s %22s %22s %16s\n", "limit", "workers", "windows 3-12", "windows 101-150", "looks per call")
	for _, l := range []struct {
		calls  int
		window time.Duration
	}{{10, time.Minute}, {50, 5 * time.Second}, {1000, time.Minute}} {
		for _, workers := range []int{1, 4, 16, 100, 1000} {
			early, late := throttled(workers, l.calls, l.window, 2, 10, seed), throttled(workers, l.calls, l.window, 100, 50, seed)
			fmt.Printf("  %-16s %8d %22s %22s %16.0f\n", fmt.Sprintf("%d per %s", l.calls, l.window), workers, early, late, float64(late.looks)/float64(late.admitted))
		}
	}

	fmt.Printf("\ncores that the server's side of a fleet's bookkeeping takes, chunks themselves not counted\n")
	fmt.Printf("  %-10s %-10s %18s %18s %18s\n", "workers", "tenants", "arrivals, 100/s", "arrivals, 1,000/s", "looks")
	for _, workers := range []int{4, 100, 1000} {
		for _, n := range tenants {
			arrivals := float64(workers) * c.signal.Seconds()
			// As in consumer/arrivals.go: a worker's looks are a second apart and take a
			// twentieth of its time, and are further apart in a large fleet.
			took := c.look[n].Seconds()
			scaled := func(s, most float64) float64 { return max(s, min(s*float64(workers)/20, most)) }
			looks := float64(workers) * took / max(scaled(1, 10), scaled(20*took, 60))
			fmt.Printf("  %-10d %-10d %18.2f %18.2f %18.2f\n", workers, n, 100*arrivals, 1000*arrivals, looks)
		}
	}
	return nil
}
