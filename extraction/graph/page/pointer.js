// Pointers, wheel and keys on the drawing.
function nearestEntity(x, y) {
  let best = null, bestDistance = Infinity;
  for (const i of drawn) {
    const distance = Math.hypot(screenX(i) - x, screenY(i) - y) - radius(i);
    if (distance < 5 && distance < bestDistance) [best, bestDistance] = [i, distance];
  }
  return best;
}

function nearestLink(x, y) {
  let best = null, bestDistance = 7;
  for (const link of links) {
    const ax = screenX(link.source), ay = screenY(link.source), bx = screenX(link.target), by = screenY(link.target);
    const [cx, cy] = bendOf(link);
    let fromX = ax, fromY = ay;
    for (let s = 1; s <= 12; s++) {
      const t = s / 12, u = 1 - t;
      const toX = u * u * ax + 2 * u * t * cx + t * t * bx, toY = u * u * ay + 2 * u * t * cy + t * t * by;
      const distance = fromSegment(x, y, fromX, fromY, toX, toY);
      if (distance < bestDistance) [best, bestDistance] = [link.at, distance];
      [fromX, fromY] = [toX, toY];
    }
  }
  return best;
}

function fromSegment(x, y, ax, ay, bx, by) {
  const dx = bx - ax, dy = by - ay;
  const t = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - ax - t * dx, y - ay - t * dy);
}

const pointers = new Map(); // what touches the drawing now
let dragged = 0;

function place(event) {
  const box = canvas.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

canvas.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  if (event.isTrusted) canvas.setPointerCapture(event.pointerId);
  if (pointers.size === 0) dragged = 0;
  pointers.set(event.pointerId, place(event));
});

canvas.addEventListener("pointermove", (event) => {
  const now = place(event), before = pointers.get(event.pointerId);
  if (!before) {
    hover(now);
    return;
  }
  const others = [...pointers].filter(([id]) => id !== event.pointerId);
  pointers.set(event.pointerId, now);
  dragged += Math.hypot(now.x - before.x, now.y - before.y);
  if (others.length > 0) {
    const other = others[0][1];
    const factor = Math.hypot(now.x - other.x, now.y - other.y) / (Math.hypot(before.x - other.x, before.y - other.y) || 1);
    zoom(factor, (now.x + other.x) / 2, (now.y + other.y) / 2);
    return;
  }
  if (dragged < 5) return;
  view.x += now.x - before.x;
  view.y += now.y - before.y;
  view.moved = true;
  redraw();
});

canvas.addEventListener("pointerup", (event) => {
  if (!pointers.delete(event.pointerId) || dragged >= 5 || pointers.size > 0) return;
  const { x, y } = place(event);
  const entity = nearestEntity(x, y), relationship = entity === null ? nearestLink(x, y) : null;
  if (entity !== null) select({ entity });
  else if (relationship !== null) select({ relationship });
  else select(null);
});
canvas.addEventListener("pointercancel", (event) => pointers.delete(event.pointerId));
canvas.addEventListener("pointerleave", () => {
  if (hovered === null) return;
  hovered = null;
  redraw();
});

function hover({ x, y }) {
  const entity = nearestEntity(x, y);
  canvas.classList.toggle("over", entity !== null || (links.length < 3000 && nearestLink(x, y) !== null));
  if (entity === hovered) return;
  hovered = entity;
  redraw();
}

canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const { x, y } = place(event);
  zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0015)), x, y);
}, { passive: false });

canvas.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
  if (moves[event.key]) {
    view.x += moves[event.key][0];
    view.y += moves[event.key][1];
    view.moved = true;
    redraw();
  } else if (event.key === "+" || event.key === "=") zoom(1.25);
  else if (event.key === "-") zoom(0.8);
  else if (event.key === "0") showAll();
  else return;
  event.preventDefault();
});

function showAll() {
  fit();
  redraw();
}
byId("zoom-in").addEventListener("click", () => zoom(1.35));
byId("zoom-out").addEventListener("click", () => zoom(1 / 1.35));
byId("zoom-fit").addEventListener("click", showAll);
