// Why a task waits, in words, with the thing to do.
import { address, jobAddress } from "../router.js";
import { html } from "../view.js";
import { Remedy } from "./actions.js";
import { icon } from "./icons.js";
import { Bones, Sql, Trouble, isSql } from "./small.js";

const CLEANUP = "@internal:maintenance:incomplete-cleanup";

// A task that waits for something other than its time.
const WAITS = {
  sleeping: "It continues by itself when the time has come.",
  waiting: "It continues when the signal is sent, or what it called has ended.",
  dependent: "It runs once its parents have ended.",
  held: "It runs once the parent that failed was retried and completes.",
};

// What to do about each check that says no. Others may say no beside it, so none promises that the task will run.
const TODO = {
  ignored: () => "Unignore returns it to the queue; Retry also resets its attempts.",
  ended: (task) => task.status !== "completed" && "Retry returns it to the queue with attempts reset.",
  cancellation: () => "Force end does not wait for its worker; a result that still comes is discarded.",
  lease: (task, check) => check.action === "sweep" && "Upkeep ends such leases by itself, every half minute; if it does not, no server with upkeep is running.",
  due: (task) => WAITS[task.phase] ?? `${task.phase === "blocked" ? "Waiting is unlikely to help: fix what the error names." : "It becomes due without your help."} Retry makes it due now.`,
  key: () => "It passes by itself; the job's page shows its keys, and its limits can be changed there.",
  archived: () => "Unarchive the job.",
  paused: () => "Resume the job.",
  limit: (task) => html`A slot becomes free when one of them ends. <a href=${address("/tasks", { job: task.job, status: "running" })}>Show running tasks</a>.`,
  workers: ({ job }) => {
    if (job === CLEANUP) return html`Servers clean up unless this is turned off; <code>pgjobs cleanup run</code> does it without a server.`;
    if (job.startsWith("@internal:")) return html`Jobs of @internal run inside the server: start one whose application declares it, with <code>register_internal(…)</code>.`;
    return html`Start a worker that serves it: <code>pgjobs worker MODULE:JOBS</code>.`;
  },
  heartbeats: () => html`Restart its workers. <a href=${address("/workers")}>Workers</a> shows which are silent and what they held.`,
  line: (task) => html`It moves up as tasks are claimed; more workers make that faster. <a href=${jobAddress(task.job)}>Open job</a>.`,
};
// These pass without anybody's help.
const isPatient = (check, task) =>
  ["due", "limit", "line"].includes(check.checked) && !(check.checked === "due" && (["blocked", "held"].includes(task.phase) || check.action === "send_signal"));
// Nor does a limit by key, nor a lease whose worker lives.
const passes = (check, task) => check.checked === "key" || (check.checked === "lease" ? check.action !== "sweep" : isPatient(check, task));

export const Why = ({ of, task, done }) => {
  const items = of.data.value?.items;
  if (of.problem.value && !items) return html`<${Trouble} problem=${of.problem.value} retry=${of.reload} />`;
  if (!items) return html`<${Bones} rows=${3} />`;
  const failing = items.filter((check) => !check.is_ok);
  const hard = failing.find((check) => !passes(check, task));
  const reason = hard ?? failing[0];
  const todo = (check) => TODO[check.checked]?.(task, check);
  return html`
    <div class="stack">
      <div class="notice ${hard ? "warn" : "info"}" data-why>
        ${icon(hard ? "block" : reason?.checked === "lease" ? "held" : "clock")}
        <div class="grow stack close">
          <span class="strong">${reason ? reason.answer : "Nothing blocks it: the next free worker takes it."}</span>
          ${reason && todo(reason) && html`<p data-todo>${todo(reason)}</p>`}
          ${reason && html`<span><${Remedy} item=${reason} task=${task} done=${done} main /></span>`}
        </div>
      </div>
      ${isSql(reason?.advice) && html`<div class="stack close"><h3>The same in psql</h3><${Sql} text=${reason.advice} /></div>`}
      <ul class="checks">
        ${items.map(
          (check) => html`
            <li key=${check.checked} class=${check.is_ok ? "" : "no"}>
              ${icon(check.is_ok ? "check" : passes(check, task) ? "clock" : "block")}<span>${check.answer}<span class="only-read">${check.is_ok ? " (ok)" : check.checked === "lease" ? " (holds it)" : " (blocks it)"}</span></span>
              ${!check.is_ok && check !== reason && todo(check) && html`<p class="todo small">${todo(check)}</p>`}
              ${!check.is_ok && check !== reason && html`<span class="remedy"><${Remedy} item=${check} task=${task} done=${done} /></span>`}
            </li>
          `,
        )}
      </ul>
    </div>
  `;
};
