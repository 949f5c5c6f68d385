// Short messages that come and go.
import { html, signal, view } from "../view.js";
import { icon } from "./icons.js";

const shown = signal([]);
let last = 0;

// What has a link in it, and what went wrong, stays longer.
export function say(tone, text) {
  const id = (last += 1);
  shown.value = [...shown.peek(), { id, tone, text }].slice(-3);
  setTimeout(() => (shown.value = shown.peek().filter((toast) => toast.id !== id)), tone === "bad" || typeof text !== "string" ? 9000 : 4000);
}

// Drawn in one of several places. The others stay, empty: a screen reader tells what comes into a region that was there.
export const Toasts = view(() => ({ isHere }) => html`
  <div class="toasts" role="status" aria-live="polite">
    ${(isHere ? shown.value : []).map(
      (toast) => html`
        <div class="toast ${toast.tone}" key=${toast.id}>
          ${icon(toast.tone === "bad" ? "block" : "check")}<span>${toast.text}</span>
        </div>
      `,
    )}
  </div>
`);
