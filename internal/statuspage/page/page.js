// The page: asks the worker again and again while somebody looks, and shows it.

import { Chart, level, perMinute, rate, spread } from "./charts.js";
import { Circuits } from "./circuits.js";
import { Dead } from "./dead.js";
import { $, announce, el, say, show } from "./dom.js";
import { count, plural, span, state, time, visible } from "./format.js";
import { Orders } from "./orders.js";
import { Tenants } from "./tenants.js";
import { Workers } from "./workers.js";

const fleetEvery = 2000, restEvery = 10_000, timeout = 12_000;

const orders = new Orders(() => look(true));
const tenants = new Tenants(orders.dialog, orders), workers = new Workers(), dead = new Dead(orders), circuits = new Circuits(orders);

const charts = [
  new Chart($("charts"), { title: "Chunks done", unit: rate, series: [
    { name: "results", className: "c0", points: perMinute("results") }, { name: "dead letters", className: "c1", points: perMinute("dead") }] }),
  new Chart($("charts"), { title: "Chunks waiting", unit: count, series: [{ name: "waiting", className: "c2", points: level("waiting") }] }),
  new Chart($("charts"), { title: "Time for a chunk, p50 and p95", log: true, unit: span,
    note: "Of the results of each ten seconds: the dot is the median (p50), the bar goes up to the 95th percentile (p95). In all: from when the fleet accepted the chunk.", series: [
      { name: "in all", className: "c3", points: spread("age"), spread: true }, { name: "in a worker's hands", className: "c0", points: spread("took"), spread: true }] }),
];

const totals = new Map();
for (const [key, title, means] of [
  ["waiting", "Chunks waiting", "without result or dead letter so far, those in flight included"],
  ["in_flight", "In flight", "chunks that were given to a worker and are not settled: in its hands, or put back for later"],
  ["documents_waiting", "Documents to split", "raw documents that are not split into chunks yet"],
  ["results", "Results", "chunks whose result is stored"], ["dead", "Dead letters", "chunks and documents that were set aside"],
  ["workers", "Workers", "that have said lately how they are"], ["tenants", "Tenants", "that have anything to show"]]) {
  const value = el("dd", {}, "–");
  totals.set(key, value);
  $("totals").append(el("div", { title: means }, el("dt", {}, title), value));
}

let fleet = null, history = null, before = null, lastRest = 0, failedSince = null, timer = 0, looking = false, again = false;

// ask returns an answer of the worker, or throws why there is none.
async function ask(path) {
  const response = await fetch(path, { headers: orders.header, cache: "no-store", signal: AbortSignal.timeout(timeout) });
  const body = await response.json().catch(() => ({ error: `the worker answers with status ${response.status}` }));
  if (!response.ok) throw Object.assign(new Error(body.error ?? "the worker gives no reason"), { status: response.status });
  return body;
}

// look asks for what is due. all asks for everything.
async function look(all = false) {
  if (looking) { again ||= all; return; }
  looking = true;
  clearTimeout(timer);
  try {
    const rest = all || Date.now() - lastRest >= restEvery - fleetEvery / 2;
    const [now, then, letters, about] = await Promise.all([ask("/api/fleet"), rest ? ask("/api/history") : null, rest ? ask("/api/letters").catch(() => null) : null, rest ? ask("/api/about") : null]);
    if (rest) lastRest = Date.now();
    if (about) introduce(about);
    fleet = now;
    history = then ?? history;
    draw(then, letters);
    stale(now.error ? now.at : null, now.error);
  } catch (error) {
    failedSince ??= fleet?.at ?? new Date().toISOString();
    lastRest = 0;
    stale(fleet ? failedSince : null, error.status ? error.message : "the worker that serves this page does not answer", true);
    if (error.status === 401) { orders.about(true); orders.ask("Beyond its own machine a worker shows the fleet only to who has its token."); }
  }
  looking = false;
  if (again) { again = false; look(true); return; }
  if (!document.hidden) timer = setTimeout(look, fleetEvery);
}

