// The database under the queue: table health, blockers, and what to do about them.
import { get, serverNow } from "../api.js";
import { bytes, compact, percent } from "../format.js";
import { resource } from "../live.js";
import { icon } from "../parts/icons.js";
import { List } from "../parts/lists.js";
import { Advice, Ago, Bones, Empty, Head, Meter, Panel, Trouble } from "../parts/small.js";
import { html, view } from "../view.js";

const MANY_DEAD = 0.2;
const dead = (table) => {
  const share = table.dead_share ?? 0;
  return html`<span class="stack close"><span class=${share > MANY_DEAD && table.dead > 1000 ? "bad" : ""}>${percent(share)}</span></span>`;
};
const columns = [
  { title: "Table", cell: (table) => html`<span class="name">${table.relation}</span>` },
  { title: "Size", width: "100px", tight: "84px", kind: "number", cell: (table) => bytes(table.total_bytes) },
  { title: "Live rows", width: "110px", tight: "92px", kind: "number", cell: (table) => compact(table.live) },
  { title: "Dead rows", roomy: true, width: "110px", kind: "number", cell: (table) => compact(table.dead) },
  { title: "Dead", width: "84px", tight: "66px", kind: "number", cell: dead },
  { title: "HOT updates", roomy: true, width: "122px", kind: "number", cell: (table) => percent(table.hot_share) },
  { title: "Last vacuum", width: "138px", tight: "134px", kind: "number", cell: (table) => html`<${Ago} at=${table.last_vacuum_at} />` },
];
const card = (table) => html`
  <div class="row apart"><span class="name">${table.relation}</span><span>${bytes(table.total_bytes)}</span></div>
  <div class="row apart muted small"><span>${compact(table.live)} live · ${compact(table.dead)} dead (${percent(table.dead_share)})</span><span>vacuum <${Ago} at=${table.last_vacuum_at} /></span></div>
`;

// A transaction of a few seconds is nobody's concern.
const isOld = (blocker) => !blocker.since || serverNow() - Date.parse(blocker.since) > 60000;

const Blockers = ({ items }) =>
  items.length === 0
    ? html`<div class="notice">${icon("check")}<div>No session holds back vacuum.</div></div>`
    : html`
        <ul class="findings">
          ${items.map(
            (blocker) => html`
              <li key=${blocker.kind + blocker.name + blocker.since}>
                <div class="row wrap"><span class="chip">${blocker.kind}</span><span class="strong">${blocker.name}</span><span class="muted small">${blocker.state}</span></div>
                <p>Dead rows cannot be removed${blocker.since && html` for <${Ago} at=${blocker.since} plain />`}.</p>
                <${Advice} text=${blocker.advice} />
              </li>
            `,
          )}
        </ul>
      `;

const Numbers = ({ now }) => html`
  <div class="tiles">
    <div class="panel stat"><span class="label">${icon("database")}Size</span><span class="value">${bytes(now.total_bytes)}</span><span class="muted small">with indexes</span></div>
    <div class="panel stat"><span class="label">${icon("info")}Schema</span><span class="value">${now.version}</span><span class="muted small">${now.schema_name} on ${now.server}</span></div>
    <div class="panel stat">
      <span class="label">${icon("bell")}Notify queue</span><span class="value">${now.notify_queue_share === null ? "—" : percent(now.notify_queue_share)}</span>
      <${Meter} share=${now.notify_queue_share ?? 0} label="Notify queue in use" isHigh=${now.notify_queue_share > 0.5} />
    </div>
    <div class="panel stat"><span class="label">${icon("block")}Blockers</span><span class="value">${now.blockers.filter(isOld).length}</span><span class="muted small">older than a minute</span></div>
  </div>
`;

export const Database = view((_, leaving) => {
  const health = resource(leaving, (aborted) => get("database", {}, aborted), () => false);
  return () => {
    const now = health.data.value;
    return html`
      <${Head} title="Database" lead="Table health, blocked vacuums and disk use."><//>
      <div class="stack">
        ${health.problem.value && html`<${Trouble} problem=${health.problem.value} retry=${health.reload} />`}
        ${!now && !health.problem.value && html`<${Panel} flush><${Bones} rows=${8} /><//>`}
        ${now &&
        html`
          <${Numbers} now=${now} />
          <${Panel} title="Blockers"><${Blockers} items=${now.blockers.filter(isOld)} /><//>
          <section class="panel" aria-label="Tables">
            ${now.tables.length
              ? html`<${List} label="Tables" rows=${now.tables} idOf=${(table) => table.relation} columns=${columns} card=${card} />`
              : html`<${Empty} picture="database" title="No table health">SQLite has no such statistics.<//>`}
          </section>
        `}
      </div>
    `;
  };
});
