// The keyboard: `/` or Ctrl-K go to anything, `j` `k` move, Enter opens what has the focus, `r` retries or runs, `?` helps.
import { isOpen, show } from "./parts/dialogs.js";
import { showPalette } from "./parts/palette.js";
import { html } from "./view.js";

const bound = new Map();

// Binds keys for as long as a page is shown; actions get the id of the row that has the focus.
export function bindKeys(leaving, actions) {
  for (const [key, action] of Object.entries(actions)) bound.set(key, action);
  leaving(() => Object.keys(actions).forEach((key) => bound.get(key) === actions[key] && bound.delete(key)));
}

const focusedRow = () => document.activeElement?.closest?.("[data-row]")?.dataset.row ?? null;

function move(step) {
  const rows = [...document.querySelectorAll("main [data-row]")];
  if (!rows.length) return;
  const now = rows.indexOf(document.activeElement?.closest?.("[data-row]"));
  const next = rows[Math.min(rows.length - 1, Math.max(0, now < 0 ? 0 : now + step))];
  const target = next.querySelector("[data-open]") ?? next;
  // A row with nothing to open is no stop of the Tab key, but can be gone to.
  if (target === next) next.tabIndex = -1;
  target.focus();
  next.scrollIntoView({ block: "nearest" });
}

const searchField = () => document.querySelector("main input[type=search]");

// A page with a search of its own has the key; everywhere else it opens the palette, as Ctrl-K does on every page.
const search = () => (searchField() ? searchField().focus() : showPalette());

export function showKeys() {
  show("Keyboard", () => html`
    <dl class="keys facts-keys">
      <dt><kbd>/</kbd></dt><dd>search in this list, else go to anything</dd>
      <dt><kbd>Ctrl-K</kbd></dt><dd>go to a page, job, filter or task</dd>
      <dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next and previous row</dd>
      <dt><kbd>Enter</kbd></dt><dd>open the row</dd>
      <dt><kbd>x</kbd></dt><dd>select the row</dd>
      <dt><kbd>r</kbd></dt><dd>retry the task, run the schedule now</dd>
      <dt><kbd>p</kbd></dt><dd>pause or resume live updates</dd>
      <dt><kbd>?</kbd></dt><dd>this help</dd>
    </dl>
  `, { at: "keys" });
}

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k" && document.querySelector(".frame")) {
    event.preventDefault();
    if (!isOpen()) showPalette();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isOpen() || !document.querySelector(".frame")) return;
  if (event.target.matches?.("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const actions = {
    "/": search,
    j: () => move(1),
    k: () => move(-1),
    "?": showKeys,
  };
  const action = bound.get(event.key) ?? actions[event.key];
  if (!action) return;
  event.preventDefault();
  action(focusedRow());
});
