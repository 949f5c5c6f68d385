// Tasks: filtered by the address, acted on one by one or together.
import { get, mayOperate } from "../api.js";
import { date, firstLine, number, total } from "../format.js";
import { bindKeys } from "../keys.js";
import { resource, state } from "../live.js";
import { bulk } from "../parts/bulk.js";
import { icon } from "../parts/icons.js";
import { SaveFilter, SavedFilters, saveHere } from "../parts/savedfilters.js";
import { actionsAddressed } from "../parts/actions.js";
import { addressed } from "../parts/dialogs.js";
import { List, MoreButton } from "../parts/lists.js";
import { Ago, Bones, Empty, Head, Meter, Took, Trouble, share } from "../parts/small.js";
import { taskTag } from "../parts/tags.js";
import { retryOne } from "../parts/taskactions.js";
import { address, keep, kept, query, refine } from "../router.js";
import { computed, effect, html, isWide, signal, view } from "../view.js";

const STATUSES = ["", "pending", "claimed", "running", "completed", "failed", "cancelled", "ignored"];
const SPANS = [["", "any time"], ["1", "last hour"], ["24", "last day"], ["168", "last 7 days"]];
const PAGE = 50;
const MOST = 150; // More at once would take too long.

export const filterOf = ({ status, job, room, owner, text, payloads, hours }) => ({
  status,
  job,
  room,
  owner,
  text,
  payloads: payloads && text ? true : undefined,
  since: hours ? new Date(Math.floor(Date.now() / 60000) * 60000 - hours * 3600000).toISOString() : undefined,
});
const NAMES = ["status", "job", "room", "owner", "text", "payloads", "hours"];
// A text and an owner are looked for among so many tasks at a time.
const isSearch = () => Boolean(query.value.text || query.value.owner);
const isFiltered = () => NAMES.some((name) => query.value[name]);
// Which list it is. "The last hour" stays the same while the hour moves on.
const wish = computed(() => JSON.stringify(NAMES.map((name) => query.value[name] ?? "")));

// Typing in a field changes the address when the typing rests; what is typed stays as it is until the field is left.
const Field = view((given, leaving) => {
  const typed = signal(null);
  let timer = null;
  // A field that goes is left too, and its page is not there any more.
  leaving(() => {
    clearTimeout(timer);
    typed.value = null;
  });
  const settle = (name) => {
    clearTimeout(timer);
    if (typed.peek() !== null) refine({ [name]: typed.peek().trim() });
  };
  return ({ name, label, kind = "text", hint, list, full }) => html`
    <label class="field ${full ? "full" : ""}">
      <span>${label}</span>
      <input class="input" type=${kind} list=${list} placeholder=${hint} value=${typed.value ?? query.value[name] ?? ""} autocomplete="off" spellcheck=${false}
        onInput=${(event) => {
          typed.value = event.target.value;
          clearTimeout(timer);
          timer = setTimeout(() => settle(name), 350);
        }}
        onChange=${() => settle(name)}
        onBlur=${() => {
          settle(name);
          typed.value = null;
        }} />
    </label>
  `;
});

// On a phone only the search is always there; the rest unfolds.
const Fold = view(() => {
  const isOpen = signal(["job", "room", "owner", "hours"].some((name) => query.peek()[name]));
  return ({ children }) =>
    isWide.value
      ? children
      : html`
          <details class="fold full" open=${isOpen.value} onToggle=${(event) => (isOpen.value = event.target.open)}>
            <summary>More filters</summary>
            <div class="filters">${children}</div>
          </details>
        `;
});

