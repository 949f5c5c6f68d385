// Whether the page follows what happens, and the switch for it.
import { isPaused, state } from "../live.js";
import { html } from "../view.js";

const SAID = {
  live: ["Live", "Changes are shown as they happen. Pause to freeze the page; no requests are sent meanwhile."],
  polling: ["Polling every 5 s", "The event stream is not available."],
  paused: ["Paused", "No requests are sent until you resume."],
  hidden: ["Paused", "No requests are sent while the tab is hidden."],
};

export const togglePause = () => (isPaused.value = !isPaused.peek());

export const Pulse = () => html`
  <button class="button pulse ${state.value}" type="button" onClick=${togglePause} aria-pressed=${isPaused.value} title=${SAID[state.value][1]}>
    <span class="dot"></span>${SAID[state.value][0]}
    <span class="only-read">${isPaused.value ? ", resume" : ", pause"}</span>
  </button>
`;
