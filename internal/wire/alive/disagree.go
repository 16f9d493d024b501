package alive

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// mostValues bounds how many values of one setting are told apart.
const mostValues = 8

// Disagreement is a setting that the workers of a fleet share, and with which not all
// of them were started. Each worker then keeps to its own, so that what the fleet does
// is what none was told.
type Disagreement struct {
	Setting string         `json:"setting"`           // the flag, such as --rpm
	Circuit string         `json:"circuit,omitempty"` // that it is a setting of
	Values  []SettingValue `json:"values"`            // what most workers have first
}

// SettingValue is what some workers were started with.
type SettingValue struct {
	Value   string `json:"value"`
	Worker  string `json:"worker"`  // one of them
	Workers int    `json:"workers"` // how many they are
}

// About names the setting: "--failure-threshold of circuit default".
func (d Disagreement) About() string {
	if d.Circuit == "" {
		return d.Setting
	}
	return d.Setting + " of circuit " + d.Circuit
}

// Held says who has which value: "60 (a and 2 more), 100 (b)".
func (d Disagreement) Held() string {
	parts := make([]string, 0, len(d.Values))
	for _, v := range d.Values {
		more := ""
		if v.Workers > 1 {
			more = fmt.Sprintf(" and %d more", v.Workers-1)
		}
		parts = append(parts, fmt.Sprintf("%s (%s%s)", v.Value, v.Worker, more))
	}
	return strings.Join(parts, ", ")
}

func (d Disagreement) String() string {
	return "workers were started with different " + d.About() + ": " + d.Held()
}

// Disagreements are the settings on which workers do not agree, none if they do. Those
// that have stopped do not count, nor what an earlier version does not tell.
func Disagreements(workers []wire.WorkerState) []Disagreement {
	var all []Disagreement
	note := func(setting, circuit, value, worker string) {
		i := slices.IndexFunc(all, func(d Disagreement) bool { return d.Setting == setting && d.Circuit == circuit })
		if i < 0 {
			i = len(all)
			all = append(all, Disagreement{Setting: setting, Circuit: circuit})
		}
		d := &all[i]
		j := slices.IndexFunc(d.Values, func(v SettingValue) bool { return v.Value == value })
		switch {
		case j >= 0:
			d.Values[j].Workers++
			d.Values[j].Worker = min(d.Values[j].Worker, worker)
		case len(d.Values) < mostValues:
			d.Values = append(d.Values, SettingValue{value, worker, 1})
		}
	}
	for _, w := range workers {
		if w.State == "stopped" {
			continue
		}
		note("--rpm", "", limitWord(w.RPM, "unlimited"), w.Worker)
		note("--tpm", "", limitWord(w.TPM, "none"), w.Worker)
		if w.WindowMS > 0 { // else there is nothing to count in it
			note("--window", "", span(w.WindowMS), w.Worker)
		}
		if s := w.CircuitSettings; s != nil && w.Circuit != "" {
			note("--failure-threshold", w.Circuit, strconv.Itoa(s.FailureThreshold), w.Worker)
			note("--recovery-timeout", w.Circuit, span(s.RecoveryTimeoutMS), w.Worker)
			note("--half-open-max-calls", w.Circuit, strconv.Itoa(s.HalfOpenMaxCalls), w.Worker)
		}
	}
	all = slices.DeleteFunc(all, func(d Disagreement) bool { return len(d.Values) < 2 })
	for _, d := range all {
		slices.SortFunc(d.Values, func(a, b SettingValue) int {
			return cmp.Or(cmp.Compare(b.Workers, a.Workers), strings.Compare(a.Value, b.Value))
		})
	}
	slices.SortFunc(all, func(a, b Disagreement) int {
		return cmp.Or(strings.Compare(a.Circuit, b.Circuit), strings.Compare(a.Setting, b.Setting))
	})
	return all
}

func limitWord(n int64, none string) string {
	if n <= 0 {
		return none
	}
	return strconv.FormatInt(n, 10)
}

func span(ms int64) string { return (time.Duration(ms) * time.Millisecond).String() }
