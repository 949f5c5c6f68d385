// Providers: who answers which questions, what is kept and what is under way.
import { mayOperate, post } from "../api.js";
import { number, plural, roughly, shortId } from "../format.js";
import { confirm } from "../parts/dialogs.js";
import { List, More, pages } from "../parts/lists.js";
import { Bones, Empty, Head, JobName, Trouble } from "../parts/small.js";
import { tag } from "../parts/tags.js";
import { say } from "../parts/toasts.js";
import { html, isRoomy, view } from "../view.js";

const invalidate = (provider, done) =>
  confirm({
    title: "Invalidate the answers?",
    text: `${plural(provider.cached, "kept answer")} of ${provider.full_name} ${provider.cached === 1 ? "is" : "are"} forgotten; the next reader asks the provider again.`,
    verb: "Invalidate",
    danger: true,
    act: async () => {
      const { forgotten } = await post(`providers/${provider.id}/invalidate`);
      say("good", `${plural(forgotten, "answer")} forgotten`);
    },
    done,
  });

const served = (provider) => html`
  <span class="stack close">
    <span class="clip">${provider.worker_name ?? shortId(provider.worker_id)}</span>
    <span class="muted small clip">heard of ${roughly(provider.heartbeat_age_seconds)} ago</span>
  </span>
`;
const state = (provider) => tag(provider.is_alive ? "alive" : "silent");
const forget = (provider, done) =>
  mayOperate() && html`<button class="button little" type="button" onClick=${() => invalidate(provider, done)} aria-label=${`Invalidate ${provider.name}`}>Invalidate</button>`;

const answers = (provider) =>
  isRoomy.value
    ? number(provider.cached)
    : html`<span class="stack close"><span>${number(provider.cached)} kept</span><span class="muted small">${number(provider.in_flight)} asked now</span></span>`;

const columns = (done) => [
  { title: "Provider", cell: (provider) => html`<${JobName} job=${provider.full_name} />` },
  { title: "State", width: "108px", tight: "100px", cell: state },
  { title: "Answered by", width: "22%", tight: "24%", cell: served },
  { title: "Media type", roomy: true, width: "18%", cell: (provider) => html`<span class="clip small mono">${provider.content_type}</span>` },
  { title: isRoomy.value ? "Kept" : "Answers", width: "80px", tight: "104px", kind: "number", cell: answers },
  { title: "Asked now", roomy: true, width: "100px", kind: "number", cell: (provider) => number(provider.in_flight) },
  { read: "Actions", width: "124px", kind: "end", cell: (provider) => forget(provider, done) },
];

const card = (done) => (provider) => html`
  <div class="row apart"><div class="grow"><${JobName} job=${provider.full_name} /></div>${state(provider)}</div>
  ${served(provider)}
  <div class="row apart small"><span class="muted">${number(provider.cached)} kept · ${number(provider.in_flight)} asked now</span>${forget(provider, done)}</div>
`;

export const Providers = view((_, leaving) => {
  const list = pages(leaving, "providers/status");
  return () => html`
    <${Head} title="Providers" lead="Who answers questions on demand."><//>
    <div class="stack">
      ${list.problem.value && html`<${Trouble} problem=${list.problem.value} retry=${list.reload} />`}
      <section class="panel" aria-label="List of providers">
        ${!list.data.value
          ? html`<${Bones} />`
          : list.data.value.items.length
            ? html`<${List} label="Providers" rows=${list.data.value.items} idOf=${(provider) => provider.id} columns=${columns(list.reload)} card=${card(list.reload)} /><${More} of=${list} />`
            : html`<${Empty} picture="providers" title="No providers">A client registers one: <code>manager.register_provider(…)</code>.<//>`}
      </section>
    </div>
  `;
});
