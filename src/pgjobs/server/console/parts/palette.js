// The command palette: pages, jobs, saved filters and tasks, by typing a part of their name.
import { get } from "../api.js";
import { jobParts } from "../format.js";
import { address, jobAddress } from "../router.js";
import { html, signal, view } from "../view.js";
import { close, show } from "./dialogs.js";
import { icon } from "./icons.js";
import { PAGES } from "./layout.js";
import { savedFilters } from "./savedfilters.js";

const SHOWN = 12;
const IS_ID = /^(\d{1,18}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;
const STATUSES = ["failed", "running", "pending", "ignored"];

const places = () => [
  ...PAGES.filter((page) => page.to).map((page) => ({ kind: "Page", name: page.name, picture: page.picture, to: address(page.to) })),
  ...STATUSES.map((status) => ({ kind: "Filter", name: `${status === "pending" ? "Waiting" : status[0].toUpperCase() + status.slice(1)} tasks`, picture: "tasks", to: address("/tasks", { status }) })),
  ...savedFilters.value.map((one) => ({ kind: "Saved filter", name: one.name, picture: "tasks", to: one.to })),
];
const ofJobs = (jobs) =>
  jobs.map((job) => ({ kind: job.state === "open" ? "Job" : `Job, ${job.state}`, name: jobParts(job.full_name).name, about: job.full_name, picture: "jobs", to: jobAddress(job.full_name) }));

function found(typed, jobs) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const known = [...places(), ...ofJobs(jobs)].filter((one) => words.every((word) => `${one.name} ${one.about ?? ""} ${one.kind}`.toLowerCase().includes(word)));
  const text = typed.trim();
  if (!text) return known.slice(0, SHOWN);
  const search = { kind: "Search", name: `Search tasks for “${text}”`, picture: "search", to: address("/tasks", { text }) };
  return IS_ID.test(text)
    ? [{ kind: "Task", name: `Open task ${text}`, picture: "tasks", to: address(`/tasks/${text}`) }, search, ...known.slice(0, SHOWN - 2)]
    : [...known.slice(0, SHOWN - 1), search];
}

// The way back from there is to the page, without the palette.
function leave(to) {
  close();
  location.hash = to;
}

const Palette = view((_, leaving) => {
  const typed = signal("");
  const place = signal(0);
  const jobs = signal([]);
  const aborted = new AbortController();
  leaving(() => aborted.abort());
  // Without the jobs it still leads to every page.
  get("jobs", { limit: 200 }, aborted.signal).then((answer) => (jobs.value = answer.items), () => {});
  return () => {
    const items = found(typed.value, jobs.value);
    const now = Math.min(place.value, items.length - 1);
    const press = (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) {
        event.preventDefault();
        place.value = (now + step + items.length) % items.length;
      } else if (event.key === "Enter" && items[now]) {
        event.preventDefault();
        leave(items[now].to);
      }
    };
    return html`
      <div class="stack palette">
        <input class="input" type="search" role="combobox" aria-label="Search" aria-expanded="true" aria-controls="palette-items" aria-activedescendant=${items[now] ? `palette-${now}` : undefined} placeholder="Page, job, filter, task id or number, text" autocomplete="off" spellcheck=${false}
          autofocus value=${typed.value} onKeyDown=${press} onInput=${(event) => ((typed.value = event.target.value), (place.value = 0))} />
        <ul id="palette-items" role="listbox" aria-label="Results">
          ${items.map(
            (item, n) => html`
              <li id=${`palette-${n}`} role="option" aria-selected=${n === now} onClick=${() => leave(item.to)} onPointerMove=${() => (place.value = n)}>
                ${icon(item.picture)}<span class="grow clip" title=${item.about}>${item.name}${item.about && html` <span class="muted small">${item.about}</span>`}</span><span class="muted small nowrap">${item.kind}</span>
              </li>
            `,
          )}
        </ul>
      </div>
    `;
  };
});

export const showPalette = () => show("Go to", () => html`<${Palette} />`, { at: "find", wide: true });
