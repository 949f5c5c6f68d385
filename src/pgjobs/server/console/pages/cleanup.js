// Incomplete cleanup: runs that never finished, and what became of what they left behind.
import { get, mayOperate, post, serverNow } from "../api.js";
import { date, jobParts, number, plural, shortId } from "../format.js";
import { bindKeys } from "../keys.js";
import { resource } from "../live.js";
import { bulkCleanups } from "../parts/bulkcleanups.js";
import { because, call, command, literal } from "../parts/copyas.js";
import { addressed, close, confirm, show } from "../parts/dialogs.js";
import { icon } from "../parts/icons.js";
import { List } from "../parts/lists.js";
import { Ago, Bones, Empty, Head, Json, Panel, Trouble } from "../parts/small.js";
import { tag, tone } from "../parts/tags.js";
import { say } from "../parts/toasts.js";
import { address, query, refine } from "../router.js";
import { computed, effect, html, isRoomy, signal, view } from "../view.js";

const BASE = "/api/maintenance/incomplete-cleanup";
const STATUSES = ["queued", "running", "retrying", "blocked", "done", "ignored", "abandoned"];
const WAITING = ["queued", "retrying", "blocked"];
const FILTERS = ["status", "target_type", "node_id", "job_id", "error_kind"];
const KINDS = ["network", "http", "io", "auth", "config", "unknown", "lease_expired"];
const TYPES = ["local_dir", "webdav"];
const SIZE = 20;
const MOST_PAGES = 1000000;
// The API speaks of times in seconds since 1970, or as text.
const at = (value) => (typeof value === "number" ? new Date(value * 1000).toISOString() : value);

const act = async (task, verb, body, said) => {
  await post(`${BASE}/${encodeURIComponent(task.run_id)}/${verb}`, body);
  say("good", said);
};
const atOnce = (task, verb, said, reload) =>
  act(task, verb, {}, said)
    .catch((error) => say("bad", error.message))
    .then(reload);

const retry = (task, reload) => atOnce(task, "retry-now", "Retrying now", reload);
const unignore = (task, reload) => atOnce(task, "unignore", "Returned to the queue", reload);
const ignore = (task, reload) =>
  confirm({
    title: "Ignore this cleanup?",
    text: `The files that run ${shortId(task.run_id)} left stay until somebody unignores or retries this cleanup.`,
    verb: "Ignore",
    withReason: true,
    at: "ignore",
    of: task.run_id,
    act: (reason) => act(task, "ignore", { reason }, "Cleanup ignored"),
    as: (reason) => ({
      sql: call("ignore_cleanup", [literal(task.run_id)], { reason }),
      cli: command("pgjobs cleanup ignore", task.run_id, because(reason)),
      http: ["POST", `${BASE}/${task.run_id}/ignore`, { reason }],
    }),
    done: reload,
  });

const isBusy = (task) => task.status === "running";
const isDone = (task) => task.status === "done";

const actions = (task, reload) => html`
  <div class="row even">
    ${mayOperate() &&
    html`
      <button class="button little" type="button" disabled=${isBusy(task) || isDone(task)} onClick=${() => retry(task, reload)} aria-label=${`${isBusy(task) ? "Busy: retry" : "Retry"} run ${task.run_id}`}>
        ${isBusy(task) ? "Busy" : "Retry"}
      </button>
      ${task.status === "ignored"
        ? html`<button class="button little" type="button" onClick=${() => unignore(task, reload)} aria-label=${`Unignore run ${task.run_id}`}>Unignore</button>`
        : html`<button class="button little" type="button" disabled=${isBusy(task) || isDone(task)} onClick=${() => ignore(task, reload)} aria-label=${`Ignore run ${task.run_id}`}>Ignore</button>`}
    `}
  </div>
`;

