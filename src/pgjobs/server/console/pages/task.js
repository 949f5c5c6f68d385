// One task: how it stands, why it waits, what happened, and what can be done.
import { get, mayOperate } from "../api.js";
import { date, duration, firstParagraph, number, shortId } from "../format.js";
import { bindKeys } from "../keys.js";
import { resource } from "../live.js";
import { actionsAddressed } from "../parts/actions.js";
import { Attempts } from "../parts/attempts.js";
import { addressed } from "../parts/dialogs.js";
import { icon } from "../parts/icons.js";
import { Ago, Bones, Copy, Empty, Head, Json, Meter, Panel, Trouble, share } from "../parts/small.js";
import { taskTag, tone } from "../parts/tags.js";
import { duplicate, retryEdited } from "../parts/submit.js";
import { cancelOne, forceEnd, ignoreOne, retryOne, unignoreOne } from "../parts/taskactions.js";
import { logOf, TaskLog } from "../parts/tasklog.js";
import { hasFlow, Timeline } from "../parts/timeline.js";
import { say } from "../parts/toasts.js";
import { Why } from "../parts/why.js";
import { address, goInstead, jobAddress, workerAddress, workflowAddress } from "../router.js";
import { effect, html, view } from "../view.js";

const isOpenStatus = (task) => !["completed", "failed", "cancelled"].includes(task.status);

const Actions = (task, done) => {
  const isHeld = ["claimed", "running"].includes(task.status);
  const may = (verb) => task.allows.includes(verb);
  return html`
    ${may("retry") && html`<button class="button main" type="button" onClick=${() => retryOne(task.id, done, task)}>${icon("retry")}Retry</button>`}
    ${may("retry") && html`<button class="button" type="button" onClick=${() => retryEdited(task.id, done)}>Edit payload</button>`}
    ${may("unignore") && html`<button class="button" type="button" onClick=${() => unignoreOne(task.id, done, task)}>${icon("eye")}Unignore</button>`}
    ${may("ignore") && html`<button class="button" type="button" onClick=${() => ignoreOne(task.id, done, task)}>${icon("hidden")}Ignore</button>`}
    <button class="button" type="button" onClick=${() => duplicate(task.id, done)}>${icon("copy")}Duplicate</button>
    ${may("cancel") && task.cancel_requested_at && html`<button class="button danger" type="button" onClick=${() => forceEnd(task.id, done, task)}>${icon("stop")}Force end</button>`}
    ${may("cancel") && !task.cancel_requested_at && html`<button class="button danger" type="button" onClick=${() => cancelOne(task.id, done, task)}>${icon("stop")}${isHeld ? "Request cancellation" : "Cancel"}</button>`}
  `;
};

export const Progress = ({ progress }) => {
  if (progress === null || progress === undefined) return html`<p class="muted">No progress reported yet.</p>`;
  const part = share(progress);
  const text = typeof progress === "object" ? (progress.message ?? progress.note ?? progress.step) : null;
  return html`
    <div class="stack close">
      ${part !== null && html`<div class="row apart"><span class="strong">${Math.round(part * 100)} %</span>${text && html`<span class="muted clip">${text}</span>`}</div><${Meter} share=${part} label="Progress" />`}
      ${part === null && html`<${Json} value=${progress} label="Progress" />`}
    </div>
  `;
};

const submitter = (task) =>
  task.submitter.startsWith("schedule ")
    ? html`by <a href=${address("/schedules", { job: task.job })}>${task.submitter}</a>`
    : `by ${task.submitter}`;

function steps(task) {
  const known = [
    [task.created_at, "Submitted", task.submitter && submitter(task), ""],
    [task.claimed_at, "Claimed", task.worker_id ? `by worker ${shortId(task.worker_id)}` : task.holder && `by ${task.holder}`, "info"],
    [task.started_at, "Started", null, "info"],
    [task.cancel_requested_at, "Cancellation requested", task.reason, "warn"],
    [task.ended_at, task.status[0].toUpperCase() + task.status.slice(1), task.status === "cancelled" ? task.reason : task.started_at && `after ${duration((Date.parse(task.ended_at) - Date.parse(task.started_at)) / 1000)}`, tone(task.status)],
  ].filter(([at]) => at);
  if (task.due_at && isOpenStatus(task) && Date.parse(task.due_at) > Date.parse(task.created_at) + 1000)
    known.push([task.due_at, Date.parse(task.due_at) > Date.now() ? "Due" : "Became due", null, "warn"]);
  if (task.status === "ignored") known.push([null, "Ignored", task.reason, "warn"]);
  return html`
    <ol class="steps">
      ${known.map(
        ([at, what, more, look]) => html`
          <li class=${look}><span class="strong">${what}</span><span class="muted small">${at && html`<${Ago} at=${at} /> · ${date(at)}`}${more && html`${at && " · "}${more}`}</span></li>
        `,
      )}
    </ol>
  `;
}

