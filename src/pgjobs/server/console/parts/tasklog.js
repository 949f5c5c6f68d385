// What handlers wrote with `task.log`, attempt by attempt; while the task runs, lines appear as they come.
import { get } from "../api.js";
import { date, number, plural, time } from "../format.js";
import { resource, state } from "../live.js";
import { html, signal, view } from "../view.js";
import { Bones, Trouble } from "./small.js";

const PAGE = 200;
const MOST = 1000;
const LOOK_EVERY = 1500;
const LOOK = { debug: "", info: "info", warning: "warn", error: "bad", critical: "bad" };

// The log of a task, for as long as the page is open. Only what is new is asked for.
export function logOf(leaving, id, isRunning, isMine) {
  let seen = [];
  const log = resource(
    leaving,
    async (aborted) => {
      const wanted = seen.length ? { after: seen.at(-1).position, limit: 500 } : { newest: true, limit: PAGE };
      const { items } = await get(`tasks/${id}/log`, wanted, aborted);
      // Two answers may cross: what is known already is left out.
      const last = seen.at(-1)?.position ?? 0;
      seen = [...seen, ...items.filter((line) => line.position > last)].slice(-MOST);
      return { items: seen };
    },
    isMine,
  );
  const isLooking = () => isRunning() && ["live", "polling"].includes(state.peek()) && !log.isLoading.peek();
  const timer = setInterval(() => isLooking() && log.reload(), LOOK_EVERY);
  leaving(() => clearInterval(timer));
  return log;
}

function rows(items) {
  const shown = [];
  let last = null;
  for (const line of items) {
    const isNext = last?.attempt === line.attempt;
    if (!isNext) shown.push(html`<li key=${`attempt ${line.attempt}`} class="strong small">Attempt ${line.attempt}</li>`);
    const missing = isNext ? line.number - last.number - 1 : 0;
    if (missing) shown.push(html`<li key=${`gap ${line.position}`} class="muted small">${plural(missing, "line")} not kept</li>`);
    shown.push(html`
      <li key=${line.position} class="line ${LOOK[line.level]}">
        <time class="muted" datetime=${line.at} title=${date(line.at)}>${time(line.at)}</time>
        <span class="level">${line.level}</span>
        <span class="lines grow">${line.message}</span>
      </li>
    `);
    last = line;
  }
  return shown;
}

export const TaskLog = view(() => {
  // Whoever has scrolled up reads; otherwise the last line stays in view.
  const isPinned = signal(true);
  const onScroll = ({ currentTarget: box }) => {
    isPinned.value = box.scrollHeight - box.scrollTop - box.clientHeight < 24;
  };
  return ({ of, isRunning }) => {
    const items = of.data.value?.items;
    if (!items) return of.problem.value ? html`<${Trouble} problem=${of.problem.value} retry=${of.reload} />` : html`<${Bones} rows=${2} />`;
    if (!items.length) return html`<p class="muted">${isRunning ? "No lines yet." : "No lines."} Handlers write them with <code>task.log</code>.</p>`;
    const keepInView = (box) => box && isPinned.peek() && (box.scrollTop = box.scrollHeight);
    return html`
      <ol class="log" tabindex="0" aria-label="Log lines" ref=${keepInView} onScroll=${onScroll}>${rows(items)}</ol>
      ${items.length >= PAGE && html`<p class="muted small">Showing the last ${number(items.length)} lines.</p>`}
    `;
  };
});