function introduce(about) {
  say($("namespace"), visible(about.namespace, 40));
  document.title = `${about.namespace} – Weirkeeper`;
  say($("footer"), `Weirkeeper ${visible(about.version, 60)}, served by worker ${visible(about.worker, 100)}.`);
  orders.about(about.orders);
}

function draw(then, letters) {
  for (const [key, node] of totals) say(node, count({ workers: fleet.workers.length, tenants: fleet.tenants_total }[key] ?? fleet.totals[key]));
  tenants.update(fleet);
  workers.update(fleet);
  dead.update(fleet);
  circuits.update(fleet, then);
  if (then) {
    for (const chart of charts) chart.update(then);
    say($("since"), `Sampled every ${span(then.every_ms)} by this worker since ${time(then.since)}${Date.parse(then.at) - Date.parse(then.since) < then.kept_ms - 60e3 ? ": what was before is not known" : ""}.`);
  }
  if (letters) dead.letters(letters.letters);
  paused();
  differ();
  orders.dialog.update();
  changes();
}

function paused() {
  const all = fleet.pauses.find(p => p.fleet), some = fleet.pauses.length - (all ? 1 : 0);
  const parts = [];
  if (all) parts.push(`The whole fleet is paused until ${time(all.until)}${all.reason ? `: ${visible(all.reason)}` : ""}.`);
  if (some) parts.push(`${plural(some, "tenant")} paused.`);
  show($("paused"), parts.join(" "));
}

// differ names the settings on which the workers do not agree, and who has which.
function differ() {
  const held = v => `${visible(v.value, 40)} (${visible(v.worker, 60)}${v.workers > 1 ? ` and ${count(v.workers - 1)} more` : ""})`;
  const all = (fleet.disagreements ?? []).map(d => `${visible(d.setting, 40)}${d.circuit ? ` of circuit ${visible(d.circuit, 64)}` : ""}: ${d.values.map(held).join(", ")}`);
  show($("differ"), all.length ? `Workers were started with different settings, and each keeps to its own. ${all.join(". ")}.` : "");
}

// stale says since when the page shows something old.
function stale(since, why, gone = false) {
  if (!why) {
    if (failedSince || !$("alert").hidden) announce("The page is up to date again.");
    failedSince = null;
    show($("alert"), "");
    say($("freshness"), `Live, as of ${time(fleet.at)}`);
  } else {
    const text = since ? `Stale since ${time(since)}: ${visible(why, 300)}. What is shown below is from then.` : `Nothing to show: ${visible(why, 300)}.`;
    show($("alert"), text);
    say($("freshness"), since ? `Stale since ${time(since)}` : gone ? "Not connected" : "Nothing known");
  }
  document.body.classList.toggle("stale", Boolean(why));
}

// changes tells of what somebody on call would want to hear.
function changes() {
  const now = {
    circuits: new Map(fleet.circuits.map(c => [c.name, c])), workers: fleet.workers.filter(w => w.state !== "stopped").length,
    paused: fleet.pauses.some(p => p.fleet),
  };
  if (before) {
    for (const [name, c] of now.circuits) {
      const was = before.circuits.get(name)?.state ?? "closed";
      if (was !== c.state) announce(`Circuit ${visible(name, 64)} is ${state(c.state)}${c.state === "open" && c.reason ? `: ${visible(c.reason)}` : ""}.`);
    }
    for (const [name, c] of before.circuits) if (!now.circuits.has(name) && c.state !== "closed") announce(`Circuit ${visible(name, 64)} is closed.`);
    if (before.workers !== now.workers) announce(`${plural(now.workers, "worker")}, ${before.workers} before.`);
    if (before.paused !== now.paused) announce(now.paused ? "The whole fleet is paused." : "The fleet is not paused any more.");
  }
  before = now;
}

document.addEventListener("visibilitychange", () => { if (!document.hidden) look(true); });
look(true);
