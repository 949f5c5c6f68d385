// One workflow: its graph, who waits for a signal, and its tasks.
import { get, mayOperate } from "../api.js";
import { number, plural } from "../format.js";
import { resource } from "../live.js";
import { act, actionsAddressed } from "../parts/actions.js";
import { Graph } from "../parts/graph.js";
import { icon } from "../parts/icons.js";
import { List } from "../parts/lists.js";
import { sendSignal } from "../parts/sendsignal.js";
import { Ago, Bones, Copy, Empty, Head, Meter, Panel, Took, Trouble } from "../parts/small.js";
import { tag, taskTag } from "../parts/tags.js";
import { address, jobAddress } from "../router.js";
import { html, signal, view } from "../view.js";
import { ended } from "./workflows.js";

const STEP = 100;
const shortJob = (job) => job.split(":").slice(2).join(":");
const took = (node) => (node.started_at ? html`<${Took} from=${node.started_at} to=${node.ended_at ?? (node.status === "running" ? null : node.started_at)} />` : html`<span class="muted">—</span>`);

const columns = [
  { title: "Task", cell: (node) => html`<a class="name clip" data-open href=${address(`/tasks/${node.id}`)}>${node.name}</a>` },
  { title: "Job", width: "24%", cell: (node) => html`<a class="clip" href=${jobAddress(node.job)} title=${node.job}>${shortJob(node.job)}</a>` },
  { title: "Status", width: "150px", cell: (node) => taskTag(node) },
  { title: "Started", roomy: true, width: "140px", cell: (node) => html`<${Ago} at=${node.started_at} />` },
  { title: "Took", width: "110px", cell: took },
];
const card = (node) => html`
  <div class="row apart"><a class="name clip grow" data-open href=${address(`/tasks/${node.id}`)}>${node.name}</a>${taskTag(node)}</div>
  <span class="muted small clip">${shortJob(node.job)}</span>
`;

const Waiting = ({ nodes, done }) => html`
  <ul class="brief waits">
    ${nodes.map(
      (node) => html`
        <li key=${node.id} class="row apart">
          <span class="row">${icon("bell")}<span><a href=${address(`/tasks/${node.id}`)}>${node.name}</a> waits for the signal <span class="strong">${node.signal}</span></span></span>
          ${mayOperate() && html`<button class="button main little" type="button" onClick=${() => sendSignal(node.id, node.signal, done)}>Send signal ${node.signal}</button>`}
        </li>
      `,
    )}
  </ul>
`;

const Actions = (flow, done) => html`
  ${flow.failed + flow.cancelled > 0 && html`<button class="button main" type="button" onClick=${() => act("retry_workflow", flow.id, { data: flow, done })}>${icon("retry")}Retry</button>`}
  ${!flow.ended_at && html`<button class="button danger" type="button" onClick=${() => act("cancel_workflow", flow.id, { data: flow, done })}>${icon("stop")}Cancel</button>`}
`;

const Facts = (flow) => html`
  <dl class="facts">
    <dt>Id</dt><dd class="row"><span class="mono grow">${flow.id}</span><${Copy} text=${flow.id} what="id" /></dd>
    <dt>Number</dt><dd>${number(flow.number)}</dd>
    <dt>Room</dt><dd><a href=${address("/tasks", { room: flow.room })}>${flow.room}</a></dd>
    ${flow.submitter && html`<dt>Submitted</dt><dd>by ${flow.submitter}</dd>`}
    <dt>Took</dt><dd><${Took} from=${flow.created_at} to=${flow.ended_at} /></dd>
    ${["completed", "failed", "cancelled", "running", "held"].map((name) => flow[name] > 0 && html`<dt>${name[0].toUpperCase() + name.slice(1)}</dt><dd>${number(flow[name])}</dd>`)}
  </dl>
`;

export const WorkflowPage = view((given, leaving) => {
  const { id } = given.peek();
  const members = () => new Set(one.data.peek()?.nodes.map((node) => node.id));
  const one = resource(leaving, (aborted) => get(`workflows/${id}/graph`, {}, aborted), (event) => members().has(event.task_id));
  const shown = signal(STEP);
  actionsAddressed(leaving, one.reload);
  return () => {
    const flow = one.data.value;
    if (!flow && one.problem.value)
      return [404, 422].includes(one.problem.value.status)
        ? html`<${Empty} picture="search" title="Workflow not found">Retention may have deleted its tasks. <a href=${address("/workflows")}>Back to workflows</a><//>`
        : html`<${Trouble} problem=${one.problem.value} retry=${one.reload} />`;
    if (!flow) return html`<${Bones} rows=${8} />`;
    const waiting = flow.nodes.filter((node) => node.signal);
    return html`
      <p class="small crumbs"><a href=${address("/workflows")}>Workflows</a> <span class="muted">/ ${number(flow.number)}</span></p>
      <${Head} title=${html`${flow.name} ${tag(flow.status)}`} lead=${html`${number(ended(flow))} of ${plural(flow.tasks, "task")} ended, submitted <${Ago} at=${flow.created_at} />`}>
        ${mayOperate() && Actions(flow, one.reload)}
      <//>
      <div class="stack">
        ${one.problem.value && html`<${Trouble} problem=${one.problem.value} retry=${one.reload} />`}
        <${Meter} share=${ended(flow) / flow.tasks} label="Tasks that have ended" />
        ${waiting.length > 0 && html`<${Panel} title="Waiting for somebody"><${Waiting} nodes=${waiting} done=${one.reload} /><//>`}
        <${Panel} title="Graph"><${Graph} graph=${flow} /><//>
        <div class="two">
          <${Panel} title="Tasks" flush>
            <${List} label="Tasks of the workflow" rows=${flow.nodes.slice(0, shown.value)} idOf=${(node) => node.id} columns=${columns} card=${card} />
            ${flow.nodes.length > shown.value && html`<div class="more"><span>Showing ${number(shown.value)} of ${number(flow.nodes.length)}.</span><button class="button" type="button" onClick=${() => (shown.value += STEP)}>Show more</button></div>`}
          <//>
          <${Panel} title="About">${Facts(flow)}<//>
        </div>
      </div>
    `;
  };
});
