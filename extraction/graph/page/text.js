"use strict";

// The graph is data: nothing of it is ever parsed as HTML, only set as text.
const graph = JSON.parse(document.getElementById("graph").textContent);
const byId = (id) => document.getElementById(id);

// shown spells out what cannot be seen or would turn the writing direction, and keeps
// the first eight marks on a letter.
function shown(text) {
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (c) => "\\u{" + c.charCodeAt(0).toString(16) + "}").replace(/(\p{M}{8})\p{M}+/gu, "$1");
}

// clipped is a text of at most a number of characters as people count them.
const segmenter = window.Intl && Intl.Segmenter ? new Intl.Segmenter() : null;
function clipped(text, limit) {
  const line = shown(text.slice(0, limit * 12)).replace(/\s+/g, " ").trim();
  const parts = segmenter ? Array.from(segmenter.segment(line), (s) => s.segment) : Array.from(line);
  return parts.length > limit ? parts.slice(0, limit).join("") + "\u2026" : line;
}

// element makes an element; children are elements or texts.
function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "onclick") made.addEventListener("click", value);
    else if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((c) => c !== null));
  return made;
}

// words is a text of the graph, which may be of any direction.
const words = (text, attributes) => element("bdi", attributes || {}, shown(text));

function count(n, one, many) {
  return n.toLocaleString("en") + " " + (n === 1 ? one : many || one + "s");
}

// The types of entities, the most frequent first: nine have a colour of their own.
function tally(items) {
  const counts = new Map();
  for (const item of items) counts.set(item, (counts.get(item) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}
const entityTypes = tally(graph.entities.map((e) => e.type));
const relationshipTypes = tally(graph.relationships.map((r) => r.type));
const colorOf = new Map(entityTypes.map(([type], i) => [type, Math.min(i, 9)]));

const typeColor = graph.entities.map((e) => colorOf.get(e.type));

const degree = new Int32Array(graph.entities.length);
const touching = graph.entities.map(() => []);
graph.relationships.forEach((r, i) => {
  degree[r.source]++;
  touching[r.source].push(i);
  if (r.target === r.source) return;
  degree[r.target]++;
  touching[r.target].push(i);
});

// A document goes by its title; by its id too if others have the same title.
const titled = new Map(tally(graph.documents.map((d) => d.title || d.id)));
function documentName(at) {
  const { id, title } = graph.documents[at];
  return title && titled.get(title) > 1 ? title + " (" + id + ")" : title || id;
}
