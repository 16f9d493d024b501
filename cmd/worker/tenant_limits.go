package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/overview"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/internal/wire/follow"
	"github.com/weirkeeper/weirkeeper/internal/wire/limits"
	"github.com/weirkeeper/weirkeeper/resilience"
)

type limitsCommands struct {
	Show  limitsShowCommand  `cmd:"" help:"Show which tenants have limits of their own."`
	Set   limitsSetCommand   `cmd:"" help:"Give a tenant limits of its own. Running workers follow within two seconds."`
	Unset limitsUnsetCommand `cmd:"" help:"Let the workers' own limits hold for a tenant again."`
}

// tenantLimits is an entry of the limits bucket. What is absent is as the
// workers' flags have it.
type tenantLimits struct {
	RPM      *int64 `json:"rpm,omitempty"`
	WindowMS *int64 `json:"window_ms,omitempty"`
	TPM      *int64 `json:"tpm,omitempty"`
}

// shownLimits are those of one tenant, as they are printed.
type shownLimits struct {
	Tenant string `json:"tenant"`
	tenantLimits
	Problem string `json:"problem,omitempty"` // why workers take no notice of the entry

	*allowance // if it is known
}

// allowance is what a tenant has used of its limits.
type allowance struct {
	Used       *int64              `json:"used"`
	UsedTokens *int64              `json:"used_tokens"`
	WaitUntil  *time.Time          `json:"wait_until"`
	WaitReason overview.WaitReason `json:"wait_reason"`

	of overview.Tenant
	at time.Time
}

// allowances read what tenants have used, by name: of one, or of up to 1,000.
func allowances(ctx context.Context, s *session, tenant string) (map[string]*allowance, error) {
	reader, err := overview.NewReader(overview.Config{JetStream: s.js, Names: s.names, Tenant: tenant})
	if err != nil {
		return nil, err
	}
	var fleet overview.Fleet
	err = s.ask(ctx, func(ctx context.Context) (err error) {
		fleet, err = look(ctx, reader)
		return err
	})
	if err != nil {
		return nil, err
	}
	all := make(map[string]*allowance, len(fleet.Tenants))
	for _, t := range fleet.Tenants {
		all[t.Tenant] = &allowance{t.Used, t.UsedTokens, t.WaitUntil, t.WaitReason, t, fleet.At}
	}
	return all, nil
}

// unknown says that there is no trace of a tenant that an order is about, "" if there is
// one, or if nobody can tell.
func unknown(tenant string, a *allowance) string {
	switch {
	case a == nil, a.of.Results == nil, a.of.Waiting+a.of.DocumentsWaiting+*a.of.Results+a.of.Dead > 0, a.Used != nil && *a.Used > 0:
		return ""
	}
	return fmt.Sprintf("nothing is known of tenant %s yet: if it is not misspelt, this holds once something is published for it; worker top lists those that there are", cli.Printable(tenant))
}

// Help is shown below the summary of the command.
func (limitsShowCommand) Help() string {
	return `Used is what the present window holds, wait for how much longer no call is admitted and why: see worker top, which shows tenants without limits of
their own, too.`
}

type limitsShowCommand struct {
	Tenant string `arg:"" optional:"" help:"Only this tenant. Default: all that have limits of their own."`

	operatorFlags `embed:""`
}

func (c *limitsShowCommand) Run(ctx context.Context, streams cli.Streams) error {
	s, err := c.open(ctx, streams)
	if err != nil {
		return err
	}
	defer s.close()
	all, err := readLimits(ctx, s, c.Tenant)
	if err != nil {
		return err
	}
	used, err := allowances(ctx, s, c.Tenant)
	if err != nil {
		return err
	}
	for i := range all {
		all[i].allowance = used[all[i].Tenant]
	}
	if c.Tenant != "" && len(all) == 0 {
		fmt.Fprintf(streams.Err, "tenant %s has no limits of its own: those of the workers hold", cli.Printable(c.Tenant))
		if a := used[c.Tenant]; a != nil && a.of.RPM+a.of.TPM > 0 {
			fmt.Fprint(streams.Err, strings.TrimRight(fmt.Sprintf(", %s calls used %s", usedShown(a.Used, a.of.RPM), waitShown(a.of, a.at)), " "))
		}
		fmt.Fprintln(streams.Err)
	}
	if len(all) == 0 {
		s.noteNowhere(ctx, streams.Err)
	}
	return printLimits(streams.Out, all, c.JSON)
}

