// Draws time series and states as SVG.

import { format, ticks } from "./units.js";

const palette = ["#73bf69", "#f2cc0c", "#5794f2", "#ff9830", "#f2495c", "#b877d9", "#8ab8ff", "#fade2a", "#ffa6b0", "#96d98d", "#ca95e5", "#ffcb7d"];
const named = { green: "#37872d", red: "#c4162a", yellow: "#e0a800", orange: "#ff780a", blue: "#3274d9", purple: "#a352cc", transparent: "transparent" };

export const colorOf = (name) => named[name] ?? name;
export const seriesColor = (i) => palette[i % palette.length];

const element = (name, attributes = {}, text) => {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  if (text !== undefined) e.textContent = text;
  return e;
};

const intervals = [15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 28800];

// clock returns a time of day, with seconds if the interval between times has them.
const clock = (at, interval) => new Date(at * 1000).toISOString().slice(11, interval % 60 ? 19 : 16);

// frame creates an SVG of the size of its parent, with the axis of time, and returns it with the scale.
const frame = (parent, { start, end }, left, bottom = 16) => {
  const { width, height } = parent.getBoundingClientRect();
  const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none" });
  const right = width - 6, floor = height - bottom;
  const x = (at) => left + ((at - start) / (end - start)) * (right - left);
  const rough = (end - start) / Math.max(2, Math.floor((right - left) / 70));
  const step = intervals.find((s) => s >= rough) ?? 86400;
  for (let at = Math.ceil(start / step) * step; at <= end; at += step) {
    if (x(at) - left > 20 && right - x(at) > 20) svg.append(element("text", { x: x(at), y: height - 3, "text-anchor": "middle" }, clock(at, step)));
  }
  return { svg, x, left, right, floor, width, height };
};

// spans draws annotations: a band from the first to the last time of each.
const spans = (f, annotations) => {
  for (const a of annotations) {
    const from = Math.max(f.left, f.x(a.from)), to = Math.min(f.right, Math.max(f.x(a.to), from + 1));
    if (to < f.left || from > f.right) continue;
    const band = element("g", { class: "annotation" });
    band.append(element("rect", { x: from, y: 4, width: to - from, height: f.floor - 4, fill: colorOf(a.color), opacity: 0.18 }));
    band.append(element("line", { x1: from, x2: from, y1: 4, y2: f.floor, stroke: colorOf(a.color), "stroke-dasharray": "2 2" }));
    band.append(element("title", {}, a.title));
    f.svg.append(band);
  }
};

// lines draws series with points, gaps where two points are further apart than gap seconds, and thresholds.
export const lines = (parent, series, { time, unit, min, max, thresholds, annotations, gap }) => {
  const values = series.flatMap((s) => s.points.map((p) => p[1])).filter(Number.isFinite);
  const highest = Math.max(...values, ...(min === 0 ? [0] : []));
  let low = min ?? Math.min(...values), high = max ?? highest;
  if (high - low < 1e-12) high = low + (Math.abs(low) || 1);
  if (max === undefined) high += (high - low) * 0.06;
  const marks = ticks(low, high, unit);
  const left = Math.min(90, 12 + 6 * Math.max(...marks.map((m) => format(m, unit).length)));
  const f = frame(parent, time, left);
  const y = (value) => f.floor - ((value - low) / (high - low)) * (f.floor - 6);
  for (const mark of marks) {
    f.svg.append(element("line", { class: "grid", x1: left, x2: f.right, y1: y(mark), y2: y(mark) }));
    f.svg.append(element("text", { x: left - 4, y: y(mark) + 3, "text-anchor": "end" }, format(mark, unit)));
  }
  spans(f, annotations);
  for (const t of thresholds.filter((t) => t.value !== null && t.value >= low && t.value <= high)) {
    f.svg.append(element("line", { x1: left, x2: f.right, y1: y(t.value), y2: y(t.value), stroke: colorOf(t.color), "stroke-dasharray": "6 4" }));
  }
  series.forEach((s, i) => {
    let d = "", before = -Infinity;
    for (const [at, value] of s.points) {
      if (!Number.isFinite(value)) continue;
      d += `${at - before > gap ? "M" : "L"}${f.x(at).toFixed(1)},${y(value).toFixed(1)}`;
      if (at - before > gap) d += "h0.01"; // a single point is visible too
      before = at;
    }
    f.svg.append(element("path", { class: "series", d, fill: "none", stroke: seriesColor(i), "stroke-width": 1.4, "stroke-linecap": "round" }));
  });
  parent.append(f.svg);
  return f;
};

