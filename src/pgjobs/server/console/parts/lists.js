// A list of things: a table where there is room, cards on a phone.
import { get, isOverCells } from "../api.js";
import { number } from "../format.js";
import { resource } from "../live.js";
import { keep, kept } from "../router.js";
import { html, isRoomy, isWide, signal } from "../view.js";

const PAGE = 100;

const CELL = { title: "Cell", width: "92px", tight: "76px", cell: (row) => html`<span class="clip" title=${row.cell}>${row.cell}</span>` };

// columns: {title, width, kind, cell}; those marked `roomy` need a wide screen, and on a narrower one `tight`
// is the width. `card` draws a row on a phone. Rows have an id for the keyboard.
export function List({ label, columns: own, rows, idOf, card, isSelected = () => false }) {
  const all = isOverCells() ? [...own, CELL] : own;
  const columns = all.filter((column) => isRoomy.value || !column.roomy);
  const width = (column) => (isRoomy.value ? column.width : (column.tight ?? column.width));
  if (!isWide.value)
    return html`
      <ul class="cards" aria-label=${label}>
        ${rows.map((row) => html`<li key=${idOf(row)} data-row=${idOf(row)} class=${isSelected(row) ? "selected" : ""}>${card(row)}${isOverCells() && html`<span class="muted small">${row.cell}</span>`}</li>`)}
      </ul>
    `;
  return html`
    <table class="table" aria-label=${label}>
      <thead>
        <tr>
          ${columns.map(
            (column) => html`
              <th scope="col" class=${column.kind ?? ""} style=${width(column) ? { width: width(column) } : undefined}>
                ${column.head ?? column.title ?? html`<span class="only-read">${column.read}</span>`}
              </th>
            `,
          )}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) => html`
            <tr key=${idOf(row)} data-row=${idOf(row)} class=${isSelected(row) ? "selected" : ""}>
              ${columns.map((column) => html`<td class=${column.kind ?? ""}>${column.cell(row)}</td>`)}
            </tr>
          `,
        )}
      </tbody>
    </table>
  `;
}

// A list that grows by a page at a time, fetched anew as a whole: `data` has its items and their total.
export function pages(leaving, path, values = () => ({}), size = PAGE) {
  const shown = signal(kept().pages ?? 1);
  const list = resource(leaving, async (aborted) => {
    const wanted = Array.from({ length: shown.value }, (_, n) => get(path, { ...values(), limit: size, offset: n * size }, aborted));
    const answers = await Promise.all(wanted);
    return { items: answers.flatMap((answer) => answer.items), total: answers[0].total, pages: answers.length };
  });
  const isFetching = () => !list.problem.value && shown.value > list.data.value.pages;
  const more = () => {
    shown.value = list.data.peek().pages + 1;
    keep({ pages: shown.peek() });
  };
  return { ...list, more, isFetching };
}

// A button that is disabled loses the focus, so this one only says that it is busy.
export const MoreButton = ({ isFetching, more, children }) => html`
  <button class="button" type="button" aria-disabled=${isFetching} onClick=${() => isFetching || more()}>${children}</button>
`;

export const More = ({ of }) => {
  const { items, total } = of.data.value;
  return (
    items.length < total &&
    html`
      <div class="more">
        <span>Showing ${number(items.length)} of ${number(total)}.</span>
        <${MoreButton} isFetching=${of.isFetching()} more=${of.more}>Show more<//>
      </div>
    `
  );
};
