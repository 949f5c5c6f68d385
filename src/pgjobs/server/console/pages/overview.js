// How things stand: what waits, runs and failed, how fast it goes, and what wants attention.
import { get } from "../api.js";
import { compact, duration, number, plural, roughly } from "../format.js";
import { resource } from "../live.js";
import { Chart, Legend } from "../parts/charts.js";
import { icon } from "../parts/icons.js";
import { Advice, Bones, Head, Panel, Trouble } from "../parts/small.js";
import { tag } from "../parts/tags.js";
import { address, query, refine } from "../router.js";
import { html, signal, view } from "../view.js";

const RANGES = [["60", "1 hour"], ["360", "6 hours"], ["1440", "24 hours"]];
const FLOW = [
  { label: "completed", tone: "good", fill: true },
  { label: "failed", tone: "bad", fill: false },
];
const WAITS = [
  { label: "p50", tone: "accent", fill: true },
  { label: "p95", tone: "warn", fill: false },
];

const Stat = ({ picture, label, value, below, to, opens, isAlarm }) => html`
  <a class="panel stat ${isAlarm ? "alarm" : ""}" href=${to} title=${`Opens ${opens}`}>
    <span class="label">${icon(picture)}${label}</span>
    <span class="value">${value === undefined ? html`<span class="bone tall"></span>` : value}</span>
    <span class="muted small">${below ?? html`<span class="bone half"></span>`}</span>
  </a>
`;

function stats(now) {
  return html`
    <div class="tiles">
      <${Stat} picture="inbox" label="Waiting" value=${now && compact(now.waiting)} below=${now && `${compact(now.scheduled)} more for later`} opens="all that wait, for later too" to=${address("/tasks", { status: "pending" })} />
      <${Stat} picture="play" label="Running" value=${now && compact(now.running)} below=${now && `${now.claimed ? `${compact(now.claimed)} claimed · ` : ""}${plural(now.workers - now.silent_workers, "worker")}${now.silent_workers ? `, ${now.silent_workers} silent` : ""}`} opens="all that run" to=${address("/tasks", { status: "running" })} />
      <${Stat} picture="cross" label="Failed in 1 h" value=${now && compact(now.failed_last_hour)} below=${now && `${compact(now.completed_last_hour)} completed`} opens="all that failed, whenever they did" to=${address("/tasks", { status: "failed" })} isAlarm=${now?.failed_last_hour > 0} />
      <${Stat} picture="clock" label="Oldest waiting" value=${now && (now.oldest_wait_seconds === null ? "—" : roughly(now.oldest_wait_seconds))} below=${now && (now.oldest_wait_seconds === null ? "nothing is due" : "since it came due")} opens="all that wait, the newest first" to=${address("/tasks", { status: "pending" })} />
    </div>
  `;
}

const Flow = view(() => {
  const point = signal(null);
  const waitPoint = signal(null);
  return ({ items, step }) => {
    const at = items.map((row) => Date.parse(row.at) / 1000);
    const perMinute = (name) => items.map((row) => (row[name] * 60) / step);
    // A red line along the bottom would look like trouble where there is none.
    const isFlawless = items.every((row) => row.failed === 0);
    const say = { axis: (value) => compact(value), value: (value) => number(Math.round(value * 10) / 10), least: 5, space: 44 };
    const sayWait = { axis: duration, value: duration, least: 0.1 };
    return html`
      <div class="halves">
        <${Panel} title="Throughput, tasks per minute">
          <${Chart} label="Tasks completed and failed per minute" series=${FLOW} say=${say} onPoint=${(said) => (point.value = said)}
            data=${[at, perMinute("completed"), isFlawless ? at.map(() => null) : perMinute("failed")]} />
          <${Legend} series=${FLOW}>${point.value}<//>
        <//>
        <${Panel} title="Queue latency">
          <${Chart} label="Queue latency: time from due to claim, median and 95th percentile" series=${WAITS} say=${sayWait} onPoint=${(said) => (waitPoint.value = said)}
            data=${[at, items.map((row) => row.wait_p50), items.map((row) => row.wait_p95)]} />
          <${Legend} series=${WAITS}>${waitPoint.value}<//>
        <//>
      </div>
    `;
  };
});

// A message counts seconds; its finding stays the same, and so does the button that has the focus.
function keyed(findings) {
  const times = {};
  return findings.map((finding) => {
    const about = `${finding.subject} ${finding.advice}`;
    times[about] = (times[about] ?? 0) + 1;
    return [`${about} ${times[about]}`, finding];
  });
}

const Findings = ({ of }) => {
  if (of.problem.value && !of.data.value) return html`<${Trouble} problem=${of.problem.value} retry=${of.reload} />`;
  if (!of.data.value) return html`<${Bones} rows=${3} />`;
  if (!of.data.value.items.length)
    return html`<div class="notice">${icon("check")}<div>Nothing wants attention. Checked: workers, stuck tasks, failures, storage and blockers.</div></div>`;
  return html`
    <ul class="findings">
      ${keyed(of.data.value.items).map(
        ([key, finding]) => html`
          <li key=${key}>
            <div class="row wrap">${tag(finding.severity)}<span class="strong">${finding.subject}</span></div>
            <p>${finding.message}</p>
            <${Advice} text=${finding.advice} />
          </li>
        `,
      )}
    </ul>
  `;
};

export const Overview = view((_, leaving) => {
  const minutes = () => (RANGES.some(([value]) => value === query.value.minutes) ? query.value.minutes : "60");
  const now = resource(leaving, (aborted) => get("overview", {}, aborted));
  const flow = resource(leaving, (aborted) => get("throughput", { minutes: minutes() }, aborted));
  const findings = resource(leaving, (aborted) => get("findings", {}, aborted));
  return () => html`
    <${Head} title="Overview" lead="What waits, what runs, and what wants attention.">
      <div class="tabs" role="group" aria-label="Time shown">
        ${RANGES.map(
          ([value, name]) =>
            html`<button type="button" aria-pressed=${minutes() === value} onClick=${() => refine({ minutes: value === "60" ? null : value })}>${name}</button>`,
        )}
      </div>
    <//>
    <div class="stack">
      ${now.problem.value && html`<${Trouble} problem=${now.problem.value} retry=${now.reload} />`}
      ${stats(now.data.value)}
      ${flow.problem.value && html`<${Trouble} problem=${flow.problem.value} retry=${flow.reload} />`}
      ${flow.data.value
        ? html`<${Flow} items=${flow.data.value.items.slice(0, -1)} step=${flow.data.value.step_seconds} />`
        : !flow.problem.value && html`<div class="halves"><${Panel} flush><${Bones} /><//><${Panel} flush><${Bones} /><//></div>`}
      <${Panel} title="Findings"><${Findings} of=${findings} /><//>
    </div>
  `;
});
