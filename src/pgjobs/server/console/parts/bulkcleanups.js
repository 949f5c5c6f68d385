// The same for many cleanups: those selected, or all that match a filter, as they are when the dialog opens. They are
// changed in batches with a count.
import { get, post } from "../api.js";
import { number, plural } from "../format.js";
import { html, signal, view } from "../view.js";
import { Reason } from "./actions.js";
import { CopyAs, because, call, command, literal } from "./copyas.js";
import { show } from "./dialogs.js";
import { Refusal } from "./refusal.js";
import { Bones, Meter } from "./small.js";
import { say } from "./toasts.js";

const BASE = "/api/maintenance/incomplete-cleanup";
const PAGE = 100;
const BATCH = 500;
const MOST = 10000;
const WORDS = {
  retry: { title: "Retry cleanups", would: "will be retried now", did: "returned to the queue", verb: "Retry" },
  ignore: { title: "Ignore cleanups", would: "will be ignored", did: "ignored", verb: "Ignore" },
};

// Acting takes runs out of what matches, so all of them are named first, as far as one looks at once.
async function matching(filter, aborted) {
  const ids = [];
  for (let page = 1; ; page += 1) {
    const answer = await get(BASE, { ...filter, page, page_size: PAGE }, aborted);
    ids.push(...answer.items.map((task) => task.run_id));
    if (ids.length >= MOST || answer.items.length < PAGE) return { ids: ids.slice(0, MOST), total: answer.total };
  }
}

const NONE = { changed: 0, refused: 0 };

function foreseen({ ids, total }, { changed, refused }, words) {
  const skipped = refused ? `; ${number(refused)} will be skipped: their status does not allow it.` : ".";
  const most = total > ids.length ? ` Only the first ${number(ids.length)} of them are changed at once.` : "";
  if (changed + refused < ids.length)
    return html`<strong>${number(total)}</strong> cleanups match. Of the first ${number(changed + refused)}, <strong>${number(changed)}</strong> ${words.would}${skipped}${most}`;
  return html`Of ${plural(total, "cleanup")}, <strong>${number(changed)}</strong> ${words.would}${skipped}${most}`;
}

const Bulk = view((given, leaving) => {
  const { verb, ids, filter, done, close } = given.peek();
  const words = WORDS[verb];
  const named = signal(null);
  const preview = signal(null);
  const problem = signal(null);
  const reason = signal("");
  const progress = signal(null);
  const aborted = new AbortController();
  leaving(() => aborted.abort());
  const batches = () => Array.from({ length: Math.ceil(named.peek().ids.length / BATCH) }, (_, n) => named.peek().ids.slice(n * BATCH, (n + 1) * BATCH));
  const send = (run_ids, dry_run) => post(`${BASE}/actions`, { verb, run_ids, reason: reason.peek().trim() || null, dry_run });
  const sum = (so, answer) => ({ changed: so.changed + answer.changed, refused: so.refused + answer.refused });
  let isStopped = false;
  leaving(() => (isStopped = true));
  const stop = () => (progress.peek() ? (isStopped = true) : close());

  // Where there are many, the first batch is a sample.
  const look = async () => {
    named.value = ids ? { ids, total: ids.length } : await matching(filter, aborted.signal);
    preview.value = named.peek().ids.length ? await send(batches()[0], true) : NONE;
  };
  look().catch((error) => error.name === "AbortError" || (problem.value = error));

  const did = () => `${plural(progress.peek().changed, "cleanup")} ${words.did}${progress.peek().refused ? `, ${number(progress.peek().refused)} skipped` : ""}`;
  const run = async (event) => {
    event.preventDefault();
    problem.value = null;
    isStopped = false;
    progress.value = NONE;
    try {
      for (const batch of batches()) {
        if (isStopped) break;
        progress.value = sum(progress.peek(), await send(batch, false));
      }
      const isWhole = progress.peek().changed + progress.peek().refused >= named.peek().ids.length;
      say(isWhole ? "good" : "bad", `${isWhole ? "" : "Stopped: "}${did()}`);
      close();
    } catch (error) {
      if (progress.peek().changed) say("bad", `Interrupted: ${did()}`);
      problem.value = error;
      progress.value = null;
    }
    done();
  };
  const isNothing = () => !preview.value.changed && preview.value.refused >= named.value.ids.length;
  const single = verb === "retry" ? "retry-now" : verb;
  const commands = () => {
    const runs = named.value.ids;
    const why = reason.value.trim() || null;
    const some = runs.slice(0, BATCH);
    return {
      sql: call("act_on_cleanups", [literal(verb), `array[${some.map(literal).join(", ")}]::uuid[]`], { reason: why }),
      cli: some.length === 1 ? command(`pgjobs cleanup ${single}`, some[0], because(why)) : `for run in ${some.join(" ")}; do ${command(`pgjobs cleanup ${single} $run`, because(why))}; done`,
      http: ["POST", `${BASE}/actions`, { verb, run_ids: some, reason: why, dry_run: false }],
    };
  };
  return () => html`
    <form class="stack" onSubmit=${run}>
      ${!preview.value && !problem.value && html`<${Bones} rows=${2} />`}
      ${preview.value &&
      html`
        <p data-preview>${foreseen(named.value, preview.value, words)}</p>
        <${Reason} reason=${reason} />
        <${CopyAs} ...${commands()} />
      `}
      ${progress.value &&
      html`
        <${Meter} label="Cleanups done" share=${(progress.value.changed + progress.value.refused) / named.value.ids.length} />
        <p class="muted small">${number(progress.value.changed + progress.value.refused)} of ${number(named.value.ids.length)}</p>
      `}
      <${Refusal} problem=${problem.value} />
      <div class="foot">
        <button class="button" type="button" onClick=${stop}>${progress.value ? "Stop" : "Back"}</button>
        <button class="button main" type="submit" disabled=${Boolean(progress.value) || !preview.value || isNothing()}>${words.verb}</button>
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
