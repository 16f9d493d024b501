// What whoever has the token can do. It is sent as a header with each order, and kept
// in this tab only.

import { $, announce, el } from "./dom.js";
import { Dialog, field, form } from "./dialog.js";
import { count, plural, visible } from "./format.js";

const place = "weirkeeper-token";

export class Orders {
  constructor(changed) {
    this.dialog = new Dialog();
    this.changed = changed;
    this.possible = false;
    $("unlock").addEventListener("click", () => this.token ? this.forget() : this.ask());
    $("steer").addEventListener("click", () => this.fleet());
  }

  get token() { return sessionStorage.getItem(place); }

  // header proves who asks, if anybody has said so.
  get header() { return this.token ? { Authorization: `Bearer ${this.token}` } : {}; }

  allowed() { return this.possible && Boolean(this.token); }

  // about takes whether orders can be given to this worker at all.
  about(possible) {
    this.possible = possible;
    $("unlock").hidden = !possible;
    $("unlock").textContent = this.token ? "Lock" : "Enter the token…";
    $("steer").hidden = !this.allowed();
  }

  forget() {
    sessionStorage.removeItem(place);
    this.about(this.possible);
    this.changed();
  }

  ask(why = "The token is what the worker was given with --token-file or WEIR_TOKEN.") {
    if (this.dialog.root.open) return;
    this.dialog.open("Enter the token", [el("p", { class: "soft" }, why),
      form("", [field("Token", "token", { type: "password", required: true })], "Unlock", async ({ token }) => {
        const { ok, text } = await this.post("/api/token", {}, token);
        if (!ok) return this.dialog.tell(text, true);
        sessionStorage.setItem(place, token);
        this.dialog.close();
        this.about(true);
        announce("Unlocked: this page can steer the fleet.");
        this.changed();
      })]);
  }

  // post gives an order; the text says what has come of it.
  async post(path, order, token = this.token) {
    let response, body;
    try {
      // A header takes no more than bytes; anything else is no token of ours.
      if (/[^\x21-\x7e]/.test(token ?? "")) return { ok: false, text: "A token has no such characters." };
      response = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` }, body: JSON.stringify(order), signal: AbortSignal.timeout(30e3) });
      body = await response.json();
    } catch {
      return { ok: false, text: "The worker does not answer. It is not known whether this was done." };
    }
    if (response.status === 401 && path !== "/api/token") this.forget();
    return { ok: response.ok, text: visible(body.done ?? body.error, 600) };
  }

  async give(path, order) {
    this.dialog.tell("…");
    const { ok, text } = await this.post(path, order);
    this.dialog.tell(text, !ok);
    if (ok) this.changed();
  }

  pauseForms(target) {
    return [
      form("Pause", [field("Minutes", "minutes", { type: "number", min: 1, max: 43200, value: 30, required: true }), field("Why", "reason", { maxlength: 200 })], "Pause",
        v => this.give("/api/pause", { ...target, minutes: Number(v.minutes), reason: v.reason }), { look: target.fleet ? "danger" : "primary" }),
      form("", [], "Resume", () => this.give("/api/resume", target), { look: "plain" }),
    ];
  }

  tenantForms(tenant, known) {
    if (!this.allowed()) return [];
    const whole = text => (text === "" ? null : Number(text));
    const number = (value, more = {}) => ({ type: "number", min: 1, step: 1, value: value && value < Number.MAX_SAFE_INTEGER ? value : null, ...more });
    return [
      ...this.pauseForms({ tenant }),
      form("Limits of its own", [field("Calls", "rpm", number(known?.rpm)), field("per seconds", "window", number(known ? known.window_ms / 1000 : null, { step: "0.001", min: 0.001 })), field("Tokens", "tpm", number(known?.tpm))], "Set",
        v => this.give("/api/limits/set", { tenant, rpm: whole(v.rpm), window_ms: v.window === "" ? null : Math.round(Number(v.window) * 1000), tpm: whole(v.tpm) })),
      form("", [], "Let the workers' limits hold", () => this.give("/api/limits/unset", { tenant }), { look: "plain" }),
    ];
  }

  fleet() {
    this.dialog.open("The whole fleet", [el("p", { class: "soft" }, "Paused workers take no more chunks, finish what they have in hand, and stay ready. A pause always has an end."), ...this.pauseForms({ fleet: true })]);
  }

  reset(circuit) {
    this.dialog.open(`Reset circuit ${visible(circuit, 64)}`, [el("p", {}, "Closes it and forgets its failures. If the model server still fails, it opens again."),
      form("", [], "Reset", () => this.give("/api/circuit/reset", { circuit }))]);
  }

  open(circuit) {
    this.dialog.open(`Open circuit ${visible(circuit, 64)}`, [el("p", {}, "No worker calls its model server until somebody resets it. Chunks wait, and use up no attempts."),
      form("", [field("Why", "reason", { maxlength: 200 })], "Open", v => this.give("/api/circuit/open", { circuit, reason: v.reason }), { look: "danger" })]);
  }

  replayKind(d) {
    this.dialog.open(`Replay ${visible(d.kind, 40)}`, [el("p", {}, `Sends what was set aside as ${visible(d.kind, 40)} again, with fresh attempts, and removes the letters: ${plural(d.count, "letter")} among the newest ${count(1000)}, and older ones.`),
      form("", [], "Replay", () => this.give("/api/dead/replay", { kind: d.kind }), { look: "danger" })]);
  }

  replayLetter(l) {
    this.dialog.open(`Replay letter ${l.letter}`, [el("p", {}, "Sends the original again, with fresh attempts, and removes the letter."),
      form("", [], "Replay", () => this.give("/api/dead/replay", { letter: l.letter }))]);
  }
}
