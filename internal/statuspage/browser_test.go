package statuspage_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/browser"
	"github.com/weirkeeper/weirkeeper/internal/history"
	"github.com/weirkeeper/weirkeeper/internal/overview"
	"github.com/weirkeeper/weirkeeper/internal/wire/alive"
)

var (
	wide   = browser.View{Width: 1280, Height: 900}
	narrow = browser.View{Width: 360, Height: 740}
)

// look asks the worker at once, as when somebody comes back to the tab.
const look = `document.dispatchEvent(new Event("visibilitychange"));`

// shots are taken of the page in all its looks. At none of them does it have to be
// scrolled sideways.
func shots(t *testing.T, p *browser.Page, name string) {
	t.Helper()
	for size, view := range map[string]browser.View{"wide": wide, "narrow": narrow} {
		for _, view.Dark = range []bool{false, true} {
			p.Look(view)
			p.Shot(fmt.Sprintf("%s-%s-dark-%t", name, size, view.Dark))
			var over int
			p.Eval(`document.documentElement.scrollWidth - innerWidth`, &over)
			require.LessOrEqual(t, over, 0, "%s at %+v", name, view)
		}
	}
	p.Look(wide)
}

func text(p *browser.Page, selector string) (all []string) {
	p.Eval(fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => e.textContent.trim())`, selector), &all)
	return all
}

// TestPageInABrowser has one browser for all that a person would do.
func TestPageInABrowser(t *testing.T) {
	b := browser.Start(t)
	t.Run("what is shown", func(t *testing.T) { whatIsShown(t, b) })
	t.Run("nothing yet", func(t *testing.T) { nothingYet(t, b) })
	t.Run("hostile texts", func(t *testing.T) { hostileTexts(t, b) })
	t.Run("a thousand tenants", func(t *testing.T) { aThousandTenants(t, b) })
	t.Run("outages", func(t *testing.T) { outages(t, b) })
	t.Run("orders", func(t *testing.T) { giveOrders(t, b) })
	t.Run("beyond this machine", func(t *testing.T) { beyondThisMachine(t, b) })
}

func whatIsShown(t *testing.T, b *browser.Browser) {
	p := b.Open(serve(t, busy(40).config()).URL, wide)
	p.Await(`document.querySelectorAll("#tenants tbody tr").length === 40`)
	require.Equal(t, []string{"5,740", "12", "0", "1,234,567", "1,042", "3", "40"}, text(p, "#totals dd"))
	require.Contains(t, text(p, "#since")[0], "what was before is not known")
	require.Equal(t, []string{"closed"}, text(p, "#circuits .pill"))
	p.Await(`document.querySelectorAll("#circuits rect.open").length === 1`)
	require.Equal(t, []string{"worker dead show 1042", "worker dead replay 1042"}, text(p, "#letters li:first-child code"))
	require.Contains(t, text(p, "#kinds code"), "worker dead replay --kind malformed")

	require.Regexp(t, `^in all p50 .+, p95 .+ · in a worker's hands p50 .+, p95 .+$`, text(p, "#charts figure:last-child .reading")[0])
	require.Contains(t, text(p, "#charts figure:last-child .small")[0], "the dot is the median (p50), the bar goes up to the 95th percentile (p95)")

	// Every column says what it is, for a pointer and below the table.
	var unexplained []string
	p.Eval(`[...document.querySelectorAll("table")].flatMap(t => [...t.tHead.rows[0].cells].map(c => c.textContent + (c.querySelector("button")?.title ? "" : " has no title")))`, &unexplained)
	require.NotContains(t, strings.Join(unexplained, "\n"), "no title")
	require.Equal(t, text(p, "#tenants thead th"), text(p, "#tenants .columns dt"))
	require.Contains(t, text(p, "#tenants .columns dd"), "Chunks that were given to a worker and are not settled: in its hands, or put back for later.")

	// Searching and sorting.
	p.Eval(`(() => { const s = document.getElementById("tenants-search"); s.value = "t-003"; s.dispatchEvent(new Event("input")); })()`, nil)
	require.Len(t, text(p, "#tenants tbody tr"), 10)
	require.Equal(t, "10 found", strings.TrimPrefix(text(p, "#tenants .status")[0], ""))
	p.Eval(`document.querySelectorAll("#tenants thead button")[0].click()`, nil)
	require.Equal(t, "tenant-0030", text(p, "#tenants tbody th")[0])
	p.Eval(`document.querySelectorAll("#tenants thead button")[0].click()`, nil)
	require.Equal(t, "tenant-0039", text(p, "#tenants tbody th")[0])
	var sorted string
	p.Eval(`document.querySelector("#tenants thead th").getAttribute("aria-sort")`, &sorted)
	require.Equal(t, "descending", sorted)

	// With the keyboard only: the first stop skips to the tenants, a tenant opens with
	// Enter, and Escape gives the focus back.
	p.Key("Tab")
	require.Equal(t, "Skip to the tenants", focused(p))
	p.Key("Enter")
	p.Key("Tab")
	var id string
	p.Eval(`document.activeElement.id`, &id)
	require.Equal(t, "tenants-search", id)
	p.Eval(`document.querySelector("#tenants tbody button").focus()`, nil)
	p.Key("Enter")
	p.Await(`document.getElementById("dialog").open`)
	require.Equal(t, []string{"tenant-0039"}, text(p, "#dialog-title"))
	require.Contains(t, text(p, "#dialog code"), "worker pause --for 30m tenant-0039")
	require.Empty(t, text(p, "#dialog form"), "who has no token cannot do anything")
	p.Shot("tenant")
	p.Key("Escape")
	p.Await(`!document.getElementById("dialog").open`)
	require.Equal(t, "tenant-0039", focused(p))

	// What a screen reader needs.
	var problems []string
	p.Eval(`[
		...[...document.querySelectorAll("button, input")].filter(e => !(e.textContent.trim() || e.ariaLabel || e.labels?.length)).map(e => "without a name: " + e.outerHTML),
		...[...document.querySelectorAll("table")].filter(e => !e.caption || [...e.tHead.rows[0].cells].some(c => c.scope !== "col")).map(e => "table: " + e.caption?.textContent),
		...[...document.querySelectorAll("svg:not([aria-hidden])")].filter(e => !e.getAttribute("aria-label")).map(e => "drawing: " + e.outerHTML),
	]`, &problems)
	require.Empty(t, problems)
	p.Eval(`(() => { const s = document.getElementById("tenants-search"); s.value = ""; s.dispatchEvent(new Event("input")); })()`, nil)
	shots(t, p, "busy")
	require.Empty(t, p.Complaints())
}

