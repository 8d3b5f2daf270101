// Shows a dashboard, its variables and annotations, and the alerts, and reads them again every few seconds.

import { create, refresh } from "./panel.js";
import * as prometheus from "./prometheus.js";

const refreshSeconds = 5;
const ranges = { "5 minutes": 300, "15 minutes": 900, "1 hour": 3600, "6 hours": 21600, "1 day": 86400 };
const byId = (id) => document.getElementById(id);
const config = await (await fetch("config.json")).json();

const state = { board: null, sections: new Map(), values: {}, hidden: new Set(), round: 0 };

const option = (text, value) => Object.assign(document.createElement("option"), { textContent: text, value });

// fill replaces the variables of a query: those of the dashboard and those of Grafana.
const fill = (time) => (query) => {
  const span = time.end - time.start, rate = Math.max(4 * config.scrapeSeconds, time.step + config.scrapeSeconds);
  const values = { ...state.values, __rate_interval: `${Math.ceil(rate)}s`, __interval: `${time.step}s`, __range: `${Math.ceil(span)}s` };
  return query.replace(/\$(\w+)|\$\{(\w+)\}/g, (all, plain, braced) => values[plain ?? braced] ?? all);
};

const timeRange = () => {
  const span = Number(byId("range").value), step = Math.max(config.scrapeSeconds, Math.ceil(span / 240));
  const end = Math.floor(Date.now() / 1000 / step) * step;
  return { start: end - span, end, step };
};

const annotationsOf = async (time) => {
  const shown = state.board.annotations.list.filter((a) => a.enable && !state.hidden.has(a.name));
  const all = await Promise.all(shown.map(async (a) => (await prometheus.range(fill(time)(a.expr), time)).flatMap((s) => {
    const title = a.titleFormat.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, label) => s.labels[label] ?? "");
    const found = [];
    for (const [at] of s.points) {
      if (found.length > 0 && at - found.at(-1).to <= time.step * 1.5) found.at(-1).to = at;
      else found.push({ from: at, to: at, title, color: a.iconColor });
    }
    return found;
  })));
  return all.flat();
};

const draw = async () => {
  const round = ++state.round, time = timeRange();
  const context = { time, fill: fill(time), annotations: await annotationsOf(time).catch(() => []) };
  if (round !== state.round) return;
  await Promise.all([drawAlerts(), ...state.board.panels.filter((p) => p.type !== "row").map((p) => refresh(state.sections.get(p.id), p, context))]);
  byId("updated").textContent = new Date().toISOString().slice(11, 19) + " UTC";
};

const weight = { critical: 0, warning: 1, info: 2 };

const drawAlerts = async () => {
  const all = (await prometheus.alerts()).sort((a, b) =>
    a.state.localeCompare(b.state) || (weight[a.labels.severity] ?? 3) - (weight[b.labels.severity] ?? 3) || a.labels.alertname.localeCompare(b.labels.alertname));
  if (all.length === 0) {
    byId("alerts").replaceChildren(Object.assign(document.createElement("div"), { className: "quiet", textContent: "No alert fires." }));
    return;
  }
  byId("alerts").replaceChildren(...all.map((alert) => {
    const row = document.createElement("div");
    row.className = `alert ${alert.labels.severity} ${alert.state}`;
    row.dataset.alert = alert.labels.alertname;
    const runbook = Object.assign(document.createElement("a"), { textContent: "runbook", href: alert.annotations.runbook_url, target: "_blank", rel: "noreferrer" });
    row.append(
      Object.assign(document.createElement("span"), { className: "state", textContent: alert.state }),
      Object.assign(document.createElement("b"), { textContent: alert.labels.alertname }),
      Object.assign(document.createElement("span"), { textContent: alert.annotations.summary, title: alert.annotations.description }),
      runbook);
    return row;
  }));
};

// choose shows a select for a variable, in which All means every option.
const choose = (variable, options) => {
  const label = document.createElement("label"), select = document.createElement("select");
  select.dataset.variable = variable.name;
  select.append(...(variable.includeAll ? [option("All", "|")] : []), ...options.map((o) => option(o, o)));
  const set = () => {
    const all = options.map((o) => o.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
    state.values[variable.name] = select.value === "|" ? all || ".*" : select.value;
  };
  select.addEventListener("change", () => { set(); draw(); });
  set();
  label.append(variable.label + " ", select);
  return label;
};

const show = async (index) => {
  state.board = config.dashboards[index];
  document.title = state.board.title;
  state.values = {};
  const variables = state.board.templating.list.filter((v) => v.type !== "datasource");
  const options = await Promise.all(variables.map((v) =>
    v.type === "query" ? prometheus.labelValues(v.query.query) : v.options.map((o) => o.value).filter((o) => o !== "$__all")));
  byId("variables").replaceChildren(...variables.map((v, i) => choose(v, options[i])));
  byId("annotations").replaceChildren(...state.board.annotations.list.map(toggle));
  state.sections = new Map();
  byId("panels").replaceChildren(...state.board.panels.map((panel) => {
    const section = create(panel);
    state.sections.set(panel.id, section);
    return section;
  }));
  await draw();
};

const toggle = (annotation) => {
  const label = document.createElement("label"), box = Object.assign(document.createElement("input"), { type: "checkbox", checked: true });
  box.addEventListener("change", () => {
    if (box.checked) state.hidden.delete(annotation.name); else state.hidden.add(annotation.name);
    draw();
  });
  label.append(box, " " + annotation.name);
  return label;
};

byId("note").textContent = config.note;
byId("note").hidden = !config.note;
byId("dashboard").append(...config.dashboards.map((board, i) => option(board.title, i)));
byId("dashboard").addEventListener("change", () => { location.hash = config.dashboards[byId("dashboard").value].uid; });
byId("range").append(...Object.entries(ranges).map(([text, span]) => option(text, span)));
byId("range").value = Object.values(ranges).find((span) => span >= config.rangeSeconds) ?? 3600;
byId("range").addEventListener("change", draw);

const fromHash = () => {
  const index = Math.max(0, config.dashboards.findIndex((board) => "#" + board.uid === location.hash));
  byId("dashboard").value = index;
  return show(index);
};
window.addEventListener("hashchange", fromHash);
await fromHash();
setInterval(() => { if (!document.hidden) draw(); }, refreshSeconds * 1000);
