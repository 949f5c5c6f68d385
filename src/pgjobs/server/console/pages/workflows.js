// Workflows: tasks that were submitted together, newest first.
import { get } from "../api.js";
import { number } from "../format.js";
import { resource } from "../live.js";
import { actionsAddressed } from "../parts/actions.js";
import { List, MoreButton } from "../parts/lists.js";
import { Ago, Bones, Empty, Head, Meter, Took, Trouble } from "../parts/small.js";
import { tag } from "../parts/tags.js";
import { keep, kept, query, refine, workflowAddress } from "../router.js";
import { html, signal, view } from "../view.js";

const PAGE = 50;

export const ended = (flow) => flow.completed + flow.failed + flow.cancelled;
const named = (flow) => html`
  <span class="stack close">
    <a class="name clip" data-open href=${workflowAddress(flow.id)}>${flow.name}</a>
    <span class="muted small clip">${flow.room} · ${number(flow.number)}</span>
  </span>
`;
const share = (flow) => html`
  <span class="stack close"><${Meter} share=${ended(flow) / flow.tasks} label=${`${number(ended(flow))} of ${number(flow.tasks)} tasks have ended`} /><span class="muted small">${number(ended(flow))} of ${number(flow.tasks)}${flow.failed > 0 && html`, <span class="bad">${number(flow.failed)} failed</span>`}</span></span>
`;
const columns = [
  { title: "Workflow", cell: named },
  { title: "Status", width: "140px", cell: (flow) => tag(flow.status) },
  { title: "Tasks ended", width: "26%", tight: "30%", cell: share },
  { title: "Submitted", width: "130px", tight: "120px", cell: (flow) => html`<${Ago} at=${flow.created_at} />` },
  { title: "Took", roomy: true, width: "120px", cell: (flow) => html`<${Took} from=${flow.created_at} to=${flow.ended_at} />` },
];
const card = (flow) => html`
  <div class="row apart"><div class="grow">${named(flow)}</div>${tag(flow.status)}</div>
  ${share(flow)}
  <span class="muted small">submitted <${Ago} at=${flow.created_at} /></span>
`;

// A page at a time, each asked for with where the one before ended.
async function first(pages, values, aborted) {
  const items = [];
  let cursor = null;
  for (let page = 0; page < pages; page++) {
    const answer = await get("workflows", { ...values, cursor, limit: PAGE }, aborted);
    items.push(...answer.items);
    cursor = answer.next;
    if (!cursor) break;
  }
  return { items, next: cursor, pages };
}

const selected = () => ({ name: query.value.name ?? "" });

export const Workflows = view((_, leaving) => {
  const shown = signal(kept().pages ?? 1);
  const list = resource(leaving, (aborted) => first(shown.value, selected(), aborted));
  actionsAddressed(leaving, list.reload);
  const more = () => {
    shown.value = list.data.peek().pages + 1;
    keep({ pages: shown.peek() });
  };
  return () => {
    const found = list.data.value;
    return html`
      <${Head} title="Workflows" lead="Tasks submitted together, some after others." />
      <div class="stack">
        <label class="field"><span>Name</span><input class="input" type="search" value=${selected().name} placeholder="all" onChange=${(event) => refine({ name: event.target.value.trim() })} /></label>
        ${list.problem.value && html`<${Trouble} problem=${list.problem.value} retry=${list.reload} />`}
        <section class="panel" aria-label="List of workflows">
          ${!found
            ? html`<${Bones} />`
            : found.items.length
              ? html`<${List} label="Workflows" rows=${found.items} idOf=${(flow) => flow.id} columns=${columns} card=${card} />${found.next && html`<div class="more"><${MoreButton} isFetching=${list.isLoading.value} more=${more}>Show more<//></div>`}`
              : selected().name
                ? html`<${Empty} picture="search" title="No workflow matches">Names are searched as a whole.<//>`
                : html`<${Empty} picture="workflows" title="No workflows yet">Submit one: <code>jobs.workflow("nightly")</code> in Python, <code>pgjobs.submit_workflow(…)</code> in SQL.<//>`}
        </section>
      </div>
    `;
  };
});