function next(task) {
  if (!WAITING.includes(task.status)) return html`<span class="muted">—</span>`;
  return Date.parse(at(task.next_attempt_at)) <= serverNow() ? "now" : html`<${Ago} at=${at(task.next_attempt_at)} />`;
}
const failure = (task) => (task.last_error ? html`<span class="clamp bad" title=${task.last_error}>${task.last_error_kind && html`<span class="chip">${task.last_error_kind}</span> `}${task.last_error}</span>` : html`<span class="muted">—</span>`);
const target = (task) => html`<span class="stack close"><span class="clip">${typeName(task.target_type)}</span><a class="muted small clip" href=${here({ node_id: task.node_id })} title="Only this node">on ${task.node_id}</a></span>`;
const named = (task) => html`
  <span class="stack close">
    <button class="link name clip" type="button" data-open title="Details" onClick=${() => details(task.run_id)} aria-label=${`${jobParts(task.job_name).name}: details of run ${task.run_id}`}>${jobParts(task.job_name).name}</button>
    <span class="muted small mono clip" title=${task.run_id}>${shortId(task.run_id)}</span>
    ${!isRoomy.value && html`<a class="muted small clip" href=${here({ node_id: task.node_id })} title="Only this node">${typeName(task.target_type)} on ${task.node_id}</a>`}
  </span>
`;
const tries = (task) => plural(task.attempts, "attempt");
const standing = (task) => html`
  <span class="stack close">
    <span>${tag(task.status)}</span>
    ${!isRoomy.value && html`<span class="muted small">${tries(task)}${WAITING.includes(task.status) && html`, next attempt ${next(task)}`}</span>`}
  </span>
`;

const box = (selected, task) => html`<input type="checkbox" aria-label=${`Select run ${task.run_id}`} checked=${selected.value.has(task.run_id)} onChange=${() => toggle(selected, [task.run_id])} />`;
const allBox = (selected, tasks) => {
  const ids = tasks.map((task) => task.run_id);
  return html`<input type="checkbox" aria-label="Select all shown" checked=${ids.every((id) => selected.value.has(id))} onChange=${() => toggle(selected, ids)} />`;
};
function toggle(selected, ids) {
  const isOff = ids.every((id) => selected.peek().has(id));
  const now = new Set(selected.peek());
  for (const id of ids) isOff ? now.delete(id) : now.add(id);
  selected.value = now;
}

const columns = (reload, selected, tasks) => [
  ...(mayOperate() ? [{ width: "46px", head: allBox(selected, tasks), cell: (task) => box(selected, task) }] : []),
  { title: "Job and run", width: "14%", tight: "148px", cell: named },
  { title: "Status", width: "138px", tight: "146px", cell: standing },
  { title: "Target", roomy: true, width: "12%", cell: target },
  { title: "Last error", cell: failure },
  { title: "Attempts", roomy: true, width: "96px", kind: "number", cell: (task) => number(task.attempts) },
  { title: "Next attempt", roomy: true, width: "136px", kind: "number", cell: next },
  { read: "Actions", width: "192px", tight: "182px", kind: "end", cell: (task) => actions(task, reload) },
];
const card = (reload, selected) => (task) => html`
  <div class="row apart">
    ${mayOperate() && box(selected, task)}
    <button class="link name clip grow" type="button" data-open onClick=${() => details(task.run_id)} aria-label=${`${jobParts(task.job_name).name}: details of run ${task.run_id}`}>${jobParts(task.job_name).name}</button>${tag(task.status)}
  </div>
  <span class="muted small clip"><span class="mono">${shortId(task.run_id)}</span> · ${task.node_id} · ${typeName(task.target_type)}</span>
  ${task.last_error && html`<span class="small">${failure(task)}</span>`}
  <div class="row apart small muted"><span>${tries(task)}</span>${WAITING.includes(task.status) && html`<span>next attempt ${next(task)}</span>`}</div>
  ${actions(task, reload)}
`;

