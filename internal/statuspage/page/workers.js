// The workers, as they say themselves that they are.

import { $, el } from "./dom.js";
import { count, round, state, time, visible } from "./format.js";
import { Table } from "./table.js";

// silence is how long a worker that lives does not speak at most, with room.
const silence = 45e3;

export class Workers {
  constructor() {
    this.at = 0;
    this.table = new Table($("workers"), {
      name: "workers", one: "worker", empty: "No worker has said in the last minute that it is alive.", size: 50,
      key: w => `${w.worker} ${w.started_at}`, search: w => `${w.worker} ${w.state} ${w.version ?? ""} ${w.circuit ?? ""}`,
      columns: [
        { title: "Worker", means: "Its name, as results have it.", text: w => w.worker, sort: w => w.worker, paint: (cell, w) => cell.replaceChildren(el("bdi", { class: "name", title: visible(w.worker, 600) }, visible(w.worker, 60))) },
        { title: "State", means: "What it says that it is doing, and what keeps it from working.", text: w => `${this.state(w)} ${w.problem ?? ""}`, sort: w => this.state(w), paint: (cell, w) => cell.replaceChildren(el("span", { class: `pill ${this.mood(w)}` }, this.state(w)), w.problem ? el("span", { class: "problem" }, visible(w.problem, 200)) : "") },
        { title: "In hand", means: "Chunks that it is working on, of those that it can at a time (--concurrency).", numeric: true, text: w => `${count(w.in_flight)} of ${count(w.slots)}`, sort: w => w.in_flight },
        { title: "Tenants", means: "Tenants that it has lately heard of.", numeric: true, text: w => count(w.lanes), sort: w => w.lanes },
        { title: "Results", means: "Chunks that it has extracted since its start.", numeric: true, text: w => count(w.results), sort: w => w.results },
        { title: "Dead", means: "Dead letters that it has written since its start.", numeric: true, text: w => count(w.dead), sort: w => w.dead },
        { title: "Put back", means: "Deliveries that it gave back for later since its start, for whatever reason: a limit, an open circuit, a failure.", numeric: true, text: w => count(w.nak), sort: w => w.nak },
        { title: "Circuit", means: "The circuit that it shares with other workers (--circuit).", text: w => visible(w.circuit || "–", 40), sort: w => w.circuit ?? "" },
        { title: "Runs since", means: "When it was started.", text: w => time(w.started_at), sort: w => Date.parse(w.started_at) || 0 },
        { title: "Version", means: "Which build it is.", text: w => visible(w.version || "–", 30), sort: w => w.version ?? "" },
      ],
    });
  }

  update(fleet) {
    this.at = Date.parse(fleet.at);
    this.table.update(fleet.workers);
  }

  quiet(w) { return w.state !== "stopped" && this.at - Date.parse(w.at) > silence; }

  state(w) { return this.quiet(w) ? `silent for ${round(this.at - Date.parse(w.at))}` : state(w.state); }

  mood(w) {
    if (this.quiet(w)) return "open";
    return { __proto__: null, consuming: "closed", waiting: "half_open", paused: "half_open", draining: "half_open" }[w.state] ?? "off";
  }
}
