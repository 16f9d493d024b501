// Command eval scores a provider on texts whose entities are known.
//
//	go run ./internal/eval                                    the offline provider on the sample in the repository
//	go run ./internal/eval -gold FILE                         on your own data, or on a downloaded set
//	OPENAI_API_KEY=... go run ./internal/eval -provider openai -model NAME [-base-url URL]
//
// FILE is gold JSONL, one document a line:
//
//	{"id":"1","text":"Ada met Bob.","entities":[{"name":"Ada","aliases":[],"type":"person"},{"name":"Bob","type":"person"}],
//	 "relationships":[{"source":"Ada","target":"Bob","type":"met"}]}
//
// or Re-DocRED JSON, or BIO columns. -gold may be given several times; each file
// gets its own table. With -convert the files are written to stdout as gold JSONL.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/offline"
	"github.com/weirkeeper/weirkeeper/extraction/openai"
	"github.com/weirkeeper/weirkeeper/internal/eval/scoring"
	"github.com/weirkeeper/weirkeeper/internal/gold"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return
		}
		fmt.Fprintln(os.Stderr, "eval:", err)
		os.Exit(1)
	}
}

type settings struct {
	provider, model, baseURL, types string
	everySurface, convert           bool
	every                           int
	files                           []string
}

func run(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	flags := flag.NewFlagSet("eval", flag.ContinueOnError)
	flags.StringVar(&s.provider, "provider", "offline", "offline or openai")
	flags.StringVar(&s.model, "model", "", "model name, with openai")
	flags.StringVar(&s.baseURL, "base-url", os.Getenv("OPENAI_BASE_URL"), "model server, with openai; default $OPENAI_BASE_URL")
	flags.StringVar(&s.types, "types", "person,organization,location", "entity types to score, or all")
	flags.BoolVar(&s.everySurface, "every-surface", false, "with offline: do not merge short names into full ones")
	flags.BoolVar(&s.convert, "convert", false, "write the gold files as JSONL instead of scoring")
	flags.IntVar(&s.every, "every", 1, "take every Nth document only")
	flags.Func("gold", "gold file, may be repeated; default the sample in the repository", func(f string) error {
		s.files = append(s.files, f)
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	if s.every < 1 {
		return fmt.Errorf("-every must be at least 1, not %d", s.every)
	}
	if s.convert {
		return s.eachFile(func(_ string, docs []gold.Document) error { return gold.WriteJSONL(out, docs) })
	}
	provider, err := s.newProvider()
	if err != nil {
		return err
	}
	var types []string
	if s.types != "all" {
		types = strings.Split(s.types, ",")
	}
	return s.eachFile(func(name string, docs []gold.Document) error {
		report, err := scoring.Run(ctx, provider, docs, scoring.Options{Types: types})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%s\n", name)
		return report.Write(out)
	})
}

func (s settings) newProvider() (extraction.Provider, error) {
	switch s.provider {
	case "offline":
		if s.everySurface {
			return offline.New(offline.EverySurface())
		}
		return offline.New()
	case "openai":
		return openai.New(openai.Config{BaseURL: s.baseURL, APIKey: os.Getenv("OPENAI_API_KEY"), Model: s.model})
	}
	return nil, fmt.Errorf("-provider must be offline or openai, not %q", s.provider)
}

// eachFile visits the gold files, or the sample if there are none.
func (s settings) eachFile(visit func(name string, docs []gold.Document) error) error {
	if len(s.files) == 0 {
		docs, err := gold.Sample()
		if err != nil {
			return err
		}
		return visit("sample", s.pick(docs))
	}
	for _, f := range s.files {
		docs, err := gold.Read(f)
		if err != nil {
			return err
		}
		if err := visit(filepath.Join(filepath.Base(filepath.Dir(f)), filepath.Base(f)), s.pick(docs)); err != nil {
			return err
		}
	}
	return nil
}

func (s settings) pick(docs []gold.Document) []gold.Document {
	var out []gold.Document
	for i := 0; i < len(docs); i += s.every {
		out = append(out, docs[i])
	}
	return out
}
