// A status, in colour, icon and word.
import { html } from "../view.js";
import { icon } from "./icons.js";

// word → [tone, icon]; a task's phase says more than `pending` where there is one.
const LOOKS = {
  pending: ["", "clock"],
  due: ["", "clock"],
  scheduled: ["", "clock"],
  queued: ["", "clock"],
  sleeping: ["", "moon"],
  waiting: ["warn", "bell"],
  dependent: ["", "workflows"],
  held: ["warn", "pause"],
  claimed: ["info", "held"],
  running: ["info", "play"],
  overdue: ["warn", "block"],
  retrying: ["warn", "retry"],
  blocked: ["bad", "block"],
  completed: ["good", "check"],
  done: ["good", "check"],
  failed: ["bad", "cross"],
  abandoned: ["bad", "stop"],
  cancelled: ["", "stop"],
  ignored: ["", "hidden"],
  skipped: ["", "skip"],
  gone: ["", "gone"],
  active: ["good", "check"],
  "job paused": ["warn", "pause"],
  "job archived": ["", "archive"],
  "job retired": ["", "archive"],
  open: ["good", "check"],
  paused: ["warn", "pause"],
  archived: ["", "archive"],
  alive: ["good", "check"],
  silent: ["bad", "block"],
  critical: ["bad", "block"],
  error: ["bad", "block"],
  warning: ["warn", "block"],
  warn: ["warn", "block"],
  info: ["info", "info"],
};

// A task that waits for a signal, or for tasks it called, has given its worker back.
const WORDS = { due: "waiting", pending: "waiting", waiting: "suspended" };

export const look = (status) => LOOKS[status] ?? ["", "info"];
export const word = (status) => WORDS[status] ?? status;

export function tag(status) {
  const [tone, picture] = look(status);
  return html`<span class="tag ${tone}">${icon(picture)}${word(status)}</span>`;
}

export const tone = (status) => look(status)[0];
export const phaseOf = (task) => (["pending", "running", "claimed"].includes(task.status) && task.phase) || task.status;
export const taskTag = (task) => tag(phaseOf(task));
