// A task among others, on one line of time: its parents, its own steps and waits, what it called, its children.
import { serverNow } from "../api.js";
import { date, duration, number, plural } from "../format.js";
import { clock } from "../live.js";
import { address } from "../router.js";
import { html, view } from "../view.js";
import { icon } from "./icons.js";
import { phaseOf, tone, word } from "./tags.js";

const KINDS = { step: "check", sleep: "moon", signal: "bell", call: "jobs" };
const at = (text) => (text ? Date.parse(text) : null);

// When a wait was over: a signal's when it was sent, a call's when the last called task had ended, a sleep's at its time.
function overAt(step, flow) {
  if (step.kind === "step") return at(step.saved_at);
  if (!step.is_done) return null;
  const times = {
    sleep: () => at(step.until),
    signal: () => at(flow.signals.find((one) => one.name === step.name)?.sent_at) ?? at(step.until),
    call: () => Math.max(...flow.called.items.filter((one) => one.name === step.name).map((one) => at(one.ended_at) ?? 0)) || null,
  };
  return times[step.kind]() ?? at(step.saved_at);
}

const stepSays = { step: "kept", sleep: "sleeps", signal: "waits for a signal", call: "waits for tasks" };

const rowOfStep = (flow) => (step) => ({
  key: `step ${step.number}`,
  picture: KINDS[step.kind],
  name: step.name,
  from: at(step.saved_at),
  to: overAt(step, flow),
  look: step.is_done ? "good" : "warn",
  says: step.is_done ? (step.kind === "step" ? "kept" : "over") : stepSays[step.kind],
  isPoint: step.kind === "step",
});
const rowOfTask = (name) => (task) => ({
  key: `${name} ${task.number}`,
  name: task.kind === "parent" && !/^\d+$/.test(task.name) && name === "parent" ? task.name : task.job ? task.job.split(":").slice(2).join(":") : task.name,
  to: at(task.ended_at),
  from: at(task.started_at) ?? at(task.created_at),
  href: task.job && address(`/tasks/${task.id}`),
  look: tone(phaseOf(task)),
  says: word(phaseOf(task)),
});

function groupsOf(task, flow) {
  const itself = { key: "itself", name: "this task", from: at(task.created_at), to: at(task.ended_at), look: tone(phaseOf(task)), says: word(phaseOf(task)), isItself: true };
  return [
    { title: "Parents", of: flow.parents, rows: flow.parents.items.map(rowOfTask("parent")) },
    { title: "This task", rows: [itself, ...flow.steps.map(rowOfStep(flow))], left: flow.step_count - flow.steps.length },
    { title: "Called tasks", of: flow.called, rows: flow.called.items.map(rowOfTask("called")) },
    { title: "Children", of: flow.children, rows: flow.children.items.map(rowOfTask("child")) },
  ].filter((group) => group.rows.length);
}

export const hasFlow = (flow) => Boolean(flow && (flow.steps.length || flow.signals.length || flow.parents.total || flow.called.total || flow.children.total));

const Row = ({ row, begin, span, now }) => {
  const left = ((row.from - begin) / span) * 100;
  const end = row.to ?? now;
  const width = Math.max(0, ((end - row.from) / span) * 100);
  const lasted = row.isPoint ? date(new Date(row.from).toISOString()) : `${duration((end - row.from) / 1000)}${row.to ? "" : " so far"}`;
  return html`
    <li class="line ${row.isItself ? "itself" : ""}">
      <span class="label row">${row.picture && icon(row.picture)}${row.href ? html`<a class="clip" href=${row.href}>${row.name}</a>` : html`<span class="clip" title=${row.name}>${row.name}</span>`}</span>
      <span class="track" title=${`${row.says}, ${lasted}`}><span class="${row.isPoint ? "point" : "span"} ${row.look} ${row.to ? "" : "open"}" style=${{ left: `${left}%`, width: row.isPoint ? undefined : `${width}%` }}></span></span>
      <span class="muted small says">${row.says}<span class="only-read">, ${lasted}</span></span>
    </li>
  `;
};

export const Timeline = view(() => ({ task, flow }) => {
  const groups = groupsOf(task, flow);
  const rows = groups.flatMap((group) => group.rows);
  const isOpen = rows.some((row) => row.to === null);
  if (isOpen) clock.value;
  const now = isOpen ? serverNow() : Math.max(...rows.map((row) => row.to));
  const begin = Math.min(...rows.map((row) => row.from));
  const span = Math.max(1000, Math.max(now, ...rows.map((row) => row.to ?? 0)) - begin);
  return html`
    <div class="stack timeline">
      ${groups.map(
        (group) => html`
          <section class="stack close" key=${group.title} aria-label=${group.title}>
            <h3>${group.title}${group.of?.total > group.rows.length && html` <span class="muted small">the first ${number(group.rows.length)} of ${number(group.of.total)}</span>`}</h3>
            ${group.left > 0 && html`<p class="muted small">${plural(group.left, "earlier step")} not shown.</p>`}
            <ol>${group.rows.map((row) => html`<${Row} key=${row.key} row=${row} begin=${begin} span=${span} now=${now} />`)}</ol>
          </section>
        `,
      )}
      <p class="row apart muted small"><span>${date(new Date(begin).toISOString())}</span><span>${duration(span / 1000)}</span></p>
      ${flow.signals.length > 0 &&
      html`
        <section class="stack close" aria-label="Signals">
          <h3>Signals</h3>
          <ul class="brief">${flow.signals.map((one) => html`<li key=${one.name} class="stack close"><div class="row apart"><span class="row">${icon("bell")}<span class="strong clip">${one.name}</span></span><span class="muted small">${date(one.sent_at)}${one.sender && ` by ${one.sender}`}</span></div>${one.payload !== null && html`<code class="small lines">${JSON.stringify(one.payload)}</code>`}</li>`)}</ul>
        </section>
      `}
    </div>
  `;
});

