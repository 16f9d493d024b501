// Layout places nodes by force: all repel each other, relationships pull, and a
// weak pull to the middle keeps parts that are not related in sight. Repulsion is
// summed over a quadtree, so that a step of n nodes takes n log n. Nodes without
// any relationship stand in rows below the others.
class Layout {
  constructor(x, y) {
    this.x = x;
    this.y = y;
    this.vx = new Float64Array(x.length);
    this.vy = new Float64Array(x.length);
    this.alpha = 0;
    this.tree = new QuadTree(x.length);
  }

  // start begins anew with some of the nodes and the links among them.
  start(nodes, links) {
    this.links = links;
    this.alpha = 1;
    this.vx.fill(0);
    this.vy.fill(0);
    this.degree = new Int32Array(this.x.length);
    for (const l of links) {
      this.degree[l.source]++;
      this.degree[l.target]++;
    }
    this.nodes = nodes.filter((n) => this.degree[n] > 0);
    this.alone = nodes.filter((n) => this.degree[n] === 0);
    // A spiral: no two begin in one place, and the same graph looks the same again.
    this.nodes.forEach((n, i) => {
      if (!Number.isNaN(this.x[n])) return;
      const radius = 14 * Math.sqrt(i + 0.5), angle = i * Math.PI * (3 - Math.sqrt(5));
      this.x[n] = radius * Math.cos(angle);
      this.y[n] = radius * Math.sin(angle);
    });
    this.arrange();
  }

  bounds() {
    let left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
    for (const n of this.nodes) {
      left = Math.min(left, this.x[n]);
      right = Math.max(right, this.x[n]);
      top = Math.min(top, this.y[n]);
      bottom = Math.max(bottom, this.y[n]);
    }
    return this.nodes.length > 0 ? { left, right, top, bottom } : { left: 0, right: 0, top: 0, bottom: 0 };
  }

  arrange() {
    const { left, right, bottom } = this.bounds(), across = 150, down = 52;
    const columns = Math.max(1, Math.round(Math.max((right - left) / across, Math.sqrt((this.alone.length * down * 2) / across))));
    const used = Math.min(columns, this.alone.length);
    this.alone.forEach((n, i) => {
      this.x[n] = (left + right) / 2 + ((i % columns) - (used - 1) / 2) * across;
      this.y[n] = bottom + 110 + Math.floor(i / columns) * down;
    });
  }

  get done() { return this.alpha < 0.004; }

  step() {
    const { x, y, vx, vy, degree: linked, nodes } = this;
    this.alpha *= this.nodes.length > 1500 ? 0.955 : 0.977; // about 120 or 240 steps
    for (const l of this.links) {
      const a = l.source, b = l.target;
      if (a === b) continue;
      const dx = x[b] + vx[b] - x[a] - vx[a], dy = y[b] + vy[b] - y[a] - vy[a];
      const distance = Math.hypot(dx, dy) || 1;
      const pull = ((distance - 110) / distance) * this.alpha / Math.min(linked[a], linked[b]);
      const share = linked[a] / (linked[a] + linked[b]);
      vx[b] -= dx * pull * share;
      vy[b] -= dy * pull * share;
      vx[a] += dx * pull * (1 - share);
      vy[a] += dy * pull * (1 - share);
    }
    this.tree.build(x, y, nodes, this.bounds());
    const strength = 420 * this.alpha;
    for (const n of nodes) {
      this.tree.repel(n, x, y, vx, vy, strength);
      vx[n] -= x[n] * 0.06 * this.alpha;
      vy[n] -= y[n] * 0.06 * this.alpha;
    }
    for (const n of nodes) {
      vx[n] *= 0.6;
      vy[n] *= 0.6;
      x[n] += vx[n];
      y[n] += vy[n];
    }
    this.arrange();
  }
}

// QuadTree sums bodies by squares, each divided into four.
class QuadTree {
  constructor(bodies) {
    const cells = Math.max(64, bodies * 8);
    this.kids = new Int32Array(cells); // first of four, 0 for none
    this.body = new Int32Array(cells); // the only one in it, -1 for none
    this.mass = new Float64Array(cells);
    this.sumX = new Float64Array(cells);
    this.sumY = new Float64Array(cells);
    this.size = new Float64Array(cells);
    this.stack = new Int32Array(1024);
  }

  clear(cell, size) {
    this.kids[cell] = 0;
    this.body[cell] = -1;
    this.mass[cell] = this.sumX[cell] = this.sumY[cell] = 0;
    this.size[cell] = size;
  }

  build(x, y, nodes, bounds) {
    const { left, right, top, bottom } = bounds;
    const size = Math.max(right - left, bottom - top, 1);
    this.used = 1;
    this.clear(0, size);
    for (const n of nodes) this.insert(n, x, y, left + size / 2, top + size / 2, size / 4);
  }

  add(cell, n, x, y) {
    this.mass[cell]++;
    this.sumX[cell] += x[n];
    this.sumY[cell] += y[n];
  }

  insert(n, x, y, midX, midY, quarter) {
    let cell = 0;
    for (let depth = 0; ; depth++) {
      this.add(cell, n, x, y);
      if (this.kids[cell] === 0) {
        if (this.mass[cell] === 1) {
          this.body[cell] = n;
          return;
        }
        // Bodies in one place, or no room left: the cell stands for all of them.
        if (depth > 24 || this.used + 4 > this.kids.length) {
          this.body[cell] = -1;
          return;
        }
        const other = this.body[cell];
        if (other === -1) return;
        this.kids[cell] = this.used;
        for (let i = 0; i < 4; i++) this.clear(this.used++, this.size[cell] / 2);
        const kid = this.kids[cell] + (x[other] > midX ? 1 : 0) + (y[other] > midY ? 2 : 0);
        this.add(kid, other, x, y);
        this.body[kid] = other;
        this.body[cell] = -1;
      }
      const right = x[n] > midX, below = y[n] > midY;
      cell = this.kids[cell] + (right ? 1 : 0) + (below ? 2 : 0);
      midX += right ? quarter : -quarter;
      midY += below ? quarter : -quarter;
      quarter /= 2;
    }
  }

  repel(n, x, y, vx, vy, strength) {
    const { kids, body, mass, sumX, sumY, size, stack } = this;
    let depth = 1;
    stack[0] = 0;
    while (depth > 0) {
      const cell = stack[--depth];
      if (mass[cell] === 0 || body[cell] === n) continue;
      const dx = x[n] - sumX[cell] / mass[cell], dy = y[n] - sumY[cell] / mass[cell];
      const square = dx * dx + dy * dy;
      if (kids[cell] !== 0 && size[cell] * size[cell] > square * 1.2) {
        for (let i = 0; i < 4; i++) stack[depth++] = kids[cell] + i;
        continue;
      }
      if (square > 1e6 && mass[cell] < 3) continue; // far and light
      const push = (strength * mass[cell]) / Math.max(square, 30);
      vx[n] += dx * push;
      vy[n] += dy * push;
    }
  }
}
