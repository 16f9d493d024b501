// The page: asks the worker again and again while somebody looks, and shows it.

import { Chart, level, perMinute, rate } from "./charts.js";
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
  new Chart($("charts"), { title: "Time for a chunk", log: true, unit: span, note: "Of the newest result, every ten seconds. In all: from when the fleet accepted the chunk.", series: [
    { name: "in all", className: "c3", points: level("age_ms"), dots: true }, { name: "in a worker's hands", className: "c0", points: level("took_ms"), dots: true }] }),
];

const totals = new Map();
for (const [key, title] of [["waiting", "Chunks waiting"], ["in_flight", "In flight"], ["documents_waiting", "Documents to split"], ["results", "Results"], ["dead", "Dead letters"], ["workers", "Workers"], ["tenants", "Tenants"]]) {
  const value = el("dd", {}, "–");
  totals.set(key, value);
  $("totals").append(el("div", {}, el("dt", {}, title), value));
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
