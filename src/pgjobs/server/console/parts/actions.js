// What an operator can do to one thing: the question, what it would change, and the same as a command.
import { get, mayOperate, post, remove } from "../api.js";
import { number, plural, shortId } from "../format.js";
import { address, jobAddress, workerAddress } from "../router.js";
import { html, signal, view } from "../view.js";
import { CopyAs, because, call, command, literal, word } from "./copyas.js";
import { addressed, show } from "./dialogs.js";
import { Refusal } from "./refusal.js";
import { sendSignal, signalAddressed } from "./sendsignal.js";
import { TaskLink } from "./small.js";
import { word as statusWord } from "./tags.js";
import { say } from "./toasts.js";

const jobOf = (of, aborted) => get(`jobs/${encodeURIComponent(of)}/details`, {}, aborted);
const taskOf = (of, aborted) => get(`tasks/${of}/details`, {}, aborted);
const scheduleOf = (of, aborted) => get(`schedules/${of}`, {}, aborted);
const workflowOf = (of, aborted) => get(`workflows/${of}`, {}, aborted);
const workerOf = (of, aborted) => get(`workers/${of}/details`, {}, aborted);

export const standing = (job) =>
  `Now: ${plural(job.waiting, "task")} waiting, ${number(job.running + job.claimed)} running${job.max_running ? ` of at most ${number(job.max_running)}` : ""}.`;
const stands = (task) => `Now: ${statusWord(task.status)}, attempt ${task.attempt} of ${task.max_attempts}${task.error ? `, ${task.error_kind ?? "failed"}` : ""}.`;

const jobStep = (verb, rest) => ({
  look: jobOf,
  preview: standing,
  withReason: true,
  http: (job, { reason }) => ["POST", `jobs/${job.id}/${verb}`, { reason }],
  sql: (job, { reason }) => call(`${verb}_job`, [literal(job.full_name)], { reason }),
  cli: (job, { reason }) => command(`pgjobs jobs ${verb}`, word(job.full_name), because(reason)),
  ...rest,
});
const archiveStep = (verb, rest) => jobStep(verb, { withReason: false, http: (job) => ["POST", `/api/jobs/${job.id}/${verb}`, {}], ...rest });
const taskStep = (verb, rest) => ({
  look: taskOf,
  preview: stands,
  withReason: true,
  http: (task, { reason }) => ["POST", `tasks/${task.id}/${verb}`, { reason }],
  sql: (task, { reason }) => call(`${verb}_task`, [`pgjobs.task_id('${task.id}')`], { reason }),
  cli: (task, { reason }) => command(`pgjobs tasks ${verb}`, task.id, "--yes", because(reason)),
  ...rest,
});
const scheduleStep = (verb, rest) => ({
  look: scheduleOf,
  withReason: true,
  http: (schedule, { reason }) => ["POST", `schedules/${schedule.id}/${verb}`, { reason }],
  sql: (schedule, { reason }) => call(`${verb}_schedule`, [literal(schedule.full_name)], { reason }),
  cli: (schedule, { reason }) => command(`pgjobs schedules ${verb}`, word(schedule.full_name), because(reason)),
  ...rest,
});

const flowStep = (verb, rest) => ({
  look: workflowOf,
  preview: (flow) => `Now: ${flow.status}, ${number(flow.completed + flow.failed + flow.cancelled)} of ${plural(flow.tasks, "task")} ended.`,
  withReason: true,
  http: (flow, { reason }) => ["POST", `workflows/${flow.id}/${verb}`, { reason }],
  sql: (flow, { reason }) => call(`${verb}_workflow`, [flow.number], { reason }),
  cli: (flow, { reason }) => command(`pgjobs workflows ${verb}`, flow.number, because(reason)),
  ...rest,
});

