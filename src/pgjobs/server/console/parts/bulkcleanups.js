// The same for many cleanups: those selected, or all that match a filter, as they are when the dialog opens.
import { get, post } from "../api.js";
import { number, plural } from "../format.js";
import { html, signal, view } from "../view.js";
import { Reason } from "./actions.js";
import { CopyAs, because, call, command, literal } from "./copyas.js";
import { show } from "./dialogs.js";
import { icon } from "./icons.js";
import { Bones } from "./small.js";
import { say } from "./toasts.js";

const BASE = "/api/maintenance/incomplete-cleanup";
const PAGE = 100;
const MOST = 500;
const WORDS = {
  retry: { title: "Retry cleanups", would: "will be retried now", did: "returned to the queue", verb: "Retry" },
  ignore: { title: "Ignore cleanups", would: "will be ignored", did: "ignored", verb: "Ignore" },
};

// Acting takes runs out of what matches, so all of them are named first; one request changes so many at most.
async function matching(filter, aborted) {
  const ids = [];
  for (let page = 1; ; page += 1) {
    const answer = await get(BASE, { ...filter, page, page_size: PAGE }, aborted);
    ids.push(...answer.items.map((task) => task.run_id));
    if (ids.length >= MOST || answer.items.length < PAGE) return { ids: ids.slice(0, MOST), total: answer.total };
  }
}

const Bulk = view((given, leaving) => {
  const { verb, ids, filter, done, close } = given.peek();
  const words = WORDS[verb];
  const named = signal(null);
  const preview = signal(null);
  const problem = signal(null);
  const reason = signal("");
  const isBusy = signal(false);
  const aborted = new AbortController();
  leaving(() => aborted.abort());
  const body = (dry_run) => ({ verb, run_ids: named.peek().ids, reason: reason.peek().trim() || null, dry_run });
  const look = async () => {
    named.value = ids ? { ids, total: ids.length } : await matching(filter, aborted.signal);
    preview.value = named.peek().ids.length ? await post(`${BASE}/actions`, body(true)) : { changed: 0, refused: 0 };
  };
  look().catch((error) => error.name === "AbortError" || (problem.value = error));

  const run = async (event) => {
    event.preventDefault();
    isBusy.value = true;
    problem.value = null;
    try {
      const { changed, refused } = await post(`${BASE}/actions`, body(false));
      say("good", `${plural(changed, "cleanup")} ${words.did}${refused ? `, ${number(refused)} skipped` : ""}`);
      close();
    } catch (error) {
      problem.value = error;
    }
    isBusy.value = false;
    done();
  };
  const commands = () => ({
    sql: call("act_on_cleanups", [literal(verb), `array[${named.value.ids.map(literal).join(", ")}]::uuid[]`], { reason: reason.value.trim() || null }),
    cli: named.value.ids.length === 1 ? command(`pgjobs cleanup ${verb === "retry" ? "retry-now" : verb}`, named.value.ids[0], because(reason.value.trim())) : null,
    http: ["POST", `${BASE}/actions`, { verb, run_ids: named.value.ids, reason: reason.value.trim() || null, dry_run: false }],
  });
  return () => html`
    <form class="stack" onSubmit=${run}>
      ${!preview.value && !problem.value && html`<${Bones} rows=${2} />`}
      ${preview.value &&
      html`
        <p data-preview>
          Of ${named.value.total > named.value.ids.length ? html`the first ${number(named.value.ids.length)} of ${number(named.value.total)} cleanups` : plural(named.value.total, "cleanup")},
          <strong> ${number(preview.value.changed)}</strong> ${words.would}${preview.value.refused ? `; ${number(preview.value.refused)} will be skipped: their status does not allow it.` : "."}
        </p>
        <${Reason} reason=${reason} />
        <${CopyAs} ...${commands()} />
      `}
      ${problem.value && html`<div class="notice bad" role="alert">${icon("block")}<div>${problem.value.message}</div></div>`}
      <div class="foot">
        <button class="button" type="button" onClick=${close}>Back</button>
        <button class="button main" type="submit" disabled=${isBusy.value || !preview.value?.changed}>${words.verb}</button>
      </div>
    </form>
  `;
});

export function bulkCleanups({ verb, ids, filter }, done) {
  show(WORDS[verb].title, ({ close }) => html`<${Bulk} verb=${verb} ids=${ids} filter=${filter} done=${done} close=${close} />`, {
    at: ids ? `${verb}_runs` : `${verb}_all`,
    of: ids?.join(","),
  });
}