const Filters = ({ jobs }) => html`
  <div class="stack">
    <div class="filters">
      <${Field} name="text" label="Search" kind="search" hint="Id, number, error, key, tag… ( / )" full />
      <${Fold}>
      <${Field} name="job" label="Job" hint="any part of its name" list="known-jobs" />
      <${Field} name="room" label="Room" hint="any" />
      <${Field} name="owner" label="Owner" hint="any" />
      <label class="field">
        <span>Submitted</span>
        <select class="input" value=${query.value.hours ?? ""} onChange=${(event) => refine({ hours: event.target.value })}>
          ${SPANS.map(([value, name]) => html`<option value=${value}>${name}</option>`)}
        </select>
      </label>
      <label class="check" title="Searches the text in payloads too; slower, fewer tasks at a time"><input type="checkbox" checked=${query.value.payloads === "1"} onChange=${(event) => refine({ payloads: event.target.checked ? "1" : null })} />Include payloads</label>
      <//>
      <datalist id="known-jobs">${(jobs ?? []).map((job) => html`<option value=${job.full_name}></option>`)}</datalist>
    </div>
    <${SavedFilters} />
    <div class="row wrap apart">
      <div class="tabs" role="group" aria-label="Status">
        ${STATUSES.map(
          (status) => html`
            <button type="button" aria-pressed=${(query.value.status ?? "") === status} onClick=${() => refine({ status })}>
              ${{ "": "All", pending: "Waiting" }[status] ?? status[0].toUpperCase() + status.slice(1)}
            </button>
          `,
        )}
      </div>
      ${isFiltered() && html`<span class="row"><${SaveFilter} /><a class="small" href=${address("/tasks")}>Clear filters</a></span>`}
    </div>
  </div>
`;

// An error or a reason, else how far it is or when it is due.
function happens(task) {
  if (said(task)) return html`<span class="clamp ${task.error ? "bad" : "muted"}" title=${said(task)}>${said(task)}</span>`;
  const part = share(task.progress);
  if (part !== null) return html`<span class="row"><span class="small-progress"><${Meter} share=${part} label="Progress" /></span><span class="muted small">${Math.round(part * 100)} %</span></span>`;
  if (task.phase === "scheduled") return html`<span class="muted">due <${Ago} at=${task.due_at} /></span>`;
  return null;
}

const said = (task) => firstLine(task.error ?? task.reason);

function columns(selected, toggle, toggleAll, all) {
  const choosing = {
    width: "46px",
    head: html`<input type="checkbox" aria-label="Select all shown" checked=${all.length > 0 && all.every((task) => selected.has(task.id))} onChange=${toggleAll} />`,
    cell: (task) => html`<input type="checkbox" aria-label=${`Select task ${task.id}`} checked=${selected.has(task.id)} onChange=${() => toggle(task.id)} />`,
  };
  return [
    ...(mayOperate() ? [choosing] : []),
    { title: "Status", width: "132px", tight: "124px", cell: taskTag },
    {
      title: "Job",
      width: "26%",
      tight: "28%",
      cell: (task) => {
        const name = task.job.split(":").slice(2).join(":");
        return html`
          <span class="stack close" title=${task.job}>
            <a class="name clip" data-open href=${address(`/tasks/${task.id}`)}>${name}</a>
            <span class="muted small clip" title=${`${task.id}, number ${task.number}`}>${task.room} · <span class="mono">${task.id.slice(-8)}</span></span>
          </span>
        `;
      },
    },
    { title: "Details", cell: (task) => happens(task) ?? html`<span class="muted">—</span>` },
    { title: "Attempt", roomy: true, width: "84px", kind: "number", cell: (task) => `${task.attempt} / ${task.max_attempts}` },
    { title: "Took", roomy: true, width: "96px", kind: "number", cell: (task) => html`<${Took} from=${task.started_at} to=${task.ended_at} />` },
    { title: "Submitted", width: "138px", tight: "134px", kind: "number", cell: (task) => html`<${Ago} at=${task.created_at} />` },
  ];
}

const card = (selected, toggle) => (task) => html`
  <div class="row apart">
    <div class="row grow">
      ${mayOperate() && html`<input type="checkbox" aria-label=${`Select task ${task.id}`} checked=${selected.has(task.id)} onChange=${() => toggle(task.id)} />`}
      <a class="name clip" data-open href=${address(`/tasks/${task.id}`)}>${task.job.split(":").slice(2).join(":")}</a>
    </div>
    ${taskTag(task)}
  </div>
  ${happens(task) && html`<div class="small">${happens(task)}</div>`}
  <div class="row apart muted small">
    <span class="clip">${task.room} · <span class="mono">${task.id.slice(-8)}</span></span>
    <${Ago} at=${task.created_at} />
  </div>
`;

