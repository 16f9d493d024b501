// The one dialog: whoever opens it says what is in it.

import { $, el, say } from "./dom.js";

export class Dialog {
  constructor() {
    this.root = $("dialog");
    $("dialog-close").addEventListener("click", () => this.close());
    this.root.addEventListener("click", e => { if (e.target === this.root) this.close(); });
    this.root.addEventListener("close", () => { this.refresh = null; });
  }

  // open shows children under a title; refresh is called whenever the fleet was read.
  open(title, children, refresh) {
    say($("dialog-title"), title);
    this.tell("");
    $("dialog-body").replaceChildren(...children.filter(Boolean));
    this.refresh = refresh ?? null;
    this.refresh?.();
    if (!this.root.open) this.root.showModal();
    // A field of a form rather than the button that closes; never one that does something.
    $("dialog-body").querySelector("input, summary")?.focus();
  }

  close() { this.root.close(); }

  update() { if (this.root.open) this.refresh?.(); }

  tell(text, bad = false) {
    say($("dialog-status"), text);
    $("dialog-status").className = bad ? "bad" : "";
  }
}

// form is a heading, fields, and a button that does it with their values.
export function form(title, fields, button, act, { look = "primary" } = {}) {
  const submit = el("button", { type: "submit", class: look }, button);
  const root = el("form", { class: "order", onsubmit: async e => {
    e.preventDefault();
    submit.disabled = true;
    try {
      await act(Object.fromEntries(new FormData(root)));
    } finally {
      submit.disabled = false;
    }
  } }, title ? el("h3", {}, title) : null, el("div", { class: "fields" }, ...fields, submit));
  return root;
}

// field is an input with its label.
export function field(label, name, attributes = {}) {
  return el("label", {}, el("span", {}, label), el("input", { name, autocomplete: "off", ...attributes }));
}