export const ACTIONS = {
  pause_job: jobStep("pause", {
    button: "Pause job", title: "Pause this job?", verb: "Pause", said: "Job paused",
    text: (job) => `Tasks of ${job.full_name} wait until it is resumed. Running tasks continue.`,
  }),
  resume_job: jobStep("resume", {
    button: "Resume job", title: "Resume this job?", verb: "Resume", said: "Job resumed",
    text: (job) => `Workers can claim tasks of ${job.full_name} again.`,
  }),
  limit_job: jobStep("limit", {
    button: "Change limit", title: "Change the concurrency limit?", verb: "Change limit", said: "Concurrency limit changed",
    text: (job) => `At most this many tasks of ${job.full_name} are claimed or running at once. Leave it empty for no limit. Running tasks continue.`,
    asks: { label: "Concurrency limit", max: 1000000, first: (job) => job.max_running },
    http: (job, { reason, value }) => ["POST", `jobs/${job.id}/limit`, { max_running: value, reason }],
    sql: (job, { reason, value }) => call("limit_job", [literal(job.full_name), value ?? "null"], { reason }),
    cli: (job, { reason, value }) => command("pgjobs jobs limit", word(job.full_name), value ?? "--none", because(reason)),
  }),
  archive_job: archiveStep("archive", {
    button: "Archive job", title: "Archive this job?", verb: "Archive", said: "Job archived",
    text: (job) => `${job.full_name} is hidden from lists and accepts and runs no tasks. Its history stays, and it can be unarchived.`,
  }),
  unarchive_job: archiveStep("unarchive", {
    button: "Unarchive job", title: "Unarchive this job?", verb: "Unarchive", said: "Job unarchived",
    text: (job) => `${job.full_name} accepts and runs tasks again.`,
  }),
  retry_task: taskStep("retry", {
    button: "Retry", title: "Retry this task?", verb: "Retry", said: "Task queued again",
    text: () => "It returns to the queue now with attempts reset to 0. Its history is kept.",
  }),
  ignore_task: taskStep("ignore", {
    button: "Ignore", title: "Ignore this task?", verb: "Ignore", said: "Task ignored",
    text: () => "It does not run until somebody unignores or retries it.",
  }),
  unignore_task: taskStep("unignore", {
    button: "Unignore", title: "Stop ignoring this task?", verb: "Unignore", said: "Task returned to the queue", withReason: false,
    text: () => "It returns to the queue now.",
  }),
  stop_task: taskStep("cancel", {
    button: "Cancel", title: "Cancel this task?", danger: true,
    verb: (task) => (isHeld(task) ? "Request cancellation" : "Cancel task"),
    said: (task) => (isHeld(task) ? "Cancellation requested" : "Task cancelled"),
    text: (task) => (isHeld(task) ? "Its worker will stop at its next heartbeat." : "It ends now and will not run."),
  }),
  // What is advised where a worker does not answer a request to stop.
  cancel_task: taskStep("cancel", {
    button: "Force end", title: "End this task now?", verb: "Force end", said: "Task ended", danger: true,
    text: () => "The task is cancelled without waiting for its worker. If the worker still runs it, its result is discarded.",
    http: (task, { reason }) => ["POST", `tasks/${task.id}/cancel`, { force: true, reason }],
    sql: (task, { reason }) => call("cancel_task", [`pgjobs.task_id('${task.id}')`], { force: true, reason }),
    cli: (task, { reason }) => command("pgjobs tasks cancel", task.id, "--force --yes", because(reason)),
  }),
  retry_workflow: flowStep("retry", {
    button: "Retry workflow", title: "Retry this workflow?", verb: "Retry", said: "Workflow retried",
    text: () => "What failed starts over, and what was cancelled because of it comes back. What completed is kept.",
  }),
  cancel_workflow: flowStep("cancel", {
    button: "Cancel workflow", title: "Cancel this workflow?", verb: "Cancel workflow", said: "Workflow cancelled", danger: true,
    text: () => "Tasks that wait end now and will not run; workers of running ones stop at their next heartbeat.",
  }),
  run_schedule: scheduleStep("run", {
    button: "Run now", title: "Run this schedule now?", verb: "Run now",
    text: (schedule) => `${schedule.name} submits a task of ${schedule.job} now. Its next run does not change.`,
    said: (schedule, { task_id: id }) => html`${schedule.name} started: task <${TaskLink} id=${id} />`,
  }),
  pause_schedule: scheduleStep("pause", {
    button: "Pause schedule", title: "Pause this schedule?", verb: "Pause", said: "Schedule paused",
    text: (schedule) => `${schedule.name} does not run until it is resumed. Tasks it has submitted continue.`,
  }),
  resume_schedule: scheduleStep("resume", {
    button: "Resume schedule", title: "Resume this schedule?", verb: "Resume", said: "Schedule resumed",
    text: (schedule) => `${schedule.name} runs again from its next due time. Missed runs are not run later.`,
  }),
  retire_schedule: scheduleStep("retire", {
    button: "Delete schedule", title: "Delete this schedule?", verb: "Delete", said: "Schedule deleted", danger: true, withReason: false,
    text: (schedule) => `${schedule.name} no longer runs. Tasks it has submitted are kept and continue.`,
    http: (schedule) => ["DELETE", `schedules/${schedule.id}`],
    cli: (schedule) => command("pgjobs schedules remove", word(schedule.full_name)),
  }),
  retire_worker: {
    button: "Retire", title: "Retire this worker?", verb: "Retire", said: "Worker retired", danger: true, look: workerOf,
    text: (worker) => `${worker.name ?? shortId(worker.id)} is removed. The tasks it holds return to the queue, or fail if no attempt is left. Its providers are removed too.`,
    preview: (worker) => `Now: ${plural(worker.task_count ?? worker.tasks.length, "task")} held.`,
    http: (worker) => ["DELETE", `workers/${worker.id}`],
    sql: (worker) => call("retire_worker", [literal(worker.id)]),
    cli: (worker) => command("pgjobs workers retire", worker.id),
  },
  sweep: {
    button: "Run upkeep now", title: "Run upkeep now?", verb: "Run upkeep", look: async (of) => ({ step: of || null }),
    text: ({ step }) => `${step ? `Runs the step ${step} of upkeep` : "Runs all steps of upkeep"}: what a server does every half minute. If this is needed, no server with upkeep is running; start pgjobs serve.`,
    said: (_, { items }) => `Upkeep done: ${plural(items.reduce((sum, item) => sum + item.changed, 0), "row")} changed`,
    http: ({ step }) => ["POST", "sweep", { step }],
    sql: ({ step }) => call("sweep", step ? [literal(step)] : []),
    cli: ({ step }) => command("pgjobs sweep", step && `--step ${step}`),
  },
};

