// The frame around every page.
import { isAway, readFrom, session, signOut } from "../api.js";
import { showKeys } from "../keys.js";
import { lookAtAll } from "../live.js";
import { address, path } from "../router.js";
import { html, media, signal, view } from "../view.js";
import { Dialogs, addressed, close, show } from "./dialogs.js";
import { icon } from "./icons.js";
import { say } from "./toasts.js";

export const PAGES = [
  { to: "/", name: "Overview", picture: "overview" },
  { to: "/tasks", name: "Tasks", picture: "tasks" },
  { to: "/workflows", name: "Workflows", picture: "workflows" },
  { to: "/jobs", name: "Jobs", picture: "jobs" },
  { to: "/workers", name: "Workers", picture: "workers" },
  { to: "/providers", name: "Providers", picture: "providers" },
  { to: "/schedules", name: "Schedules", picture: "schedules" },
  { group: "Maintenance" },
  { to: "/maintenance/cleanup", name: "Incomplete cleanup", brief: "Cleanup", picture: "cleanup" },
  { to: "/database", name: "Database", picture: "database" },
];

const isRail = media("(max-width: 1099px)");
const isHere = (to) => (to === "/" ? path.value === "/" : path.value.startsWith(to));

export const Brand = () => html`
  <a class="brand" href=${address("/")} aria-label="pgjobs, overview">
    <svg viewBox="0 0 26 26" aria-hidden="true">
      <rect class="tile" width="26" height="26" rx="7" />
      <path class="mark" d="M7 8h12M7 13h8M7 18h4m4 0l2 2 4-5" />
    </svg>
    <span>pgjobs</span>
  </a>
`;

const Nav = ({ isBrief, onChoose }) => html`
  <nav class="nav" aria-label="Pages">
    ${PAGES.map((page) =>
      page.group
        ? html`<p class="group">${page.group}</p>`
        : html`
            <a href=${address(page.to)} aria-current=${isHere(page.to) ? "page" : undefined} onClick=${onChoose} title=${page.name}>
              ${icon(page.picture)}<span>${isBrief ? (page.brief ?? page.name) : page.name}</span>
            </a>
          `,
    )}
  </nav>
`;

const theme = signal(document.documentElement.dataset.theme);
addEventListener("themechange", () => (theme.value = document.documentElement.dataset.theme));

const leave = () => signOut().catch((error) => say("bad", `You are still signed in. ${error.message}`));

// Where lists come from, where there is more than one place. A late standby is worth a warning: what is shown is old.
const LATE = 10;
const Source = () => {
  const from = readFrom.value;
  if (!from) return null;
  if (from.isStandby && from.lag < LATE) return html`<p class="source muted small">Read from a standby, up to ${from.lag.toFixed(1)} s behind</p>`;
  if (!from.isStandby) return html`<p class="source muted small">Read from the primary: ${from.reason}</p>`;
  return html`<p class="source small" role="status">The primary cannot be reached: read from a standby, ${Math.round(from.lag)} s behind</p>`;
};

const Who = () => session.value && html`
  <div class="who">
    <div class="name">
      <div class="strong clip" title=${session.value.id}>${session.value.id}</div>
      <div class="muted small">${session.value.is_superuser ? "Operator" : "Read-only"}</div>
    </div>
    <div class="row">
      <button class="button bare icononly" type="button" onClick=${() => switchTheme()} aria-label=${theme.value === "dark" ? "Light colours" : "Dark colours"} title="Light or dark">
        ${icon(theme.value === "dark" ? "sun" : "moon")}
      </button>
      <button class="button bare icononly" type="button" onClick=${showKeys} aria-label="Keyboard help" title="Keyboard (?)">${icon("help")}</button>
      ${session.value.expires_at &&
      html`<button class="button bare icononly" type="button" onClick=${leave} aria-label="Sign out" title="Sign out">${icon("leave")}</button>`}
    </div>
  </div>
`;

// Said once for the whole page; what was there stays to be read.
const Away = () =>
  isAway.value &&
  html`
    <div class="notice warn away" role="alert">
      ${icon("block")}
      <div class="grow">The server cannot be reached. Showing the last known data; retrying every few seconds.</div>
      <button class="button little" type="button" onClick=${lookAtAll}>Try again</button>
    </div>
  `;

export const Frame = view((_, leaving) => {
  const menu = () =>
    show("Menu", () => html`<${Nav} onChoose=${close} /><${Source} /><${Who} />`, { drawer: true, at: "menu" });
  addressed(leaving, { menu: () => menu });
  return ({ children }) => html`
    <div class="frame">
      <a class="skip" href=${`#${path.value}`} onClick=${toContent}>Skip to content</a>
      <div class="bar">
        <button class="button bare icononly" type="button" aria-label="Menu" onClick=${menu}>${icon("menu")}</button>
        <${Brand} />
      </div>
      <div class="side"><${Brand} /><${Nav} isBrief=${isRail.value} /><${Source} /><${Who} /></div>
      <main class="content" id="content" tabindex="-1"><${Away} />${children}</main>
    </div>
    <${Dialogs} />
  `;
});

function toContent(event) {
  event.preventDefault();
  document.getElementById("content").focus();
}
