// When a schedule runs next, or why it does not.
import { serverNow } from "../api.js";
import { moment } from "../format.js";
import { clock } from "../live.js";
import { html } from "../view.js";
import { Ago } from "./small.js";
import { tag } from "./tags.js";

// By the clocks that the schedule's rule speaks of; with seconds where it counts in them.
export const timeOf = (schedule, at, parts = {}) =>
  moment(at, schedule.timezone, schedule.every_seconds % 60 ? { second: "2-digit", ...parts } : parts);

const lines = (first, second) => html`
  <span class="stack close"><span>${first}</span>${second && html`<span class="muted small nowrap">${second}</span>`}</span>
`;

const Relative = ({ at, isOverdue }) => {
  clock.value;
  if (isOverdue) return html`due <${Ago} at=${at} />`;
  return Date.parse(at) <= serverNow() ? "now" : html`<${Ago} at=${at} />`;
};
const relative = (schedule) => html`<${Relative} at=${schedule.next_run_at} isOverdue=${schedule.state === "overdue"} />`;

// `isAlone`: nothing around it says what it is about.
export const NextRun = ({ schedule, isAlone }) => {
  if (schedule.paused_at) return lines(html`<span class="muted">paused</span>`, html`<${Ago} at=${schedule.paused_at} />`);
  if (!schedule.next_run_at) return html`<span class="muted">${isAlone ? "no more runs" : "never"}</span>`;
  const exact = html`<span title=${schedule.timezone}>${timeOf(schedule, schedule.next_run_at)}</span>`;
  return lines(html`${isAlone && schedule.state !== "overdue" && "next "}${relative(schedule)}`, exact);
};

export const NextRunOrState = ({ schedule }) => {
  if (schedule.state === "active") return html`<${NextRun} schedule=${schedule} />`;
  const at = schedule.paused_at ? html`<${Ago} at=${schedule.paused_at} />` : schedule.next_run_at && relative(schedule);
  return lines(tag(schedule.state), at);
};
