// A list of things: a table where there is room, cards on a phone.
import { html, isRoomy, isWide } from "../view.js";

// columns: {title, width, kind, cell}; those marked `roomy` need a wide screen. `card` draws a row on a
// phone. Rows have an id for the keyboard.
export function List({ label, columns: all, rows, idOf, card, isChosen = () => false }) {
  const columns = all.filter((column) => isRoomy.value || !column.roomy);
  if (!isWide.value)
    return html`
      <ul class="cards" aria-label=${label}>
        ${rows.map((row) => html`<li key=${idOf(row)} data-row=${idOf(row)} class=${isChosen(row) ? "chosen" : ""}>${card(row)}</li>`)}
      </ul>
    `;
  return html`
    <table class="table" aria-label=${label}>
      <thead>
        <tr>
          ${columns.map(
            (column) => html`
              <th scope="col" class=${column.kind ?? ""} style=${column.width ? { width: column.width } : undefined}>
                ${column.head ?? column.title ?? html`<span class="only-read">${column.read}</span>`}
              </th>
            `,
          )}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) => html`
            <tr key=${idOf(row)} data-row=${idOf(row)} class=${isChosen(row) ? "chosen" : ""}>
              ${columns.map((column) => html`<td class=${column.kind ?? ""}>${column.cell(row)}</td>`)}
            </tr>
          `,
        )}
      </tbody>
    </table>
  `;
}

// A list as it loads, fails, is empty or is there.
export function Listed({ of, empty, children, bones, trouble }) {
  const { data, problem, reload } = of;
  if (problem.value && !data.value) return html`<div class="inside">${trouble({ problem: problem.value, retry: reload })}</div>`;
  if (!data.value) return bones;
  if (!data.value.items.length) return empty;
  return children;
}
