// Command admission compares admission to a shared sliding window with what
// else there is: go-redis/redis_rate on a local Redis, and a plain loop of get and
// compare-and-swap on JetStream KeyValue. Servers run as processes of their own
// on this machine, one after the other in each round, so that what disturbs one
// disturbs all; only ratios of the same run travel.
//
//	go run ./admission [-rounds 3] [-each 700ms]
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// contestant is one way to admit, opened for some processes.
type contestant struct {
	name string
	open func(processes int) (admits []admit, sent func() uint64, err error)
}

// admit takes one request from a key's window.
type admit func(ctx context.Context, key string) error

// scene is who asks for what at the same time.
type scene struct {
	name                     string
	processes, callers, keys int
}

var scenes = []scene{
	{"1 caller, 1 key", 1, 1, 1},
	{"8 callers, 1 key", 1, 8, 1},
	{"32 callers, 1 key", 1, 32, 1},
	{"1 caller, 64 keys", 1, 1, 64},
	{"8 callers, 64 keys", 1, 8, 64},
	{"32 callers, 64 keys", 1, 32, 64},
	{"8 processes, 1 key", 8, 8, 1},
	{"32 processes, 1 key", 32, 32, 1},
}

// result is what one contestant did in one scene of one round.
type result struct {
	perSecond float64
	requests  float64 // sent to the server per admission
}

func main() {
	rounds := flag.Int("rounds", 3, "how often every scene is played; the median counts")
	each := flag.Duration("each", 700*time.Millisecond, "how long each contestant plays a scene")
	serve := flag.Bool("serve", false, "run the NATS server (the command starts itself so)")
	flag.Parse()
	if *serve {
		runServer()
		return
	}
	if err := run(*rounds, *each); err != nil {
		fmt.Fprintln(os.Stderr, "admission:", err)
		os.Exit(1)
	}
}

func run(rounds int, each time.Duration) error {
	url, stop, err := startNATS()
	if err != nil {
		return err
	}
	defer stop()
	contestants := []contestant{ledgerOn(url), ledgerWithoutSparesOn(url), ledgerInMemoryOn(url), publishOn(url), casOn(url)}
	address, stopRedis, err := startRedis()
	switch {
	case err == nil:
		defer stopRedis()
		contestants = append(contestants, redisRateOn(address))
	default:
		fmt.Println("redis_rate is left out:", err)
	}
	for _, s := range scenes {
		results := map[string][]result{}
		for round := range rounds {
			for _, c := range contestants {
				r, err := play(c, s, round, each)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", c.name, s.name, err)
				}
				results[c.name] = append(results[c.name], r)
			}
		}
		report(s, contestants, results)
	}
	return reportBytes(url)
}

// play lets one contestant play one scene.
func play(c contestant, s scene, round int, each time.Duration) (result, error) {
	admits, sent, err := c.open(s.processes)
	if err != nil {
		return result{}, err
	}
	ctx := context.Background()
	for _, a := range admits { // nobody starts cold
		for k := range s.keys {
			if err := a(ctx, key(s, round, k)); err != nil {
				return result{}, err
			}
		}
	}
	var admitted atomic.Int64
	var failed atomic.Value
	var callers sync.WaitGroup
	before, began := sent(), time.Now()
	for i := range s.callers {
		callers.Go(func() {
			for n := i; time.Since(began) < each; n++ {
				if err := admits[i%len(admits)](ctx, key(s, round, n%s.keys)); err != nil {
					failed.Store(err)
					return
				}
				admitted.Add(1)
			}
		})
	}
	callers.Wait()
	took, requests := time.Since(began), sent()-before
	if err, ok := failed.Load().(error); ok {
		return result{}, err
	}
	n := float64(admitted.Load())
	return result{n / took.Seconds(), float64(requests) / n}, nil
}

// key is one that nobody has used before.
func key(s scene, round, k int) string {
	return fmt.Sprintf("p%dc%dr%dk%d", s.processes, s.callers, round, k)
}

func report(s scene, contestants []contestant, results map[string][]result) {
	ours := median(results[contestants[0].name])
	fmt.Printf("\n%s\n", s.name)
	for _, c := range contestants {
		m := median(results[c.name])
		line := fmt.Sprintf("  %-13s %9.0f/s  %8.1f us each", c.name, m.perSecond, float64(s.callers)*1e6/m.perSecond)
		if m.requests > 0 {
			line += fmt.Sprintf("  %5.2f requests per admission", m.requests)
		}
		if c.name != contestants[0].name {
			line += fmt.Sprintf("  ledger is %.1fx", ours.perSecond/m.perSecond)
		}
		fmt.Println(line)
	}
}

func median(rs []result) result {
	slices.SortFunc(rs, func(a, b result) int { return cmp.Compare(a.perSecond, b.perSecond) })
	return rs[len(rs)/2]
}
