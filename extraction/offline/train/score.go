package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/weirkeeper/weirkeeper/extraction/offline/internal/tagger"
	"github.com/weirkeeper/weirkeeper/internal/gold"
)

// score prints how the model does on the documents kept out, and on the dev
// parts of CrossNER: the figures to tune by. Test parts are not looked at.
func score(model *tagger.Model, folder string, held []gold.Document) error {
	fmt.Println("names at their exact place, precision recall F1")
	if err := scoreSet(model, "held out", held); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(folder, "crossner", "*-dev.txt"))
	if err != nil {
		return err
	}
	for _, f := range files {
		docs, err := gold.Read(f)
		if err != nil {
			return err
		}
		if err := scoreSet(model, filepath.Base(f), docs); err != nil {
			return err
		}
	}
	return nil
}

func scoreSet(model *tagger.Model, name string, docs []gold.Document) error {
	var got, want, hit [10]int // per type, the last for all
	sure := [8][2]int{}        // by margin: right, all
	surfaces := [4]int{}       // PER/ORG/LOC surfaces: got, want, typed hits, untyped hits
	for _, d := range docs {
		e, _, _ := example(d)
		have, need := map[[2]string]bool{}, map[[2]string]bool{}
		haveAny, needAny := map[string]bool{}, map[string]bool{}
		tagged, err := model.Tag(context.Background(), e.Text, e.Sentences)
		if err != nil {
			return err
		}
		for i, found := range tagged {
			s := e.Sentences[i]
			gold := map[tagger.Mention]bool{}
			for _, m := range e.Names[i] {
				gold[m] = true
				want[m.Type]++
				want[9]++
				if m.Type <= tagger.Location {
					n := e.Text[s.Tokens[m.From].Start:s.Tokens[m.To-1].End]
					need[[2]string{n, m.Type.String()}], needAny[n] = true, true
				}
			}
			for _, m := range found {
				bucket := &sure[min(max(m.Margin, 0)/10, len(sure)-1)]
				bucket[1]++
				m.Margin = 0
				got[m.Type]++
				got[9]++
				if gold[m] {
					hit[m.Type]++
					hit[9]++
					bucket[0]++
				}
				if m.Type <= tagger.Location {
					n := e.Text[s.Tokens[m.From].Start:s.Tokens[m.To-1].End]
					have[[2]string{n, m.Type.String()}], haveAny[n] = true, true
				}
			}
		}
		surfaces[0] += len(have)
		surfaces[1] += len(need)
		for k := range have {
			if need[k] {
				surfaces[2]++
			}
		}
		for k := range haveAny {
			if needAny[k] {
				surfaces[3]++
			}
		}
	}
	fmt.Printf("%-20s", name)
	for t := range tagger.Other + 1 {
		if want[t] > 0 {
			fmt.Printf(" %.4s %.2f(%d)", t, f1(hit[t], got[t], want[t]), want[t])
		}
	}
	fmt.Printf(" all %.3f | surfaces of person, organization, location: typed %.3f\n", f1(hit[9], got[9], want[9]), f1(surfaces[2], surfaces[0], surfaces[1]))
	fmt.Printf("%-20s", "  right by margin")
	for i, n := range sure {
		fmt.Printf(" %d:%.2f(%d)", i*10, float64(n[0])/float64(max(n[1], 1)), n[1])
	}
	fmt.Println()
	return nil
}

func f1(hit, got, want int) float64 {
	if got+want == 0 {
		return 0
	}
	return 2 * float64(hit) / float64(got+want)
}
