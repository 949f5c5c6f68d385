// The same for many tasks: first a preview of what would happen, then in batches with a count.
import { post } from "../api.js";
import { number, plural, total } from "../format.js";
import { html, signal, view } from "../view.js";
import { show } from "./dialogs.js";
import { icon } from "./icons.js";
import { Bones, Meter } from "./small.js";
import { say } from "./toasts.js";

const WORDS = {
  retry: { title: "Retry tasks", would: "would start over", did: "started over", verb: "Retry" },
  ignore: { title: "Ignore tasks", would: "would be put aside", did: "put aside", verb: "Ignore" },
  cancel: { title: "Cancel tasks", would: "would be cancelled or asked to stop", did: "cancelled or asked to stop", verb: "Cancel them", danger: true },
};

export function bulk(request, done) {
  show(WORDS[request.verb].title, ({ close }) => html`<${Bulk} request=${request} done=${done} close=${close} />`);
}

const body = ({ verb, ids, filter }, more) => ({ verb, ...(ids ? { ids } : { filter }), ...more });

const Bulk = view((given, leaving) => {
  const preview = signal(null);
  const problem = signal(null);
  const reason = signal("");
  const progress = signal(null);
  const { request, done, close } = given.peek();
  const words = WORDS[request.verb];
  post("tasks/actions", body(request, { dry_run: true })).then(
    (answer) => (preview.value = answer),
    (error) => (problem.value = error),
  );

  let isStopped = false;
  leaving(() => (isStopped = true));
  const stop = () => (progress.peek() ? (isStopped = true) : close());

  const run = async (event) => {
    event.preventDefault();
    problem.value = null;
    const so = { changed: 0, refused: 0 };
    progress.value = so;
    let before = null;
    try {
      do {
        const answer = await post("tasks/actions", body(request, { dry_run: false, reason: reason.value.trim() || null, before }));
        so.changed += answer.changed;
        so.refused += answer.refused;
        progress.value = { ...so };
        before = answer.next;
      } while (before && !isStopped);
      say("good", `${plural(so.changed, "task")} ${words.did}${so.refused ? `, ${number(so.refused)} left alone` : ""}`);
      close();
    } catch (error) {
      problem.value = error;
      progress.value = null;
    }
    done();
  };

  const all = request.ids ? request.ids.length : request.counted?.total;
  return () => html`
    <form class="stack" onSubmit=${run}>
      ${!preview.value && !problem.value && html`<${Bones} rows=${2} />`}
      ${preview.value &&
      html`
        <p data-preview>
          ${request.ids
            ? html`Of ${plural(all, "chosen task")}, <strong>${number(preview.value.changed)}</strong> ${words.would}`
            : html`<strong>${total(request.counted)}</strong> tasks match. Of the first ${number(preview.value.changed + preview.value.refused)}, <strong>${number(preview.value.changed)}</strong> ${words.would}`}${preview.value.refused
            ? html`; ${number(preview.value.refused)} would be left alone, because their status does not allow it.`
            : "."}
        </p>
        <label class="field">
          <span>Reason (optional, others can read it)</span>
          <textarea class="input" maxlength="200" value=${reason.value} onInput=${(event) => (reason.value = event.target.value)}></textarea>
        </label>
      `}
      ${progress.value &&
      html`
        <${Meter} label="Tasks done" share=${all ? (progress.value.changed + progress.value.refused) / all : 0} />
        <p class="muted small">${number(progress.value.changed + progress.value.refused)} of ${number(all)}</p>
      `}
      ${problem.value && html`<div class="notice bad" role="alert">${icon("block")}<div>${problem.value.message}</div></div>`}
      <div class="foot">
        <button class="button" type="button" onClick=${stop}>${progress.value ? "Stop here" : "Back"}</button>
        <button class="button main ${words.danger ? "danger" : ""}" type="submit" disabled=${!preview.value || progress.value || !preview.value.changed}>${words.verb}</button>
      </div>
    </form>
  `;
});
