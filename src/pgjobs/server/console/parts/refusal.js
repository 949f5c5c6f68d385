// Why an action was not done, where it was asked for; what was filled in stays. Without an answer nobody knows.
import { html } from "../view.js";
import { icon } from "./icons.js";

export const Refusal = ({ problem }) =>
  problem &&
  html`
    <div class="notice bad" role="alert">${icon("block")}<div class="stack close"><span>${problem.message}</span>
      ${problem.status === 0 && html`<span class="small">If the request arrived, it was done. Look at the page before you try again.</span>`}
      ${(problem.errors ?? []).map((error) => html`<span class="small"><span class="mono">${error.pointer || "/"}</span> ${error.detail}</span>`)}
    </div></div>
  `;
