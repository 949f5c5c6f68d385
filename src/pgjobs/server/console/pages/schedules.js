// Schedules: what runs by the clock, when next, and how it went.
import { mayOperate } from "../api.js";
import { jobParts } from "../format.js";
import { bindKeys } from "../keys.js";
import { icon } from "../parts/icons.js";
import { List, More, pages } from "../parts/lists.js";
import { Marks } from "../parts/marks.js";
import { NextRun, NextRunOrState } from "../parts/nextrun.js";
import { pause, resume, retire, runNow } from "../parts/scheduleactions.js";
import { Timing, details } from "../parts/scheduledetails.js";
import { create, edit } from "../parts/scheduleform.js";
import { actionsAddressed } from "../parts/actions.js";
import { addressed } from "../parts/dialogs.js";
import { Bones, Empty, Head, Trouble } from "../parts/small.js";
import { tag } from "../parts/tags.js";
import { address, jobAddress, query, refine } from "../router.js";
import { html, isRoomy, isWide, media, view } from "../view.js";

// Each comes with its last ten runs.
const PAGE = 20;
const isBroad = media("(min-width: 1280px)");

const mayRun = (schedule) => !["job archived", "job retired"].includes(schedule.state);

const button = (verb, picture, schedule, act, isNamed) => html`
  <button class="button little ${isNamed ? "" : "bare icononly"}" type="button" aria-label=${`${verb} ${schedule.name}`} title=${verb} onClick=${act}>
    ${isNamed ? verb : icon(picture)}
  </button>
`;
const actions = (schedule, done) => html`
  <div class="row near">
    ${mayRun(schedule) && button("Run now", "bolt", schedule, () => runNow(schedule, done), !isWide.value)}
    ${schedule.paused_at
      ? button("Resume", "play", schedule, () => resume(schedule, done))
      : button("Pause", "pause", schedule, () => pause(schedule, done))}
    ${button("Edit", "pencil", schedule, () => edit(schedule.id, done))}
    ${button("Delete", "trash", schedule, () => retire(schedule, done))}
  </div>
`;

const opened = (schedule) => html`
  <button class="link name clip" type="button" data-open title="Details" aria-label=${`${schedule.name}: details`} onClick=${() => details(schedule)}>${schedule.name}</button>
`;
const named = (schedule) => html`
  <div class="stack close">
    ${opened(schedule)}
    <p class="muted small clip">${schedule.room} · <a href=${jobAddress(schedule.job)} title=${schedule.job}>${jobParts(schedule.job).name}</a></p>
  </div>
`;

const marks = (schedule) => html`<${Marks} runs=${schedule.recent} most=${8} />`;
const timing = (schedule) => html`<div class="stack tight"><${Timing} schedule=${schedule} isBrief />${!isRoomy.value && schedule.recent.length > 0 && marks(schedule)}</div>`;

// Where there is no column for the state, it is told when it is not the usual one.
const nextRun = (schedule) => (isBroad.value ? html`<${NextRun} schedule=${schedule} />` : html`<${NextRunOrState} schedule=${schedule} />`);

const columns = (done) => [
  { title: "Schedule and job", width: "22%", tight: "28%", cell: named },
  { title: isRoomy.value ? "When" : "When and last runs", cell: timing },
  { title: "Next run", width: isBroad.value ? "126px" : "146px", tight: "138px", cell: nextRun },
  { title: "Last runs", roomy: true, width: "216px", cell: marks },
  ...(isBroad.value ? [{ title: "State", width: "146px", cell: (schedule) => tag(schedule.state) }] : []),
  ...(mayOperate() ? [{ read: "Actions", width: "164px", tight: "148px", kind: "end", cell: (schedule) => actions(schedule, done) }] : []),
];

const card = (done) => (schedule) => html`
  <div class="row apart"><div class="grow">${named(schedule)}</div>${tag(schedule.state)}</div>
  <${Timing} schedule=${schedule} isBrief />
  <${Marks} runs=${schedule.recent} most=${10} />
  <div class="row apart"><span class="small"><${NextRun} schedule=${schedule} isAlone /></span>${mayOperate() && actions(schedule, done)}</div>
`;

const selected = () => ({ room: query.value.room, job: query.value.job });
const isFiltered = () => Object.values(selected()).some(Boolean);
const Selected = () => html`
  <div class="row wrap">
    ${Object.entries(selected()).map(
      ([name, value]) =>
        value &&
        html`<button class="button little" type="button" onClick=${() => refine({ [name]: null })}><span class="clip">Only ${name} ${value}</span>${icon("close")}<span class="only-read">, show all</span></button>`,
    )}
  </div>
`;

const nothing = () =>
  isFiltered()
    ? html`<${Empty} picture="search" title="No schedule matches"><a href=${address("/schedules")}>Show all schedules</a><//>`
    : html`<${Empty} picture="schedules" title="No schedules yet">Create one: <code>pgjobs schedules add nightly room:category:name --cron '30 2 * * *'</code>, or <code>queue.register_schedule(…)</code> in Python.<//>`;

export const Schedules = view((_, leaving) => {
  const list = pages(leaving, "schedules", selected, PAGE);
  // A job that is gone has no schedules.
  const isNowhere = () => isFiltered() && list.problem.value?.status === 404;
  const find = (id) => list.data.peek()?.items.find((schedule) => schedule.id === id);
  addressed(leaving, {
    details: (of) => () => details({ id: of }),
    create: (of) => mayOperate() && (() => create(of, list.reload)),
    edit: (of) => mayOperate() && (() => edit(of, list.reload)),
  });
  actionsAddressed(leaving, list.reload);
  bindKeys(leaving, {
    r: (id) => find(id) && mayRun(find(id)) && mayOperate() && runNow(find(id), list.reload),
  });
  return () => html`
    <${Head} title="Schedules" lead="Recurring jobs.">${mayOperate() && html`<button class="button main" type="button" onClick=${() => create(query.value.job, list.reload)}>Create a schedule</button>`}<//>
    <div class="stack">
      ${isFiltered() && html`<${Selected} />`}
      ${list.problem.value && !isNowhere() && html`<${Trouble} problem=${list.problem.value} retry=${list.reload} />`}
      <section class="panel" aria-label="List of schedules">
        ${isNowhere()
          ? nothing()
          : !list.data.value
            ? html`<${Bones} />`
            : list.data.value.items.length
              ? html`<${List} label="Schedules" rows=${list.data.value.items} idOf=${(schedule) => schedule.id} columns=${columns(list.reload)} card=${card(list.reload)} /><${More} of=${list} />`
              : nothing()}
      </section>
    </div>
  `;
});
