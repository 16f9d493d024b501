// A table that stays quick with thousands of rows: it shows a page of them, and
// changes only the cells whose text has changed.

import { el, say } from "./dom.js";
import { count, plural } from "./format.js";

// A column is {title, means, text(row), sort(row), numeric, paint(cell, row)}. What has a
// paint is painted anew whenever its text has changed. What the columns mean stands below
// the table, and in what a pointer shows.
export class Table {
  constructor(root, { name, one, columns, key, size = 50, search, empty, sort = 0, descending = false }) {
    Object.assign(this, { one, columns, key, size, search, empty, sort, descending, page: 0, rows: [], query: "", drawn: [] });
    this.status = el("p", { class: "soft status", role: "status" });
    const tools = el("div", { class: "tools", hidden: !search });
    if (search) {
      this.input = el("input", { type: "search", autocomplete: "off", spellcheck: "false", id: `${root.id}-search`, oninput: () => this.seek() });
      tools.append(el("label", { for: this.input.id }, `Search ${name}`), this.input);
    }
    tools.append(this.status);
    this.heads = columns.map((column, i) => {
      const button = el("button", { type: "button", title: column.means, onclick: () => this.sortBy(i) }, column.title);
      return el("th", { scope: "col", class: column.numeric ? "numeric" : null }, button);
    });
    this.body = el("tbody");
    this.nothing = el("p", { class: "soft nothing" }, empty);
    this.scroller = el("div", { class: "scroller", role: "region", tabindex: "0", "aria-label": `Table of ${name}` },
      el("table", {}, el("caption", { class: "unseen" }, name), el("thead", {}, el("tr", {}, ...this.heads)), this.body));
    this.before = el("button", { type: "button", onclick: () => this.turn(-1) }, "Previous");
    this.after = el("button", { type: "button", onclick: () => this.turn(1) }, "Next");
    this.pager = el("nav", { class: "pager", "aria-label": `Pages of ${name}` }, this.before, this.after);
    this.legend = el("details", { class: "columns" }, el("summary", {}, "What the columns mean"),
      el("dl", { class: "facts" }, ...columns.flatMap(c => [el("dt", {}, c.title), el("dd", {}, c.means)])));
    root.append(tools, this.scroller, this.nothing, this.pager, this.legend);
    this.name = name;
    this.draw();
  }

  update(rows) {
    this.rows = rows;
    this.draw();
  }

  seek() {
    this.query = this.input.value.trim().toLowerCase();
    this.page = 0;
    this.draw();
  }

  sortBy(i) {
    this.descending = this.sort === i ? !this.descending : Boolean(this.columns[i].numeric);
    this.sort = i;
    this.page = 0;
    this.draw();
  }

  turn(by) {
    this.page += by;
    this.draw();
    this.scroller.scrollTop = 0;
  }

  // chosen are the rows that are looked for, in order.
  chosen() {
    const found = this.query ? this.rows.filter(row => this.search(row).toLowerCase().includes(this.query)) : this.rows.slice();
    const by = this.columns[this.sort].sort, way = this.descending ? -1 : 1;
    const keyed = found.map(row => [by(row), this.key(row), row]);
    keyed.sort((a, b) => way * compare(a[0], b[0]) || compare(a[1], b[1]));
    return keyed.map(k => k[2]);
  }

  draw() {
    const all = this.chosen();
    const pages = Math.max(1, Math.ceil(all.length / this.size));
    this.page = Math.min(Math.max(0, this.page), pages - 1);
    const first = this.page * this.size, rows = all.slice(first, first + this.size);
    this.heads.forEach((head, i) => {
      const way = i !== this.sort ? "none" : this.descending ? "descending" : "ascending";
      if (head.getAttribute("aria-sort") !== way) head.setAttribute("aria-sort", way);
    });
    rows.forEach((row, i) => this.drawRow(i, row));
    while (this.body.rows.length > rows.length) this.body.lastElementChild.remove();
    this.drawn.length = rows.length;
    this.scroller.hidden = rows.length === 0;
    this.nothing.hidden = rows.length !== 0;
    this.legend.hidden = rows.length === 0 || !this.search;
    say(this.nothing, this.query ? `Nothing is called like that.` : this.empty);
    this.pager.hidden = pages === 1;
    this.before.disabled = this.page === 0;
    this.after.disabled = this.page === pages - 1;
    const what = this.query ? `${count(all.length)} found` : plural(all.length, this.one);
    say(this.status, all.length > this.size ? `${count(first + 1)}–${count(first + rows.length)} of ${what}` : what);
  }

  drawRow(i, row) {
    let line = this.drawn[i];
    if (!line) {
      line = { cells: this.columns.map((column, j) => el(j === 0 ? "th" : "td", { scope: j === 0 ? "row" : null, class: column.numeric ? "numeric" : null })), texts: [] };
      this.drawn[i] = line;
      this.body.append(el("tr", {}, ...line.cells));
    }
    line.row = row;
    this.columns.forEach((column, j) => {
      const text = column.text(row);
      if (line.texts[j] === text) return;
      line.texts[j] = text;
      if (column.paint) column.paint(line.cells[j], row, () => line.row);
      else line.cells[j].textContent = text;
    });
  }
}

function compare(a, b) {
  return typeof a === "string" ? (a < b ? -1 : a > b ? 1 : 0) : a - b;
}
