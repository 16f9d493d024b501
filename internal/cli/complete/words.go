package complete

import (
	"strings"

	"github.com/alecthomas/kong"
)

// Candidate is one way to go on.
type Candidate struct {
	Word string
	Help string // one line, "" if there is nothing to say
}

// Words completes the last of words, the arguments of a command line so far; it
// may be empty. files says that names of files fit, too, which the shell knows
// best.
func Words(app *kong.Application, words []string) (candidates []Candidate, files bool) {
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	at := position{node: app.Node}
	for _, word := range words[:len(words)-1] {
		at.pass(word)
	}
	switch name, value, assigned := strings.Cut(last, "="); {
	case at.flag != nil:
		candidates, files = values(at.flag.Value, at.flag.PlaceHolder)
	case at.onlyArguments:
		candidates, files = at.arguments()
	case strings.HasPrefix(last, "--") && assigned:
		flag := at.find(strings.TrimPrefix(name, "--"))
		if flag == nil {
			return nil, false
		}
		candidates, files = values(flag.Value, flag.PlaceHolder)
		return startingWith(candidates, value), files
	case strings.HasPrefix(last, "-"):
		candidates = at.flags()
	default:
		candidates, files = at.arguments()
		candidates = append(candidates, at.commands()...)
	}
	return startingWith(candidates, last), files
}

// position is where the words before the last one have led.
type position struct {
	node          *kong.Node
	taken         int        // arguments of node
	flag          *kong.Flag // whose value is next
	onlyArguments bool       // after --
}

func (p *position) pass(word string) {
	switch {
	case p.flag != nil:
		p.flag = nil
	case p.onlyArguments:
		p.taken++
	case word == "--":
		p.onlyArguments = true
	case strings.HasPrefix(word, "--"):
		name, _, assigned := strings.Cut(word[2:], "=")
		if flag := p.find(name); flag != nil && !assigned && !flag.IsBool() && !flag.IsCounter() {
			p.flag = flag
		}
	case len(word) > 1 && word[0] == '-': // the one short flag, -h, takes no value
	default:
		for _, child := range p.node.Children {
			if child.Name == word {
				p.node, p.taken = child, 0
				return
			}
		}
		p.taken++
	}
}

// chosen is the command whose flags and arguments fit: a program without a
// command has those of its default.
func (p *position) chosen() *kong.Node {
	if p.node.DefaultCmd != nil {
		return p.node.DefaultCmd
	}
	return p.node
}

func (p *position) find(name string) *kong.Flag {
	for _, group := range p.chosen().AllFlags(true) {
		for _, flag := range group {
			if flag.Name == name {
				return flag
			}
		}
	}
	return nil
}

func (p *position) flags() (candidates []Candidate) {
	for _, group := range p.chosen().AllFlags(true) {
		for _, flag := range group {
			candidates = append(candidates, Candidate{"--" + flag.Name, firstSentence(flag.Help)})
		}
	}
	return candidates
}

func (p *position) commands() (candidates []Candidate) {
	if p.taken > 0 {
		return nil
	}
	for _, child := range p.node.Children {
		if !child.Hidden {
			candidates = append(candidates, Candidate{child.Name, firstSentence(child.Help)})
		}
	}
	return candidates
}

func (p *position) arguments() ([]Candidate, bool) {
	arguments := p.chosen().Positional
	if len(arguments) == 0 {
		return nil, false
	}
	n := min(p.taken, len(arguments)-1)
	if n < p.taken && !arguments[n].IsCumulative() {
		return nil, false
	}
	return values(arguments[n], arguments[n].Tag.PlaceHolder)
}

// Lister is the type of a flag or an argument that knows words it takes. One that takes
// no others is an enum for kong, and needs no such type.
type Lister interface{ Words() []string }

// values completes the value of a flag or of an argument.
func values(value *kong.Value, placeholder string) (candidates []Candidate, files bool) {
	words := value.EnumSlice()
	if known, ok := value.Target.Interface().(Lister); ok {
		words = append(words, known.Words()...)
	}
	for _, word := range words {
		if word != "" {
			candidates = append(candidates, Candidate{Word: word})
		}
	}
	switch placeholder {
	case "FILE", "DIR", "PATH":
		files = true
	}
	return candidates, files
}

func startingWith(candidates []Candidate, prefix string) (fit []Candidate) {
	for _, c := range candidates {
		if strings.HasPrefix(c.Word, prefix) {
			fit = append(fit, c)
		}
	}
	return fit
}

// firstSentence is what a shell has room for.
func firstSentence(help string) string {
	help = strings.Join(strings.Fields(help), " ")
	if sentence, _, found := strings.Cut(help, ". "); found {
		return sentence + "."
	}
	return help
}
