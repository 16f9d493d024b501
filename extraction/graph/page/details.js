// The panel that says everything about what is selected.
const CONTEXT = 180; // characters on each side of a quote
const MOST_EVIDENCE = 12;
const MOST_ROWS = 100;

function select(what, byKeyboard) {
  selection = what;
  showDetails();
  markRows();
  if (what) {
    const r = what.relationship === undefined ? null : graph.relationships[what.relationship];
    reveal(...(r ? [r.source, r.target] : [what.entity]));
    if (window.matchMedia("(max-width: 760px)").matches) byId("details").scrollIntoView({ block: "nearest", behavior: calm.matches ? "auto" : "smooth" });
    if (byKeyboard) byId("details").querySelector("h2").focus();
  }
  redraw();
}

// chooser is what a button calls: only the keyboard's clicks have no detail.
const chooser = (what) => (event) => select(what, event.detail === 0);

function showDetails() {
  const panel = byId("details");
  panel.scrollTop = 0;
  if (!selection) panel.replaceChildren(...overview());
  else if (selection.entity !== undefined) panel.replaceChildren(...entityDetails(selection.entity));
  else panel.replaceChildren(...relationshipDetails(selection.relationship));
}

const heading = (...children) => element("h2", { tabindex: "-1" }, ...children);
const back = () => element("button", { type: "button", class: "link", onclick: (event) => select(null, event.detail === 0) }, "Back to the overview");
const dot = (type) => element("span", { class: "dot c" + colorOf.get(type), "aria-hidden": "true" });

function confidence(fact) {
  if (fact.confidence === null) return null;
  return element("p", { class: "quiet" }, "Confidence " + fact.confidence.toFixed(2));
}

function description(fact) {
  return fact.description ? element("p", { dir: "auto" }, shown(fact.description)) : null;
}

// first shows a number of items and a button for the rest.
function first(items, limit, make) {
  const list = element("div", {}, ...items.slice(0, limit).map(make));
  if (items.length > limit) {
    const button = element("button", { type: "button", class: "link", onclick: () => button.replaceWith(...items.slice(limit).map(make)) },
      "Show the other " + (items.length - limit).toLocaleString("en"));
    list.append(button);
  }
  return list;
}

function overview() {
  const parts = [heading("Overview"), element("p", {}, "Choose an entity or a relationship, in the drawing or in the list, to see the words in the documents that say so.")];
  if (graph.conflicts.length > 0) {
    parts.push(element("h3", {}, "One name, several types"), element("div", { class: "plain" }, first(graph.conflicts, MOST_ROWS, (c) =>
      element("div", {}, ...c.map(entityRow)))));
  }
  if (graph.models.length > 0) {
    parts.push(element("h3", {}, "Read by"), element("ul", { class: "plain" }, ...graph.models.map((m) => element("li", {}, words(m)))));
  }
  if (graph.notes.length > 0) {
    parts.push(element("h3", {}, "Notes"), element("ul", { class: "plain" }, ...graph.notes.map((n) => element("li", {}, n))));
  }
  parts.push(element("h3", {}, "Keys"), element("p", { class: "quiet" }, "/ goes to the search, Escape goes back. On the drawing, arrow keys move, + and \u2212 zoom, 0 shows all."));
  return parts;
}

function entityRow(i) {
  const e = graph.entities[i];
  return element("button", { type: "button", class: "row", "data-entity": i, onclick: chooser({ entity: i }) }, dot(e.type),
    element("span", {}, words(e.name, { class: "name" }), element("span", { class: "quiet clip" }, words(e.type.replaceAll("_", " ")))));
}

function relationshipRow(i) {
  const r = graph.relationships[i];
  return element("button", { type: "button", class: "row", "data-relationship": i, onclick: chooser({ relationship: i }) },
    element("span", {}, words(graph.entities[r.source].name, { class: "name" }),
      element("span", { class: "quiet clip" }, words(r.type.replaceAll("_", " "))), words(graph.entities[r.target].name, { class: "name" })));
}

function entityDetails(i) {
  const e = graph.entities[i];
  const around = touching[i].filter((r) => relationshipOn[r]);
  return [
    back(), heading(words(e.name)), element("p", { class: "kind" }, dot(e.type), words(e.type.replaceAll("_", " "))),
    e.aliases ? element("p", { class: "quiet" }, "Also ", ...e.aliases.flatMap((a, n) => (n ? [", ", words(a)] : [words(a)]))) : null,
    description(e), confidence(e),
    ...(around.length > 0 ? [element("h3", {}, count(around.length, "relationship")), element("div", { class: "plain" }, first(around, MOST_ROWS, relationshipRow))] : []),
    ...evidence(e),
  ].filter((part) => part !== null);
}

function relationshipDetails(i) {
  const r = graph.relationships[i];
  const end = (at) => element("button", { type: "button", class: "link clip", onclick: chooser({ entity: at }) }, words(graph.entities[at].name));
  const verb = r.type.replaceAll("_", " ");
  return [
    back(), heading(words(verb)), element("dl", { class: "ends" }, element("dt", {}, "From"), element("dd", {}, end(r.source)),
      element("dt", {}, "To"), element("dd", {}, end(r.target))),
    description(r), confidence(r), ...evidence(r),
  ].filter((part) => part !== null);
}

// evidence shows where a fact is said, of the documents that are not filtered out.
function evidence(fact) {
  const sources = fact.sources.filter((s) => !hidden.document.has(s.document));
  return [element("h3", {}, sources.length === 1 ? "Where it is said" : "Where it is said, " + count(sources.length, "place")), first(sources, MOST_EVIDENCE, (s) =>
    element("figure", {}, quotation(s), element("figcaption", {}, words(documentName(s.document)),
      ", chunk " + (s.chunk + 1), ...(graph.models.length > 1 ? [", read by ", words(graph.models[s.model])] : []))))];
}

function quotation(source) {
  if (source.excerpt === undefined) {
    if (source.quote === undefined) return element("p", {}, "The model said so, but its quote is not in the text.");
    return element("div", {}, element("blockquote", { dir: "auto" }, element("mark", {}, shown(source.quote))),
      element("p", { class: "quiet" }, "The result does not hold the text around it."));
  }
  const text = graph.excerpts[source.excerpt];
  let from = Math.max(0, source.start - CONTEXT), to = Math.min(text.length, source.end + CONTEXT);
  if (from > 0) from = boundary(text, from, source.start, 1);
  if (to < text.length) to = boundary(text, to, source.end, -1);
  return element("blockquote", { dir: "auto" }, "\u2026" + shown(text.slice(from, source.start)),
    element("mark", {}, shown(text.slice(source.start, source.end))), shown(text.slice(source.end, to)) + "\u2026");
}

// boundary moves a cut to a white space that is near, and never into a pair.
function boundary(text, at, limit, step) {
  for (let i = at, tries = 0; i !== limit && tries < 40; i += step, tries++) {
    if (/\s/.test(text[i])) return step > 0 ? i + 1 : i;
  }
  const low = text.charCodeAt(at);
  return low >= 0xdc00 && low <= 0xdfff ? at + step : at;
}
