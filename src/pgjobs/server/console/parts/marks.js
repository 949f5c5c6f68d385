// How the last runs went: one small mark each, by colour, shape and word.
import { date } from "../format.js";
import { address } from "../router.js";
import { html } from "../view.js";
import { icon } from "./icons.js";
import { look, word } from "./tags.js";

const said = (run) =>
  [word(run.status), run.is_manual && "manual", date(run.due_at), run.reason].filter(Boolean).join(", ");

const mark = (run) => {
  const [tone, picture] = look(run.status);
  const drawn = html`${icon(picture)}<span class="only-read">${said(run)}</span>`;
  return run.task_id
    ? html`<a class="mark ${tone}" href=${address(`/tasks/${run.task_id}`)} title=${said(run)}>${drawn}</a>`
    : html`<span class="mark ${tone}" title=${said(run)}>${drawn}</span>`;
};

export const Marks = ({ runs, most }) =>
  runs.length
    ? html`<ol class="marks" aria-label="Last runs, newest first">${runs.slice(0, most).map((run) => html`<li key=${run.due_at + run.status + run.task_id}>${mark(run)}</li>`)}</ol>`
    : html`<span class="muted">no runs yet</span>`;
