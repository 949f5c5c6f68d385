// All there is to know of a schedule: its rules in words, its next times and how the last ones went.
import { get } from "../api.js";
import { date } from "../format.js";
import { resource } from "../live.js";
import { jobAddress } from "../router.js";
import { html, view } from "../view.js";
import { close, show } from "./dialogs.js";
import { timeOf } from "./nextrun.js";
import { Ago, Bones, Json, TaskLink, Trouble } from "./small.js";
import { tag, tone } from "./tags.js";

const MISSED = {
  once: "Missed runs are run once, together.",
  skip: "A run not started within a minute is skipped.",
  each: "Every missed run is run later.",
};
const OVERLAP = {
  true: "Runs may overlap.",
  false: "A run is skipped while the previous one is still running.",
};

export const Timing = ({ schedule, isBrief }) => html`
  <span class="stack close">
    <span class=${isBrief ? "clamp" : ""} title=${isBrief ? schedule.words : undefined}>${schedule.words}</span>
    ${schedule.cron && html`<span class="row wrap timing muted small"><span class="mono ${isBrief ? "clip" : ""}">${schedule.cron}</span><span>${schedule.timezone}</span></span>`}
  </span>
`;

const Upcoming = ({ schedule }) => {
  if (schedule.paused_at) return html`<p class="muted">None while paused.</p>`;
  if (!schedule.upcoming.length) return html`<p class="muted">None.</p>`;
  return html`
    <ol class="times">
      ${schedule.upcoming.map((at) => html`<li key=${at}><span>${timeOf(schedule, at, { weekday: "short" })}</span><span class="muted small"><${Ago} at=${at} /></span></li>`)}
    </ol>
  `;
};

const Recent = ({ runs }) =>
  runs.length
    ? html`
        <ol class="steps">
          ${runs.map(
            (run) => html`
              <li key=${run.due_at + run.status + run.task_id} class=${tone(run.status)}>
                <span class="row wrap">${tag(run.status)}${run.is_manual && html`<span class="chip">manual</span>`}${run.task_id && html`<span onClick=${close}><${TaskLink} id=${run.task_id} /></span>`}</span>
                <span class="muted small"><${Ago} at=${run.due_at} /> · ${date(run.due_at)}</span>
                ${run.reason && html`<span class="small">${run.reason}</span>`}
              </li>
            `,
          )}
        </ol>
      `
    : html`<p class="muted">No runs yet.</p>`;

const Details = view((given, leaving) => {
  const { id } = given.peek();
  const one = resource(leaving, (aborted) => get(`schedules/${id}`, {}, aborted));
  return () => {
    const schedule = one.data.value;
    const trouble = one.problem.value && html`<${Trouble} problem=${one.problem.value} retry=${one.reload} always />`;
    if (!schedule) return trouble ?? html`<${Bones} rows=${6} />`;
    return html`
      ${trouble}
      <dl class="facts">
        <dt>Address</dt><dd class="mono">${schedule.full_name}</dd>
        <dt>When</dt><dd><${Timing} schedule=${schedule} /></dd>
        <dt>State</dt><dd>${tag(schedule.state)}</dd>
        <dt>Job</dt><dd><a href=${jobAddress(schedule.job)} onClick=${close}>${schedule.job}</a></dd>
        <dt>Priority</dt><dd>${schedule.priority}</dd>
        ${schedule.max_attempts && html`<dt>Attempts</dt><dd>${schedule.max_attempts}</dd>`}
        ${schedule.owner && html`<dt>Owner</dt><dd>${schedule.owner}</dd>`}
        ${schedule.tags?.length > 0 && html`<dt>Tags</dt><dd class="row wrap">${schedule.tags.map((name) => html`<span class="chip">${name}</span>`)}</dd>`}
        <dt>Missed runs</dt><dd>${MISSED[schedule.missed]}</dd>
        <dt>Overlap</dt><dd>${OVERLAP[schedule.overlap]}</dd>
        <dt>Registered</dt><dd><${Ago} at=${schedule.created_at} /></dd>
      </dl>
      <h3>Next runs, in ${schedule.timezone}</h3>
      <${Upcoming} schedule=${schedule} />
      <h3>Payload</h3>
      <${Json} value=${schedule.payload} label="Payload" />
      <h3>Last runs</h3>
      <${Recent} runs=${schedule.recent} />
    `;
  };
});

export const details = (schedule) => show(schedule.name ?? "Schedule", () => html`<${Details} id=${schedule.id} />`, { wide: true, at: "details", of: schedule.id });
