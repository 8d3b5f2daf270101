// Draws a panel of a dashboard.

import * as chart from "./chart.js";
import * as prometheus from "./prometheus.js";
import { format } from "./units.js";

export const create = (panel) => {
  const { x, y, w, h } = panel.gridPos;
  if (panel.type === "row") {
    const heading = document.createElement("h2");
    heading.textContent = panel.title;
    return heading;
  }
  const section = document.createElement("section");
  section.className = "panel";
  section.dataset.panel = panel.id;
  section.dataset.state = "loading";
  section.style.gridColumn = `${x + 1} / span ${w}`;
  section.style.height = h * 34 + "px";
  const title = document.createElement("h3");
  title.textContent = panel.title;
  title.title = panel.description ?? "";
  const body = document.createElement("div");
  body.className = "body";
  section.append(title, body);
  return section;
};

// refresh reads the data of a panel and draws it. data-state tells the result: data, empty or failed.
export const refresh = async (section, panel, context) => {
  const body = section.querySelector(".body");
  try {
    const draw = { stat, timeseries, "state-timeline": stateTimeline }[panel.type];
    if (!draw) throw new Error(`this page cannot draw panels of type ${panel.type}`);
    section.dataset.state = await draw(section, body, panel, context);
  } catch (error) {
    section.dataset.state = "failed";
    body.replaceChildren(Object.assign(document.createElement("div"), { className: "failed", textContent: error.message }));
  }
};

const defaultsOf = (panel) => panel.fieldConfig?.defaults ?? {};

const empty = (body, panel) => {
  body.replaceChildren(Object.assign(document.createElement("div"), { className: "empty", textContent: defaultsOf(panel).noValue ?? "No data" }));
  return "empty";
};

// nameOf fills in the labels of a legend such as "{{region}} to {{home}}".
const nameOf = (target, labels) =>
  target.legendFormat ? target.legendFormat.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, label) => labels[label] ?? "") : JSON.stringify(labels);

const read = async (panel, context) => {
  const all = await Promise.all(panel.targets.map(async (target) =>
    (await prometheus.range(context.fill(target.expr), context.time)).map((s) => ({ ...s, name: nameOf(target, s.labels) }))));
  return all.flat();
};

const stepColor = (steps, value) => (steps ?? []).filter((s) => s.value === null || value >= s.value).at(-1)?.color ?? "#37872d";

// look returns the text and the color of a value by the mappings and thresholds of a panel.
const look = (defaults, value) => {
  for (const mapping of defaults.mappings ?? []) {
    const found = mapping.type === "value" && mapping.options[String(value)];
    if (found) return { text: found.text, color: found.color };
  }
  return { text: format(value, defaults.unit, defaults.decimals), color: stepColor(defaults.thresholds?.steps, value) };
};

const stat = async (_, body, panel, context) => {
  const results = await Promise.all(panel.targets.map((target) => prometheus.instant(context.fill(target.expr), context.time.end)));
  const value = results.flat()[0]?.value;
  if (value === undefined || Number.isNaN(value)) return empty(body, panel);
  const { text, color } = look(defaultsOf(panel), value);
  const box = Object.assign(document.createElement("div"), { className: "stat", textContent: text });
  box.style.background = chart.colorOf(color);
  body.replaceChildren(box);
  return "data";
};

const timeseries = async (section, body, panel, context) => {
  const series = (await read(panel, context)).filter((s) => s.points.some((p) => Number.isFinite(p[1])));
  if (series.length === 0) return empty(body, panel);
  const defaults = defaultsOf(panel), unit = defaults.unit ?? "short", gap = context.time.step * 3.5;
  const drawn = document.createElement("div");
  drawn.className = "body";
  body.replaceChildren(drawn, legend(series, unit));
  const options = {
    time: context.time, unit, gap, min: defaults.min ?? undefined, max: defaults.max ?? undefined, annotations: context.annotations,
    thresholds: defaults.custom?.thresholdsStyle?.mode === "dashed" ? defaults.thresholds.steps : [],
  };
  const f = chart.lines(drawn, series, options);
  chart.follow(section, f, series, options);
  return "data";
};

const stateTimeline = async (_, body, panel, context) => {
  const series = await read(panel, context);
  if (series.length === 0) return empty(body, panel);
  series.sort((a, b) => a.name.localeCompare(b.name));
  body.replaceChildren();
  chart.states(body, series, { time: context.time, step: context.time.step, look: (value) => look(defaultsOf(panel), value) });
  return "data";
};

// legend is a table of the series with the mean, the maximum and the last value.
const legend = (series, unit) => {
  const box = document.createElement("div");
  box.className = "legend";
  const table = document.createElement("table");
  const head = table.insertRow();
  for (const text of ["", "mean", "max", "last"]) head.append(Object.assign(document.createElement("th"), { textContent: text }));
  series.forEach((s, i) => {
    const values = s.points.map((p) => p[1]).filter(Number.isFinite), row = table.insertRow(), name = row.insertCell();
    const swatch = Object.assign(document.createElement("span"), { className: "swatch" });
    swatch.style.background = chart.seriesColor(i);
    name.append(swatch, s.name);
    name.title = s.name;
    for (const value of [values.reduce((a, b) => a + b, 0) / values.length, Math.max(...values), values.at(-1)]) {
      row.insertCell().textContent = format(value, unit);
    }
  });
  box.append(table);
  return box;
};
