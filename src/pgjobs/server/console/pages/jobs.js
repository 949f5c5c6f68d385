// Registered jobs: who serves them, how much goes through, and putting them to rest.
import { mayOperate, post, remove } from "../api.js";
import { compact, number } from "../format.js";
import { act, actionsAddressed, standing } from "../parts/actions.js";
import { CopyAs, call, command, literal, word } from "../parts/copyas.js";
import { addressed, show } from "../parts/dialogs.js";
import { icon } from "../parts/icons.js";
import { List, More, pages } from "../parts/lists.js";
import { Refusal } from "../parts/refusal.js";
import { Bones, Empty, Head, JobName, Trouble } from "../parts/small.js";
import { tag } from "../parts/tags.js";
import { say } from "../parts/toasts.js";
import { address, jobAddress, query, refine } from "../router.js";
import { html, signal, view } from "../view.js";

const count = (value, look = "") => html`<span class=${value === 0 ? "muted" : look}>${compact(value)}</span>`;
const waits = (job, status, count) =>
  count === 0 ? html`<span class="muted">0</span>` : html`<a href=${address("/tasks", { job: job.full_name, status })}>${compact(count)}</a>`;

const atMost = (job) => job.max_running && html`<span class="muted" title="Concurrency limit."> / ${compact(job.max_running)}</span>`;

// Jobs of our own are worked on by the server.
const isInternal = (job) => job.room === "@internal";
const serving = (job) =>
  isInternal(job) ? html`<span class="muted" title="Runs inside the server.">built in</span>` : job.workers > 0 ? number(job.workers) : html`<span class=${job.waiting > 0 ? "bad strong" : "muted"}>${job.waiting > 0 ? "none" : "0"}</span>`;

const AS = {
  archive: (job) => ({
    sql: call("archive_job", [literal(job.full_name)]),
    cli: command("pgjobs jobs archive", word(job.full_name)),
    http: ["POST", `/api/jobs/${job.id}/archive`, {}],
  }),
  delete: (job) => ({
    sql: `-- repeat until is_done\n${call("delete_job", [literal(job.full_name)])}`,
    cli: command("pgjobs jobs delete", word(job.full_name), "--yes"),
    http: ["DELETE", `/api/jobs/${job.id}`],
  }),
};

const Deleting = view((given) => {
  const isArchived = given.peek().job.state === "archived";
  const way = signal(isArchived ? "delete" : "archive");
  const problem = signal(null);
  const isBusy = signal(false);
  return ({ job, done, close }) => {
    const submit = async (event) => {
      event.preventDefault();
      isBusy.value = true;
      problem.value = null;
      try {
        if (way.value === "archive") await post(`/api/jobs/${job.id}/archive`);
        else await remove(`/api/jobs/${job.id}`);
        say("good", way.value === "archive" ? "Job archived" : "Job deleted");
        close();
      } catch (error) {
        problem.value = error;
      }
      isBusy.value = false;
      done();
    };
    const choice = (value, name, about) => html`
      <label class="choice">
        <input type="radio" name="way" value=${value} checked=${way.value === value} onChange=${() => (way.value = value)} />
        <span class="strong">${name}</span><small>${about}</small>
      </label>
    `;
    return html`
      <form class="stack" onSubmit=${submit}>
        <p class="mono">${job.full_name}</p>
        ${!isArchived && choice("archive", "Archive (recommended)", "Hidden from lists; accepts and runs no tasks. Its history stays, and it can be unarchived.")}
        ${!isInternal(job) && choice("delete", "Delete permanently", "Deletes the job with all its tasks, attempts and cleanups. This cannot be undone.")}
        <p class="muted" data-preview>${standing(job)}</p>
        <${CopyAs} ...${AS[way.value](job)} />
        <${Refusal} problem=${problem.value} />
        <div class="foot">
          <button class="button" type="button" onClick=${close}>Back</button>
          <button class="button main ${way.value === "delete" ? "danger" : ""}" type="submit" disabled=${isBusy.value}>${way.value === "archive" ? "Archive" : "Delete permanently"}</button>
        </div>
      </form>
    `;
  };
});

const step = (name, job, done) => act(name, job.full_name, { data: job, done });
const putAway = (job, done) =>
  show("Delete this job?", ({ close }) => html`<${Deleting} job=${job} done=${done} close=${close} />`, { at: "delete", of: job.full_name });

