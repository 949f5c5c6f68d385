// Queue status: waiting, running and failed tasks, throughput, and issues.
import { get } from "../api.js";
import { compact, plural, roughly } from "../format.js";
import { resource } from "../live.js";
import { Remedy, actionsAddressed } from "../parts/actions.js";
import { Flow, RANGES } from "../parts/flow.js";
import { icon } from "../parts/icons.js";
import { Advice, Bones, Head, Panel, Trouble } from "../parts/small.js";
import { tag } from "../parts/tags.js";
import { address, query, refine } from "../router.js";
import { html, view } from "../view.js";

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
      <${Stat} picture="inbox" label="Waiting" value=${now && compact(now.waiting)} below=${now && `${compact(now.scheduled)} scheduled`} opens="waiting and scheduled tasks" to=${address("/tasks", { status: "pending" })} />
      <${Stat} picture="play" label="Running" value=${now && compact(now.running)} below=${now && `${now.claimed ? `${compact(now.claimed)} claimed · ` : ""}${plural(now.workers - now.silent_workers, "worker")}${now.silent_workers ? `, ${now.silent_workers} silent` : ""}`} opens="running tasks" to=${address("/tasks", { status: "running" })} />
      <${Stat} picture="cross" label="Failed in 1 h" value=${now && compact(now.failed_last_hour)} below=${now && `${compact(now.completed_last_hour)} completed`} opens="all failed tasks" to=${address("/tasks", { status: "failed" })} isAlarm=${now?.failed_last_hour > 0} />
      <${Stat} picture="clock" label="Oldest waiting" value=${now && (now.oldest_wait_seconds === null ? "—" : roughly(now.oldest_wait_seconds))} below=${now && (now.oldest_wait_seconds === null ? "no tasks waiting" : "past its due time")} opens="waiting tasks" to=${address("/tasks", { status: "pending" })} />
    </div>
  `;
}

// A message counts seconds; its finding stays the same, and so does the button that has the focus.
function keyed(findings) {
  const times = {};
  return findings.map((finding) => {
    const about = `${finding.subject} ${finding.advice}`;
    times[about] = (times[about] ?? 0) + 1;
    return [`${about} ${times[about]}`, finding];
  });
}

export const Findings = ({ of }) => {
  if (of.problem.value && !of.data.value) return html`<${Trouble} problem=${of.problem.value} retry=${of.reload} />`;
  if (!of.data.value) return html`<${Bones} rows=${3} />`;
  if (!of.data.value.items.length)
    return html`<div class="notice">${icon("check")}<div>No issues found. Checked: workers, stuck tasks, failures, storage and blockers.</div></div>`;
  return html`
    <ul class="findings">
      ${keyed(of.data.value.items).map(
        ([key, finding]) => html`
          <li key=${key}>
            <div class="row wrap">${tag(finding.severity)}<span class="strong grow">${finding.subject}</span><${Remedy} item=${finding} done=${of.reload} /></div>
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
  actionsAddressed(leaving, findings.reload);
  return () => html`
    <${Head} title="Overview" lead="Queue status and issues.">
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
      <${Panel} title="Issues"><${Findings} of=${findings} /><//>
    </div>
  `;
});
