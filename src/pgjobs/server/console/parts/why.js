// Why a task waits, in words, with the thing to do.
import { address } from "../router.js";
import { html } from "../view.js";
import { icon } from "./icons.js";
import { Bones, Sql, Trouble, isSql } from "./small.js";

const CLEANUP = "@internal:maintenance:incomplete-cleanup";

// What to do about each check that says no. Others may say no beside it, so none promises that the task will run.
const TODO = {
  ignored: () => "Unignore puts it back into line, Retry starts it over: both are above.",
  due: (task) => `${task.phase === "blocked" ? "Waiting alone will hardly help: mend what the error names." : "Its time comes by itself."} Retry, above, makes it due now.`,
  archived: () => html`Take the job out of the archive: <a href=${address("/jobs", { archived: "1" })}>Jobs</a>, Unarchive.`,
  paused: () => html`Resume the job: <a href=${address("/jobs")}>Jobs</a>, Resume.`,
  limit: (task) => html`A place comes free when one of them ends. <a href=${address("/tasks", { job: task.job, status: "running" })}>See what runs</a>.`,
  workers: ({ job }) => {
    if (job === CLEANUP) return html`Servers clean up by themselves unless they are told not to; <code>pgjobs cleanup run</code> does it without one.`;
    if (job.startsWith("@internal:")) return html`Jobs of @internal run inside the server: start one whose application declares it, with <code>register_internal(…)</code>.`;
    return html`Start a worker that serves it: <code>pgjobs worker MODULE:JOBS</code>.`;
  },
  heartbeats: () => html`Start its workers again. <a href=${address("/workers")}>Workers</a> shows which fell silent and what they held.`,
  line: (task) => html`It moves up as they are claimed, sooner with more workers. <a href=${address("/tasks", { job: task.job, status: "pending" })}>See the line</a>.`,
};
// These pass without anybody's help.
const isPatient = (check, task) => ["due", "limit", "line"].includes(check.checked) && !(check.checked === "due" && task.phase === "blocked");

export const Why = ({ of, task }) => {
  const items = of.data.value?.items;
  if (of.problem.value && !items) return html`<${Trouble} problem=${of.problem.value} retry=${of.reload} />`;
  if (!items) return html`<${Bones} rows=${3} />`;
  const failing = items.filter((check) => !check.is_ok);
  const hard = failing.find((check) => !isPatient(check, task));
  const reason = hard ?? failing[0];
  const todo = (check) => TODO[check.checked]?.(task);
  return html`
    <div class="stack">
      <div class="notice ${hard ? "warn" : "info"}" data-why>
        ${icon(hard ? "block" : "clock")}
        <div class="grow stack close">
          <span class="strong">${reason ? reason.answer : "Nothing stands in its way: the next free worker takes it."}</span>
          ${reason && todo(reason) && html`<p data-todo>${todo(reason)}</p>`}
        </div>
      </div>
      ${isSql(reason?.advice) && html`<div class="stack close"><h3>The same in psql</h3><${Sql} text=${reason.advice} /></div>`}
      <ul class="checks">
        ${items.map(
          (check) => html`
            <li key=${check.checked} class=${check.is_ok ? "" : "no"}>
              ${icon(check.is_ok ? "check" : isPatient(check, task) ? "clock" : "block")}<span>${check.answer}<span class="only-read">${check.is_ok ? " (fine)" : " (in its way)"}</span></span>
              ${!check.is_ok && check !== reason && todo(check) && html`<p class="todo small">${todo(check)}</p>`}
            </li>
          `,
        )}
      </ul>
    </div>
  `;
};
