// Filters that somebody wants again: names for addresses, kept in this browser.
import { address, path, query } from "../router.js";
import { html, signal, view } from "../view.js";
import { show } from "./dialogs.js";
import { icon } from "./icons.js";
import { say } from "./toasts.js";

const KEY = "pgjobs-filters";
const MOST = 20;

function stored() {
  try {
    const known = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(known) ? known.filter((one) => typeof one?.name === "string" && /^#\/tasks\?/.test(one.to)) : [];
  } catch {
    return []; // Storage may be forbidden, or have something else in it.
  }
}

export const savedFilters = signal(stored());
addEventListener("storage", () => (savedFilters.value = stored()));

function keep(filters) {
  savedFilters.value = filters.slice(-MOST);
  try {
    localStorage.setItem(KEY, JSON.stringify(savedFilters.peek()));
  } catch {
    say("bad", "The browser does not keep it: storage is turned off. It lasts as long as this page.");
  }
}

const forget = (name) => keep(savedFilters.peek().filter((one) => one.name !== name));
const here = () => address(path.value, query.value);

const Naming = view((given) => {
  const { to, close } = given.peek();
  const name = signal("");
  const submit = (event) => {
    event.preventDefault();
    keep([...savedFilters.peek().filter((one) => one.name !== name.peek().trim()), { name: name.peek().trim(), to }]);
    say("good", "Filter saved");
    close();
  };
  return () => html`
    <form class="stack" onSubmit=${submit}>
      <p>It is kept in this browser. To share it, copy the address of the page.</p>
      <label class="field"><span>Name</span><input class="input" type="text" required maxlength="60" value=${name.value} onInput=${(event) => (name.value = event.target.value)} /></label>
      <div class="foot">
        <button class="button" type="button" onClick=${close}>Back</button>
        <button class="button main" type="submit">Save filter</button>
      </div>
    </form>
  `;
});

const naming = (to) => show("Save this filter", ({ close }) => html`<${Naming} to=${to} close=${close} />`, { at: "save" });

export const saveHere = () => naming(here());
export const SaveFilter = () => html`<button class="link small" type="button" onClick=${saveHere}>Save filter</button>`;

export const SavedFilters = () =>
  savedFilters.value.length > 0 &&
  html`
    <ul class="row wrap saved" aria-label="Saved filters">
      ${savedFilters.value.map(
        ({ name, to }) => html`
          <li key=${name} class="chip"><a href=${to} aria-current=${to === here() ? "true" : undefined}>${name}</a>
            <button class="button bare icononly tiny" type="button" aria-label=${`Remove saved filter ${name}`} title="Remove" onClick=${() => forget(name)}>${icon("close")}</button></li>
        `,
      )}
    </ul>
  `;