const isHeld = (task) => ["claimed", "running"].includes(task.status);
const SENDING = { POST: post, DELETE: (path) => remove(path) };
const told = (what, ...given) => (typeof what === "function" ? what(...given) : what);

// `data` is what is known of it; else it is asked for. `done` is called after a refusal too, because then things are no
// longer as they are shown.
export function act(name, of, { data = null, value, done = () => {} } = {}) {
  const { title } = ACTIONS[name];
  show(title, ({ close }) => html`<${Act} action=${ACTIONS[name]} of=${of} data=${data} value=${value} done=${done} close=${close} />`, { at: name, of });
}

const Act = view((given, leaving) => {
  const { action, of, data, value, done, close } = given.peek();
  const subject = signal(data);
  const problem = signal(null);
  const isBusy = signal(false);
  const reason = signal("");
  const wanted = signal(value ?? (data && action.asks ? action.asks.first(data) : null) ?? null);
  const aborted = new AbortController();
  leaving(() => aborted.abort());
  if (!data)
    action.look(of, aborted.signal).then(
      (found) => {
        if (action.asks && value === undefined) wanted.value = action.asks.first(found) ?? null;
        subject.value = found;
      },
      (error) => error.name === "AbortError" || (problem.value = error),
    );
  const selected = () => ({ reason: reason.value.trim() || null, value: wanted.value });

  const submit = async (event) => {
    event.preventDefault();
    isBusy.value = true;
    problem.value = null;
    try {
      const [method, path, body] = action.http(subject.peek(), selected());
      const answer = await SENDING[method](path, body);
      say("good", told(action.said, subject.peek(), answer));
      close();
    } catch (error) {
      problem.value = error;
    }
    isBusy.value = false;
    done();
  };

  return () => {
    const now = subject.value;
    return html`
      <form class="stack" onSubmit=${submit}>
        ${now
          ? html`<p>${action.text(now)}</p>${action.preview && html`<p class="muted" data-preview>${action.preview(now)}</p>`}`
          : !problem.value && html`<p aria-busy="true"><span class="bone"></span></p>`}
        ${now && action.asks &&
        html`
          <label class="field"><span>${action.asks.label}</span>
            <input class="input" type="number" min="1" max=${action.asks.max} placeholder="none" value=${wanted.value ?? ""} onInput=${(event) => (wanted.value = event.target.value === "" ? null : Number(event.target.value))} />
          </label>
        `}
        ${action.withReason && html`<${Reason} reason=${reason} />`}
        ${now && html`<${CopyAs} sql=${action.sql?.(now, selected())} cli=${action.cli?.(now, selected())} http=${action.http(now, selected())} />`}
        <${Refusal} problem=${problem.value} />
        <div class="foot">
          <button class="button" type="button" onClick=${close}>Back</button>
          <button class="button main ${action.danger ? "danger" : ""}" type="submit" disabled=${isBusy.value || !now}>${told(action.verb, now ?? {})}</button>
        </div>
      </form>
    `;
  };
});

