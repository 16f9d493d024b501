// What is wanted: the search, what is filtered out, and what is selected.
const MOST_DRAWN = 5000;
const hidden = { type: new Set(), relation: new Set(), document: new Set() };
let needle = "";
let selection = null; // {entity: i} or {relationship: i}

let entityOn, relationshipOn; // after the filters, by place
let matches = null;           // of the search, by place; null without one
let drawn = [], links = [];   // what the drawing shows

const inDocuments = (fact) => hidden.document.size === 0 || fact.sources.some((s) => !hidden.document.has(s.document));

const plain = (text) => text.normalize("NFKC").toLowerCase();
const searchText = graph.entities.map((e) => plain([e.name, e.type, ...(e.aliases || [])].join("\n")));

function relationshipText(r) {
  return plain(r.type + "\n" + graph.entities[r.source].name + "\n" + graph.entities[r.target].name);
}

function applyFilters() {
  entityOn = graph.entities.map((e) => !hidden.type.has(e.type) && inDocuments(e));
  relationshipOn = graph.relationships.map((r) =>
    entityOn[r.source] && entityOn[r.target] && !hidden.relation.has(r.type) && inDocuments(r));
  matches = needle ? searchText.map((text, i) => entityOn[i] && text.includes(needle)) : null;
  chooseDrawn();
}

// chooseDrawn keeps the drawing to what can be moved smoothly and told apart:
// the most related entities, those that match a search first.
function chooseDrawn() {
  const on = [];
  entityOn.forEach((yes, i) => { if (yes) on.push(i); });
  if (on.length > MOST_DRAWN) {
    const weight = (i) => degree[i] + (matches && matches[i] ? 1e9 : 0);
    on.sort((a, b) => weight(b) - weight(a) || a - b);
    on.length = MOST_DRAWN;
  }
  drawn = on;
  const isDrawn = new Set(on);
  const bundles = new Map(); // relationships of the same two are drawn side by side
  links = [];
  graph.relationships.forEach((r, i) => {
    if (!relationshipOn[i] || !isDrawn.has(r.source) || !isDrawn.has(r.target)) return;
    const link = { at: i, source: r.source, target: r.target, bend: 0 };
    links.push(link);
    const key = Math.min(r.source, r.target) + " " + Math.max(r.source, r.target);
    if (!bundles.has(key)) bundles.set(key, []);
    bundles.get(key).push(link);
  });
  for (const bundle of bundles.values()) {
    bundle.forEach((link, i) => {
      const side = link.source < link.target ? 1 : -1;
      link.bend = (i - (bundle.length - 1) / 2) * 26 * side;
    });
  }
}

function listed(kind) {
  const out = [];
  if (kind === "entities") {
    entityOn.forEach((yes, i) => { if (yes && (!matches || matches[i])) out.push(i); });
    return out.sort((a, b) => degree[b] - degree[a] || a - b);
  }
  relationshipOn.forEach((yes, i) => {
    if (yes && (!needle || relationshipText(graph.relationships[i]).includes(needle))) out.push(i);
  });
  return out;
}
