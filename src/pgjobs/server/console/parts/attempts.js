// The attempts of a task, side by side: how each went, and how long it took beside the others.
import { between, duration, firstLine, plural, shortId } from "../format.js";
import { workerAddress } from "../router.js";
import { html } from "../view.js";
import { Ago, Bones, Meter } from "./small.js";
import { tag } from "./tags.js";

// Ended attempts are numbered through, also over retries by operators, which start a new count: so is the one running.
function numbered(items, task) {
  const isHeld = ["claimed", "running"].includes(task.status);
  return isHeld ? [...items, { ...task, attempt: (items.at(-1)?.attempt ?? 0) + 1, error: null, reason: null }] : items;
}

const seconds = (attempt) => between(attempt.started_at ?? attempt.claimed_at, attempt.ended_at);

export const Attempts = ({ items, task }) => {
  if (!items) return html`<${Bones} rows=${2} />`;
  const all = numbered(items, task);
  if (!all.length) return html`<p class="muted">Not started yet.</p>`;
  const longest = Math.max(...all.map((attempt) => seconds(attempt) ?? 0), 0.001);
  return html`
    <div class="attempts" tabindex="0" role="group" aria-label=${plural(all.length, "attempt")}>
      ${[...all].reverse().map(
        (attempt) => html`
          <article class="attempt" key=${attempt.attempt + attempt.status}>
            <div class="row apart"><h3>Attempt ${attempt.attempt}</h3>${tag(attempt.status)}</div>
            <dl class="facts">
              <dt>Claimed</dt><dd><${Ago} at=${attempt.claimed_at} /></dd>
              <dt>${attempt.ended_at ? "Took" : "Running"}</dt>
              <dd>${attempt.ended_at ? duration(seconds(attempt)) : html`<${Ago} at=${attempt.started_at ?? attempt.claimed_at} plain />`}</dd>
              ${attempt.worker_id && html`<dt>Worker</dt><dd class="mono"><a href=${workerAddress(attempt.worker_id)}>${shortId(attempt.worker_id)}</a></dd>`}
              ${!attempt.worker_id && attempt.holder && html`<dt>Holder</dt><dd class="clip">${attempt.holder}</dd>`}
              ${attempt.error_kind && html`<dt>Error kind</dt><dd><span class="chip">${attempt.error_kind}</span></dd>`}
            </dl>
            ${attempt.ended_at && html`<${Meter} share=${(seconds(attempt) ?? 0) / longest} label=${`Attempt ${attempt.attempt} took ${duration(seconds(attempt))}`} />`}
            ${(attempt.error ?? attempt.reason) && html`<pre tabindex="0" aria-label=${firstLine(attempt.error ?? attempt.reason)}><code>${attempt.error ?? attempt.reason}</code></pre>`}
          </article>
        `,
      )}
    </div>
  `;
};
