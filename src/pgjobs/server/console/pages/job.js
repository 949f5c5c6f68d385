// One job: how it does, its limits and policy, its tasks, schedules and workers.
import { get, mayOperate, post } from "../api.js";
import { compact, duration, number, plural, roughly } from "../format.js";
import { resource } from "../live.js";
import { act, actionsAddressed } from "../parts/actions.js";
import { bulk } from "../parts/bulk.js";
import { Flow, RANGES } from "../parts/flow.js";
import { addressed, show } from "../parts/dialogs.js";
import { icon } from "../parts/icons.js";
import { NextRun } from "../parts/nextrun.js";
import { Policy } from "../parts/policy.js";
import { Ago, Bones, Empty, Head, Json, Meter, Panel, TaskLink, Trouble } from "../parts/small.js";
import { submitTask } from "../parts/submit.js";
import { tag, taskTag } from "../parts/tags.js";
import { say } from "../parts/toasts.js";
import { address, query, refine, workerAddress } from "../router.js";
import { html, view } from "../view.js";

const FEW = 5;
const GROUPS = [
  ["running", "Running", "claimed_at"],
  ["pending", "Waiting", "due_at"],
  ["failed", "Failed", "ended_at"],
];

function named(id) {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

const Stat = ({ picture, label, value, below, to }) => html`
  <a class="panel stat" href=${to}><span class="label">${icon(picture)}${label}</span><span class="value">${value}</span><span class="muted small">${below}</span></a>
`;
const Numbers = ({ job }) => html`
  <div class="tiles">
    <${Stat} picture="inbox" label="Waiting" value=${compact(job.waiting)} below=${job.scheduled ? `${compact(job.scheduled)} scheduled` : job.oldest_wait_seconds === null ? "no tasks waiting" : `oldest ${roughly(job.oldest_wait_seconds)} past its due time`} to=${address("/tasks", { job: job.full_name, status: "pending" })} />
    <${Stat} picture="play" label="Running" value=${compact(job.running)} below=${job.max_running ? `concurrency limit ${number(job.max_running)}` : "no concurrency limit"} to=${address("/tasks", { job: job.full_name, status: "running" })} />
    <${Stat} picture="cross" label="Failed in 1 h" value=${compact(job.failed_last_hour)} below=${`${compact(job.completed_last_hour)} completed`} to=${address("/tasks", { job: job.full_name, status: "failed" })} />
    <${Stat} picture="workers" label="Workers" value=${number(job.workers)} below=${job.workers ? "alive" : job.room === "@internal" ? "runs inside the server" : "none is alive"} to=${address("/workers")} />
  </div>
`;

// Failures by kind, the most frequent of today first, with what they say.
function kinds(items) {
  const known = new Map();
  for (const error of items) {
    const kind = error.error_kind ?? "unknown";
    const so = known.get(kind) ?? { kind, hour: 0, day: 0, week: 0, message: error.message };
    known.set(kind, { ...so, hour: so.hour + error.last_hour, day: so.day + error.last_day, week: so.week + error.last_week });
  }
  return [...known.values()].sort((one, other) => other.day - one.day || other.week - one.week);
}
const Failures = ({ of, job }) => {
  if (of.problem.value && !of.data.value) return html`<${Trouble} problem=${of.problem.value} retry=${of.reload} />`;
  if (!of.data.value) return html`<${Bones} rows=${3} />`;
  const found = kinds(of.data.value.items);
  if (!found.length) return html`<p class="muted">No attempt failed in the last week.</p>`;
  const most = Math.max(...found.map((one) => one.week));
  return html`
    <ul class="kinds">
      ${found.map(
        (one) => html`
          <li key=${one.kind}>
            <div class="row apart"><a class="strong" href=${address("/tasks", { job: job.full_name, text: one.message.slice(0, 60) })}>${one.kind}</a><span class="muted small">${number(one.hour)} in 1 h · ${number(one.day)} in 1 d · ${number(one.week)} in 7 d</span></div>
            <${Meter} share=${one.week / most} label=${`${one.kind}: ${plural(one.week, "failed attempt")} in 7 days`} isHigh />
            <span class="clip small muted" title=${one.message}>${one.message}</span>
          </li>
        `,
      )}
    </ul>
  `;
};

const Group = ({ of, status, title, time, job, counted }) => {
  const items = of.data.value?.items;
  return html`
    <div class="stack tight">
      <h3>${title}</h3>
      ${!items
        ? html`<${Bones} rows=${2} />`
        : items.length
          ? html`
              <ul class="brief">
                ${items.map((task) => html`<li key=${task.id} class="row apart small"><span class="row"><${TaskLink} id=${task.id} />${taskTag(task)}</span><span class="muted clip">${task.error ? task.error.split("\n", 1)[0] : html`<${Ago} at=${task[time]} />`}</span></li>`)}
              </ul>
              <a class="small" href=${address("/tasks", { job: job.full_name, status })}>All ${title.toLowerCase()}${counted === undefined ? "" : ` (${compact(counted)})`}</a>
            `
          : html`<p class="muted small">None.</p>`}
    </div>
  `;
};

const Workers = ({ of }) => {
  const items = of.data.value?.items;
  if (!items) return html`<${Bones} rows=${2} />`;
  if (!items.length) return html`<p class="muted">No worker serves this job.</p>`;
  return html`<ul class="brief">${items.map((worker) => html`<li key=${worker.id} class="row apart small"><span class="row"><a href=${workerAddress(worker.id)}>${worker.name ?? worker.id.slice(-8)}</a>${tag(worker.is_alive ? "alive" : "silent")}</span><span class="muted">${plural(worker.task_count, "task")}, last seen <${Ago} at=${worker.last_heartbeat} /></span></li>`)}</ul>`;
};
const Schedules = ({ of, job }) => {
  const items = of.data.value?.items;
  if (!items) return html`<${Bones} rows=${2} />`;
  return html`
    ${items.length ? html`<ul class="brief">${items.map((schedule) => html`<li key=${schedule.id} class="row apart small"><span class="stack close"><a href=${address("/schedules", { job: job.full_name, do: "details", of: schedule.id })}>${schedule.name}</a><span class="muted">${schedule.words}</span></span><${NextRun} schedule=${schedule} isAlone /></li>`)}</ul>` : html`<p class="muted">None.</p>`}
    ${mayOperate() && html`<a class="small" href=${address("/schedules", { job: job.full_name, do: "create", of: job.full_name })}>Create a schedule</a>`}
  `;
};

const Facts = (job, edit) => html`
  <div class="stack">
  <dl class="facts">
    <dt>Address</dt><dd class="mono">${job.full_name}</dd>
    <dt>State</dt><dd>${tag(job.state)}</dd>
    <dt>Registered</dt><dd><${Ago} at=${job.created_at} /></dd>
    <dt>Concurrency limit</dt><dd class="row apart"><span>${job.max_running ? number(job.max_running) : "none"}</span>${mayOperate() && html`<button class="button little" type="button" onClick=${edit.limit}>Change limit</button>`}</dd>
    <dt>Attempts</dt><dd class="row apart"><span>${job.max_attempts}</span>${mayOperate() && html`<button class="button little" type="button" onClick=${edit.policy}>Change policy</button>`}</dd>
    <dt>Backoff</dt><dd>${duration(job.backoff_base_seconds)} up to ${duration(job.backoff_cap_seconds)}</dd>
    <dt>Events</dt><dd>${job.events === "full" ? "every step" : "failures and operator actions"}</dd>
  </dl>
  <h3>Payload schema</h3>
  ${Object.keys(job.schema ?? {}).length ? html`<${Json} value=${job.schema} label="Schema" />` : html`<p class="muted">Any JSON object.</p>`}
  </div>
`;

const changePolicy = (job, done) =>
  show("Change the retry policy", ({ close }) => html`<${Policy} job=${job} close=${close} done=${done} save=${(body) => post(`jobs/${job.id}/policy`, body).then(() => say("good", "Policy changed"))} />`, { at: "policy", of: job.full_name });

export const JobPage = view((given, leaving) => {
  const name = named(given.peek().id);
  const minutes = () => (RANGES.some(([value]) => value === query.value.minutes) ? query.value.minutes : "60");
  const job = resource(leaving, (aborted) => get(`jobs/${encodeURIComponent(name)}/details`, {}, aborted));
  const flow = resource(leaving, (aborted) => get("throughput", { job: name, minutes: minutes() }, aborted));
  const errors = resource(leaving, (aborted) => get("errors", { job: name }, aborted));
  const tasks = GROUPS.map(([status]) => resource(leaving, (aborted) => get("tasks", { job: name, status, limit: FEW }, aborted)));
  const failed = resource(leaving, (aborted) => get("tasks/count", { job: name, status: "failed" }, aborted));
  const schedules = resource(leaving, (aborted) => get("schedules", { job: name, limit: 10 }, aborted));
  const workers = resource(leaving, (aborted) => get("workers/status", { job: name, limit: 20 }, aborted));
  const reload = () => [job, ...tasks, failed, schedules, workers].forEach((part) => part.reload());
  const retryFailed = () => bulk({ verb: "retry", ids: null, filter: { job: name, status: "failed" }, counted: failed.data.peek(), at: "retry_failed" }, reload);
  const run = (step) => () => act(step, name, { data: job.data.peek(), done: reload });
  actionsAddressed(leaving, reload);
  addressed(leaving, {
    submit: () => mayOperate() && (() => submitTask(name, reload)),
    policy: () => job.data.value && mayOperate() && (() => changePolicy(job.data.peek(), reload)),
    retry_failed: () => failed.data.value && mayOperate() && retryFailed,
  });

  const actions = (now) => html`
    ${now.state === "open" && html`<button class="button main" type="button" onClick=${() => submitTask(name, reload)}>${icon("play")}Submit a task</button>`}
    ${failed.data.value?.total > 0 && html`<button class="button" type="button" onClick=${retryFailed}>${icon("retry")}Retry failed</button>`}
    ${now.state === "open" && html`<button class="button" type="button" onClick=${run("pause_job")}>${icon("pause")}Pause</button>`}
    ${now.state === "paused" && html`<button class="button main" type="button" onClick=${run("resume_job")}>${icon("play")}Resume</button>`}
    ${now.state === "archived" && html`<button class="button" type="button" onClick=${run("unarchive_job")}>${icon("archive")}Unarchive</button>`}
  `;

  return () => {
    const now = job.data.value;
    if (!now && job.problem.value)
      return job.problem.value.status === 404
        ? html`<${Empty} picture="search" title="Job not found"><a href=${address("/jobs")}>Back to jobs</a><//>`
        : html`<${Trouble} problem=${job.problem.value} retry=${job.reload} />`;
    if (!now) return html`<${Bones} rows=${8} />`;
    return html`
      <p class="small crumbs"><a href=${address("/jobs")}>Jobs</a> <span class="muted">/ ${now.name}</span></p>
      <${Head} title=${html`${now.name} ${tag(now.state)}`} lead=${`${now.room} · ${now.category}`}>${mayOperate() && actions(now)}<//>
      <div class="stack">
        ${job.problem.value && html`<${Trouble} problem=${job.problem.value} retry=${reload} />`}
        ${now.state === "paused" && html`<div class="notice warn">${icon("pause")}<div class="grow">Paused${now.pause_reason && html`: <span data-reason>${now.pause_reason}</span>`}. Its tasks wait until it is resumed.</div></div>`}
        <${Numbers} job=${now} />
        <div class="tabs" role="group" aria-label="Time shown">
          ${RANGES.map(([value, label]) => html`<button type="button" aria-pressed=${minutes() === value} onClick=${() => refine({ minutes: value === "60" ? null : value })}>${label}</button>`)}
        </div>
        ${flow.problem.value && html`<${Trouble} problem=${flow.problem.value} retry=${flow.reload} />`}
        ${flow.data.value ? html`<${Flow} items=${flow.data.value.items.slice(0, -1)} step=${flow.data.value.step_seconds} withRun />` : !flow.problem.value && html`<${Panel} flush><${Bones} /><//>`}
        <div class="two">
          <div class="stack">
            <${Panel} title="Failures by kind"><${Failures} of=${errors} job=${now} /><//>
            <${Panel} title="Tasks"><div class="stack">${GROUPS.map(([status, title, time], n) => html`<${Group} key=${status} of=${tasks[n]} status=${status} title=${title} time=${time} job=${now} counted=${{ running: now.running, pending: now.waiting + now.scheduled }[status]} />`)}</div><//>
          </div>
          <div class="stack">
            <${Panel} title="Limits and policy">${Facts(now, { limit: run("limit_job"), policy: () => changePolicy(job.data.peek(), reload) })}<//>
            <${Panel} title="Schedules"><${Schedules} of=${schedules} job=${now} /><//>
            <${Panel} title="Workers"><${Workers} of=${workers} /><//>
          </div>
        </div>
      </div>
    `;
  };
});
