// The lists and filters beside the drawing, and the start.
let tab = "entities", rows = MOST_ROWS, laidOut = "";

function filter(kind, title, entries, open) {
  const boxes = [], note = element("span", { class: "quiet" });
  const tell = () => {
    const off = boxes.filter((b) => !b.checked).length;
    note.textContent = off === 0 ? " \u00b7 all " + entries.length.toLocaleString("en") : " \u00b7 " + (entries.length - off).toLocaleString("en") + " of " + entries.length.toLocaleString("en");
  };
  const choices = entries.map(({ key, name, number, mark }) => {
    const box = element("input", { type: "checkbox" });
    box.checked = true;
    boxes.push(box);
    box.addEventListener("change", () => {
      if (box.checked) hidden[kind].delete(key);
      else hidden[kind].add(key);
      tell();
      refresh();
    });
    return element("label", { class: "choice" }, box, mark, words(name, { class: "name" }), element("span", { class: "quiet" }, number.toLocaleString("en")));
  });
  const all = (on) => () => {
    boxes.forEach((b) => { b.checked = on; });
    hidden[kind].clear();
    if (!on) entries.forEach((e) => hidden[kind].add(e.key));
    tell();
    refresh();
  };
  tell();
  const both = element("div", { class: "both" }, element("button", { type: "button", class: "link", onclick: all(true) }, "All"),
    element("button", { type: "button", class: "link", onclick: all(false) }, "None"));
  return element("details", open ? { open: "" } : {}, element("summary", {}, title, note), element("div", { class: "choices", role: "group", "aria-label": title }, both, ...choices));
}

function buildFilters() {
  const facts = graph.documents.map(() => 0);
  for (const e of graph.entities) for (const d of new Set(e.sources.map((s) => s.document))) facts[d]++;
  const byCount = (kind, title, types, marked, open) => filter(kind, title,
    types.map(([type, number]) => ({ key: type, name: type.replaceAll("_", " "), number, mark: marked ? dot(type) : null })), open);
  byId("filters").append(
    byCount("type", "Types", entityTypes, true, true),
    byCount("relation", "Relationship types", relationshipTypes, false, false),
    filter("document", "Documents", graph.documents.map((d, i) => ({ key: i, name: documentName(i), number: facts[i], mark: null })), false));
}

function showList() {
  const items = listed(tab), make = tab === "entities" ? entityRow : relationshipRow;
  byId("list").replaceChildren(...items.slice(0, rows).map((i) => element("li", {}, make(i))));
  byId("more").hidden = items.length <= rows;
  byId("more").textContent = "Show " + Math.min(MOST_ROWS, items.length - rows) + " more of " + items.length.toLocaleString("en");
  for (const name of ["entities", "relationships"]) byId("tab-" + name).setAttribute("aria-pressed", String(tab === name));
  markRows();
}

function markRows() {
  for (const row of byId("list").querySelectorAll(".row")) {
    const on = selection && (row.dataset.entity === String(selection.entity) || row.dataset.relationship === String(selection.relationship));
    row.setAttribute("aria-current", String(Boolean(on)));
  }
}

// refresh follows a change of the search or of a filter.
function refresh() {
  applyFilters();
  rows = MOST_ROWS;
  showList();
  showDetails();
  const found = matches ? matches.filter(Boolean).length : entityOn.filter(Boolean).length;
  byId("status").textContent = count(found, "entity", "entities") + (matches ? " found" : " and " + count(relationshipOn.filter(Boolean).length, "relationship"));
  const on = entityOn.filter(Boolean).length;
  byId("notice").hidden = on <= MOST_DRAWN && on > 0;
  byId("notice").textContent = on === 0 ? "Nothing to draw: the filters leave nothing."
    : "The drawing shows the " + MOST_DRAWN.toLocaleString("en") + " most related of " + on.toLocaleString("en") + " entities. Filters narrow it down; the lists have all.";
  // Filters leave things where they are, unless others are drawn for the first time.
  const which = graph.entities.length <= MOST_DRAWN ? "all" : drawn.join();
  if (which !== laidOut) {
    laidOut = which;
    const everything = which === "all" ? graph.entities.map((_, i) => i) : drawn;
    layout.start(everything, which === "all" ? graph.relationships : links);
    settle();
  }
  redraw();
}

// settle lets the layout run in short turns, so that the page stays usable.
let turn = 0, drawing = 0;
function settle() {
  const mine = ++turn;
  const go = () => {
    if (mine !== turn) return;
    const until = performance.now() + Math.max(14, 2 * drawing);
    while (!layout.done && performance.now() < until) layout.step();
    const shownAt = performance.now();
    if (!view.moved && (!calm.matches || layout.done)) fit();
    if (!calm.matches || layout.done) draw();
    drawing = Math.min(60, performance.now() - shownAt);
    if (!layout.done) setTimeout(go, 0);
    else document.documentElement.dataset.layout = "done";
  };
  document.documentElement.dataset.layout = "running";
  go();
}

function start() {
  byId("summary").textContent = [count(graph.entities.length, "entity", "entities"), count(graph.relationships.length, "relationship"),
    count(graph.documents.length, "document"), count(graph.chunks, "chunk")].join(" \u00b7 ");
  buildFilters();
  readColors();
  const search = byId("search");
  search.addEventListener("input", () => {
    needle = plain(search.value.trim());
    selection = null;
    refresh();
  });
  search.addEventListener("keydown", (event) => {
    const items = event.key === "Enter" ? listed("entities") : [];
    if (items.length > 0) select({ entity: items[0] }, false);
  });
  for (const name of ["entities", "relationships"]) {
    byId("tab-" + name).addEventListener("click", () => {
      tab = name;
      rows = MOST_ROWS;
      showList();
    });
  }
  byId("more").addEventListener("click", () => {
    rows += MOST_ROWS;
    showList();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && selection) select(null, false);
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readColors();
    redraw();
  });
  resize();
  refresh();
  new ResizeObserver(resize).observe(byId("stage"));
}

start();
