// Command train makes the weights of the offline provider.
//
//	go run ./extraction/offline/train -data FOLDER [-out extraction/offline/weights.gz]
//
// FOLDER holds redocred/dev.json and crossner/*-train.txt; see
// extraction/offline/DATA.md for where they come from. The same data and
// settings give the same file. With -holdout N every Nth document is kept out
// of the training and scored instead, and nothing is written.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/weirkeeper/weirkeeper/extraction/offline/internal/tagger"
	"github.com/weirkeeper/weirkeeper/internal/gold"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

func run() error {
	data := flag.String("data", "", "folder with redocred/ and crossner/ (required)")
	out := flag.String("out", "extraction/offline/weights.gz", "file to write")
	holdout := flag.Int("holdout", 0, "keep every Nth document for scoring and write nothing")
	var opt tagger.Options
	flag.IntVar(&opt.Rounds, "rounds", 8, "passes over the data")
	flag.Uint64Var(&opt.Seed, "seed", 1, "of the order of the sentences")
	flag.Int64Var(&opt.Scale, "scale", 2, "weights are averages times this, as whole numbers")
	keep := flag.Int("keep", 2, "forget weights closer to zero than this")
	flag.Parse()
	opt.Keep = int32(*keep)
	if *data == "" {
		return fmt.Errorf("-data is required: the folder with redocred/ and crossner/")
	}
	docs, err := trainingSet(*data)
	if err != nil {
		return err
	}
	var train, test []gold.Document
	for i, d := range docs {
		if *holdout > 0 && i%*holdout == 0 {
			test = append(test, d)
		} else {
			train = append(train, d)
		}
	}
	examples := make([]tagger.Example, len(train))
	names, lost := 0, 0
	for i, d := range train {
		var n, l int
		examples[i], n, l = example(d)
		names, lost = names+n, lost+l
	}
	fmt.Printf("%d documents, %d names, %d names that do not fall on our tokens\n", len(train), names, lost)
	model := tagger.Learn(examples, opt)
	if *holdout > 0 {
		return score(model, *data, test)
	}
	weights, err := model.Encode()
	if err != nil {
		return err
	}
	_, fingerprint, err := tagger.Decode(weights)
	if err != nil {
		return err
	}
	if err := os.WriteFile(*out, weights, 0o644); err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes, fingerprint %s\n", *out, len(weights), fingerprint)
	return nil
}

// trainingSet reads everything the tagger learns from, in a fixed order.
func trainingSet(folder string) ([]gold.Document, error) {
	docs, err := gold.Read(filepath.Join(folder, "redocred", "dev.json"))
	if err != nil {
		return nil, err
	}
	refine(docs)
	files, err := filepath.Glob(filepath.Join(folder, "crossner", "*-train.txt"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no crossner/*-train.txt in %s", folder)
	}
	for _, f := range files {
		more, err := gold.Read(f)
		if err != nil {
			return nil, err
		}
		docs = append(docs, more...)
	}
	own, err := ownSentences()
	if err != nil {
		return nil, err
	}
	return append(docs, own...), nil
}
