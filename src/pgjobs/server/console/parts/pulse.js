// Whether the page follows what happens, and the switch for it.
import { isPaused, state } from "../live.js";
import { html } from "../view.js";

const SAID = {
  live: ["Live", "Changes are shown as they happen. Pause to keep the page still; nothing is asked meanwhile."],
  polling: ["Looking every 5 s", "The event stream cannot be had just now."],
  paused: ["Paused", "Nothing is asked until you resume."],
  hidden: ["Resting", "Nothing is asked while nobody looks."],
};

export const togglePause = () => (isPaused.value = !isPaused.peek());

export const Pulse = () => html`
  <button class="button pulse ${state.value}" type="button" onClick=${togglePause} aria-pressed=${isPaused.value} title=${SAID[state.value][1]}>
    <span class="dot"></span>${SAID[state.value][0]}
    <span class="only-read">${isPaused.value ? ", resume" : ", pause"}</span>
  </button>
`;
