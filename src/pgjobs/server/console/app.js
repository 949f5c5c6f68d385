// Starts the console: who is it, which page, draw it.
import { session, whoAmI } from "./api.js";
import { bindKeys, showKeys } from "./keys.js";
import { JobPage } from "./pages/job.js";
import { Cleanup } from "./pages/cleanup.js";
import { Database } from "./pages/database.js";
import { Jobs } from "./pages/jobs.js";
import { Overview } from "./pages/overview.js";
import { Providers } from "./pages/providers.js";
import { Schedules } from "./pages/schedules.js";
import { SignIn } from "./pages/signin.js";
import { Task } from "./pages/task.js";
import { Tasks } from "./pages/tasks.js";
import { WorkerPage } from "./pages/worker.js";
import { Workers } from "./pages/workers.js";
import { WorkflowPage } from "./pages/workflow.js";
import { Workflows } from "./pages/workflows.js";
import { Frame } from "./parts/layout.js";
import { addressed } from "./parts/dialogs.js";
import { showPalette } from "./parts/palette.js";
import { togglePause } from "./parts/pulse.js";
import { Empty, Trouble } from "./parts/small.js";
import { path, restoreScroll } from "./router.js";
import { effect, html, render, signal, view } from "./view.js";

const ROUTES = [
  [/^\/$/, Overview, "Overview"],
  [/^\/tasks$/, Tasks, "Tasks"],
  [/^\/tasks\/([\w-]+)$/, Task, "Task"],
  [/^\/workflows$/, Workflows, "Workflows"],
  [/^\/workflows\/([\w-]+)$/, WorkflowPage, "Workflow"],
  [/^\/jobs$/, Jobs, "Jobs"],
  [/^\/jobs\/(.+)$/, JobPage, "Job"],
  [/^\/workers$/, Workers, "Workers"],
  [/^\/workers\/([\w-]+)$/, WorkerPage, "Worker"],
  [/^\/providers$/, Providers, "Providers"],
  [/^\/schedules$/, Schedules, "Schedules"],
  [/^\/maintenance\/cleanup$/, Cleanup, "Incomplete cleanup"],
  [/^\/database$/, Database, "Database"],
];

const problem = signal(null);

let again = null;

function start() {
  clearTimeout(again);
  whoAmI().then(
    () => (problem.value = null),
    (error) => {
      problem.value = error;
      again = setTimeout(startWhenSeen, 5000);
    },
  );
}

function startWhenSeen() {
  if (document.visibilityState === "hidden") document.addEventListener("visibilitychange", startWhenSeen, { once: true });
  else start();
}

const Nowhere = () => html`<${Empty} picture="search" title="Page not found">Choose one from the menu.<//>`;

function found() {
  for (const [pattern, page, name] of ROUTES) {
    const parts = pattern.exec(path.value);
    if (parts) return { page, name, part: parts[1] };
  }
  return { page: Nowhere, name: "Not found" };
}

// Another page begins at its top, for those who read it aloud or by the keyboard too, and one that was left where
// it was left. A closing dialog gives its focus back first.
function begin() {
  restoreScroll();
  document.getElementById("content")?.focus({ preventScroll: true });
}

let shown = path.peek();
effect(() => {
  if (path.value !== shown) requestAnimationFrame(begin);
  shown = path.value;
});

const App = view((_, leaving) => {
  bindKeys(leaving, { p: togglePause });
  addressed(leaving, { keys: () => showKeys, find: () => showPalette });
  leaving(effect(() => (document.title = `${found().name} · pgjobs`)));
  return () => {
    if (problem.value) return html`<div class="signin"><${Trouble} problem=${problem.value} retry=${start} always /></div>`;
    if (session.value === undefined) return html`<div class="signin" aria-busy="true"></div>`;
    if (session.value === null) return html`<${SignIn} />`;
    const { page, part } = found();
    return html`<${Frame}><${page} key=${path.value} id=${part} /><//>`;
  };
});

render(html`<${App} />`, document.getElementById("app"));
restoreScroll();
startWhenSeen();
