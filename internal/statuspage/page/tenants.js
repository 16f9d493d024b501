// The tenants: what waits, what they have used, until when they wait and why.

import { $, code, el, say, svg } from "./dom.js";
import { argument, count, plural, reason, shell, span, time, visible } from "./format.js";
import { Table } from "./table.js";

const known = n => n ?? -1;

function allowance(t) {
  const parts = [];
  if (limited(t.rpm)) parts.push(`${t.used === null ? "?" : count(t.used)} of ${count(t.rpm)}`);
  if (limited(t.tpm)) parts.push(`${t.used_tokens === null ? "?" : count(t.used_tokens)} of ${count(t.tpm)} tokens`);
  if (!parts.length) return "no limit known";
  return `${parts.join(", ")} per ${span(t.window_ms)}`;
}

// limited reports a limit that somebody has set: 0 is none, and so is the largest number.
const limited = n => n > 0 && n < Number.MAX_SAFE_INTEGER;

// share is how much of its allowance a tenant has used, the tighter of the two; -1 if
// that is not known.
function share(t) {
  return Math.max(limited(t.rpm) && t.used !== null ? t.used / t.rpm : -1, limited(t.tpm) && t.used_tokens !== null ? t.used_tokens / t.tpm : -1);
}

function waits(t) {
  if (!t.wait_reason) return "";
  return t.wait_until ? `${time(t.wait_until)} · ${reason(t.wait_reason)}` : reason(t.wait_reason);
}

export class Tenants {
  constructor(dialog, orders) {
    this.dialog = dialog;
    this.orders = orders;
    this.note = el("p", { class: "notice", hidden: true });
    $("tenants").append(this.note);
    this.table = new Table($("tenants"), {
      name: "tenants", one: "tenant", empty: "No tenant has anything to show: nothing waits, nothing was done.", sort: 1, descending: true,
      key: t => t.tenant, search: t => t.tenant,
      columns: [
        { title: "Tenant", means: "Who has published.", text: t => t.tenant, sort: t => t.tenant, paint: (cell, t, row) => this.name(cell, t, row) },
        { title: "Waiting", means: "Chunks without result or dead letter so far, those in flight included.", numeric: true, text: t => count(t.waiting), sort: t => t.waiting },
        { title: "Documents", means: "Raw documents that are not split into chunks yet.", numeric: true, text: t => count(t.documents_waiting), sort: t => t.documents_waiting },
        { title: "In flight", means: "Chunks that were given to a worker and are not settled: in its hands, or put back for later.", numeric: true, text: t => count(t.in_flight), sort: t => t.in_flight },
        { title: "Allowance used", means: "Calls and tokens in the present window, of those that the limit allows.", text: allowance, sort: share, paint: meter },
        { title: "Waits until, and why", means: "When its next call is admitted, and what keeps it waiting until then. Empty: nothing does.", text: waits, sort: t => (t.wait_reason ? Date.parse(t.wait_until ?? "9999-01-01T00:00:00Z") : 0) },
        { title: "Results", means: "Chunks whose result is stored.", numeric: true, text: t => count(t.results), sort: t => known(t.results) },
        { title: "Dead", means: "Dead letters: chunks and documents that were set aside.", numeric: true, text: t => count(t.dead), sort: t => t.dead },
      ],
    });
  }

  update(fleet) {
    this.fleet = fleet;
    this.note.hidden = !fleet.truncated;
    if (fleet.truncated) {
      this.note.textContent = `The list is cut: these are the ${count(fleet.tenants.length)} of ${plural(fleet.tenants_total, "tenant")} with most waiting. ` +
        "The totals are of all. For one that is not here: publisher status --tenant NAME.";
    }
    this.table.update(fleet.tenants);
  }

  name(cell, t, row) {
    cell.replaceChildren(el("button", { type: "button", class: "name", title: visible(t.tenant, 600), onclick: () => this.open(row().tenant) }, el("bdi", {}, visible(t.tenant, 80))));
  }

  open(name) {
    const find = () => this.fleet.tenants.find(t => t.tenant === name);
    const facts = el("dl", { class: "facts" });
    const fill = () => {
      const t = find();
      const pause = this.fleet.pauses.find(p => !p.fleet && p.tenant === name);
      const lines = t ? [["Waiting", plural(t.waiting, "chunk")], ["Documents to split", count(t.documents_waiting)], ["In flight", count(t.in_flight)],
        ["Allowance used", allowance(t)], ["Waits until", waits(t) || "does not wait"], ["Results", count(t.results)], ["Dead letters", count(t.dead)]] : [["", "is not in the list any more"]];
      if (pause) lines.push(["Paused until", `${time(pause.until)}${pause.reason ? `: ${visible(pause.reason)}` : ""}`]);
      facts.replaceChildren(...lines.flatMap(([term, text]) => [el("dt", {}, term), el("dd", {}, text)]));
    };
    const word = argument(name);
    const commands = el("details", { open: !this.orders.allowed() }, el("summary", {}, "Commands"), el("p", { class: "commands" },
      code(`publisher status --tenant=${shell(name)}`), code(`worker pause --for 30m ${word}`), code(`worker resume ${word}`),
      code(`worker limits set --rpm 20 --window 60s ${word}`), code(`worker limits unset ${word}`), code(`worker dead list --tenant=${shell(name)}`)));
    this.dialog.open(visible(name, 120), [facts, ...this.orders.tenantForms(name, find()), commands], fill);
  }
}

// meter draws the used share under its text.
function meter(cell, t) {
  if (!cell.firstChild) {
    cell.append(el("span"), svg("svg", { class: "meter", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { class: "track", width: 100, height: 4 }), svg("rect", { class: "part", height: 4 })));
  }
  const part = share(t), [text, bar] = cell.children;
  say(text, allowance(t));
  bar.classList.toggle("none", part < 0);
  bar.classList.toggle("full", part >= 1);
  bar.classList.toggle("nearly", part >= 0.8 && part < 1);
  bar.lastChild.setAttribute("width", Math.min(100, Math.max(0, part) * 100));
}
