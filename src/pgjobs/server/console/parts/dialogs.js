// Dialogs: in the middle on a desk, a drawer from below on a phone. The browser keeps the focus inside.
import { askedDialog, mark } from "../router.js";
import { effect, html, signal, untracked, view } from "../view.js";
import { CopyAs } from "./copyas.js";
import { icon } from "./icons.js";
import { Refusal } from "./refusal.js";
import { Toasts } from "./toasts.js";

const open = signal(null);
let count = 0;

// Shows what `draw({close})` draws until it is closed. Each closes itself only: the browser tells of a closing
// later, and an answer may come later, when another dialog is open already.
//
// With `at` it has an address, and what is shown can be sent to somebody: `of` says what it is about.
export function show(title, draw, { at = null, of = null, ...options } = {}) {
  hide();
  mark(at, of);
  const number = ++count;
  open.value = { number, title, draw, close: () => open.peek()?.number === number && close(), ...options };
}

// Removed alone, a dialog would not give the focus back.
function hide() {
  document.querySelector("dialog[open]")?.close();
  open.value = null;
}
export function close() {
  hide();
  mark();
}
// A dialog belongs to its page: a link in it, or the browser's way back, leaves both.
addEventListener("hashchange", hide);

// Opens the dialog that the address asks for, once what it is about is known: each of `openers` gets that and
// answers with what opens it, or nothing yet.
export function addressed(leaving, openers) {
  leaving(
    effect(() => {
      const asked = askedDialog.value;
      const go = asked && openers[asked.name]?.(asked.of);
      if (go) setTimeout(() => askedDialog.peek() === asked && untracked(go));
    }),
  );
}

// Asked of the page: the browser closes a dialog before it tells us.
export const isOpen = () => document.querySelector("dialog[open]") !== null;

// What is outside of an open dialog lies under its veil and cannot be reached, so messages are said inside.
export const Dialogs = view(() => () => html`
  ${open.value && html`<${Dialog} key=${open.value.number} ...${open.value} />`}
  <${Toasts} isHere=${!open.value} />
`);

const Dialog = view(() => {
  const mount = (element) => {
    if (element && !element.open) element.showModal();
  };
  // A click on the veil is one of the dialog itself; so is a selection of text that ends there.
  let pressed = null;
  return ({ title, draw, close, wide, drawer }) => html`
    <dialog
      ref=${mount}
      class="${wide ? "wide" : ""} ${drawer ? "drawer" : ""}"
      aria-labelledby="dialog-title"
      onClose=${close}
      onPointerDown=${(event) => (pressed = event.target)}
      onClick=${(event) => {
        // The way back from where a link leads is to the page, not into its dialog.
        if (event.target.closest?.('a[href^="#"]')) mark();
        if (event.target === event.currentTarget && pressed === event.target) close();
      }}
    >
      <div class="sheet">
        <div class="row apart">
          <h2 id="dialog-title">${title}</h2>
          <button class="button bare icononly little" type="button" aria-label="Close" onClick=${close}>${icon("close")}</button>
        </div>
        ${draw({ close })}
      </div>
      <${Toasts} isHere />
    </dialog>
  `;
});

// Asks before doing, with an optional reason. What is refused stays in the dialog; `done` is called then
// too, because a refusal means that things are no longer as they are shown.
export function confirm({ title, at, of, ...question }) {
  show(title, ({ close }) => html`<${Question} ...${question} close=${close} />`, { at, of });
}

const Question = view(() => {
  const reason = signal("");
  const problem = signal(null);
  const isBusy = signal(false);
  return ({ text, verb, danger, withReason, act, done, close, as }) => {
    const submit = async (event) => {
      event.preventDefault();
      isBusy.value = true;
      problem.value = null;
      try {
        await act(reason.value.trim() || null);
        close();
      } catch (error) {
        problem.value = error;
      }
      isBusy.value = false;
      done();
    };
    return html`
      <form class="stack" onSubmit=${submit}>
        <p>${text}</p>
        ${withReason &&
        html`
          <label class="field">
            <span>Reason (optional, others can read it)</span>
            <textarea class="input" maxlength="200" value=${reason.value} onInput=${(event) => (reason.value = event.target.value)}></textarea>
          </label>
        `}
        ${as && html`<${CopyAs} ...${as(reason.value.trim() || null)} />`}
        <${Refusal} problem=${problem.value} />
        <div class="foot">
          <button class="button" type="button" onClick=${close}>Back</button>
          <button class="button main ${danger ? "danger" : ""}" type="submit" disabled=${isBusy.value}>${verb}</button>
        </div>
      </form>
    `;
  };
});
