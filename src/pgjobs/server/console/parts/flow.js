// Throughput and times as charts, of the whole queue or of one job.
import { compact, duration, number } from "../format.js";
import { html, signal, view } from "../view.js";
import { Chart, Legend } from "./charts.js";
import { Panel } from "./small.js";

export const RANGES = [["60", "1 hour"], ["360", "6 hours"], ["1440", "24 hours"]];
const ENDED = [
  { label: "completed", tone: "good", fill: true },
  { label: "failed", tone: "bad", fill: false, isRare: true },
];
const TIMES = [
  { label: "p50", tone: "accent", fill: true },
  { label: "p95", tone: "warn", fill: false },
];
const RATE = { axis: (value) => compact(value), value: (value) => number(Math.round((value ?? 0) * 10) / 10), least: 5, space: 44 };
// Steps that make round labels, in one unit each: the axis has no room for two.
const STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 43200, 86400, 172800, 432000, 864000];
function short(seconds) {
  const [name, size] = [["d", 86400], ["h", 3600], ["min", 60]].find(([, unit]) => seconds >= unit) ?? [];
  return name ? `${Math.round((seconds / size) * 10) / 10} ${name}` : duration(seconds);
}
const SECONDS = { axis: short, value: duration, least: 0.1, steps: STEPS };

// A line along the bottom would look like trouble all the time: failures are drawn where there are some, with the
// times right before and after.
const rare = (values) => values.map((value, n) => (value || values[n - 1] || values[n + 1] ? value : null));

const One = view(() => {
  const point = signal(null);
  // Drawing again tells the same again: what is no news must not be drawn for.
  const tell = (told) => JSON.stringify(told) !== JSON.stringify(point.peek()) && (point.value = told);
  return ({ title, label, series, say, data }) => html`
    <${Panel} title=${title}>
      <${Chart} label=${label} series=${series} say=${say} onPoint=${tell} data=${data} />
      <${Legend} series=${series} point=${point.value} />
    <//>
  `;
});

export const Flow = ({ items, step, withRun = false }) => {
  const at = items.map((row) => Date.parse(row.at) / 1000);
  const perMinute = (name) => items.map((row) => (row[name] * 60) / step);
  const of = (name) => items.map((row) => row[name]);
  return html`
    <div class=${withRun ? "thirds" : "halves"}>
      <${One} title="Throughput, tasks per minute" label="Tasks completed and failed per minute" series=${ENDED} say=${RATE} data=${[at, perMinute("completed"), rare(perMinute("failed"))]} />
      <${One} title="Queue latency" label="Queue latency: time from due to claim, median and 95th percentile" series=${TIMES} say=${SECONDS} data=${[at, of("wait_p50"), of("wait_p95")]} />
      ${withRun && html`<${One} title="Run time" label="Run time: from claim to completion, median and 95th percentile" series=${TIMES} say=${SECONDS} data=${[at, of("run_p50"), of("run_p95")]} />`}
    </div>
  `;
};