func focused(p *browser.Page) (what string) {
	p.Eval(`document.activeElement.textContent.trim()`, &what)
	return what
}

func nothingYet(t *testing.T, b *browser.Browser) {
	p := b.Open(serve(t, empty().config()).URL, wide)
	p.Await(`document.querySelector("#freshness").textContent.startsWith("Live")`)
	require.Contains(t, text(p, "#tenants .nothing")[0], "No tenant has anything to show")
	shots(t, p, "empty")
	require.Empty(t, p.Complaints())
}

func hostileTexts(t *testing.T, b *browser.Browser) {
	w := hostile()
	p := b.Open(serve(t, w.operated()).URL, wide)
	p.Await(`document.querySelectorAll("#tenants tbody tr").length === 6`)
	p.Await(`document.querySelectorAll("#letters li").length === 3`)
	names := text(p, "#tenants tbody th")
	require.Contains(t, names, `<script>window.hacked=1</script><img src=x onerror="window.hacked=1">`)
	require.Contains(t, names, `acme\u{202e}gpj.exe\u{0}\u{200f}\u{a}'; rm -rf /`)
	require.Contains(t, names, "שלום עולם")
	p.Eval(`[...document.querySelectorAll("#tenants tbody button")].find(b => b.textContent.startsWith("acme")).click()`, nil)
	require.Contains(t, text(p, "#dialog code"), `worker resume $'acme\u202egpj.exe\u0000\u200f\u000a\'; rm -rf /'`)
	p.Eval(`document.getElementById("dialog").close()`, nil)
	p.Eval(`[...document.querySelectorAll("#tenants tbody button")].find(b => b.textContent === "-x").click()`, nil)
	require.Contains(t, text(p, "#dialog code"), `worker resume -- -x`)
	p.Eval(`document.getElementById("dialog").close()`, nil)
	// Circuits of any name are shown under it, steered by it, and named by it in commands.
	require.Contains(t, text(p, "#circuits h3"), `a/b.c <script>window.hacked=1</script>`)
	require.Contains(t, text(p, "#circuits code"), `worker circuit show 'a/b.c <script>window.hacked=1</script>'`)
	p.Eval(`(() => {
		const order = document.querySelector("#unlock");
		order.click();
		const f = document.querySelector("#dialog form");
		f.elements.token.value = "`+token+`";
		f.requestSubmit();
	})()`, nil)
	p.Await(`!document.getElementById("dialog").open`)
	p.Await(`[...document.querySelectorAll("#circuits .card")].some(c => c.querySelector("h3").textContent.startsWith("a/b.c") && c.querySelector("button").checkVisibility())`)
	p.Eval(`[...document.querySelectorAll("#circuits .card")].find(c => c.querySelector("h3").textContent.startsWith("a/b.c")).querySelector("button").click()`, nil)
	require.Equal(t, []string{`Reset circuit a/b.c <script>window.hacked=1</script>`}, text(p, "#dialog-title"))
	p.Eval(`document.querySelector("#dialog form").requestSubmit()`, nil)
	p.Await(`document.getElementById("dialog-status").textContent.startsWith("done: ")`)
	require.Equal(t, []string{"reset {Circuit:a/b.c <script>window.hacked=1</script> Reason:}"}, w.taken())
	p.Eval(`document.getElementById("dialog").close()`, nil)
	require.Contains(t, text(p, "#differ")[0], `: 60 (<script>window.hacked=1</script>`)
	var hacked bool
	p.Eval(`Boolean(window.hacked) || document.images.length > 0 || document.scripts.length !== 1`, &hacked)
	require.False(t, hacked)
	shots(t, p, "hostile")
	require.Empty(t, p.Complaints())
}

