// Workers: when they were last seen, what they serve and what they work on.
import { mayOperate } from "../api.js";
import { plural, shortId } from "../format.js";
import { act, actionsAddressed } from "../parts/actions.js";
import { List, More, pages } from "../parts/lists.js";
import { Ago, Bones, Empty, Head, TaskLink, Took, Trouble } from "../parts/small.js";
import { tag } from "../parts/tags.js";
import { jobAddress, workerAddress } from "../router.js";
import { html, isRoomy, view } from "../view.js";

const SHOWN = 4;

const retire = (worker, done) => act("retire_worker", worker.id, { data: worker, done });

const state = (worker) => tag(worker.is_alive ? "alive" : "silent");
const name = (worker) => html`
  <span class="stack close">
    <a class="name clip" data-open href=${workerAddress(worker.id)}>${worker.name ?? "unnamed"}</a>
    <span class="muted small mono clip" title=${worker.id}>${shortId(worker.id)}</span>
  </span>
`;
const serves = (worker) => html`
  <span class="row wrap">
    ${worker.jobs.slice(0, SHOWN).map((job) => html`<a class="chip clip" href=${jobAddress(job)} title=${job}>${job.split(":").slice(2).join(":")}</a>`)}
    ${worker.job_count > SHOWN && html`<span class="muted small">and ${worker.job_count - SHOWN} more</span>`}
    ${worker.job_count === 0 && html`<span class="muted">nothing</span>`}
  </span>
`;
const works = (worker) =>
  worker.task_count === 0
    ? html`<span class="muted">idle</span>`
    : html`
        <ul class="stack close">
          ${worker.tasks.slice(0, SHOWN).map((task) => html`<li class="row small"><${TaskLink} id=${task.id} /><span class="clip">${task.job.split(":").slice(2).join(":")}</span>${isRoomy.value && html`<span class="muted"><${Took} from=${task.claimed_at} /></span>`}</li>`)}
          ${worker.task_count > SHOWN && html`<li class="muted small">and ${worker.task_count - SHOWN} more</li>`}
        </ul>
      `;
const leave = (worker, done) =>
  mayOperate() && html`<button class="button little danger" type="button" onClick=${() => retire(worker, done)} aria-label=${`Retire ${worker.name ?? shortId(worker.id)}`}>Retire</button>`;

const heard = (worker) => html`<${Ago} at=${worker.last_heartbeat} />`;
const life = (worker) => (isRoomy.value ? state(worker) : html`<span class="stack close"><span>${state(worker)}</span><span class="muted small">${heard(worker)}</span></span>`);
const work = (worker) => (isRoomy.value ? works(worker) : html`<div class="stack tight">${serves(worker)}${works(worker)}</div>`);

const columns = (done) => [
  { title: "Worker", width: "17%", tight: "auto", cell: name },
  { title: isRoomy.value ? "State" : "Heartbeat", width: "108px", tight: "126px", cell: life },
  { title: "Heartbeat", roomy: true, width: "136px", cell: heard },
  { title: "Serves", roomy: true, cell: serves },
  { title: isRoomy.value ? "Running" : "Serves and runs", width: "26%", tight: "42%", cell: work },
  { read: "Actions", width: "104px", tight: "88px", kind: "end", cell: (worker) => leave(worker, done) },
];

const card = (done) => (worker) => html`
  <div class="row apart"><div class="grow">${name(worker)}</div>${state(worker)}</div>
  ${serves(worker)}
  ${works(worker)}
  <div class="row apart small"><span class="muted">last seen ${heard(worker)}</span>${leave(worker, done)}</div>
`;

export const Workers = view((_, leaving) => {
  const list = pages(leaving, "workers/status");
  const silent = () => (list.data.value?.items ?? []).filter((worker) => !worker.is_alive).length;
  actionsAddressed(leaving, list.reload);
  return () => html`
    <${Head} title="Workers" lead=${list.data.value ? `${plural(list.data.value.total - silent(), "worker")} alive${silent() ? `, ${silent()} silent` : ""}` : "Processes that run tasks."}><//>
    <div class="stack">
      ${list.problem.value && html`<${Trouble} problem=${list.problem.value} retry=${list.reload} />`}
      <section class="panel" aria-label="List of workers">
        ${!list.data.value
          ? html`<${Bones} />`
          : list.data.value.items.length
            ? html`<${List} label="Workers" rows=${list.data.value.items} idOf=${(worker) => worker.id} columns=${columns(list.reload)} card=${card(list.reload)} /><${More} of=${list} />`
            : html`<${Empty} picture="workers" title="No workers">Tasks wait until one starts: <code>pgjobs worker myapp:jobs</code>.<//>`}
      </section>
    </div>
  `;
});