export const Reason = ({ reason }) => html`
  <label class="field">
    <span>Reason (optional, others can read it)</span>
    <textarea class="input" maxlength="200" value=${reason.value} onInput=${(event) => (reason.value = event.target.value)}></textarea>
  </label>
`;

// Actions have an address on every page.
export const actionsAddressed = (leaving, done) =>
  addressed(
    leaving,
    {
      send_signal: (of) => mayOperate() && signalAddressed(done)(of),
      ...Object.fromEntries(Object.keys(ACTIONS).map((name) => [name, (of) => mayOperate() && (() => act(name, of, { done }))])),
    },
  );

const aboutOf = ({ job, task_id: task, schedule_id: schedule, step }) => job ?? task ?? schedule ?? step ?? "";

// Where more is to be seen of what no action here changes.
const PLACES = {
  open_job: ({ job }) => ["Open job", jobAddress(job)],
  open_task: ({ task_id: id }) => ["Open task", address(`/tasks/${id}`)],
  open_worker: ({ worker_id: id }) => ["Open worker", workerAddress(id)],
  open_workers: () => ["Open workers", address("/workers")],
  open_cleanups: ({ status, node_id }) => ["Open cleanups", address("/maintenance/cleanup", { status, node_id })],
  open_database: () => ["Open database", address("/database")],
};

// The button for what a finding or a check advises: it opens a dialog, or leads to where more is to be seen. On the
// page of a task it says when it is about another one.
export const Remedy = ({ item, done, main = false, task = null }) => {
  const given = item.arguments ?? {};
  if (PLACES[item.action]) {
    const [label, to] = PLACES[item.action](given);
    return html`<a class="button little" href=${to}>${label}</a>`;
  }
  if (item.action === "send_signal" && mayOperate())
    return html`<button class="button little ${main ? "main" : ""}" type="button" onClick=${() => sendSignal(given.task_id, given.signal, done)}>Send signal ${given.signal}</button>`;
  const name = item.action === "cancel_task" && !given.force ? "stop_task" : item.action;
  if (!ACTIONS[name] || !mayOperate()) return null;
  const open = () => act(name, aboutOf(given), { value: given.max_running, done });
  const isOther = task && given.task_id && given.task_id !== task.id;
  return html`<button class="button little ${main ? "main" : ""}" type="button" onClick=${open}>${ACTIONS[name].button}${isOther && " parent"}</button>`;
};