const Details = view((given, leaving) => {
  const { runId } = given.peek();
  const one = resource(leaving, (aborted) => get(`${BASE}/${encodeURIComponent(runId)}`, {}, aborted));
  return () => {
    const trouble = one.problem.value && html`<${Trouble} problem=${one.problem.value} retry=${one.reload} always />`;
    if (!one.data.value) return trouble ?? html`<${Bones} rows=${5} />`;
    const { task, events } = one.data.value;
    return html`
      ${trouble}
      <dl class="facts">
        <dt>Job</dt><dd><a href=${here({ job_id: task.job_id })} onClick=${close}>${task.job_name}</a></dd>
        <dt>Node</dt><dd><a href=${here({ node_id: task.node_id })} onClick=${close} title="Only this node">${task.node_id}</a></dd>
        <dt>Run</dt><dd class="mono">${task.run_id}</dd>
        <dt>Status</dt><dd>${tag(task.status)}</dd>
        <dt>Attempts</dt><dd>${number(task.attempts)}</dd>
        <dt>Last attempt</dt><dd><${Ago} at=${at(task.last_attempt_at)} /></dd>
        <dt>Next attempt</dt><dd>${next(task)}</dd>
        ${task.last_error && html`<dt>Last error</dt><dd class="bad">${task.last_error}</dd>`}
        ${task.status === "ignored" && html`<dt>Ignored</dt><dd>${task.ignored_by_user_id && `by ${task.ignored_by_user_id}, `}<${Ago} at=${at(task.ignored_at)} />${task.ignore_reason && `: ${task.ignore_reason}`}</dd>`}
      </dl>
      <h3>Target when the run began</h3>
      <${Json} value=${task.target_snapshot ?? task.target_snapshot_json} label="Target" />
      <h3>Events</h3>
      ${events.length
        ? html`
            <ol class="steps">
              ${[...events].reverse().map(
                (event) => html`
                  <li key=${event.seq} class=${tone(event.level === "info" ? "info" : event.level)}>
                    <span><span class="strong">${event.kind.replaceAll("_", " ")}</span>${event.fields?.by && ` by ${event.fields.by}`}</span>
                    <span class="muted small"><${Ago} at=${at(event.ts)} /> · ${date(at(event.ts))}</span>
                    ${event.message && html`<span class="small">${event.message}</span>`}
                  </li>
                `,
              )}
            </ol>
          `
        : html`<p class="muted">None yet.</p>`}
    `;
  };
});

const details = (runId) => show("Cleanup of a run", () => html`<${Details} runId=${runId} />`, { wide: true, at: "details", of: runId });

const HELP = [
  ["queued", "Waiting for its first attempt."],
  ["running", "A process is cleaning up now. Retry and Ignore are possible when it has ended."],
  ["retrying", "The last attempt failed; it is retried automatically with backoff."],
  ["blocked", "The target refused access or is configured wrongly. Fix the cause, then retry; automatic retries are rare."],
  ["done", "Nothing is left to remove: deleted now, already gone, or the run was complete."],
  ["ignored", "Ignored by an operator. Unignore returns it to the queue."],
  ["abandoned", "Stopped after 20 attempts or 30 days. Retry resets attempts to 0."],
];
const help = () =>
  show("Help: statuses and actions", () => html`
    <div class="words">
      ${HELP.map(([status, text]) => html`<div><span>${tag(status)}</span><span>${text}</span></div>`)}
      <div><span class="strong">Retry</span><span>Returns it to the queue now, with attempts reset to 0 and the error cleared.</span></div>
      <div><span class="strong">Ignore</span><span>Stops attempts, with a reason others can read.</span></div>
      <div><span class="strong">Unignore</span><span>Returns an ignored cleanup to the queue now.</span></div>
      <div><span class="strong">A job's name</span><span>Opens the details: target (secrets hidden) and events.</span></div>
    </div>
  `, { wide: true, at: "words" });

const here = (values) => address("/maintenance/cleanup", { ...selected(), ...values });
const selected = () => Object.fromEntries(FILTERS.map((name) => [name, query.value[name]]));
const isFiltered = () => FILTERS.some((name) => query.value[name]);

