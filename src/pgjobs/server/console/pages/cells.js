// Several databases at a glance, and what is shown where one of them has to be chosen.
import { cells, chooseCell, get } from "../api.js";
import { compact, number } from "../format.js";
import { resource } from "../live.js";
import { actionsAddressed } from "../parts/actions.js";
import { Bones, Empty, Head, Panel, Trouble } from "../parts/small.js";
import { tag } from "../parts/tags.js";
import { html, view } from "../view.js";
import { Findings } from "./overview.js";

const COLUMNS = [
  ["Waiting", (now) => compact(now.waiting)],
  ["Running", (now) => compact(now.running + now.claimed)],
  ["Done in 1 h", (now) => number(now.completed_last_hour)],
  ["Failed in 1 h", (now) => number(now.failed_last_hour)],
  ["Workers", (now) => `${now.workers - now.silent_workers} of ${now.workers}`],
];

const Row = ({ item }) => html`
  <tr>
    <td><button class="button little" type="button" onClick=${() => chooseCell(item.cell)}>${item.cell}</button></td>
    <td>${tag(item.missing ? "gone" : "alive")}</td>
    ${COLUMNS.map(([, value]) => html`<td class="number">${item.overview ? value(item.overview) : "—"}</td>`)}
  </tr>
`;

export const CellsOverview = view((_, leaving) => {
  const list = resource(leaving, (aborted) => get("cells", {}, aborted));
  const findings = resource(leaving, (aborted) => get("findings", {}, aborted));
  actionsAddressed(leaving, findings.reload);
  return () => html`
    <${Head} title="Overview" lead="Queue status of every cell, and issues."><//>
    <div class="stack">
      ${list.problem.value && html`<${Trouble} problem=${list.problem.value} retry=${list.reload} />`}
      <section class="panel" aria-label="List of cells">
        ${!list.data.value
          ? html`<${Bones} rows=${2} />`
          : html`
              <div class="sideways">
                <table class="table" aria-label="Cells">
                  <thead><tr><th scope="col">Cell</th><th scope="col">State</th>${COLUMNS.map(([title]) => html`<th scope="col" class="number">${title}</th>`)}</tr></thead>
                  <tbody>${list.data.value.items.map((item) => html`<${Row} key=${item.cell} item=${item} />`)}</tbody>
                </table>
              </div>
            `}
      </section>
      <${Panel} title="Issues"><${Findings} of=${findings} /><//>
    </div>
  `;
});

export const ChooseCell = view(() => () => html`
  <${Empty} picture="database" title="Choose a cell">
    This page shows one database.
    ${cells.value.map((name) => html` <button class="button little" type="button" onClick=${() => chooseCell(name)}>${name}</button>`)}
  <//>
`);
