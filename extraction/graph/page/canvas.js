// The drawing. Places are in the graph's own units; view turns them into pixels.
const canvas = byId("canvas"), pen = canvas.getContext("2d");
const px = new Float64Array(graph.entities.length).fill(NaN);
const py = new Float64Array(graph.entities.length).fill(NaN);
const layout = new Layout(px, py);
const view = { scale: 1, x: 0, y: 0, width: 1, height: 1, moved: false };
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
let colors = {}, pending = false, hovered = null;

const screenX = (i) => px[i] * view.scale + view.x;
const screenY = (i) => py[i] * view.scale + view.y;
const radius = (i) => Math.min(14, 4.5 + 1.6 * Math.sqrt(degree[i])) * Math.min(1.25, Math.max(0.45, Math.sqrt(view.scale)));

function readColors() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(name).trim();
  colors = { ground: get("--ground"), ink: get("--ink"), soft: get("--soft"), edge: get("--edge"), accent: get("--accent"), types: [] };
  for (let i = 0; i < 10; i++) colors.types.push(get("--c" + i));
}

function fit() {
  if (drawn.length === 0) return;
  let left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
  for (const i of drawn) {
    left = Math.min(left, px[i]);
    right = Math.max(right, px[i]);
    top = Math.min(top, py[i]);
    bottom = Math.max(bottom, py[i]);
  }
  const across = view.width - 170, down = view.height - 110;
  view.scale = Math.max(0.02, Math.min(1.6, across / Math.max(1, right - left), down / Math.max(1, bottom - top)));
  view.x = view.width / 2 - ((left + right) / 2) * view.scale;
  view.y = view.height / 2 - ((top + bottom) / 2) * view.scale;
  view.moved = false;
}

function zoom(factor, atX = view.width / 2, atY = view.height / 2) {
  const scale = Math.max(0.02, Math.min(8, view.scale * factor));
  view.x = atX - ((atX - view.x) * scale) / view.scale;
  view.y = atY - ((atY - view.y) * scale) / view.scale;
  view.scale = scale;
  view.moved = true;
  redraw();
}

// reveal brings entities into the middle if they are not well in sight.
function reveal(...entities) {
  const inside = (i) => screenX(i) > 40 && screenX(i) < view.width - 40 && screenY(i) > 40 && screenY(i) < view.height - 40;
  const known = entities.filter((i) => !Number.isNaN(px[i]));
  if (known.length === 0 || known.every(inside)) return;
  view.scale = Math.max(view.scale, 0.6);
  view.x = view.width / 2 - (known.reduce((sum, i) => sum + px[i], 0) / known.length) * view.scale;
  view.y = view.height / 2 - (known.reduce((sum, i) => sum + py[i], 0) / known.length) * view.scale;
  view.moved = true;
}

function resize() {
  const box = byId("stage").getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
  view.width = Math.max(1, box.width);
  view.height = Math.max(1, box.height);
  canvas.width = Math.round(view.width * ratio);
  canvas.height = Math.round(view.height * ratio);
  if (!view.moved) fit();
  redraw();
}

function redraw() {
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => {
    pending = false;
    draw();
  });
}

// bendOf is the point that a link's curve is drawn towards.
function bendOf(link) {
  const ax = screenX(link.source), ay = screenY(link.source), bx = screenX(link.target), by = screenY(link.target);
  const length = Math.hypot(bx - ax, by - ay) || 1;
  const bend = 2 * link.bend * Math.min(1.5, view.scale);
  return [(ax + bx) / 2 - ((by - ay) / length) * bend, (ay + by) / 2 + ((bx - ax) / length) * bend];
}

function trace(link) {
  const ax = screenX(link.source), ay = screenY(link.source);
  if (link.source === link.target) {
    const r = radius(link.source) + 8;
    pen.moveTo(ax + r, ay - r);
    pen.arc(ax, ay - r, r, 0, 2 * Math.PI);
    return;
  }
  const [cx, cy] = bendOf(link);
  pen.moveTo(ax, ay);
  if (link.bend === 0) pen.lineTo(screenX(link.target), screenY(link.target));
  else pen.quadraticCurveTo(cx, cy, screenX(link.target), screenY(link.target));
}

