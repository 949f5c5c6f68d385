// Why a task waits, in words, with the thing to do.
import { address } from "../router.js";
import { html } from "../view.js";
import { icon } from "./icons.js";
import { Bones, Sql, Trouble, isSql } from "./small.js";

// What to do about each check that says no.
const TODO = {
  ignored: () => "Unignore puts it back into line, Retry starts it over: both are above.",
  due: (task) => `${task.phase === "blocked" ? "Waiting alone will hardly help: mend what the error names." : "It comes by itself."} Retry, above, makes it due now.`,
  archived: () => html`Take the job out of the archive: <a href=${address("/jobs", { archived: "1" })}>Jobs</a>, Unarchive.`,
  paused: () => html`Resume the job: <a href=${address("/jobs")}>Jobs</a>, Resume.`,
  limit: (task) => html`Its turn comes when one of them ends. <a href=${address("/tasks", { job: task.job, status: "running" })}>See what runs</a>.`,
  workers: () => html`Start a worker that serves it: <code>pgjobs worker MODULE:JOBS</code>.`,
  heartbeats: () => html`Start its workers again. <a href=${address("/workers")}>Workers</a> shows which fell silent and what they held.`,
  line: (task) => html`Its turn comes by itself, sooner with more workers. <a href=${address("/tasks", { job: task.job, status: "pending" })}>See the line</a>.`,
};
// These pass without anybody's help.
const PATIENT = ["due", "limit", "line"];

export const Why = ({ of, task }) => {
  const items = of.data.value?.items;
  if (of.problem.value && !items) return html`<${Trouble} problem=${of.problem.value} retry=${of.reload} />`;
  if (!items) return html`<${Bones} rows=${3} />`;
  const reason = items.find((check) => !check.is_ok);
  const isHard = reason && !(PATIENT.includes(reason.checked) && task.phase !== "blocked");
  return html`
    <div class="stack">
      <div class="notice ${isHard ? "warn" : "info"}" data-why>
        ${icon(isHard ? "block" : "clock")}
        <div class="grow stack close">
          <span class="strong">${reason ? reason.answer : "Nothing stands in its way: the next free worker takes it."}</span>
          ${reason && TODO[reason.checked] && html`<span data-todo>${TODO[reason.checked](task)}</span>`}
        </div>
      </div>
      ${isSql(reason?.advice) && html`<div class="stack close"><h3>The same in psql</h3><${Sql} text=${reason.advice} /></div>`}
      <ul class="checks">
        ${items.map(
          (check) => html`
            <li key=${check.checked} class=${check.is_ok ? "" : "no"}>
              ${icon(check.is_ok ? "check" : PATIENT.includes(check.checked) ? "clock" : "block")}<span>${check.answer}<span class="only-read">${check.is_ok ? " (fine)" : " (in its way)"}</span></span>
            </li>
          `,
        )}
      </ul>
    </div>
  `;
};