// While rows are selected the list keeps its order: known rows change in place, new ones wait, older ones follow.
function merged(shown, answer, isHeld) {
  if (!isHeld || !shown) return answer;
  const now = new Map(answer.items.map((task) => [task.id, task]));
  const known = new Set(shown.items.map((task) => task.id));
  const older = answer.items.slice(answer.items.findLastIndex((task) => known.has(task.id)) + 1);
  const follows = older.length < answer.items.length ? older : [];
  return { ...answer, items: [...shown.items.map((task) => now.get(task.id) ?? task), ...follows] };
}

const isResting = (now) => ["paused", "hidden"].includes(now);

async function untilAwake(aborted) {
  let stop;
  await new Promise((go) => {
    aborted.addEventListener("abort", go, { once: true });
    stop = effect(() => {
      if (!isResting(state.value)) go();
    });
  });
  stop();
}

// Everything that is shown is asked for anew, so that no row is lost between two pages. A search may look
// through many tasks for a few: each step goes on where the last one ended.
async function newest(filter, steps, between, aborted) {
  const items = [];
  let next = null;
  let searched = 0;
  let back = null;
  for (let looks = 0; looks === 0 || (next && looks < steps && items.length < PAGE * steps); looks += 1) {
    if (looks > 0) await between();
    const answer = await get("tasks", { ...filter, before: next, limit: Math.min(MOST, PAGE * steps - items.length) }, aborted);
    items.push(...answer.items);
    next = answer.next;
    searched += answer.looked ?? 0;
    back = answer.looked_to ?? back;
  }
  return { items, next, steps, searched, back };
}

