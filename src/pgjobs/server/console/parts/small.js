// Small things many pages use.
import { serverNow } from "../api.js";
import { between, date, duration, jobParts, roughly, shortId } from "../format.js";
import { clock } from "../live.js";
import { address } from "../router.js";
import { html, signal, view } from "../view.js";
import { icon } from "./icons.js";
import { Pulse } from "./pulse.js";
import { say } from "./toasts.js";

// How long ago, or how long until; the exact time is in the title.
export const Ago = view(() => ({ at, plain = false }) => {
  if (!at) return html`<span class="muted">—</span>`;
  clock.value;
  const seconds = (serverNow() - Date.parse(at)) / 1000;
  const words = Math.abs(seconds) < 1 ? "now" : seconds > 0 ? `${roughly(seconds)}${plain ? "" : " ago"}` : `in ${roughly(-seconds)}`;
  return html`<time class="nowrap" datetime=${at} title=${date(at)}>${words}</time>`;
});

export const Took = view(() => ({ from, to }) => {
  if (!from) return html`<span class="muted">—</span>`;
  if (to) return html`<span class="nowrap">${duration(between(from, to))}</span>`;
  clock.value;
  return html`<span class="nowrap">${duration(Math.max(0, Math.round((serverNow() - Date.parse(from)) / 1000)))}</span>`;
});

export const TaskLink = ({ id }) =>
  html`<a class="mono nowrap" href=${address(`/tasks/${id}`)} title=${id}>${shortId(id)}</a>`;

// A job by its own name, with its address below.
export function JobName({ job, to }) {
  const { room, category, name } = jobParts(job);
  return html`
    <span class="stack close" title=${job}>
      ${to ? html`<a class="name clip" href=${to}>${name}</a>` : html`<span class="name clip">${name}</span>`}
      <span class="muted small clip">${room} · ${category}</span>
    </span>
  `;
}

// Browsers give the clipboard to pages over HTTPS or of this machine only; others may copy what they select.
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedBySelection(text);
  }
}

function copiedBySelection(text) {
  const focused = document.activeElement;
  const field = document.createElement("textarea");
  field.className = "only-read";
  field.value = text;
  // Outside of an open dialog nothing can be selected.
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.focus({ preventScroll: true });
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  focused?.focus({ preventScroll: true });
  return isCopied;
}

export const Copy = view(() => {
  const isDone = signal(false);
  return ({ text, what }) => {
    const copy = async () => {
      if (!(await copied(text))) return say("bad", `${what} could not be copied: the browser refused. Select it and copy it by hand.`);
      isDone.value = true;
      say("good", `${what} copied`);
      setTimeout(() => (isDone.value = false), 1500);
    };
    return html`
      <button class="button bare icononly little" type="button" onClick=${copy} aria-label=${`Copy ${what}`} title=${`Copy ${what}`}>
        ${icon(isDone.value ? "check" : "copy")}
      </button>
    `;
  };
});

// Something to run in psql.
export const Sql = ({ text }) => html`
  <div class="sql"><pre tabindex="0"><code>${text}</code></pre><${Copy} text=${text} what="SQL" /></div>
`;

// Advice in words begins with a capital.
export const isSql = (text) => /^(select|with|alter|create|drop|grant|revoke|set|reset|vacuum|reindex|analyze|rollback|commit|insert|update|delete|call)\b/.test(text ?? "");

// What to do: SQL to run, a verb to call, or words.
export const Advice = ({ text }) => {
  if (!text) return null;
  if (isSql(text)) return html`<${Sql} text=${text} />`;
  return /^\w+\(.*\)$/.test(text) ? html`<p><code>${text}</code></p>` : html`<p class="muted">${text}.</p>`;
};

export const Json = ({ value, label }) => html`
  <div class="sql">
    <pre tabindex="0" aria-label=${label}><code>${JSON.stringify(value, null, 2)}</code></pre>
    <${Copy} text=${JSON.stringify(value)} what=${label} />
  </div>
`;

export const Empty = ({ picture = "inbox", title, children }) => html`
  <div class="empty">${icon(picture)}<h2>${title}</h2><p>${children}</p></div>
`;

export const Bones = ({ rows = 6 }) => html`
  <div class="inside stack" role="status" aria-busy="true" aria-label="Loading">
    ${Array.from({ length: rows }, (_, n) => html`<span class="bone ${n % 3 === 2 ? "half" : ""}"></span>`)}
  </div>
`;

// That the server is away is said by the frame, unless there is none.
export const Trouble = ({ problem, retry, always }) => (problem.status !== 0 || always) && html`
  <div class="notice bad" role="alert">
    ${icon("block")}
    <div class="grow">${problem.message}</div>
    ${retry && html`<button class="button little" type="button" onClick=${retry}>Try again</button>`}
  </div>
`;

export const Panel = ({ title, aside, children, flush }) => html`
  <section class="panel">
    ${title && html`<header><h2>${title}</h2>${aside}</header>`}
    ${flush ? children : html`<div class="inside">${children}</div>`}
  </section>
`;

// The top of a page: its title, what can be done, and whether it follows what happens.
export const Head = ({ title, lead, children }) => html`
  <header class="head">
    <div class="title"><h1>${title}</h1>${lead && html`<p class="lead">${lead}</p>`}</div>
    <div class="actions">${children}</div>
    <${Pulse} />
  </header>
`;

export const Meter = ({ share, label, isHigh }) => html`
  <span class="meter ${isHigh ? "warn" : ""}" role="progressbar" aria-label=${label} aria-valuemin="0" aria-valuemax="100" aria-valuenow=${Math.round(share * 100)}>
    <span style=${{ width: `${Math.min(100, Math.max(0, share * 100))}%` }}></span>
  </span>
`;

// A number from 0 to 1 or to 100, or `done` of `total`, makes a bar; anything else is shown as it is.
export function share(progress) {
  if (typeof progress === "number") return progress <= 1 ? progress : progress / 100;
  if (progress && typeof progress === "object") {
    const { done, current, total, percent, fraction, share: part } = progress;
    if (Number.isFinite(done ?? current) && total > 0) return (done ?? current) / total;
    if (Number.isFinite(percent)) return percent / 100;
    return [fraction, part].find(Number.isFinite) ?? null;
  }
  return null;
}
