// The same for many tasks: first a preview of what would happen, then in batches with a count.
import { post } from "../api.js";
import { number, plural, total } from "../format.js";
import { html, signal, view } from "../view.js";
import { Reason } from "./actions.js";
import { CopyAs, because, call, command, literal, word } from "./copyas.js";
import { show } from "./dialogs.js";
import { Refusal } from "./refusal.js";
import { Bones, Meter } from "./small.js";
import { say } from "./toasts.js";

const WORDS = {
  retry: { title: "Retry tasks", would: "will return to the queue", did: "returned to the queue", verb: "Retry" },
  ignore: { title: "Ignore tasks", would: "will be ignored", did: "ignored", verb: "Ignore" },
  cancel: { title: "Cancel tasks", would: "will be cancelled, or cancellation requested if running", did: "cancelled, or cancellation requested", verb: "Cancel tasks", danger: true },
};

export function bulk(request, done) {
  const { verb, ids, at = ids ? verb : `${verb}_all` } = request;
  show(WORDS[verb].title, ({ close }) => html`<${Bulk} request=${request} done=${done} close=${close} />`, { at, of: ids?.join(",") });
}

// psql and the CLI know these filters; with others there is no command that does the same. The CLI takes whole addresses.
const OPTIONS = ["status", "job", "room", "owner"];
const COLUMNS = {
  status: (value) => `status = ${literal(value)}`,
  job: (value) => (isAddress(value) ? `job = ${literal(value)}` : `job ilike ${literal(`%${value.replace(/[\\%_]/g, "\\$&")}%`)}`),
  room: (value) => `room = ${literal(value)}`,
  owner: (value) => `owner = ${literal(value)}`,
  since: (value) => `created_at >= ${literal(value)}`,
};
const isAddress = (job) => /^[^:]+:[^:]+:./.test(job);
function commands({ verb, ids, filter }, reason) {
  const given = Object.entries(filter ?? {}).filter(([, value]) => value);
  const http = ["POST", "tasks/actions", { verb, ...(ids ? { ids } : { filter: Object.fromEntries(given) }), dry_run: false, reason }];
  if (ids)
    return {
      sql: call(`${verb}_tasks`, [], { task_uuids: null, reason }).replace("(", `(task_uuids => array[${ids.map(literal).join(", ")}]::uuid[]${reason ? ", " : ""}`),
      cli: command(`pgjobs tasks ${verb}`, ids.join(" "), "--yes", because(reason)),
      http,
    };
  const isOption = given.every(([name, value]) => OPTIONS.includes(name) && (name !== "job" || isAddress(value)));
  const isColumn = given.every(([name]) => COLUMNS[name]);
  const which = given.map(([name, value]) => COLUMNS[name]?.(value)).join(" and ");
  return {
    sql: isColumn && call(`${verb}_tasks`, [`array(select id from pgjobs.task where ${which} limit 1000)`], { reason }),
    cli: isOption && command(`pgjobs tasks ${verb}`, ...given.map(([name, value]) => `--${name} ${word(value)}`), "--yes", because(reason)),
    http,
  };
}

// The API takes so many ids at once, and of what matches a filter a batch at a time.
const MOST = 500;

async function* batches({ verb, ids, filter }, options) {
  if (ids) {
    for (let from = 0; from < ids.length; from += MOST) {
      const answer = await post("tasks/actions", { verb, ids: ids.slice(from, from + MOST), ...options });
      yield { ...answer, isLast: from + MOST >= ids.length };
    }
    return;
  }
  let before = null;
  do {
    const answer = await post("tasks/actions", { verb, filter, before, ...options });
    before = answer.next;
    yield { ...answer, isLast: !before };
  } while (before);
}

const sum = (so, answer) => ({ changed: so.changed + answer.changed, refused: so.refused + answer.refused });
const NONE = { changed: 0, refused: 0 };

const Bulk = view((given, leaving) => {
  const preview = signal(null);
  const problem = signal(null);
  const reason = signal("");
  const progress = signal(null);
  const { request, done, close } = given.peek();
  const words = WORDS[request.verb];
  const known = request.ids?.length ?? request.counted?.total;
  const all = request.ids ? number(request.ids.length) : total(request.counted);

  // Of a sample in which nothing changes the rest may.
  const isNothing = () => !preview.value.changed && (Boolean(request.ids) || preview.value.refused >= known);
  let isStopped = false;
  leaving(() => (isStopped = true));
  const stop = () => (progress.peek() ? (isStopped = true) : close());

  // Of those that match a filter, the first batch is a sample.
  const look = async () => {
    let so = NONE;
    for await (const answer of batches(request, { dry_run: true })) {
      so = sum(so, answer);
      if (!request.ids || isStopped) break;
    }
    preview.value = so;
  };
  look().catch((error) => (problem.value = error));

  const run = async (event) => {
    event.preventDefault();
    problem.value = null;
    isStopped = false;
    let isWhole = true;
    progress.value = NONE;
    const did = () => `${words.did}${progress.peek().refused ? `, ${number(progress.peek().refused)} skipped` : ""}`;
    try {
      for await (const answer of batches(request, { dry_run: false, reason: reason.value.trim() || null })) {
        progress.value = sum(progress.peek(), answer);
        isWhole = answer.isLast;
        if (isStopped) break;
      }
      if (isWhole) say("good", `${plural(progress.peek().changed, "task")} ${did()}`);
      else say("bad", `Stopped: ${number(progress.peek().changed)} of ${all} tasks ${did()}`);
      close();
    } catch (error) {
      if (progress.peek().changed) say("bad", `Interrupted: ${number(progress.peek().changed)} of ${all} tasks ${did()}`);
      problem.value = error;
      progress.value = null;
    }
    done();
  };

  return () => html`
    <form class="stack" onSubmit=${run}>
      ${!preview.value && !problem.value && html`<${Bones} rows=${2} />`}
      ${preview.value &&
      html`
        <p data-preview>
          ${request.ids
            ? html`Of ${plural(known, "selected task")}, <strong>${number(preview.value.changed)}</strong> ${words.would}`
            : html`<strong>${all}</strong> tasks match. Of the first ${number(preview.value.changed + preview.value.refused)}, <strong>${number(preview.value.changed)}</strong> ${words.would}`}${preview.value.refused
            ? html`; ${number(preview.value.refused)} will be skipped: their status does not allow it.`
            : "."}
        </p>
        <${Reason} reason=${reason} />
        <${CopyAs} ...${commands(request, reason.value.trim() || null)} />
      `}
      ${progress.value &&
      html`
        <${Meter} label="Tasks done" share=${known ? (progress.value.changed + progress.value.refused) / known : 0} />
        <p class="muted small">${number(progress.value.changed + progress.value.refused)} of ${all}</p>
      `}
      <${Refusal} problem=${problem.value} />
      <div class="foot">
        <button class="button" type="button" onClick=${stop}>${progress.value ? "Stop" : "Back"}</button>
        <button class="button main ${words.danger ? "danger" : ""}" type="submit" disabled=${!preview.value || progress.value || isNothing()}>${words.verb}</button>
      </div>
    </form>
  `;
});