export const Tasks = view((_, leaving) => {
  const selected = signal(new Set());
  const wanted = signal({ wish: wish.peek(), steps: kept().steps ?? 1 });
  let shown = null;

  const list = resource(leaving, async (aborted) => {
    const now = wish.value;
    const steps = wanted.value.wish === now ? wanted.value.steps : 1;
    const known = shown?.wish === now ? shown : null;
    // A look that brings nothing the user asked for just now is not gone on with while nobody looks.
    const isIdle = known && steps <= known.steps && !isResting(state.peek());
    const between = async () => isIdle && untilAwake(aborted);
    const answer = await newest(filterOf(query.value), steps, between, aborted).catch((error) => {
      error.wish = now;
      throw error;
    });
    shown = { wish: now, ...merged(known, answer, selected.peek().size > 0) };
    return shown;
  });
  const counted = resource(leaving, async (aborted) => {
    const now = wish.value;
    return { wish: now, ...(await get("tasks/count", filterOf(query.value), aborted)) };
  });
  const jobs = resource(leaving, (aborted) => get("jobs", { limit: 200 }, aborted), () => false);
  leaving(
    effect(() => {
      wish.value;
      selected.value = new Set();
    }),
  );

  // What belongs to another filter is not shown for this one, unless the server is away and there is nothing else.
  const isAway = () => list.problem.value?.status === 0;
  const belongs = (to) => to && (isAway() || to.wish === wish.value);
  const found = () => (belongs(list.data.value) ? list.data.value : undefined);
  const problem = () => (belongs(list.problem.value) ? list.problem.value : null);
  // There are no tasks of a job that is not there, and none of a status or room that cannot be.
  const isNowhere = () => isFiltered() && [400, 404, 422].includes(problem()?.status);
  const count = () => {
    if (isNowhere()) return { total: 0 };
    return counted.problem.value || counted.data.value?.wish !== wish.value ? null : counted.data.value;
  };

  const items = () => found()?.items ?? [];
  const next = () => found()?.next;
  const isFetching = () => !problem() && wanted.value.wish === wish.value && wanted.value.steps > found().steps;
  const toggle = (id) => {
    const now = new Set(selected.peek());
    now.delete(id) || now.add(id);
    selected.value = now;
  };
  const toggleAll = () => {
    const ids = items().map((task) => task.id);
    selected.value = ids.every((id) => selected.peek().has(id)) ? new Set() : new Set(ids);
  };
  const more = () => {
    wanted.value = { wish: wish.peek(), steps: found().steps + 1 };
    keep({ steps: wanted.peek().steps });
  };
  const act = (verb, isAll) =>
    bulk({ verb, ids: isAll ? null : [...selected.peek()], filter: isAll ? filterOf(query.peek()) : null, counted: count() }, done);
  const done = () => {
    selected.value = new Set();
    list.reload();
    counted.reload();
  };
  const many = (verb, of) => mayOperate() && of && (() => bulk({ verb, ids: of.split(",") }, done));
  const all = (verb) => mayOperate() && isFiltered() && count() && (() => act(verb, true));
  addressed(leaving, {
    retry: (of) => many("retry", of),
    ignore: (of) => many("ignore", of),
    cancel: (of) => many("cancel", of),
    retry_all: () => all("retry"),
    ignore_all: () => all("ignore"),
    cancel_all: () => all("cancel"),
    save: () => isFiltered() && saveHere,
  });
  actionsAddressed(leaving, done);
  bindKeys(leaving, {
    r: (id) => id && mayOperate() && retryOne(id, list.reload),
    x: (id) => id && mayOperate() && toggle(id),
  });

  return () => html`
    <${Head} title="Tasks" lead=${html`<span aria-live="polite">${total(count())} ${isFiltered() ? "match" : "in all"}</span>`}><//>
    <div class="stack">
      <${Filters} jobs=${jobs.data.value?.items} />
      ${problem() && !isNowhere() && html`<${Trouble} problem=${problem()} retry=${list.reload} />`}
      ${(found() || isNowhere() || !problem()) &&
      html`
        <section class="panel" aria-label="List of tasks">
          ${isNowhere()
            ? nothing()
            : !found()
              ? html`<${Bones} rows=${9} />`
              : items().length
                ? html`<${List} label="Tasks" rows=${items()} idOf=${(task) => task.id} isSelected=${(task) => selected.value.has(task.id)} columns=${columns(selected.value, toggle, toggleAll, items())} card=${card(selected.value, toggle)} />`
                : nothing(next())}
          ${!isNowhere() && next() &&
          html`
            <div class="more">
              ${isSearch() && html`<span data-searched>Searched the newest ${number(found().searched)} tasks, back to ${date(found().back)}.</span>`}
              <${MoreButton} isFetching=${isFetching()} more=${more}>${items().length ? "Show more" : "Search further back"}<//>
            </div>
          `}
        </section>
      `}
      ${selected.value.size > 0 && Acting(selected.value.size, count(), act, () => (selected.value = new Set()))}
    </div>
  `;
});

const nothing = (next) =>
  isFiltered()
    ? html`<${Empty} picture="search" title=${next ? "No match so far" : "No task matches"}>Try removing a filter, or <a href=${address("/tasks")}>clear them all</a>.<//>`
    : html`<${Empty} title="No tasks yet">Submit one: <code>pgjobs enqueue room:category:name '{}'</code>, or <code>queue.submit_task(…)</code> in Python.<//>`;

const Acting = (count, counted, act, clear) => html`
  <div class="acting" role="region" aria-label="Actions on selected tasks">
    <span class="strong">${count} selected</span>
    <button class="button bare little clear" type="button" onClick=${clear}>Clear selection</button>
    <div class="row these">
      <button class="button little" type="button" onClick=${() => act("retry")}>${icon("retry")}Retry</button>
      <button class="button little" type="button" onClick=${() => act("ignore")}>${icon("hidden")}Ignore</button>
      <button class="button little danger" type="button" onClick=${() => act("cancel")}>${icon("stop")}Cancel</button>
    </div>
    ${isFiltered() && counted?.total > count &&
    html`
      <div class="row all">
        <span class="muted small">or all ${total(counted)} matching tasks:</span>
        <button class="button little" type="button" onClick=${() => act("retry", true)}>Retry all</button>
        <button class="button little" type="button" onClick=${() => act("ignore", true)}>Ignore all</button>
        <button class="button little danger" type="button" onClick=${() => act("cancel", true)}>Cancel all</button>
      </div>
    `}
  </div>
`;