// Servers may know more types than these; one in the address is among them.
const targetTypes = () => [...new Set([...TYPES, query.value.target_type].filter(Boolean))];
const typeName = (type) => (type === "local_dir" ? "directory" : type);

const Filters = () => html`
  <div class="row wrap apart">
    <div class="tabs" role="group" aria-label="Status">
      <button type="button" aria-pressed=${!query.value.status} onClick=${() => refine({ status: null, page: null })}>All</button>
      ${STATUSES.map((status) => html`<button type="button" aria-pressed=${query.value.status === status} onClick=${() => refine({ status, page: null })}>${status[0].toUpperCase() + status.slice(1)}</button>`)}
    </div>
    ${["node_id", "job_id"].map(
      (name) => query.value[name] && html`<button class="button little" type="button" onClick=${() => refine({ [name]: null, page: null })}>${name === "node_id" ? `Only node ${query.value[name]}` : `Only job ${shortId(query.value[name])}`}${icon("close")}<span class="only-read">, show all</span></button>`,
    )}
    <label class="row">
      <span class="muted small nowrap">Error</span>
      <select class="input" value=${query.value.error_kind ?? ""} onChange=${(event) => refine({ error_kind: event.target.value, page: null })}>
        <option value="">any</option>
        ${[...new Set([...KINDS, query.value.error_kind].filter(Boolean))].map((kind) => html`<option value=${kind}>${kind.replaceAll("_", " ")}</option>`)}
      </select>
    </label>
    <label class="row">
      <span class="muted small nowrap">Target</span>
      <select class="input" value=${query.value.target_type ?? ""} onChange=${(event) => refine({ target_type: event.target.value, page: null })}>
        <option value="">any</option>
        ${targetTypes().map((type) => html`<option value=${type}>${typeName(type)}</option>`)}
      </select>
    </label>
  </div>
`;

const served = (node) =>
  node.is_served
    ? html`<span class="muted small">${node.served_by.length === 1 ? node.served_by[0] : `${node.served_by.length} processes`}, last seen <${Ago} at=${at(node.last_seen_at)} /></span>`
    : html`<span class="bad small">No process cleans up here. <span class="mono">${node.advice}</span></span>`;
const Nodes = ({ nodes }) => html`
  <${Panel} title="Nodes">
    <div class="stack nodes">
      ${nodes.map(
        (node) => html`<div key=${`${node.node_id} ${node.target_type}`} class="stack close">
          <span><a href=${here({ node_id: node.node_id, target_type: node.target_type, page: null })} title="Only this node">${node.node_id}</a> · ${typeName(node.target_type)} · ${number(node.open)} open, ${number(node.waiting)} due</span>
          ${served(node)}
        </div>`,
      )}
    </div>
  <//>
`;

const lastPage = (total) => Math.max(1, Math.ceil(total / SIZE));

const Pager = ({ page, total }) => {
  const last = lastPage(total);
  return (
    last > 1 &&
    html`
      <div class="more">
        <button class="button little" type="button" disabled=${page <= 1} onClick=${() => refine({ page: page - 1 })}>Previous</button>
        <span>Page ${number(page)} of ${number(last)}</span>
        <button class="button little" type="button" disabled=${page >= last} onClick=${() => refine({ page: page + 1 })}>Next</button>
      </div>
    `
  );
};

const Acting = (selected, total, many) => html`
  <div class="acting" role="region" aria-label="Actions on selected cleanups">
    <span class="strong">${selected.value.size} selected</span>
    <button class="button bare little clear" type="button" onClick=${() => (selected.value = new Set())}>Clear selection</button>
    <div class="row these">
      <button class="button little" type="button" onClick=${() => many("retry", [...selected.peek()])}>${icon("retry")}Retry</button>
      <button class="button little" type="button" onClick=${() => many("ignore", [...selected.peek()])}>${icon("hidden")}Ignore</button>
    </div>
    ${isFiltered() && total > selected.value.size &&
    html`
      <div class="row all">
        <span class="muted small">or all ${number(total)} matching cleanups:</span>
        <button class="button little" type="button" onClick=${() => many("retry", null)}>Retry all</button>
        <button class="button little" type="button" onClick=${() => many("ignore", null)}>Ignore all</button>
      </div>
    `}
  </div>
`;

