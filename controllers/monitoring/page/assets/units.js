// Formats values by Grafana's names of units.

const scaled = (value, base, names) => {
  let i = 0;
  while (Math.abs(value) >= base && i < names.length - 1) { value /= base; i++; }
  return short(value) + names[i];
};

const short = (value) => {
  const size = Math.abs(value);
  if (size === 0) return "0";
  return String(Number(value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.01 ? 3 : 5)));
};

const seconds = (value) => {
  const size = Math.abs(value);
  for (const [limit, unit] of [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"], [1e-3, "ms"]]) {
    if (size >= limit) return short(value / (unit === "ms" ? 1e-3 : limit)) + " " + unit;
  }
  return size === 0 ? "0 s" : short(value * 1e6) + " µs";
};

export const format = (value, unit, decimals) => {
  if (value === null || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  switch (unit) {
    case "percentunit": return (decimals === undefined ? short(value * 100) : (value * 100).toFixed(decimals)) + "%";
    case "s": return seconds(value);
    case "bytes": return scaled(value, 1024, [" B", " KiB", " MiB", " GiB", " TiB"]);
    case "reqps": return scaled(value, 1000, [" req/s", "k req/s"]);
    case "ops": return scaled(value, 1000, [" ops/s", "k ops/s"]);
    case "none": return String(Number(value.toFixed(decimals ?? 2)));
    default: return scaled(value, 1000, ["", "k", "M", "G"]);
  }
};

// ticks returns round values from low to high, about four.
export const ticks = (low, high, unit) => {
  const base = unit === "bytes" ? 2 : 10;
  const rough = (high - low) / 4 || 1;
  const power = Math.pow(base, Math.floor(Math.log(rough) / Math.log(base)));
  const step = power * (base === 2 ? 1 : [1, 2, 5, 10].find((n) => n * power >= rough));
  const all = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-6; i++) all.push(i * step);
  return all;
};
