// The circuits: how they are, and what they did in the last hour.

import { $, code, el, say, svg } from "./dom.js";
import { ago } from "./charts.js";
import { argument, count, hourMinute, plural, round, state, time, visible } from "./format.js";

const heights = { __proto__: null, closed: 6, half_open: 16, open: 28 };

export class Circuits {
  constructor(orders) {
    this.orders = orders;
    this.root = $("circuits");
    this.cards = new Map();
    this.nothing = el("p", { class: "soft nothing" }, "No circuit has anything to tell: none has failed a call, and no worker has said which it has.");
    this.root.append(this.nothing);
  }

  // update takes the circuits, those that are only known by their workers too.
  update(fleet, history) {
    const circuits = new Map(fleet.workers.filter(w => w.circuit).map(w => [w.circuit, { name: w.circuit, state: "closed", opened_at: null, reason: "", failures: 0, half_open_calls: 0 }]));
    for (const c of fleet.circuits) circuits.set(c.name, c);
    this.nothing.hidden = circuits.size !== 0;
    for (const [name, card] of this.cards) if (!circuits.has(name)) { card.root.remove(); this.cards.delete(name); }
    for (const name of [...circuits.keys()].sort()) {
      if (!this.cards.has(name)) {
        this.cards.set(name, this.card(name));
        this.root.append(this.cards.get(name).root);
      }
      this.fill(this.cards.get(name), circuits.get(name), fleet.workers.filter(w => w.circuit === name).length, fleet.at);
    }
    if (history) this.remember(history);
  }

  card(name) {
    const card = { name, pill: el("span", { class: "pill" }), facts: el("p", { class: "soft facts" }), reason: el("p", { class: "why" }), strip: el("div", { class: "strip" }), changes: el("ol", { class: "changes" }) };
    card.buttons = el("p", { class: "buttons" },
      el("button", { type: "button", onclick: () => this.orders.reset(name) }, "Reset"),
      el("button", { type: "button", onclick: () => this.orders.open(name) }, "Open…"));
    card.command = el("p", { class: "commands" }, code(`worker circuit show ${argument(name)}`));
    card.root = el("article", { class: "card", "aria-label": `Circuit ${visible(name)}` },
      el("div", { class: "heading" }, el("h3", {}, el("bdi", {}, visible(name, 64))), card.pill, card.facts, card.buttons),
      card.reason, card.strip, el("details", {}, el("summary", {}, "Changes of the last hour"), card.changes, card.command));
    new ResizeObserver(([e]) => { card.width = Math.round(e.contentRect.width); this.draw(card); }).observe(card.strip);
    return card;
  }

  fill(card, c, workers, at) {
    say(card.pill, state(c.state));
    card.pill.className = `pill ${c.state in heights ? c.state : "off"}`;
    const facts = [plural(workers, "worker")];
    if (c.failures) facts.push(plural(c.failures, "failed call"));
    if (c.half_open_calls) facts.push(`${plural(c.half_open_calls, "probe")} out`);
    if (c.forced) facts.push("until it is reset");
    else if (c.next_probe_at) facts.push(`next probe ${soon(Date.parse(c.next_probe_at) - Date.parse(at))}`);
    if (c.opened_at && c.state !== "closed") facts.push(`opened ${time(c.opened_at)}, ${ago(Date.parse(at) - Date.parse(c.opened_at))}`);
    say(card.facts, facts.join(" · "));
    say(card.reason, c.state === "closed" ? "" : visible(c.reason || "no reason was given", 600));
    card.reason.hidden = c.state === "closed";
    card.buttons.hidden = !this.orders.allowed();
  }

  remember(history) {
    for (const card of this.cards.values()) {
      card.history = history;
      card.known = history.circuits.find(c => c.name === card.name)?.changes ?? [];
      const lines = card.known.slice(-20).reverse().map(c => {
        const line = el("li", {}, el("time", { datetime: c.at }, time(c.at)), ` ${state(c.state)}`);
        if (c.reason) line.append(": ", el("bdi", {}, visible(c.reason, 300)));
        return line;
      });
      if (!lines.length) lines.push(el("li", { class: "soft" }, "None was seen."));
      card.changes.replaceChildren(...lines);
      this.draw(card);
    }
  }

  // draw shows states by height as well as by colour.
  draw(card) {
    const width = card.width;
    if (!card.history || !(width >= 80)) return;
    const end = Date.parse(card.history.at), kept = card.history.kept_ms, tall = 28;
    const x = t => Math.max(0, width * (1 - (end - t) / kept));
    const drawing = svg("svg", { width, height: tall + 18, role: "img", "aria-label": this.summary(card, end) });
    card.known.forEach((c, i) => {
      const from = x(Date.parse(c.at)), to = i + 1 < card.known.length ? x(Date.parse(card.known[i + 1].at)) : width;
      if (to <= 0) return;
      const h = heights[c.state] ?? heights.closed;
      drawing.append(svg("rect", { class: c.state in heights ? c.state : "closed", x: from, y: tall - h, width: Math.max(to - from, 1.5), height: h },
        svg("title", {}, `${state(c.state)} from ${time(c.at)}`)));
    });
    for (const [from, to] of blind(card.history)) {
      if (x(to) > x(from)) drawing.append(svg("rect", { class: "blind", x: x(from), y: 0, width: x(to) - x(from), height: tall }, svg("title", {}, "not known: nobody could look")));
    }
    const known = card.known.length ? x(Date.parse(card.known[0].at)) : width;
    if (known > 110) drawing.append(svg("text", { class: "tick", x: 4, y: tall - 8 }, "not known yet"));
    for (const [share, anchor] of [[0, "start"], [0.5, "middle"], [1, "end"]]) {
      drawing.append(svg("text", { class: "tick", x: width * share, y: tall + 14, "text-anchor": anchor }, hourMinute(end - kept * (1 - share))));
    }
    card.strip.replaceChildren(drawing);
  }

  summary(card, end) {
    const times = { __proto__: null, closed: 0, half_open: 0, open: 0 };
    card.known.forEach((c, i) => {
      const from = Math.max(Date.parse(c.at), end - card.history.kept_ms), to = i + 1 < card.known.length ? Date.parse(card.known[i + 1].at) : end;
      if (c.state in times) times[c.state] += Math.max(0, to - from);
    });
    return `In the last hour: ${Object.entries(times).map(([s, ms]) => `${state(s)} for ${count(Math.round(ms / 60e3))} minutes`).join(", ")}.`;
  }
}

function soon(ms) { return ms > 0 ? `in ${round(ms)}` : "with the next call"; }

// blind are the times at which the fleet could not be sampled.
function blind(history) {
  const gaps = [], samples = history.samples;
  let last = null;
  for (const s of samples) {
    const t = Date.parse(s.at);
    const known = s.waiting !== null;
    if (last !== null && (t - last > history.every_ms * 3)) gaps.push([last, t]);
    if (known) last = t;
  }
  if (last !== null && Date.parse(history.at) - last > history.every_ms * 3) gaps.push([last, Date.parse(history.at)]);
  return gaps.filter(([from, to], i) => i === gaps.length - 1 || gaps[i + 1][0] !== from);
}