// patience is how much processor time one refresh may take: a page that is refreshed
// every two seconds is then idle for nine tenths of them. On a machine with nothing
// else to do it takes a third of that.
const patience = 200 * time.Millisecond

func aThousandTenants(t *testing.T, b *browser.Browser) {
	w := busy(1000)
	w.fleet.Truncated, w.fleet.TenantsTotal = true, 12_345
	c := w.config()
	var reads atomic.Int64
	c.Clock = func() time.Time { // each look reads anew, and everything has changed
		n := reads.Add(1)
		w.change(func() {
			for i := range w.fleet.Tenants {
				w.fleet.Tenants[i].Waiting += uint64(n*int64(i)) % 97
				w.fleet.Tenants[i].Used = ptr((n + int64(i)) % 61)
			}
		})
		return time.Now().Add(time.Duration(n) * time.Minute)
	}
	p := b.Open(serve(t, c).URL, wide)
	p.Await(`document.querySelectorAll("#tenants tbody tr").length === 50`)
	require.Contains(t, text(p, "#tenants .notice")[0], "these are the 1,000 of 12,345 tenants with most waiting")
	require.Equal(t, "1–50 of 1,000 tenants", text(p, "#tenants .status")[0])
	before := p.Busy()
	var took struct{ Tasks, Frames []float64 }
	p.Eval(`new Promise(done => {
		const tasks = [], frames = [];
		new PerformanceObserver(list => tasks.push(...list.getEntries().map(e => e.duration))).observe({ type: "longtask" });
		let last = performance.now(), n = 0;
		const scroller = document.querySelector("#tenants .scroller");
		requestAnimationFrame(function frame(now) {
			frames.push(now - last);
			last = now;
			scroller.scrollTop += 7; // somebody scrolls all the while
			if (n++ % 10 === 0) { `+look+` }
			if (n < 120) requestAnimationFrame(frame);
			else setTimeout(() => done({ tasks, frames: frames.sort((a, b) => a - b) }), 100);
		});
	})`, &took)
	longest := 0.0
	for _, ms := range took.Tasks {
		longest = max(longest, ms)
	}
	each := (p.Busy() - before) / 12
	t.Logf("12 refreshes of 1,000 tenants within 120 frames: %s of processor time each, %d tasks above 50 ms, the longest %.0f ms; frames: median %.0f ms, 95%% within %.0f ms, longest %.0f ms",
		each.Round(time.Millisecond), len(took.Tasks), longest, took.Frames[60], took.Frames[114], took.Frames[119])
	require.Positive(t, each)
	require.Less(t, each, patience)
	p.Eval(`document.querySelector("#tenants .pager button:last-child").click()`, nil)
	require.Equal(t, "51–100 of 1,000 tenants", text(p, "#tenants .status")[0])
	p.Shot("thousand")
	require.Empty(t, p.Complaints())
}

