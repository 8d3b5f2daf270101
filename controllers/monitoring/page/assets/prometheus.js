// Reads from Prometheus through the page's own server.

const get = async (path, parameters = {}) => {
  const response = await fetch("api/v1/" + path + "?" + new URLSearchParams(parameters));
  const answer = await response.json();
  if (answer.status !== "success") throw new Error(answer.error);
  return answer.data;
};

export const instant = async (query, time) =>
  (await get("query", { query, time })).result.map((s) => ({ labels: s.metric, value: Number(s.value[1]) }));

export const range = async (query, { start, end, step }) =>
  (await get("query_range", { query, start, end, step })).result.map((s) => ({
    labels: s.metric, points: s.values.map(([at, text]) => [at, Number(text)]),
  }));

export const alerts = async () => (await get("alerts")).alerts;

// labelValues evaluates label_values(metric, label), the query of a variable.
export const labelValues = async (text) => {
  const [, metric, label] = text.match(/^label_values\(([^,]+),\s*(\w+)\)$/);
  const found = await instant(`group by (${label}) (${metric})`, Date.now() / 1000);
  return found.map((s) => s.labels[label]).sort();
};