// Events are never changed: those seen before stay, and only the last ones are asked for anew. When so many have come
// meanwhile that there would be a gap, what is before it is left out.
function followed(seen, last) {
  const first = last.items[0]?.seq;
  if (!last.previous || !seen?.items.length || seen.items.at(-1).seq < first) return last;
  const earlier = seen.items.filter((event) => event.seq < first);
  return { items: [...earlier, ...last.items], previous: earlier.length ? seen.previous : last.previous };
}

const Events = ({ of, earlier }) => {
  if (!of.data.value) return of.problem.value ? html`<${Trouble} problem=${of.problem.value} retry=${of.reload} />` : html`<${Bones} rows=${3} />`;
  const { items, previous } = of.data.value;
  if (!items.length) return html`<p class="muted">None kept. Jobs registered with <code>events => 'full'</code> record every step, others only failures and what operators do.</p>`;
  return html`
    <ol class="steps">
      ${[...items].reverse().map(
        (event) => html`
          <li key=${event.seq} class=${tone(event.status ?? event.kind)}>
            <span class="strong">${event.kind.replaceAll("_", " ")}</span>
            <span class="muted small"><${Ago} at=${event.at} />${event.actor && html` · by ${event.actor}`}${event.worker_id && html` · worker <span class="mono">${shortId(event.worker_id)}</span>`}</span>
            ${event.message && html`<span class="small lines">${firstParagraph(event.message)}</span>`}
          </li>
        `,
      )}
    </ol>
    ${previous && html`<div class="more"><span>Showing the last ${number(items.length)}.</span><button class="button" type="button" onClick=${earlier}>Show earlier events</button></div>`}
  `;
};

const Facts = (task, flow) => html`
  <dl class="facts">
    <dt>Id</dt><dd class="row"><span class="mono grow">${task.id}</span><${Copy} text=${task.id} what="id" /></dd>
    <dt>Number</dt><dd class="row"><span class="mono grow">${task.number}</span><${Copy} text=${String(task.number)} what="number" /></dd>
    <dt>Job</dt><dd><a href=${jobAddress(task.job)}>${task.job}</a></dd>
    <dt>Room</dt><dd><a href=${address("/tasks", { room: task.room })}>${task.room}</a></dd>
    ${flow?.workflow && html`<dt>Workflow</dt><dd><a href=${workflowAddress(flow.workflow.id)}>${flow.workflow.name}</a>, as ${flow.workflow.task}</dd>`}
    ${task.owner && html`<dt>Owner</dt><dd><a href=${address("/tasks", { owner: task.owner })}>${task.owner}</a></dd>`}
    ${task.project && html`<dt>Project</dt><dd>${task.project}</dd>`}
    <dt>Priority</dt><dd>${task.priority}</dd>
    <dt>Attempts</dt><dd>${task.attempt} of ${task.max_attempts}</dd>
    ${task.queue_position && html`<dt>Queue position</dt><dd>${number(task.queue_position)}</dd>`}
    ${task.worker_id && html`<dt>Worker</dt><dd class="mono"><a href=${workerAddress(task.worker_id)}>${task.worker_id}</a></dd>`}
    ${task.until && html`<dt>Lease until</dt><dd>${date(task.until)}</dd>`}
    ${task.trace_id && html`<dt>Trace</dt><dd class="mono">${task.trace_url ? html`<a href=${task.trace_url} rel="noreferrer">${task.trace_id}</a>` : task.trace_id}</dd>`}
    ${task.idempotency_key && html`<dt>Key</dt><dd class="mono">${task.idempotency_key}</dd>`}
    ${task.tags?.length > 0 && html`<dt>Tags</dt><dd class="row wrap">${task.tags.map((name) => html`<span class="chip">${name}</span>`)}</dd>`}
  </dl>
`;

const notFound = html`<${Empty} picture="search" title="Task not found">It may have been deleted by retention. <a href=${address("/tasks")}>Back to tasks</a><//>`;

// The command line and SQL know tasks by their numbers: such an address leads to the task too.
function byNumber(number, leaving) {
  const found = resource(leaving, (aborted) => get("tasks", { text: number, limit: 150 }, aborted), () => false);
  const task = () => found.data.value?.items.find((one) => String(one.number) === number);
  leaving(effect(() => task() && goInstead(`/tasks/${task().id}`)));
  return () => {
    if (found.problem.value) return html`<${Trouble} problem=${found.problem.value} retry=${found.reload} />`;
    return found.data.value && !task() ? notFound : html`<${Bones} rows=${8} />`;
  };
}