type limitsSetCommand struct {
	Tenant string         `arg:"" help:"Whose limits these are."`
	RPM    requests       `name:"rpm" group:"limits" placeholder:"N|unlimited" help:"Model calls that the tenant may make per window: a number, or the word unlimited."`
	Window *time.Duration `group:"limits" placeholder:"DURATION" help:"Length of the sliding window, such as 60s."`
	TPM    *int64         `name:"tpm" group:"limits" placeholder:"N" help:"Tokens that the tenant may use per window."`

	operatorFlags `embed:""`
}

// Help is shown below the summary of the command.
func (limitsSetCommand) Help() string {
	return `Replaces the limits that the tenant had. What is not given, here or by variable or file, is as the workers' own flags have it.`
}

func (c *limitsSetCommand) Run(ctx context.Context, streams cli.Streams) error {
	entry, err := c.entry()
	if err != nil {
		return cli.Usage(err)
	}
	s, err := c.open(ctx, streams)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.ask(ctx, func(ctx context.Context) error { return storeLimits(ctx, s, c.Tenant, entry) }); err != nil {
		return err
	}
	if warning := smallTokens(entry.TPM); warning != "" {
		fmt.Fprintln(streams.Err, "warning: "+warning)
	}
	set := shownLimits{Tenant: c.Tenant, tenantLimits: entry}
	if used, err := allowances(ctx, s, c.Tenant); err != nil {
		fmt.Fprintf(streams.Err, "the limits are set; what is used of them is not known: %s\n", cli.Printable(err.Error()))
	} else {
		set.allowance = used[c.Tenant]
		if note := unknown(c.Tenant, set.allowance); note != "" {
			fmt.Fprintln(streams.Err, note)
		}
	}
	return printLimits(streams.Out, []shownLimits{set}, c.JSON)
}

// entry is what the flags say, checked as the workers will check it.
func (c *limitsSetCommand) entry() (tenantLimits, error) {
	var entry tenantLimits
	if c.RPM.given {
		entry.RPM = &c.RPM.n
	}
	if c.Window != nil {
		if *c.Window < time.Millisecond || *c.Window%time.Millisecond != 0 {
			return entry, errWindow
		}
		ms := c.Window.Milliseconds()
		entry.WindowMS = &ms
	}
	entry.TPM = c.TPM
	if entry == (tenantLimits{}) {
		return entry, errors.New("give at least one of --rpm, --window and --tpm")
	}
	return entry, entry.check(c.Tenant)
}

// check is how the workers will check the entry of a tenant.
func (l tenantLimits) check(tenant string) error {
	switch {
	case tenant == "":
		return errors.New("the tenant must have a name")
	case len(tenant) > wire.MaxIDBytes:
		return fmt.Errorf("the tenant's name is longer than %d bytes", wire.MaxIDBytes)
	}
	value, err := json.Marshal(l)
	if err == nil {
		_, err = limits.Parse(value, resilience.Limits{})
	}
	return err
}

// storeLimits replaces the limits that a tenant had.
func storeLimits(ctx context.Context, s *session, tenant string, entry tenantLimits) error {
	value, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	if _, err := wire.EnsureLimits(ctx, s.js, s.names); err != nil {
		return err
	}
	bucket, err := s.js.KeyValue(ctx, s.names.LimitsBucket())
	if err == nil {
		_, err = bucket.Put(ctx, wire.EncodeToken(tenant), value)
	}
	if err != nil {
		return fmt.Errorf("bucket %s: %w", s.names.LimitsBucket(), err)
	}
	return nil
}