function arrow(link) {
  if (link.source === link.target) return;
  const [cx, cy] = bendOf(link);
  const bx = screenX(link.target), by = screenY(link.target), angle = Math.atan2(by - cy, bx - cx);
  const gap = radius(link.target) + 2, x = bx - gap * Math.cos(angle), y = by - gap * Math.sin(angle);
  pen.moveTo(x, y);
  pen.lineTo(x - 8 * Math.cos(angle - 0.4), y - 8 * Math.sin(angle - 0.4));
  pen.lineTo(x - 8 * Math.cos(angle + 0.4), y - 8 * Math.sin(angle + 0.4));
  pen.closePath();
}

const inSight = (x, y) => x > -60 && x < view.width + 60 && y > -60 && y < view.height + 60;

// strokeLinks draws links of one look in one go.
function strokeLinks(some, color, width, alpha, arrows) {
  if (some.length === 0) return;
  pen.globalAlpha = alpha;
  pen.strokeStyle = pen.fillStyle = color;
  pen.lineWidth = width;
  pen.beginPath();
  some.forEach(trace);
  pen.stroke();
  if (!arrows) return;
  pen.beginPath();
  some.forEach(arrow);
  pen.fill();
}

function draw() {
  const ratio = window.devicePixelRatio || 1;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, view.width, view.height);
  const focus = focused();
  const far = [], near = [];
  for (const link of links) {
    if (focus && focus.links.has(link.at)) near.push(link);
    else if (inSight(screenX(link.source), screenY(link.source)) || inSight(screenX(link.target), screenY(link.target))) far.push(link);
  }
  const arrows = far.length < 1500 && view.scale > 0.3;
  strokeLinks(far, colors.edge, far.length > 3000 ? 0.6 : 1.1, focus ? 0.22 : far.length > 3000 ? 0.5 : 0.85, arrows && !focus);
  strokeLinks(near, colors.accent, 2, 1, true);
  drawNodes(focus);
  drawLabels(focus, near, far);
  pen.globalAlpha = 1;
}

// focused is what stands out: what is selected with its neighbours, or else what
// the search has found.
function focused() {
  if (selection && selection.entity !== undefined) {
    const around = touching[selection.entity].filter((i) => relationshipOn[i]);
    const nodes = new Set([selection.entity]);
    for (const i of around) nodes.add(graph.relationships[i].source).add(graph.relationships[i].target);
    return { nodes, links: new Set(around), main: new Set([selection.entity]) };
  }
  if (selection) {
    const r = graph.relationships[selection.relationship];
    const ends = new Set([r.source, r.target]);
    return { nodes: ends, links: new Set([selection.relationship]), main: ends };
  }
  if (!matches) return null;
  const found = new Set(drawn.filter((i) => matches[i]));
  return { nodes: found, links: new Set(), main: found };
}

function drawNodes(focus) {
  const dim = colors.types.map(() => []), bright = colors.types.map(() => []);
  for (const i of drawn) {
    if (inSight(screenX(i), screenY(i))) (focus && !focus.nodes.has(i) ? dim : bright)[typeColor[i]].push(i);
  }
  for (const [groups, alpha] of [[dim, 0.25], [bright, 1]]) {
    pen.globalAlpha = alpha;
    groups.forEach((group, color) => {
      pen.fillStyle = colors.types[color];
      pen.beginPath();
      for (const i of group) circle(screenX(i), screenY(i), radius(i));
      pen.fill();
    });
  }
  for (const i of [...(focus && focus.main.size < 200 ? focus.main : []), ...(hovered === null ? [] : [hovered])]) {
    const x = screenX(i), y = screenY(i);
    const main = focus && focus.main.has(i);
    pen.globalAlpha = 1;
    pen.strokeStyle = main ? colors.accent : colors.ink;
    pen.lineWidth = 2;
    pen.beginPath();
    circle(x, y, radius(i) + 3);
    pen.stroke();
  }
}

function circle(x, y, r) {
  pen.moveTo(x + r, y);
  pen.arc(x, y, r, 0, 2 * Math.PI);
}
