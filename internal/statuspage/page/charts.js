// The charts of the last hour: lines and spreads, in SVG.

import { el, say, svg } from "./dom.js";
import { count, hourMinute, round, span } from "./format.js";

const height = 150, left = 46, right = 8, top = 8, bottom = 22;
const inner = height - top - bottom;

// Chart is {title, unit(value), series: [{name, className, points(history), spread}], log}.
// points are [[time, value or null]], oldest first; null is a gap. Those of a spread are
// [time, median, 95th percentile], drawn as a dot and a bar above it.
export class Chart {
  constructor(root, config) {
    Object.assign(this, config);
    this.reading = el("p", { class: "reading" });
    this.area = el("div", { class: "plot" });
    this.figure = el("figure", {}, el("figcaption", {}, el("h3", {}, config.title), this.reading), this.area,
      el("p", { class: "legend" }, ...config.series.map(s => el("span", { class: `key ${s.className}` }, s.name))));
    this.note = el("p", { class: "soft small" }, config.note ?? "");
    this.figure.append(this.note);
    root.append(this.figure);
    // Its width is asked for only when it changes: to read it after a change of the page
    // would make the browser lay all of it out at once.
    new ResizeObserver(([e]) => { this.width = Math.round(e.contentRect.width); this.draw(); }).observe(this.area);
    this.area.addEventListener("pointermove", e => this.point(e.clientX - this.area.getBoundingClientRect().left));
    this.area.addEventListener("pointerleave", () => this.point(null));
  }

  update(history) {
    this.end = Date.parse(history.at);
    this.kept = history.kept_ms;
    this.lines = this.series.map(s => ({ ...s, data: s.points(history) }));
    this.draw();
  }

  x(t) { return left + (this.width - left - right) * (1 - (this.end - t) / this.kept); }

  y(v) {
    if (this.log) return top + inner * (1 - (Math.log10(Math.max(v, this.low)) - Math.log10(this.low)) / (Math.log10(this.high) - Math.log10(this.low)));
    return top + inner * (1 - v / this.high);
  }

  draw() {
    if (!this.lines || !(this.width >= 80)) return;
    const values = this.lines.flatMap(s => s.data.flatMap(p => p.slice(1))).filter(v => v !== null);
    const most = values.length ? Math.max(...values) : 0;
    let ticks;
    if (this.log) {
      ticks = rungs(values);
      [this.low, this.high] = [ticks[0], ticks.at(-1)];
      while (ticks.length > 5) ticks = ticks.filter((_, i) => i % 2 === 0);
    } else {
      const step = nice(Math.max(most, 1) / 3);
      this.high = Math.max(step, Math.ceil(most / step) * step);
      ticks = [];
      for (let v = 0; v <= this.high * 1.001; v += step) ticks.push(v);
    }
    const drawing = svg("svg", { width: this.width, height, viewBox: `0 0 ${this.width} ${height}`, role: "img", "aria-label": this.summary() });
    for (const v of ticks) {
      const y = Math.round(this.y(v)) + 0.5;
      drawing.append(svg("line", { class: "grid", x1: left, x2: this.width - right, y1: y, y2: y }),
        svg("text", { class: "tick", x: left - 6, y: y + 4, "text-anchor": "end" }, this.log ? span(v) : count(v)));
    }
    const marks = this.width < 420 ? 2 : 4;
    for (let i = 0; i <= marks; i++) {
      const t = this.end - this.kept * (1 - i / marks);
      drawing.append(svg("text", { class: "tick", x: this.x(t), y: height - 5, "text-anchor": i === 0 ? "start" : i === marks ? "end" : "middle" }, hourMinute(t)));
    }
    for (const s of this.lines) drawing.append(s.spread ? this.spread(s) : this.line(s));
    this.cross = svg("line", { class: "cross", y1: top, y2: top + inner, visibility: "hidden" });
    drawing.append(this.cross);
    if (!values.length) drawing.append(svg("text", { class: "tick", x: this.width / 2, y: top + inner / 2, "text-anchor": "middle" }, "nothing yet"));
    this.area.replaceChildren(drawing);
    this.point(null);
  }

  line(s) {
    let path = "", area = "", run = [];
    const flush = () => {
      if (run.length === 1) path += `M${run[0][0] - 1},${run[0][1]}h2`;
      if (run.length > 1) {
        path += `M${run.map(p => p.join(",")).join("L")}`;
        area += `M${run[0][0]},${top + inner}L${run.map(p => p.join(",")).join("L")}L${run.at(-1)[0]},${top + inner}Z`;
      }
      run = [];
    };
    for (const [t, v] of s.data) {
      if (v === null) flush();
      else run.push([this.x(t).toFixed(1), this.y(v).toFixed(1)]);
    }
    flush();
    return svg("g", { class: s.className }, svg("path", { class: "fill", d: area }), svg("path", { class: "stroke", d: path }));
  }