export const Task = view((given, leaving) => {
  const { id } = given.peek();
  if (/^\d+$/.test(id)) return byNumber(id, leaving);
  const isMine = (event) => event.task_id === id;
  const task = resource(leaving, (aborted) => get(`tasks/${id}/details`, {}, aborted), isMine);
  const attempts = resource(leaving, (aborted) => get(`tasks/${id}/attempts`, {}, aborted), isMine);
  const events = resource(
    leaving,
    async (aborted) => {
      const last = await get(`tasks/${id}/events`, {}, aborted);
      return followed(events.data.peek(), last);
    },
    isMine,
  );
  const why = resource(leaving, (aborted) => get(`tasks/${id}/why`, {}, aborted));
  const kin = () => ["parents", "called", "children"].flatMap((name) => flow.data.peek()?.[name].items ?? []);
  const flow = resource(leaving, (aborted) => get(`tasks/${id}/flow`, {}, aborted), (event) => isMine(event) || kin().some((one) => one.id === event.task_id));
  const isHeld = () => ["claimed", "running"].includes(task.data.peek()?.status);
  const log = logOf(leaving, id, isHeld, isMine);
  const reload = () => [task, attempts, events, why, log, flow].forEach((part) => part.reload());
  const earlier = async () => {
    const { previous } = events.data.peek();
    try {
      const answer = await get(`tasks/${id}/events`, { before: previous });
      // Clicked twice, or with so much news meanwhile that others come before what is shown.
      if (events.data.peek().previous !== previous) return;
      events.data.value = { items: [...answer.items, ...events.data.peek().items], previous: answer.previous };
    } catch (error) {
      say("bad", error.message);
    }
  };
  actionsAddressed(leaving, reload);
  addressed(leaving, {
    edit: () => mayOperate() && (() => retryEdited(id, reload)),
    duplicate: () => mayOperate() && (() => duplicate(id, reload)),
  });
  bindKeys(leaving, { r: () => task.data.peek()?.allows.includes("retry") && mayOperate() && retryOne(id, reload, task.data.peek()) });

  return () => {
    const now = task.data.value;
    if (!now && task.problem.value)
      return task.problem.value.status === 404 || task.problem.value.status === 422
        ? notFound
        : html`<${Trouble} problem=${task.problem.value} retry=${task.reload} />`;
    if (!now) return html`<${Bones} rows=${8} />`;
    return html`
      <p class="small crumbs"><a href=${address("/tasks")}>Tasks</a> <span class="muted">/ ${shortId(id)}</span></p>
      <${Head} title=${html`${now.job.split(":").slice(2).join(":")} ${taskTag(now)}`} lead=${html`in ${now.room}, submitted <${Ago} at=${now.created_at} />`}>
        ${mayOperate() && Actions(now, reload)}
      <//>
      ${task.problem.value && html`<${Trouble} problem=${task.problem.value} retry=${reload} />`}
      <div class="two">
        <div class="stack">
          ${now.error && html`<div class="notice bad">${icon("cross")}<div class="grow"><div class="row strong">${now.status === "failed" ? "Failed" : "The last attempt failed"}${now.error_kind && html`<span class="chip">${now.error_kind}</span>`}</div><div class="lines">${firstParagraph(now.error)}</div></div></div>`}
          ${["claimed", "running"].includes(now.status) && html`<${Panel} title="Progress"><${Progress} progress=${now.progress} /><//>`}
          ${isOpenStatus(now) && html`<${Panel} title=${["claimed", "running"].includes(now.status) ? "Why has it not ended?" : "Why is it waiting?"}><${Why} of=${why} task=${now} done=${reload} /><//>`}
          ${hasFlow(flow.data.value) && html`<${Panel} title="Steps and related tasks"><${Timeline} task=${now} flow=${flow.data.value} /><//>`}
          <${Panel} title="Payload"><${Json} value=${now.payload} label="Payload" /><//>
          ${now.status === "completed" && html`<${Panel} title="Result"><${Json} value=${now.result} label="Result" /><//>`}
          <${Panel} title="Log"><${TaskLog} of=${log} isRunning=${isHeld()} /><//>
          <${Panel} title="Attempts"><${Attempts} items=${attempts.data.value?.items} task=${now} /><//>
        </div>
        <div class="stack">
          <${Panel} title="Timeline">${steps(now)}<//>
          <${Panel} title="About">${Facts(now, flow.data.value)}<//>
          <${Panel} title="Events"><${Events} of=${events} earlier=${earlier} /><//>
        </div>
      </div>
    `;
  };
});
