// The keyboard: `/` search, `j` `k` move, Enter opens what has the focus, `r` retries or runs, `?` helps.
import { isOpen, show } from "./parts/dialogs.js";
import { go } from "./router.js";
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

// Pages without a search of their own lead to that of the tasks.
function search() {
  if (searchField()) return searchField().focus();
  addEventListener("hashchange", () => requestAnimationFrame(() => searchField()?.focus()), { once: true });
  go("/tasks");
}

export function showKeys() {
  show("Keyboard", () => html`
    <dl class="keys facts-keys">
      <dt><kbd>/</kbd></dt><dd>search</dd>
      <dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next and previous row</dd>
      <dt><kbd>Enter</kbd></dt><dd>open the row</dd>
      <dt><kbd>x</kbd></dt><dd>choose the row</dd>
      <dt><kbd>r</kbd></dt><dd>retry the task, run the schedule now</dd>
      <dt><kbd>p</kbd></dt><dd>pause and resume live updates</dd>
      <dt><kbd>?</kbd></dt><dd>this help</dd>
    </dl>
  `);
}

document.addEventListener("keydown", (event) => {
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
