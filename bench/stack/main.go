// Command stack compares what a guarded call costs in one process when all goes
// well, with failsafe-go's policies doing the same. Both sides run one after the
// other in each round, so that what disturbs one disturbs both; only ratios of
// the same run travel.
//
//	go run ./stack [-rounds 5]
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
)

// pair is one comparison. Both functions make one successful call.
type pair struct {
	name         string
	ours, theirs func() error
}

type cost struct {
	nanoseconds float64
	allocations int64
}

func main() {
	testing.Init()
	rounds := flag.Int("rounds", 5, "how often everything is measured; the median counts")
	flag.Parse()
	pairs, err := contestants()
	if err != nil {
		fmt.Fprintln(os.Stderr, "stack:", err)
		os.Exit(1)
	}
	fmt.Printf("%-44s %12s %12s %8s\n", "one successful call in process", "weirkeeper", "failsafe-go", "ratio")
	for _, p := range pairs {
		var ratios []float64
		var ours, theirs []cost
		for range *rounds {
			a, b := measure(p.ours), measure(p.theirs)
			ours, theirs = append(ours, a), append(theirs, b)
			ratios = append(ratios, a.nanoseconds/b.nanoseconds)
		}
		slices.Sort(ratios)
		fmt.Printf("%-44s %12s %12s %8.2f\n", p.name, middle(ours), middle(theirs), ratios[len(ratios)/2])
	}
}

func measure(call func() error) cost {
	r := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := call(); err != nil {
				b.Fatal(err)
			}
		}
	})
	return cost{float64(r.T.Nanoseconds()) / float64(r.N), r.AllocsPerOp()}
}

func middle(costs []cost) string {
	slices.SortFunc(costs, func(a, b cost) int { return int(a.nanoseconds - b.nanoseconds) })
	m := costs[len(costs)/2]
	return fmt.Sprintf("%.0fns/%d", m.nanoseconds, m.allocations)
}
