package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/overview"
)

// standing is what the fleet lets a tenant do now.
type standing struct {
	overview.Tenant
	Workers int               `json:"workers"`           // alive
	Circuit *overview.Circuit `json:"circuit,omitempty"` // that keeps it waiting

	at     time.Time
	detail string // of a pause or an open circuit
}

// standingTimeout bounds what is only said beside the status.
const standingTimeout = 3 * time.Second

func (s *session) overview(tenant string) (*overview.Reader, error) {
	return overview.NewReader(overview.Config{JetStream: s.js, Names: s.names, Tenant: tenant})
}

func readStanding(ctx context.Context, reader *overview.Reader) (*standing, error) {
	ctx, cancel := context.WithTimeout(ctx, standingTimeout)
	defer cancel()
	fleet, err := reader.Read(ctx)
	if err != nil {
		return nil, err
	}
	return newStanding(fleet), nil
}

// noteStanding says what keeps the chunks of a tenant waiting, if that can be found out.
func (s *session) noteStanding(ctx context.Context, out io.Writer, tenant string) {
	reader, err := s.overview(tenant)
	if err != nil {
		return
	}
	if now, err := readStanding(ctx, reader); err == nil {
		if words := now.words(true); words != "" {
			fmt.Fprintln(out, words)
		}
	}
}

// newStanding takes the only tenant of a fleet.
func newStanding(f overview.Fleet) *standing {
	t := f.Tenants[0]
	s := &standing{Tenant: t, at: f.At}
	for _, w := range f.Workers {
		if w.State != "stopped" {
			s.Workers++
		}
	}
	switch t.WaitReason {
	case overview.Paused:
		for _, p := range f.Pauses {
			if (p.Fleet || p.Tenant == t.Tenant) && p.Until != nil && t.WaitUntil != nil && p.Until.Equal(*t.WaitUntil) {
				s.detail = p.Reason
				if p.Fleet {
					s.detail = strings.TrimSuffix("with the whole fleet: "+p.Reason, ": ")
				}
				break
			}
		}
	case overview.Open:
		for _, c := range f.Circuits {
			if c.State == "open" {
				s.Circuit, s.detail = &c, c.Reason
				break
			}
		}
	}
	return s
}

// words say what keeps the tenant's chunks waiting, or how much of its allowance is
// used; "" if there is nothing to say. waiting is whether there are any.
func (s *standing) words(waiting bool) string {
	if waiting && s.Workers == 0 {
		return "no worker is running"
	}
	text := ""
	switch s.WaitReason {
	case overview.Paused:
		text = "paused"
		if s.WaitUntil != nil {
			text += " until " + s.WaitUntil.UTC().Format(time.RFC3339)
		}
	case overview.Open:
		text = "no calls: the circuit of the model server is open"
		if s.Circuit != nil {
			if ends := s.Circuit.Ends(s.at); ends != "" {
				text += ", " + ends
			}
		}
	case overview.Cooling:
		text = "throttled: the model server has asked for less, next call " + s.in()
	case overview.Limit:
		text = "throttled: " + s.used() + ", next call " + s.in()
	default:
		if s.Used != nil {
			return s.used()
		}
		return ""
	}
	if s.detail != "" {
		text += " (" + cli.Printable(s.detail) + ")"
	}
	return text
}

func (s *standing) in() string {
	if s.WaitUntil == nil {
		return "later"
	}
	return "in " + max(0, s.WaitUntil.Sub(s.at)).Round(time.Second).String()
}

// used is "12 of 60 calls and 300 of 1000 tokens per 1m0s are used".
func (s *standing) used() string {
	var parts []string
	if s.Used != nil && s.RPM > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s", *s.Used, cli.Count(int(s.RPM), "call")))
	}
	if s.UsedTokens != nil && s.TPM > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s", *s.UsedTokens, cli.Count(int(s.TPM), "token")))
	}
	if len(parts) == 0 {
		return "its allowance is used up"
	}
	return fmt.Sprintf("%s per %s are used", strings.Join(parts, " and "), time.Duration(s.WindowMS)*time.Millisecond)
}