// states draws a row for each series, with a rectangle for each run of equal values.
export const states = (parent, series, { time, look, step }) => {
  const left = Math.min(170, 12 + 6 * Math.max(...series.map((s) => s.name.length)));
  const f = frame(parent, time, left);
  const height = f.floor / series.length;
  series.forEach((s, i) => {
    f.svg.append(element("text", { x: left - 6, y: i * height + height / 2 + 3, "text-anchor": "end" }, s.name));
    for (const run of runsOf(s.points, step * 1.5)) {
      const { text, color } = look(run.value);
      const rect = element("rect", {
        class: "series", x: f.x(run.from), y: i * height + 1, height: Math.max(2, height - 2),
        width: Math.max(1, Math.min(f.x(run.to + step), f.right) - f.x(run.from)), fill: colorOf(color), "fill-opacity": 0.8,
      });
      rect.append(element("title", {}, `${s.name}: ${text}\n${clock(run.from, 1)} to ${clock(run.to, 1)}`));
      f.svg.append(rect);
    }
  });
  parent.append(f.svg);
};

const runsOf = (points, gap) => {
  const runs = [];
  for (const [at, value] of points) {
    const last = runs.at(-1);
    if (last && last.value === value && at - last.to <= gap) last.to = at;
    else runs.push({ from: at, to: at, value });
  }
  return runs;
};

// follow shows the values at the pointer.
export const follow = (panel, f, series, { time, unit, gap }) => {
  const cursor = element("line", { class: "cursor", y1: 4, y2: f.floor });
  f.svg.append(cursor);
  const tip = document.createElement("div");
  tip.className = "tip";
  f.svg.addEventListener("mouseleave", () => { tip.remove(); cursor.style.visibility = "hidden"; });
  f.svg.addEventListener("mousemove", (event) => {
    const box = f.svg.getBoundingClientRect(), x = event.clientX - box.left;
    if (x < f.left || x > f.right) return;
    const at = time.start + ((x - f.left) / (f.right - f.left)) * (time.end - time.start);
    cursor.setAttribute("x1", x); cursor.setAttribute("x2", x);
    cursor.style.visibility = "visible";
    const rows = series.map((s, i) => ({ name: s.name, i, value: nearest(s.points, at, gap) })).filter((r) => r.value !== undefined);
    rows.sort((a, b) => b.value - a.value);
    tip.replaceChildren(clock(at, 1), ...rows.slice(0, 10).map((r) => row(r, unit)));
    panel.append(tip);
    const around = panel.getBoundingClientRect();
    tip.style.top = event.clientY - around.top + 12 + "px";
    tip.style.left = Math.min(event.clientX - around.left + 12, around.width - tip.offsetWidth - 4) + "px";
  });
};

const row = (r, unit) => {
  const div = document.createElement("div");
  const swatch = document.createElement("span");
  swatch.className = "swatch";
  swatch.style.background = seriesColor(r.i);
  div.append(swatch, `${r.name}: ${format(r.value, unit)}`);
  return div;
};

const nearest = (points, at, gap) => {
  let best;
  for (const p of points) if (Math.abs(p[0] - at) <= gap && (!best || Math.abs(p[0] - at) < Math.abs(best[0] - at))) best = p;
  return best?.[1];
};
