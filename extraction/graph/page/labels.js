// Labels stand where there is room for them, the most important first.
const MOST_LABELS = 160;
const labelOf = new Map();

function labelText(key, text, limit) {
  if (!labelOf.has(key)) labelOf.set(key, clipped(text, limit));
  return labelOf.get(key);
}

// Room remembers which parts of the drawing are taken.
class Room {
  constructor() { this.cells = new Map(); }

  take(left, top, right, bottom) {
    const keys = [];
    for (let cx = Math.floor(left / 80); cx <= Math.floor(right / 80); cx++) {
      for (let cy = Math.floor(top / 40); cy <= Math.floor(bottom / 40); cy++) keys.push(cx + " " + cy);
    }
    for (const key of keys) {
      for (const b of this.cells.get(key) || []) {
        if (left < b[2] && right > b[0] && top < b[3] && bottom > b[1]) return false;
      }
    }
    for (const key of keys) {
      if (!this.cells.has(key)) this.cells.set(key, []);
      this.cells.get(key).push([left, top, right, bottom]);
    }
    return true;
  }
}

function drawLabels(focus, near, far) {
  const room = new Room();
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  const put = (text, x, y, color, must) => {
    if (!text || !inSight(x, y)) return false;
    const half = pen.measureText(text).width / 2 + 3;
    x = Math.max(half + 2, Math.min(view.width - half - 2, x)); // not cut at the edge
    if (!room.take(x - half, y - 9, x + half, y + 9) && !must) return false;
    pen.globalAlpha = 1;
    pen.lineWidth = 4;
    pen.strokeStyle = colors.ground;
    pen.strokeText(text, x, y);
    pen.fillStyle = color;
    pen.fillText(text, x, y);
    return true;
  };
  // A label stands below its node, or else above it.
  const entity = (i, must) => {
    const text = labelText("e" + i, graph.entities[i].name, 28), x = screenX(i), y = screenY(i), away = radius(i) + 11;
    if (x < 0 || x > view.width) return false;
    return put(text, x, y + away, colors.ink, false) || put(text, x, y - away, colors.ink, false) || (must && put(text, x, y + away, colors.ink, true));
  };
  const middle = (link) => {
    const [cx, cy] = bendOf(link);
    return [(screenX(link.source) + screenX(link.target) + 2 * cx) / 4, (screenY(link.source) + screenY(link.target) + 2 * cy) / 4];
  };
  const relation = (link, color, must) => {
    const [x, y] = middle(link);
    return put(labelText("r" + link.at, graph.relationships[link.at].type.replaceAll("_", " "), 28), x, y, color, must);
  };
  const font = (weight, size) => { pen.font = weight + " " + size + "px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"; };

  font(500, 11);
  if (near.length === 1) relation(near[0], colors.accent, true);
  font(600, 13);
  if (hovered !== null && drawn.includes(hovered)) entity(hovered, true);
  if (focus && focus.main.size <= 2) for (const i of focus.main) if (i !== hovered) entity(i, true);
  font(500, 12);
  let left = MOST_LABELS;
  if (focus) {
    for (const i of focus.nodes) if (!focus.main.has(i) && left-- > 0) entity(i);
    if (focus.main.size > 2) for (const i of focus.main) if (left-- > 0) entity(i);
    font(500, 11);
    if (near.length > 1 && near.length <= 40) near.forEach((link) => relation(link, colors.accent, false));
    return;
  }
  const inOrder = drawn.filter((i) => inSight(screenX(i), screenY(i))).sort((a, b) => degree[b] - degree[a] || a - b);
  const most = view.scale < 0.25 ? 40 : left;
  for (const i of inOrder.slice(0, 600)) {
    if (left <= MOST_LABELS - most) break;
    if (entity(i)) left--;
  }
  font(400, 11);
  if (far.length > 250 || view.scale < 0.55) return;
  for (const link of far) {
    const length = Math.hypot(screenX(link.source) - screenX(link.target), screenY(link.source) - screenY(link.target));
    if (length > 70) relation(link, colors.soft);
  }
}