  spread(s) {
    const known = s.data.filter(p => p[1] !== null), path = (of, name) => svg("path", { class: name, d: known.map(of).join("") });
    return svg("g", { class: s.className },
      path(([t, median, p95]) => `M${this.x(t).toFixed(1)},${this.y(median).toFixed(1)}V${this.y(p95).toFixed(1)}`, "bars"),
      path(([t, median]) => `M${this.x(t).toFixed(1)},${this.y(median).toFixed(1)}h0`, "dots"));
  }

  // point reads the values at a place, or the last ones.
  point(x) {
    if (!this.lines || !this.cross) return;
    const t = x === null ? this.end : this.end - this.kept * (1 - (x - left) / (this.width - left - right));
    let found = null;
    const parts = this.lines.map(s => {
      const at = nearest(s.data, t, x === null);
      if (at) found = at[0];
      return at ? `${s.name} ${s.spread ? `p50 ${this.unit(at[1])}, p95 ${this.unit(at[2])}` : this.unit(at[1])}` : null;
    }).filter(Boolean);
    say(this.reading, parts.length ? `${x === null ? "" : `${hourMinute(found)}: `}${parts.join(" · ")}` : "");
    if (x === null || found === null) this.cross.setAttribute("visibility", "hidden");
    else {
      this.cross.setAttribute("x1", this.x(found));
      this.cross.setAttribute("x2", this.x(found));
      this.cross.setAttribute("visibility", "visible");
    }
  }

  // summary is the chart for who does not see it.
  summary() {
    return this.lines.map(s => {
      const known = s.data.filter(p => p[1] !== null).map(p => p[1]);
      if (!known.length) return `${s.name}: nothing known.`;
      return `${s.name}${s.spread ? ", median" : ""}: last ${this.unit(known.at(-1))}, least ${this.unit(Math.min(...known))}, most ${this.unit(Math.max(...known))}.`;
    }).join(" ");
  }
}

// nearest is the known point that is nearest to t, within two minutes unless any will do.
function nearest(data, t, any) {
  let best = null;
  for (const p of data) if (p[1] !== null && (!best || Math.abs(p[0] - t) <= Math.abs(best[0] - t))) best = p;
  return best && (any || Math.abs(best[0] - t) < 120e3) ? best : null;
}

function nice(step) {
  const power = 10 ** Math.floor(Math.log10(step));
  const n = step / power;
  return Math.max(1, (n <= 1 ? 1 : n <= 2 ? 2 : n <= 5 ? 5 : 10) * power);
}

// ladder are times that people count in.
const ladder = [1, 10, 100, 1e3, 10e3, 60e3, 600e3, 3600e3, 6 * 3600e3, 86400e3, 7 * 86400e3, 70 * 86400e3, 700 * 86400e3];

// rungs are those that the values lie between, at least two.
function rungs(values) {
  const least = values.length ? Math.min(...values) : 100, most = values.length ? Math.max(...values) : 10e3;
  const first = Math.max(0, ladder.findLastIndex(v => v <= least)), last = ladder.findIndex(v => v >= most);
  return ladder.slice(first, Math.max(first + 1, last < 0 ? ladder.length - 1 : last) + 1);
}

// perMinute makes of counts between samples a rate, over three samples at a time.
export const perMinute = field => history => {
  const points = [];
  const samples = history.samples;
  for (let i = 0; i < samples.length; i += 3) {
    const group = samples.slice(i, i + 3).filter(s => s[field] !== null);
    const sum = group.reduce((n, s) => n + s[field], 0);
    points.push([Date.parse(samples[Math.min(i + 2, samples.length - 1)].at), group.length ? sum / (group.length * history.every_ms) * 60e3 : null]);
  }
  return withGaps(points, history.every_ms * 9);
};

export const level = field => history => withGaps(history.samples.map(s => [Date.parse(s.at), s[field]]), history.every_ms * 3);

// spread are a median and a 95th percentile of each sample that has them.
export const spread = field => history => history.samples.map(s => [Date.parse(s.at), s[field]?.p50_ms ?? null, s[field]?.p95_ms ?? null]);

// withGaps breaks a line where nobody looked, as while the machine slept.
function withGaps(points, most) {
  const out = [];
  for (const p of points) {
    if (out.length && p[0] - out.at(-1)[0] > most) out.push([p[0] - 1, null]);
    out.push(p);
  }
  return out;
}

export const rate = v => `${v >= 10 ? count(Math.round(v)) : Number(v.toFixed(1))} per minute`;
export const ago = ms => `${round(ms)} ago`;
