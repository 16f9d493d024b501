package main

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// Verdicts.
const (
	kept     = "kept"
	broken   = "BROKEN"
	baseline = "baseline" // of another design: it promises nothing
)

func verdict(ok bool) string {
	if ok {
		return kept
	}
	return broken
}

// finding is one line of the table.
type finding struct {
	Scenario string `json:"scenario"`
	Design   string `json:"design"`
	Promise  string `json:"promise"`
	Measured string `json:"measured"`
	Bar      string `json:"bar"`
	Verdict  string `json:"verdict"`
}

// report is a whole run.
type report struct {
	Seed     uint64        `json:"seed"`
	Form     string        `json:"form"`
	Took     time.Duration `json:"took_ns"`
	OK       bool          `json:"ok"`
	Findings []finding     `json:"findings"`
	Logs     string        `json:"logs,omitempty"`
}

func (r report) writeJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

func (r report) writeTable(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "scenario\tdesign\tpromise\tmeasured\tbar\tverdict")
	for _, f := range r.Findings {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", f.Scenario, f.Design, f.Promise, f.Measured, f.Bar, f.Verdict)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s form in %v, -seed %d\n", r.Form, r.Took.Round(100*time.Millisecond), r.Seed)
	return err
}