export const Cleanup = view((_, leaving) => {
  const page = () => Math.min(MOST_PAGES, Math.max(1, Number.parseInt(query.value.page, 10) || 1));
  const list = resource(leaving, (aborted) => get(BASE, { ...selected(), page: page(), page_size: SIZE }, aborted));
  const nodes = resource(leaving, (aborted) => get(`${BASE}/nodes`, {}, aborted));
  // The page that was asked for may be gone: what was on it is done or filtered out.
  leaving(
    effect(() => {
      const now = list.data.value;
      if (now && now.page > lastPage(now.total)) refine({ page: lastPage(now.total) });
    }),
  );
  const selectedRuns = signal(new Set());
  const filters = computed(() => JSON.stringify(selected()));
  leaving(
    effect(() => {
      filters.value;
      selectedRuns.value = new Set();
    }),
  );
  const done = () => {
    selectedRuns.value = new Set();
    list.reload();
    nodes.reload();
  };
  const many = (verb, ids) => bulkCleanups({ verb, ids, filter: ids ? null : selected() }, done);
  addressed(leaving, {
    details: (of) => () => details(of),
    words: () => help,
    ignore: (of) => {
      const task = list.data.value?.items.find((one) => one.run_id === of);
      return task && mayOperate() && (() => ignore(task, list.reload));
    },
    ...Object.fromEntries(["retry", "ignore"].flatMap((verb) => [
      [`${verb}_runs`, (of) => mayOperate() && of && (() => many(verb, of.split(",")))],
      [`${verb}_all`, () => mayOperate() && (() => many(verb, null))],
    ])),
  });
  bindKeys(leaving, {
    r: (id) => {
      const task = list.data.peek()?.items.find((item) => item.run_id === id);
      if (task && mayOperate() && !isBusy(task) && !isDone(task)) retry(task, list.reload);
    },
  });
  return () => {
    const now = list.data.value;
    return html`
      <${Head} title=${html`Incomplete cleanup <button class="button bare icononly little" type="button" aria-label="Help: statuses and actions" title="Help: statuses and actions" onClick=${help}>${icon("help")}</button>`}
        lead="Runs that never finished, and the removal of the files they left." />
      <div class="stack">
        <${Filters} />
        ${list.problem.value && html`<${Trouble} problem=${list.problem.value} retry=${list.reload} />`}
        <section class="panel" aria-label="Cleanups">
          ${!now || now.page > lastPage(now.total)
            ? html`<${Bones} />`
            : now.items.length
              ? html`<${List} label="Cleanups" rows=${now.items} idOf=${(task) => task.run_id} isSelected=${(task) => selectedRuns.value.has(task.run_id)} columns=${columns(list.reload, selectedRuns, now.items)} card=${card(list.reload, selectedRuns)} /><${Pager} page=${now.page} total=${now.total} />`
              : isFiltered()
                ? html`<${Empty} picture="search" title="Nothing matches">Try removing a filter, or <a href=${address("/maintenance/cleanup")}>show all</a>.<//>`
                : html`<${Empty} picture="cleanup" title="Nothing to clean up">Runs that do not complete appear here after the cutoff (by default 7 days), if their job has a target.<//>`}
        </section>
        ${selectedRuns.value.size > 0 && Acting(selectedRuns, now?.total, many)}
        ${nodes.data.value?.items.length > 0 && html`<${Nodes} nodes=${nodes.data.value.items} />`}
      </div>
    `;
  };
});
