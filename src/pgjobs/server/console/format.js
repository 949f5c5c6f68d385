// Numbers, times and names as people read them.
const plain = new Intl.NumberFormat("en");
const short = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const when = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const clockTime = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

export const number = (value) => (value === null || value === undefined ? "—" : plain.format(value));
export const compact = (value) =>
  value === null || value === undefined ? "—" : value < 10000 ? plain.format(value) : short.format(value);
export const date = (text) => (text ? when.format(new Date(text)) : "—");
export const time = (text) => (text ? clockTime.format(new Date(text)) : "—");

// A time as the clocks of a zone show it. The server may know zones that the browser does not.
export function moment(text, timeZone, parts = {}) {
  const shown = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", ...parts };
  try {
    return new Date(text).toLocaleString("en-GB", { ...shown, timeZone });
  } catch {
    return new Date(text).toLocaleString("en-GB", { ...shown, timeZone: "UTC", timeZoneName: "short" });
  }
}

// How long, in the two largest units.
export function duration(seconds) {
  if (seconds === null || seconds === undefined || Number.isNaN(seconds)) return "—";
  if (seconds < 0.0005) return "0 s";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${(Math.round(seconds * 10) / 10).toString()} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const from = units.findIndex(([, size]) => whole >= size);
  const parts = [];
  let rest = whole;
  for (const [name, size] of units.slice(from, from + 2)) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count) parts.push(`${count} ${name}`);
  }
  return parts.join(" ");
}

// How long, rounded: seconds are read better without tenths, minutes without seconds, ten hours without minutes, ten
// days without hours. Sentences of `why` and `findings` round alike, and may stand beside it.
export function roughly(seconds) {
  if (seconds < 100) return `${Math.round(seconds) || 1} s`;
  const unit = seconds < 36000 ? 60 : seconds < 864000 ? 3600 : 86400;
  return duration(Math.round(seconds / unit) * unit);
}

export const between = (from, to) => (from && to ? (Date.parse(to) - Date.parse(from)) / 1000 : null);

export function bytes(size) {
  if (size === null || size === undefined) return "—";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let step = 0;
  while (size >= 1024 && step < units.length - 1) {
    size /= 1024;
    step += 1;
  }
  return `${size < 10 && step ? size.toFixed(1) : Math.round(size)} ${units[step]}`;
}

// An error often carries a trace: its first line says enough in a list, its first paragraph above the trace.
export const firstLine = (text) => (text ?? "").trim().split("\n", 1)[0];
export const firstParagraph = (text) => (text ?? "").trim().split(/\n\s*\n/, 1)[0];

export const percent = (share) => (share === null || share === undefined ? "—" : `${Math.round(share * 100)} %`);
export const shortId = (id) => (id ? id.slice(-8) : "—");
export const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

// A job's address in its parts; the last may contain colons.
export function jobParts(fullName) {
  const [room, category, ...rest] = (fullName ?? "").split(":");
  return { room, category, name: rest.join(":") };
}

export const total = (counted) =>
  counted ? `${number(counted.total)}${counted.total_relation === "gte" ? "+" : ""}` : "—";
