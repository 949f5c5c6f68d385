// One worker: its heartbeat, the jobs it serves, the tasks it holds and its newest errors.
import { get, mayOperate } from "../api.js";
import { date, duration, number, plural, shortId } from "../format.js";
import { resource } from "../live.js";
import { act, actionsAddressed } from "../parts/actions.js";
import { Ago, Bones, Copy, Empty, Head, Meter, Panel, TaskLink, Took, Trouble, share } from "../parts/small.js";
import { tag } from "../parts/tags.js";
import { address, jobAddress } from "../router.js";
import { html, view } from "../view.js";

const jobName = (job) => job.split(":").slice(2).join(":");

const Held = ({ tasks }) =>
  tasks.length
    ? html`
        <ul class="brief">
          ${tasks.map((task) => {
            const part = share(task.progress);
            return html`
              <li key=${task.id} class="stack close">
                <div class="row apart"><span class="row"><${TaskLink} id=${task.id} /><a class="clip" href=${jobAddress(task.job)}>${jobName(task.job)}</a>${tag(task.started_at ? "running" : "claimed")}</span><span class="muted small">for <${Took} from=${task.claimed_at} /></span></div>
                <span class="muted small">attempt ${task.attempt} · ${task.until ? html`lease ends <${Ago} at=${task.until} />` : "lease lasts as long as heartbeats arrive"}${task.cancel_requested_at && " · cancellation requested"}</span>
                ${part !== null && html`<${Meter} share=${part} label="Progress" />`}
              </li>
            `;
          })}
        </ul>
      `
    : html`<p class="muted">No task: it is idle.</p>`;

const Errors = ({ worker }) => html`
  ${worker.errors.length
    ? html`<ul class="brief">${worker.errors.map((error) => html`<li key=${error.id + error.ended_at} class="stack close"><div class="row apart"><span class="row"><${TaskLink} id=${error.id} /><span class="clip">${jobName(error.job)}</span>${error.error_kind && html`<span class="chip">${error.error_kind}</span>`}</span><span class="muted small"><${Ago} at=${error.ended_at} /></span></div><span class="small bad clamp">${error.error}</span></li>`)}</ul>`
    : html`<p class="muted">None.</p>`}
  <p class="muted small">Searched: the last ${number(worker.errors_looked_at)} failed attempts and the last ${number(worker.errors_looked_at)} failed tasks of all workers.</p>
`;

// A heartbeat takes its time to arrive: less than a second says nothing.
function Clock({ ahead }) {
  if (ahead === null) return html`<span class="muted">not told</span>`;
  if (Math.abs(ahead) < 1) return "agrees with the database's, within a second";
  return html`<span class=${Math.abs(ahead) < 5 ? "" : "bad"}>${duration(Math.abs(ahead))} ${ahead > 0 ? "ahead of" : "behind"} the database's</span>`;
}

export const WorkerPage = view((given, leaving) => {
  const { id } = given.peek();
  const one = resource(leaving, (aborted) => get(`workers/${id}/details`, {}, aborted));
  actionsAddressed(leaving, one.reload);
  return () => {
    const worker = one.data.value;
    const isGone = [404, 422].includes(one.problem.value?.status);
    if (isGone) return html`<${Empty} picture="workers" title="Worker not found">It was retired, or stopped sending heartbeats and was removed. <a href=${address("/workers")}>Back to workers</a><//>`;
    if (!worker) return one.problem.value ? html`<${Trouble} problem=${one.problem.value} retry=${one.reload} />` : html`<${Bones} rows=${8} />`;
    return html`
      <p class="small crumbs"><a href=${address("/workers")}>Workers</a> <span class="muted">/ ${shortId(id)}</span></p>
      <${Head} title=${html`${worker.name ?? "unnamed"} ${tag(worker.is_alive ? "alive" : "silent")}`} lead=${html`last seen <${Ago} at=${worker.last_heartbeat} />, holds ${plural(worker.tasks.length, "task")}`}>
        ${mayOperate() && html`<button class="button danger" type="button" onClick=${() => act("retire_worker", id, { data: worker, done: one.reload })}>Retire</button>`}
      <//>
      ${one.problem.value && html`<${Trouble} problem=${one.problem.value} retry=${one.reload} />`}
      <div class="two">
        <div class="stack">
          <${Panel} title="Running now"><${Held} tasks=${worker.tasks} /><//>
          <${Panel} title="Newest errors"><${Errors} worker=${worker} /><//>
        </div>
        <div class="stack">
          <${Panel} title="About">
            <dl class="facts">
              <dt>Id</dt><dd class="row"><span class="mono grow">${worker.id}</span><${Copy} text=${worker.id} what="id" /></dd>
              ${worker.owner && html`<dt>Owner</dt><dd>${worker.owner}</dd>`}
              <dt>Registered</dt><dd>${date(worker.registered_at)}</dd>
              <dt>Heartbeat</dt><dd>${date(worker.last_heartbeat)}</dd>
              <dt>Clock</dt><dd><${Clock} ahead=${worker.clock_ahead_seconds} /></dd>
              <dt>Removed after</dt><dd>${duration(worker.silent_after_seconds)} without a heartbeat</dd>
            </dl>
          <//>
          <${Panel} title="Serves">
            ${worker.jobs.length ? html`<ul class="brief">${worker.jobs.map((job) => html`<li key=${job} class="small"><a class="clip" href=${jobAddress(job)}>${job}</a></li>`)}</ul>` : html`<p class="muted">No job.</p>`}
          <//>
        </div>
      </div>
    `;
  };
});
