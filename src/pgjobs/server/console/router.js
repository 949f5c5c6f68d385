// Where we are: the part of the address after `#`, so that the console works wherever it is mounted.
import { computed, signal } from "./view.js";

const read = () => {
  const [path, query] = location.hash.slice(1).split("?");
  return { path: path || "/", query: query ?? "" };
};

const place = signal(read());
addEventListener("hashchange", () => (place.value = read()));

export const path = computed(() => place.value.path);
export const query = computed(() => Object.fromEntries(new URLSearchParams(place.value.query)));
const queryText = computed(() => place.value.query);

// The address of a page; empty values are left out.
export function address(to, values = {}) {
  const kept = Object.entries(values).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const text = new URLSearchParams(kept).toString();
  return `#${to}${text ? `?${text}` : ""}`;
}

export function go(to, values) {
  location.hash = address(to, values);
}

// Kept with the entry of the history: whoever comes back to it, by the browser's ways or a reload, finds it again.
export const kept = () => history.state ?? {};
export const keep = (values) => history.replaceState({ ...history.state, ...values }, "");

// Changes some values of the query of this page; filters do not fill the history.
export function refine(values) {
  const now = Object.fromEntries(new URLSearchParams(queryText.peek()));
  history.replaceState(null, "", address(path.peek(), { ...now, ...values }));
  place.value = read();
}