func outages(t *testing.T, b *browser.Browser) {
	w := busy(3)
	c := w.config()
	var looks atomic.Int64
	c.Clock = func() time.Time { return time.Now().Add(time.Duration(looks.Add(1)) * time.Minute) } // every look reads anew
	server := serve(t, c)
	p := b.Open(server.URL, wide)
	p.Await(`document.querySelectorAll("#tenants tbody tr").length === 3`)

	// The circuit opens: everybody hears of it.
	w.change(func() {
		w.fleet.Circuits[0] = overview.Circuit{Name: "default", State: "open", OpenedAt: ptr(time.Now().Add(-90 * time.Second)), Reason: "503 from the model server", Failures: 5}
		w.history.Circuits[0].Changes = append(w.history.Circuits[0].Changes, history.Change{At: time.Now().Add(-90 * time.Second), State: "open", Reason: "503 from the model server"})
		w.fleet.Workers = w.fleet.Workers[:2]
		w.fleet.Disagreements = []overview.Disagreement{
			{Setting: "--failure-threshold", Circuit: "default", Values: []alive.SettingValue{{Value: "5", Worker: "host-1", Workers: 3}, {Value: "3", Worker: "host-2", Workers: 1}}},
			{Setting: "--rpm", Values: []alive.SettingValue{{Value: "60", Worker: "host-1", Workers: 3}, {Value: "unlimited", Worker: "host-2", Workers: 1}}},
		}
	})
	p.Eval(look, nil)
	p.Await(`document.querySelector("#circuits .pill").textContent === "open"`)
	require.Equal(t, []string{"Circuit default is open: 503 from the model server.", "2 workers, 3 before."}, text(p, "#news p"))
	require.Equal(t, "Workers were started with different settings, and each keeps to its own. --failure-threshold of circuit default: 5 (host-1 and 2 more), 3 (host-2). --rpm: 60 (host-1 and 2 more), unlimited (host-2).", text(p, "#differ")[0])
	p.Await(`document.querySelector("#circuits .changes li").textContent.endsWith("open: 503 from the model server")`)
	p.Eval(`document.querySelector("#circuits details").open = true`, nil)
	shots(t, p, "circuit-open")

	// NATS goes away: what is shown is old, and says so.
	w.change(func() { w.err = errors.New("this worker is not connected to NATS") })
	p.Eval(look, nil)
	p.Await(`document.body.classList.contains("stale")`)
	require.Regexp(t, `^Stale since [\d:]+: this worker is not connected to NATS\. What is shown below is from then\.$`, text(p, "#alert")[0])
	require.Len(t, text(p, "#tenants tbody tr"), 3)
	shots(t, p, "stale")
	w.change(func() { w.err = nil })
	p.Eval(look, nil)
	p.Await(`!document.body.classList.contains("stale")`)
	require.Contains(t, text(p, "#news p"), "The page is up to date again.")
	require.Empty(t, p.Complaints())

	// The worker itself goes away. That is the one thing that a browser complains of.
	server.CloseClientConnections()
	server.Close()
	p.Eval(look, nil)
	p.Await(`document.querySelector("#alert").textContent.includes("the worker that serves this page does not answer")`)
	require.Len(t, text(p, "#tenants tbody tr"), 3)
}

