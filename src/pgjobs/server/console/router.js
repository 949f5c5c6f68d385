// Where we are: the part of the address after `#`, so that the console works wherever it is mounted.
import { computed, signal } from "./view.js";

// A dialog has an address too: the page's with `do`, its name, and `of`, what it is about.
function read() {
  const [path, text] = location.hash.slice(1).split("?");
  const { do: name, of = "", ...filters } = Object.fromEntries(new URLSearchParams(text ?? ""));
  return { path: path || "/", query: new URLSearchParams(filters).toString(), dialog: name ? { name, of } : null };
}

const place = signal(read());
// The dialog that the address asks for, until somebody opens it.
export const askedDialog = signal(place.peek().dialog);
addEventListener("hashchange", () => {
  place.value = read();
  askedDialog.value = place.peek().dialog;
});

export const path = computed(() => place.value.path);
const queryText = computed(() => place.value.query);
export const query = computed(() => Object.fromEntries(new URLSearchParams(queryText.value)));

// The address of a page; empty values are left out.
export function address(to, values = {}) {
  const kept = Object.entries(values).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const text = new URLSearchParams(kept).toString();
  return `#${to}${text ? `?${text}` : ""}`;
}

export const jobAddress = (job, values) => address(`/jobs/${encodeURIComponent(job)}`, values);
export const workerAddress = (id) => address(`/workers/${id}`);
export const workflowAddress = (id) => address(`/workflows/${id}`);

export function go(to, values) {
  location.hash = address(to, values);
}

// In place of this page: the way back does not lead to it.
export const goInstead = (to) => location.replace(address(to));

// Kept with the entry of the history: whoever comes back to it, by the browser's ways or a reload, finds it again.
export const kept = () => history.state ?? {};
export const keep = (values) => history.replaceState({ ...history.state, ...values }, "");

const now = () => Object.fromEntries(new URLSearchParams(queryText.peek()));

// Changes some values of the query of this page; filters do not fill the history.
export function refine(values) {
  history.replaceState(null, "", address(path.peek(), { ...now(), ...values }));
  place.value = read();
}

// Says in the address which dialog is open, or that none is; the page stays as it is.
export function mark(name = null, of = null) {
  askedDialog.value = null;
  const wanted = address(path.peek(), { ...now(), do: name, of });
  if (wanted !== location.hash) history.replaceState(history.state, "", wanted);
}

// The way back leads to where one was reading. The list has to be there first, which takes a moment.
history.scrollRestoration = "manual";
let noted = null;
addEventListener("scroll", () => {
  clearTimeout(noted);
  const of = location.hash;
  noted = setTimeout(() => location.hash === of && keep({ scroll: Math.round(scrollY) }), 100);
});

const PATIENCE = 5000;
let watching = null;
export function restoreScroll() {
  watching?.disconnect();
  const wanted = kept().scroll ?? 0;
  scrollTo(0, wanted);
  if (!wanted) return;
  const given = Date.now() + PATIENCE;
  const stop = () => watching?.disconnect();
  watching = new ResizeObserver(() => {
    if (Date.now() > given) return stop();
    scrollTo(0, wanted);
    if (Math.abs(scrollY - wanted) < 2) stop();
  });
  watching.observe(document.body);
  for (const kind of ["wheel", "touchmove", "keydown", "pointerdown"]) addEventListener(kind, stop, { once: true, passive: true });
}