type limitsUnsetCommand struct {
	Tenant string `arg:"" help:"Whose limits these were."`

	operatorFlags `embed:""`
}

func (c *limitsUnsetCommand) Run(ctx context.Context, streams cli.Streams) error {
	s, err := c.open(ctx, streams)
	if err != nil {
		return err
	}
	defer s.close()
	var had []shownLimits
	err = s.ask(ctx, func(ctx context.Context) (err error) {
		had, err = removeLimits(ctx, s, c.Tenant)
		return err
	})
	if err != nil {
		return err
	}
	if c.JSON {
		return cli.WriteJSON(streams.Out, had)
	}
	done := "the workers' limits hold again for tenant %s\n"
	if len(had) == 0 {
		done = "tenant %s had no limits of its own\n"
	}
	_, err = fmt.Fprintf(streams.Out, done, cli.Printable(c.Tenant))
	return err
}

// removeLimits returns the limits that the tenant had, none if there were none.
func removeLimits(ctx context.Context, s *session, tenant string) (had []shownLimits, err error) {
	if had, err = readLimits(ctx, s, tenant); err != nil || len(had) == 0 {
		return had, err
	}
	bucket, err := s.js.KeyValue(ctx, s.names.LimitsBucket())
	if err == nil {
		err = bucket.Delete(ctx, wire.EncodeToken(tenant))
	}
	if err != nil {
		return nil, fmt.Errorf("bucket %s: %w", s.names.LimitsBucket(), err)
	}
	return had, nil
}

// readLimits returns the entries of the bucket, or that of one tenant, sorted.
func readLimits(ctx context.Context, s *session, tenant string) ([]shownLimits, error) {
	all := []shownLimits{}
	reading, _, err := s.read(ctx, s.names.LimitsBucket())
	if err != nil {
		return nil, err
	}
	slices.SortFunc(reading.Entries, func(a, b follow.Entry) int { return cmp.Compare(a.Key, b.Key) })
	for _, got := range reading.Entries {
		if tenant == "" || got.Key == wire.EncodeToken(tenant) {
			all = append(all, decodeLimits(got.Key, got.Value))
		}
	}
	return all, nil
}

func decodeLimits(key string, value []byte) shownLimits {
	tenant, err := wire.DecodeToken(key)
	if err != nil {
		return shownLimits{Tenant: key, Problem: err.Error()}
	}
	shown := shownLimits{Tenant: tenant}
	if _, err := limits.Parse(value, resilience.Limits{}); err != nil {
		shown.Problem = wire.CleanError(err.Error())
	} else if err := json.Unmarshal(value, &shown.tenantLimits); err != nil {
		shown.Problem = wire.CleanError(err.Error())
	}
	return shown
}

func printLimits(out io.Writer, all []shownLimits, asJSON bool) error {
	if asJSON {
		return cli.WriteJSON(out, all)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TENANT\tRPM\tWINDOW\tTPM\tUSED\tTOKENS\tWAIT\tPROBLEM")
	for _, l := range all {
		window := "as the workers"
		if l.WindowMS != nil {
			window = (time.Duration(*l.WindowMS) * time.Millisecond).String()
		}
		used, tokens, wait := "-", "-", "-"
		if a := l.allowance; a != nil {
			used, tokens = usedShown(a.Used, a.of.RPM), usedShown(a.UsedTokens, a.of.TPM)
			wait = cmp.Or(waitShown(a.of, a.at), "-")
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", cli.Printable(l.Tenant), numberShown(l.RPM), window, numberShown(l.TPM), used, tokens, wait, cli.Printable(l.Problem))
	}
	return table.Flush()
}

func numberShown(n *int64) string {
	switch {
	case n == nil:
		return "as the workers"
	case *n == resilience.Unlimited:
		return "unlimited"
	}
	return strconv.FormatInt(*n, 10)
}
