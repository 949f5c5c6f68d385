// Providers: who answers which questions, what is kept and what is under way.
import { mayOperate, post } from "../api.js";
import { number, plural, roughly, shortId } from "../format.js";
import { call, literal } from "../parts/copyas.js";
import { addressed, confirm } from "../parts/dialogs.js";
import { List, More, pages } from "../parts/lists.js";
import { Bones, Empty, Head, JobName, Trouble } from "../parts/small.js";
import { tag } from "../parts/tags.js";
import { say } from "../parts/toasts.js";
import { html, isRoomy, view } from "../view.js";

const invalidate = (provider, done) =>
  confirm({
    title: "Invalidate cached answers?",
    text: `${plural(provider.cached, "cached answer")} of ${provider.full_name} ${provider.cached === 1 ? "is" : "are"} removed; the next reader asks the provider again.`,
    verb: "Invalidate",
    danger: true,
    at: "invalidate",
    of: provider.id,
    as: () => ({ sql: call("invalidate_provider", [literal(provider.full_name)]), http: ["POST", `providers/${provider.id}/invalidate`, {}] }),
    act: async () => {
      const { forgotten } = await post(`providers/${provider.id}/invalidate`);
      say("good", `${plural(forgotten, "answer")} removed`);
    },
    done,
  });

const served = (provider) => html`
  <span class="stack close">
    <span class="clip">${provider.worker_name ?? shortId(provider.worker_id)}</span>
    <span class="muted small clip">last seen ${roughly(provider.heartbeat_age_seconds)} ago</span>
  </span>
`;
const state = (provider) => tag(provider.is_alive ? "alive" : "silent");
const forget = (provider, done) =>
  mayOperate() && html`<button class="button little" type="button" onClick=${() => invalidate(provider, done)} aria-label=${`Invalidate ${provider.name}`}>Invalidate</button>`;

const answers = (provider) =>
  isRoomy.value
    ? number(provider.cached)
    : html`<span class="stack close"><span>${number(provider.cached)} cached</span><span class="muted small">${number(provider.in_flight)} in flight</span></span>`;

const columns = (done) => [
  { title: "Provider", cell: (provider) => html`<${JobName} job=${provider.full_name} />` },
  { title: "State", width: "108px", tight: "100px", cell: state },
  { title: "Answered by", width: "22%", tight: "24%", cell: served },
  { title: "Media type", roomy: true, width: "18%", cell: (provider) => html`<span class="clip small mono">${provider.content_type}</span>` },
  { title: isRoomy.value ? "Cached" : "Answers", width: "80px", tight: "104px", kind: "number", cell: answers },
  { title: "In flight", roomy: true, width: "100px", kind: "number", cell: (provider) => number(provider.in_flight) },
  { read: "Actions", width: "124px", kind: "end", cell: (provider) => forget(provider, done) },
];

const card = (done) => (provider) => html`
  <div class="row apart"><div class="grow"><${JobName} job=${provider.full_name} /></div>${state(provider)}</div>
  ${served(provider)}
  <div class="row apart small"><span class="muted">${number(provider.cached)} cached · ${number(provider.in_flight)} in flight</span>${forget(provider, done)}</div>
`;

export const Providers = view((_, leaving) => {
  const list = pages(leaving, "providers/status");
  addressed(leaving, {
    invalidate: (of) => {
      const provider = list.data.value?.items.find((one) => one.id === of);
      return provider && mayOperate() && (() => invalidate(provider, list.reload));
    },
  });
  return () => html`
    <${Head} title="Providers" lead="Processes that answer requests on demand."><//>
    <div class="stack">
      ${list.problem.value && html`<${Trouble} problem=${list.problem.value} retry=${list.reload} />`}
      <section class="panel" aria-label="List of providers">
        ${!list.data.value
          ? html`<${Bones} />`
          : list.data.value.items.length
            ? html`<${List} label="Providers" rows=${list.data.value.items} idOf=${(provider) => provider.id} columns=${columns(list.reload)} card=${card(list.reload)} /><${More} of=${list} />`
            : html`<${Empty} picture="providers" title="No providers">Clients register them: <code>manager.register_provider(…)</code>.<//>`}
      </section>
    </div>
  `;
});
