// Command fleet measures what a chunk costs beside the model: real worker
// processes against a separate NATS server and a model server that answers at
// once, with a bare loop doing the same I/O (fetch, HTTP call, publish, double
// ack) as the baseline. Wall time is between the first and the last result as
// the server stored them; processor time is that of the worker and the server.
// All contestants run one after the other in one run, and only their ratios
// mean anything.
//
//	go run ./fleet [-chunks 20000] [-tenants 1000] [-concurrency 8] [-rounds 3]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

func main() {
	child := flag.String("child", "", "what this process is: server, bare or nothing (internal)")
	dir := flag.String("dir", "", "the server's store (internal)")
	var plan plan
	flag.IntVar(&plan.chunks, "chunks", 20_000, "how many are done each time")
	flag.IntVar(&plan.tenants, "tenants", 1_000, "over how many they are spread in the second part")
	flag.IntVar(&plan.concurrency, "concurrency", 8, "calls at a time in each process")
	flag.IntVar(&plan.rounds, "rounds", 3, "how often everything is measured; the median counts")
	flag.DurationVar(&plan.idle, "idle", 20*time.Second, "how long the idle worker is watched; 0 leaves it out")
	flag.StringVar(&plan.only, "only", "", "only contestants with this in the name")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch *child {
	case "":
		err = plan.run(ctx)
	case "server":
		err = serve(*dir)
	case "bare":
		err = bareLoop(ctx, os.Getenv("NATS_URL"), os.Getenv("OPENAI_BASE_URL"), plan.concurrency)
	default:
		err = fmt.Errorf("no child is called %q", *child)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

type plan struct {
	chunks, tenants, concurrency, rounds int
	idle                                 time.Duration
	only                                 string
}

// contestant is one way to work off a backlog.
type contestant struct {
	name    string
	tenants int
	workers int  // processes
	bare    bool // the baseline
	alone   bool // the circuit is not shared: two reads of the shared state less per chunk
}

func (p plan) run(ctx context.Context) error {
	worker, remove, err := buildWorker()
	if err != nil {
		return err
	}
	defer remove()
	contestants := []contestant{
		{name: "bare loop, one tenant", tenants: 1, workers: 1, bare: true},
		{name: "worker, one tenant", tenants: 1, workers: 1},
		{name: "worker alone, one tenant", tenants: 1, workers: 1, alone: true},
		{name: fmt.Sprintf("bare loop, %d tenants", p.tenants), tenants: p.tenants, workers: 1, bare: true},
		{name: fmt.Sprintf("worker, %d tenants", p.tenants), tenants: p.tenants, workers: 1},
		{name: "2 workers, one tenant", tenants: 1, workers: 2},
		{name: fmt.Sprintf("2 workers, %d tenants", p.tenants), tenants: p.tenants, workers: 2},
	}
	figures := map[string][]figure{}
	for round := range p.rounds {
		for _, c := range contestants {
			if !strings.Contains(c.name, p.only) {
				continue
			}
			f, err := p.measure(ctx, worker, c)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			fmt.Fprintf(os.Stderr, "round %d: %-26s %s\n", round+1, c.name, f)
			figures[c.name] = append(figures[c.name], f)
		}
	}
	fmt.Printf("%d chunks, a model that answers at once, %d calls at a time, medians of %d rounds\n\n", p.chunks, p.concurrency, p.rounds)
	if p.only != "" {
		return nil
	}
	fmt.Printf("%-52s %10s %10s\n", "", "wall", "processor")
	ratio := func(text string, ours, baseline int) {
		a, b := figures[contestants[ours].name], figures[contestants[baseline].name]
		var wall, cpu []float64
		for i := range a {
			wall = append(wall, b[i].wall.Seconds()/a[i].wall.Seconds())
			cpu = append(cpu, b[i].processor.Seconds()/a[i].processor.Seconds())
		}
		fmt.Printf("%-52s %10.2f %10.2f\n", text, middle(wall), middle(cpu))
	}
	ratio("worker / bare loop, one tenant (goal 0.8)", 1, 0)
	ratio("the same with --cache memory", 2, 0)
	ratio(fmt.Sprintf("worker, %d tenants / one (goal 0.5)", p.tenants), 4, 1)
	ratio(fmt.Sprintf("2 workers, %d tenants / one (goal 0.5)", p.tenants), 6, 5)
	ratio(fmt.Sprintf("worker / bare loop, %d tenants", p.tenants), 4, 3)
	for _, c := range contestants {
		for _, f := range figures[c.name] {
			if f.idleWatched > 0 {
				fmt.Printf("%-30s idle afterwards: %.2f %% of a core, %d MB\n", c.name, 100*f.idleProcessor.Seconds()/f.idleWatched.Seconds(), f.memory>>20)
			}
		}
	}
	return nil
}

func middle(of []float64) float64 {
	if len(of) == 0 {
		return 0
	}
	slices.Sort(of)
	return of[len(of)/2]
}