const actions = (job, done) => html`
  <div class="row near">
    ${mayOperate() &&
    html`
      ${job.state === "open" && html`<button class="button bare icononly little" type="button" aria-label=${`Pause ${job.name}`} title="Pause" onClick=${() => step("pause_job", job, done)}>${icon("pause")}</button>`}
      ${job.state === "paused" && html`<button class="button bare icononly little" type="button" aria-label=${`Resume ${job.name}`} title="Resume" onClick=${() => step("resume_job", job, done)}>${icon("play")}</button>`}
      ${job.state === "archived" && html`<button class="button bare icononly little" type="button" aria-label=${`Unarchive ${job.name}`} title="Unarchive" onClick=${() => step("unarchive_job", job, done)}>${icon("archive")}</button>`}
      ${!(isInternal(job) && job.state === "archived") && html`<button class="button bare icononly little" type="button" aria-label=${`Delete ${job.name}`} title=${job.state === "archived" ? "Delete" : "Archive or delete"}
        onClick=${() => putAway(job, done)}>${icon("trash")}</button>`}
    `}
  </div>
`;

// Why it is paused is the first thing that whoever finds it so wants to know.
const reason = (job) => job.state === "paused" && job.pause_reason && html`<span class="muted small clamp" title=${job.pause_reason} data-reason>${job.pause_reason}</span>`;
const state = (job) => html`<span class="stack close"><span>${tag(job.state)}</span>${reason(job)}</span>`;

const columns = (done) => [
  { title: "Job", cell: (job) => html`<${JobName} job=${job.full_name} to=${jobAddress(job.full_name)} />` },
  { title: "State", width: "150px", tight: "112px", cell: state },
  { title: "Workers", width: "90px", tight: "76px", kind: "number", cell: serving },
  { title: "Waiting", width: "86px", tight: "72px", kind: "number", cell: (job) => waits(job, "pending", job.waiting) },
  { title: "Running", width: "88px", tight: "76px", kind: "number", cell: (job) => html`${waits(job, "running", job.running)}${atMost(job)}` },
  { title: "Done in 1 h", roomy: true, width: "108px", kind: "number", cell: (job) => count(job.completed_last_hour) },
  { title: "Failed in 1 h", roomy: true, width: "116px", kind: "number", cell: (job) => count(job.failed_last_hour, "bad") },
  { read: "Actions", width: "132px", tight: "118px", kind: "end", cell: (job) => actions(job, done) },
];

const card = (done) => (job) => html`
  <div class="row apart"><div class="grow"><${JobName} job=${job.full_name} to=${jobAddress(job.full_name)} /></div>${tag(job.state)}</div>
  ${reason(job)}
  <div class="row apart small">
    <span class="muted">${isInternal(job) ? "built in" : html`${serving(job)} ${job.workers === 1 ? "worker" : "workers"}`} · ${compact(job.waiting)} waiting · ${compact(job.running)}${atMost(job)} running</span>
  </div>
  <div class="row apart small"><span class="muted">${compact(job.completed_last_hour)} done in 1 h${job.failed_last_hour > 0 && html`, <span class="bad">${compact(job.failed_last_hour)} failed</span>`}</span>${actions(job, done)}</div>
`;

export const Jobs = view((_, leaving) => {
  const withArchived = () => query.value.archived === "1";
  const list = pages(leaving, "jobs", () => ({ include_archived: withArchived() }), 50);
  actionsAddressed(leaving, list.reload);
  addressed(leaving, {
    delete: (of) => {
      const job = list.data.value?.items.find((one) => one.full_name === of);
      return job && mayOperate() && (() => putAway(job, list.reload));
    },
  });
  return () => html`
    <${Head} title="Jobs" lead="Job types known to this queue.">
      <label class="check"><input type="checkbox" checked=${withArchived()} onChange=${(event) => refine({ archived: event.target.checked ? "1" : null })} />Show archived</label>
    <//>
    <div class="stack">
      ${list.problem.value && html`<${Trouble} problem=${list.problem.value} retry=${list.reload} />`}
      <section class="panel" aria-label="List of jobs">
        ${!list.data.value
          ? html`<${Bones} />`
          : list.data.value.items.length
            ? html`<${List} label="Jobs" rows=${list.data.value.items} idOf=${(job) => job.id} columns=${columns(list.reload)} card=${card(list.reload)} /><${More} of=${list} />`
            : html`<${Empty} title="No jobs yet">A worker registers its jobs when it starts: <code>pgjobs worker myapp:jobs</code>.<//>`}
      </section>
    </div>
  `;
});
