// Dead letters: how many of each kind, and the newest.

import { $, code, el } from "./dom.js";
import { ago } from "./charts.js";
import { count, kind, shell, time, visible } from "./format.js";
import { Table } from "./table.js";

// looked is how many of the newest are counted by kind.
const looked = 1000;

export class Dead {
  constructor(orders) {
    this.orders = orders;
    this.table = new Table($("kinds"), {
      name: "kinds of dead letters", empty: "Nothing was set aside.", sort: 1, descending: true, key: d => d.kind,
      columns: [
        { title: "Kind", means: "Why it was set aside.", text: d => d.kind, sort: d => d.kind, paint: (cell, d) => cell.replaceChildren(el("span", { class: "mono" }, visible(d.kind, 40)), el("span", { class: "problem" }, kind(d.kind))) },
        { title: "How many", means: "Among the newest 1,000 dead letters.", numeric: true, text: d => count(d.count), sort: d => d.count },
        { title: "Newest", means: "When the newest of this kind was set aside.", text: d => time(d.last_at), sort: d => Date.parse(d.last_at) || 0 },
        { title: "What to do", means: "Commands that list them and send them again.", text: d => `${d.kind} ${orders.allowed()}`, sort: d => d.kind, paint: (cell, d, row) => this.commands(cell, d, row) },
      ],
    });
  }

  commands(cell, d, row) {
    const word = shell(d.kind);
    cell.replaceChildren(el("span", { class: "commands" }, code(`worker dead list --kind ${word}`), code(`worker dead replay --kind ${word}`)));
    if (this.orders.allowed()) cell.append(el("button", { type: "button", onclick: () => this.orders.replayKind(row()) }, "Replay…"));
  }

  update(fleet) {
    this.at = Date.parse(fleet.at);
    this.total = fleet.totals.dead;
    $("dead-note").textContent = this.total > looked ? `Of ${count(this.total)}, the newest ${count(looked)} are counted here.` : "Set aside with the original text; nothing is lost.";
    this.table.update(fleet.dead);
  }

  letters(letters) {
    $("newest-title").hidden = letters.length === 0;
    const key = JSON.stringify([letters, this.orders.allowed()]);
    if (key === this.drawn) return;
    this.drawn = key;
    $("letters").replaceChildren(...letters.map(l => this.letter(l)));
  }

  letter(l) {
    const where = l.document ? `${visible(l.document, 60)}${l.chunk === null || l.chunk === undefined ? "" : `, chunk ${l.chunk}`}` : "no chunk";
    const buttons = this.orders.allowed() ? el("button", { type: "button", onclick: () => this.orders.replayLetter(l) }, "Replay…") : null;
    return el("li", {},
      el("p", { class: "letter" }, el("span", { class: "mono" }, l.kind), " ", el("bdi", { class: "name", title: visible(l.tenant, 600) }, visible(l.tenant, 60)), el("span", { class: "soft" }, " · ", el("bdi", {}, where), ` · ${time(l.failed_at)}, ${ago(Math.max(0, this.at - Date.parse(l.failed_at)))}`)),
      el("p", { class: "why" }, visible(l.error, 600)),
      el("p", { class: "commands" }, code(`worker dead show ${l.letter}`), code(`worker dead replay ${l.letter}`), buttons));
  }
}
