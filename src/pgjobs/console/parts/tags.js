// A status, in colour, icon and word.
import { html } from "../view.js";
import { icon } from "./icons.js";

// word → [tone, icon]; a task's phase says more than `pending` where there is one.
const LOOKS = {
  pending: ["", "clock"],
  due: ["", "clock"],
  scheduled: ["", "clock"],
  queued: ["", "clock"],
  claimed: ["info", "hand"],
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

const WORDS = { due: "waiting", pending: "waiting" };

export function tag(word, said) {
  const [tone, picture] = LOOKS[word] ?? ["", "info"];
  return html`<span class="tag ${tone}">${icon(picture)}${said ?? WORDS[word] ?? word}</span>`;
}

export const tone = (word) => (LOOKS[word] ?? [""])[0];
export const taskTag = (task) => tag((["pending", "running", "claimed"].includes(task.status) && task.phase) || task.status);
