package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/domains"
	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/cli/deliver"
)

// Who tells the domain of a document whose publisher does not.
const (
	classifyOff      = "off"
	classifyKeywords = "keywords"
	classifyModel    = "model"
)

// domainFlags say what is looked for in which kind of document.
type domainFlags struct {
	schemaFlags `embed:""`

	Classify        string        `group:"domains" default:"keywords" enum:"keywords,model,off" help:"Who tells the domain of a document whose publisher names none that is known: keywords (the words of its beginning, without a model call), model (keywords first; if they are not sure, one short call of the model for a document in each worker, within the tenant's limit) or off."`
	ClassifyTimeout time.Duration `group:"domains" default:"15s" help:"Longest time that classifying a document may take; after that it is read with the fallback domain."`
}

// schemaFlags are the domains, and how sure one has to be of them.
type schemaFlags struct {
	DomainFile         string  `group:"domains" placeholder:"FILE" help:"YAML file with the domains. It takes the place of the built-in ones, which worker domains show prints."`
	StrictTypes        bool    `group:"domains" help:"Drop entities and relationships of types that the domain does not name, in every domain. Otherwise they are kept. Both ways they are counted."`
	ClassifyConfidence float64 `group:"domains" default:"0.6" help:"Least confidence of a classification that is followed, 0 to 1; below it a document is read with the fallback domain."`
}

// load reads the domains. Errors are mistakes in the flags or in the file.
func (f schemaFlags) load() (*extraction.Domains, string, error) {
	if !(f.ClassifyConfidence > 0 && f.ClassifyConfidence <= 1) {
		return nil, "", errors.New("--classify-confidence must be above 0 and at most 1")
	}
	known, text, err := domains.Load(f.DomainFile)
	if err != nil {
		return nil, "", fmt.Errorf("--domain-file: %w", err)
	}
	if f.StrictTypes {
		known = known.Strict()
	}
	return known, text, nil
}

func (f domainFlags) check(openai bool) error {
	if f.Classify == classifyModel && !openai {
		return errors.New("--classify model needs a model: the offline provider cannot be asked")
	}
	if f.ClassifyTimeout <= 0 {
		return errors.New("--classify-timeout must be positive")
	}
	_, _, err := f.load()
	return err
}

// chooser chooses domains as the flags say. A model is asked through provider,
// which must be the hardened one.
func (f domainFlags) chooser(provider extraction.Provider) (*extraction.Chooser, error) {
	known, _, err := f.load()
	if err != nil {
		return nil, err
	}
	config := extraction.ChooserConfig{Domains: known, Timeout: f.ClassifyTimeout, Sureness: f.ClassifyConfidence}
	if f.Classify != classifyOff {
		config.Classifiers = append(config.Classifiers, extraction.NewKeywords(known))
	}
	if f.Classify == classifyModel {
		model, err := extraction.NewModelClassifier(provider, known)
		if err != nil {
			return nil, fmt.Errorf("--classify model: %w", err)
		}
		config.Classifiers = append(config.Classifiers, model)
	}
	return extraction.NewChooser(config)
}

type domainsCommands struct {
	Show   domainsShowCommand   `cmd:"" help:"Check the domain file and print it: the built-in one, or your own."`
	Choose domainsChooseCommand `cmd:"" help:"Say which domain the keywords choose for files, and how sure they are."`
}

type domainsShowCommand struct {
	schemaFlags    `embed:""`
	cli.ConfigFile `embed:""`
}

// Help is shown below the summary of the command.
func (domainsShowCommand) Help() string {
	return `The built-in file is a good start for one of your own: worker domains show > domains.yaml. What is wrong with a file is told with the line.`
}

func (c *domainsShowCommand) Run(streams cli.Streams) error {
	_, text, err := c.load()
	if err != nil {
		return cli.Usage(err)
	}
	_, err = io.WriteString(streams.Out, text)
	return err
}

type domainsChooseCommand struct {
	Files []string `arg:"" optional:"" placeholder:"FILE" help:"Files, as worker try takes them. - is standard input, and the default."`

	JSON bool `name:"json" help:"Print JSON."`

	schemaFlags    `embed:""`
	cli.ConfigFile `embed:""`
}

// Help is shown below the summary of the command.
func (domainsChooseCommand) Help() string {
	return `Reads the beginning of each document as a worker does with --classify keywords. No model and no server is asked.`
}

// chosen is what was chosen for a document.
type chosen struct {
	Source string `json:"source"`
	Line   int    `json:"line,omitempty"`
	extraction.DomainChoice
}

func (c *domainsChooseCommand) Run(ctx context.Context, streams cli.Streams) error {
	chooser, err := domainFlags{schemaFlags: c.schemaFlags, Classify: classifyKeywords}.chooser(nil)
	if err != nil {
		return cli.Usage(err)
	}
	input, err := deliver.Open(ctx, c.Files, streams.In)
	if err != nil {
		return err
	}
	defer input.Close()
	choices := []chosen{}
	for item, err := range input.Documents(streams.Err) {
		if err != nil {
			return err
		}
		choice, _, err := chooser.Choose(ctx, "", extraction.Chunk{Text: item.Document.Text, Title: item.Document.Title, Domain: item.Document.Domain})
		if err != nil {
			return err
		}
		choices = append(choices, chosen{Source: item.Source, Line: item.Line, DomainChoice: choice})
	}
	if c.JSON {
		return cli.WriteJSON(streams.Out, choices)
	}
	table := tabwriter.NewWriter(streams.Out, 0, 0, 2, ' ', 0)
	for _, choice := range choices {
		name, confidence := choice.Source, "-"
		if choice.Line > 0 {
			name = fmt.Sprintf("%s:%d", name, choice.Line)
		}
		if choice.Confidence != nil {
			confidence = fmt.Sprintf("%.2f", *choice.Confidence)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", cli.Printable(name), choice.ID, confidence, cli.Printable(choice.FallbackReason))
	}
	return table.Flush()
}
