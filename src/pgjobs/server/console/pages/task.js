// One task: how it stands, why it waits, what happened, and what can be done.
import { get, mayOperate } from "../api.js";
import { date, duration, firstParagraph, number, shortId } from "../format.js";
import { bindKeys } from "../keys.js";
import { resource } from "../live.js";
import { icon } from "../parts/icons.js";
import { Ago, Bones, Copy, Empty, Head, Json, Meter, Panel, Took, Trouble, share } from "../parts/small.js";
import { tag, taskTag, tone } from "../parts/tags.js";
import { cancelOne, ignoreOne, retryOne, unignoreOne } from "../parts/taskactions.js";
import { say } from "../parts/toasts.js";
import { Why } from "../parts/why.js";
import { address } from "../router.js";
import { html, view } from "../view.js";

const isOpenStatus = (task) => !["completed", "failed", "cancelled"].includes(task.status);

const Actions = (task, done) => {
  const isHeld = ["claimed", "running"].includes(task.status);
  const may = (verb) => task.allows.includes(verb);
  return html`
    ${may("retry") && html`<button class="button main" type="button" onClick=${() => retryOne(task.id, done)}>${icon("retry")}Retry</button>`}
    ${may("unignore") && html`<button class="button" type="button" onClick=${() => unignoreOne(task.id, done)}>${icon("eye")}Unignore</button>`}
    ${may("ignore") && html`<button class="button" type="button" onClick=${() => ignoreOne(task.id, done)}>${icon("hidden")}Ignore</button>`}
    ${may("cancel") && html`<button class="button danger" type="button" onClick=${() => cancelOne(task.id, isHeld, done)}>${icon("stop")}${isHeld ? "Ask to stop" : "Cancel"}</button>`}
  `;
};

export const Progress = ({ progress }) => {
  if (progress === null || progress === undefined) return html`<p class="muted">Its worker has not reported progress.</p>`;
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
    [task.claimed_at, `Claimed, attempt ${task.attempt}`, task.worker_id ? `by worker ${shortId(task.worker_id)}` : task.holder && `by ${task.holder}`, "info"],
    [task.started_at, "Started", null, "info"],
    [task.cancel_requested_at, "Asked to stop", task.reason, "warn"],
    [task.ended_at, task.status[0].toUpperCase() + task.status.slice(1), task.status === "cancelled" ? task.reason : task.started_at && `after ${duration((Date.parse(task.ended_at) - Date.parse(task.started_at)) / 1000)}`, tone(task.status)],
  ].filter(([at]) => at);
  if (task.due_at && isOpenStatus(task) && Date.parse(task.due_at) > Date.parse(task.created_at) + 1000)
    known.push([task.due_at, Date.parse(task.due_at) > Date.now() ? "Due" : "Came due", null, "warn"]);
  if (task.status === "ignored") known.push([null, "Put aside", task.reason, "warn"]);
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

const Attempts = ({ items }) => {
  if (!items) return html`<${Bones} rows=${2} />`;
  if (!items.length) return html`<p class="muted">No attempt has ended yet.</p>`;
  return html`
    <ol class="steps">
      ${[...items].reverse().map(
        (attempt) => html`
          <li class=${tone(attempt.status)}>
            <span class="row wrap"><span class="strong">Attempt ${attempt.attempt}</span>${tag(attempt.status)}${attempt.error_kind && html`<span class="chip">${attempt.error_kind}</span>`}</span>
            <span class="muted small"><${Ago} at=${attempt.ended_at} /> · took <${Took} from=${attempt.started_at ?? attempt.claimed_at} to=${attempt.ended_at} />${attempt.worker_id && html` · worker <span class="mono">${shortId(attempt.worker_id)}</span>`}</span>
            ${(attempt.error ?? attempt.reason) && html`<pre tabindex="0"><code>${attempt.error ?? attempt.reason}</code></pre>`}
          </li>
        `,
      )}
    </ol>
  `;
};

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
    ${previous && html`<div class="more"><span>The last ${number(items.length)} are shown.</span><button class="button" type="button" onClick=${earlier}>Show earlier events</button></div>`}
  `;
};

const Facts = (task) => html`
  <dl class="facts">
    <dt>Id</dt><dd class="row"><span class="mono grow">${task.id}</span><${Copy} text=${task.id} what="id" /></dd>
    <dt>Job</dt><dd><a href=${address("/tasks", { job: task.job })}>${task.job}</a></dd>
    <dt>Room</dt><dd><a href=${address("/tasks", { room: task.room })}>${task.room}</a></dd>
    ${task.owner && html`<dt>Owner</dt><dd><a href=${address("/tasks", { owner: task.owner })}>${task.owner}</a></dd>`}
    ${task.project && html`<dt>Project</dt><dd>${task.project}</dd>`}
    <dt>Priority</dt><dd>${task.priority}</dd>
    <dt>Attempts</dt><dd>${task.attempt} of ${task.max_attempts}</dd>
    ${task.queue_position && html`<dt>Place in line</dt><dd>${number(task.queue_position)}</dd>`}
    ${task.worker_id && html`<dt>Worker</dt><dd class="mono">${task.worker_id}</dd>`}
    ${task.until && html`<dt>Lease until</dt><dd>${date(task.until)}</dd>`}
    ${task.idempotency_key && html`<dt>Key</dt><dd class="mono">${task.idempotency_key}</dd>`}
    ${task.tags?.length > 0 && html`<dt>Tags</dt><dd class="row wrap">${task.tags.map((name) => html`<span class="chip">${name}</span>`)}</dd>`}
  </dl>
`;

export const Task = view((given, leaving) => {
  const { id } = given.peek();
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
  const reload = () => [task, attempts, events, why].forEach((part) => part.reload());
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
  bindKeys(leaving, { r: () => task.data.peek()?.allows.includes("retry") && mayOperate() && retryOne(id, reload) });

  return () => {
    const now = task.data.value;
    if (!now && task.problem.value)
      return task.problem.value.status === 404 || task.problem.value.status === 422
        ? html`<${Empty} picture="search" title="There is no such task">It may have been deleted by retention. <a href=${address("/tasks")}>Back to the tasks</a><//>`
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
          ${["pending", "ignored"].includes(now.status) && html`<${Panel} title="Why is it waiting?"><${Why} of=${why} task=${now} /><//>`}
          ${["claimed", "running"].includes(now.status) && html`<${Panel} title="Progress"><${Progress} progress=${now.progress} /><//>`}
          <${Panel} title="Payload"><${Json} value=${now.payload} label="Payload" /><//>
          ${now.status === "completed" && html`<${Panel} title="Result"><${Json} value=${now.result} label="Result" /><//>`}
          <${Panel} title="Attempts"><${Attempts} items=${attempts.data.value?.items} /><//>
        </div>
        <div class="stack">
          <${Panel} title="Timeline">${steps(now)}<//>
          <${Panel} title="About">${Facts(now)}<//>
          <${Panel} title="Events"><${Events} of=${events} earlier=${earlier} /><//>
        </div>
      </div>
    `;
  };
});