func giveOrders(t *testing.T, b *browser.Browser) {
	w := busy(3)
	p := b.Open(serve(t, w.operated()).URL, wide)
	p.Await(`!document.getElementById("unlock").hidden`)
	submit := func(form int, values string) {
		p.Eval(fmt.Sprintf(`(() => { const f = document.querySelectorAll("#dialog form")[%d]; for (const [k, v] of Object.entries(%s)) f.elements[k].value = v; f.requestSubmit(); })()`, form, values), nil)
	}
	press := func(selector, name string) {
		t.Helper()
		p.Await(fmt.Sprintf(`[...document.querySelectorAll(%q)].some(b => b.textContent === %q && b.checkVisibility())`, selector, name))
		p.Eval(fmt.Sprintf(`[...document.querySelectorAll(%q)].find(b => b.textContent === %q).click()`, selector, name), nil)
	}
	close := func() { p.Eval(`document.getElementById("dialog").close()`, nil) }
	given := func(want string) {
		t.Helper()
		p.Await(`document.getElementById("dialog-status").textContent.startsWith("done: ")`)
		orders := w.taken()
		require.Equal(t, want, orders[len(orders)-1])
		close()
	}
	press("#unlock", "Enter the token…")
	submit(0, `{token: "not the one that it is"}`)
	p.Await(`document.getElementById("dialog-status").textContent === "A token has no such characters."`)
	submit(0, `{token: "not-the-one-that-it-is"}`)
	p.Await(`document.getElementById("dialog-status").textContent.includes("not the token")`)
	submit(0, `{token: "`+token+`"}`)
	p.Await(`!document.getElementById("dialog").open && !document.getElementById("steer").hidden`)

	press("#tenants tbody button", "tenant-0001")
	p.Shot("orders")
	p.Look(narrow)
	p.Shot("orders-narrow")
	p.Look(wide)
	submit(0, `{minutes: 45, reason: "asks too much"}`)
	given("pause {Target:{Tenant:tenant-0001 Fleet:false} Minutes:45 Reason:asks too much}")
	press("#tenants tbody button", "tenant-0001")
	submit(1, `{}`)
	given("resume {Tenant:tenant-0001 Fleet:false}")
	press("#tenants tbody button", "tenant-0001")
	submit(2, `{rpm: 7, window: 2.5, tpm: ""}`)
	given("set tenant-0001 7 2500 -")
	press("#tenants tbody button", "tenant-0001")
	submit(3, `{}`)
	given("unset {Tenant:tenant-0001 Fleet:false}")
	press("#steer", "Fleet…")
	submit(0, `{minutes: 5}`)
	given("pause {Target:{Tenant: Fleet:true} Minutes:5 Reason:}")
	press("#circuits button", "Open…")
	submit(0, `{reason: "moves"}`)
	given("open {Circuit:default Reason:moves}")
	press("#circuits button", "Reset")
	submit(0, `{}`)
	given("reset {Circuit:default Reason:}")
	press("#kinds button", "Replay…")
	submit(0, `{}`)
	given("replay {Kind:attempts_exhausted Tenant: Letter:0}")
	press("#letters button", "Replay…")
	submit(0, `{}`)
	given("replay {Kind: Tenant: Letter:1042}")
	press("#unlock", "Lock")
	p.Await(`document.getElementById("steer").hidden && document.querySelectorAll("#kinds td button").length === 0`)
	var kept int
	p.Eval(`sessionStorage.length + localStorage.length + document.cookie.length`, &kept)
	require.Zero(t, kept)
}

func beyondThisMachine(t *testing.T, b *browser.Browser) {
	c := busy(3).operated()
	c.Loopback = false
	p := b.Open(serve(t, c).URL, wide)
	p.Await(`document.getElementById("dialog").open`)
	require.Empty(t, text(p, "#tenants tbody tr"))
	p.Eval(fmt.Sprintf(`(() => { const f = document.querySelector("#dialog form"); f.elements.token.value = %q; f.requestSubmit(); })()`, token), nil)
	p.Await(`document.querySelectorAll("#tenants tbody tr").length === 3`)

	c = busy(3).config()
	c.Loopback = false
	p = b.Open(serve(t, c).URL, wide)
	p.Await(`document.querySelector("#alert").textContent.includes("--token-file")`)
	p.Shot("refused")
}
