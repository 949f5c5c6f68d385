// The graph of a workflow: boxes in layers, parents left of children. A box of many shows a square for each.
import { number, plural } from "../format.js";
import { address } from "../router.js";
import { html, signal, view } from "../view.js";
import { layered } from "./layers.js";
import { phaseOf, tone, word } from "./tags.js";

const WIDTH = 176, HEIGHT = 44, GAP = 16, BETWEEN = 56, EDGE = 12;
const SQUARE = 10, STEP = 13, HEAD = 44, PAD = 10;

const columns = (box) => Math.max(12, Math.ceil(Math.sqrt(box.tasks.length * 1.6)));
const isMany = (box) => box.tasks.length > 1;
const sizeOf = (box) =>
  isMany(box)
    ? { width: Math.max(WIDTH, columns(box) * STEP + 2 * PAD), height: HEAD + Math.ceil(box.tasks.length / columns(box)) * STEP + PAD }
    : { width: WIDTH, height: HEIGHT };

// Where everything is drawn, in pixels.
function placed({ layers, pairs, isFolded }) {
  const sized = layers.map((layer) => layer.map((box) => ({ box, ...sizeOf(box) })));
  const tall = (layer) => layer.reduce((sum, { height }) => sum + height + GAP, -GAP);
  const height = Math.max(0, ...sized.map(tall));
  const places = new Map();
  let x = EDGE;
  for (const layer of sized) {
    let y = EDGE + (height - tall(layer)) / 2;
    const width = Math.max(...layer.map((one) => one.width));
    for (const one of layer) {
      places.set(one.box, { x: x + (width - one.width) / 2, y, width: one.width, height: one.height });
      y += one.height + GAP;
    }
    x += width + BETWEEN;
  }
  const lines = pairs.map(([from, to]) => line(places.get(from), places.get(to)));
  return { places: [...places], lines, width: x - BETWEEN + EDGE, height: height + 2 * EDGE, isFolded };
}

function line(from, to) {
  const [x1, y1, x2, y2] = [from.x + from.width, from.y + from.height / 2, to.x, to.y + to.height / 2];
  const bend = Math.max(24, (x2 - x1) / 2);
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}

const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const shortJob = (job) => job.split(":").slice(2).join(":");
const told = (node) => `${node.name}: ${word(phaseOf(node))}${node.error ? `, ${node.error}` : ""}`;

// Its name is what it shows.
const said = (node) => [cut(node.name, 22), cut(node.signal ? `signal ${node.signal}` : word(phaseOf(node)), 25)];

const One = ({ node, at }) => html`
  <a class="node ${tone(phaseOf(node))}" href=${address(`/tasks/${node.id}`)} data-node=${node.name}>
    <rect x=${at.x} y=${at.y} width=${at.width} height=${at.height} rx="7" />
    <rect class="stripe" x=${at.x} y=${at.y} width="5" height=${at.height} rx="2.5" />
    <text x=${at.x + 15} y=${at.y + 18}>${said(node)[0]}</text>
    <text class="less" x=${at.x + 15} y=${at.y + 34}>${said(node)[1]}</text>
  </a>
`;

function counted(tasks) {
  const counts = new Map();
  for (const node of tasks) counts.set(word(phaseOf(node)), (counts.get(word(phaseOf(node))) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([name, count]) => `${number(count)} ${name}`).join(", ");
}

const Many = ({ box, at }) => html`
  <g class="node many" role="group" aria-label=${`${plural(box.tasks.length, "task")} of ${shortJob(box.tasks[0].job)}, ${box.how}: ${counted(box.tasks)}`}>
    <rect x=${at.x} y=${at.y} width=${at.width} height=${at.height} rx="7" />
    <text x=${at.x + PAD} y=${at.y + 18}>${cut(`${shortJob(box.tasks[0].job)} × ${number(box.tasks.length)}`, Math.floor(at.width / 8))}</text>
    <text class="less" x=${at.x + PAD} y=${at.y + 34}>${cut(counted(box.tasks), Math.floor(at.width / 6.8))}</text>
    ${box.tasks.map(
      (node, n) => html`
        <a class="square ${tone(phaseOf(node))}" tabindex="-1" href=${address(`/tasks/${node.id}`)} aria-label=${told(node)}>
          <rect x=${at.x + PAD + (n % columns(box)) * STEP} y=${at.y + HEAD + Math.floor(n / columns(box)) * STEP} width=${SQUARE} height=${SQUARE} rx="2"><title>${told(node)}</title></rect>
        </a>
      `,
    )}
  </g>
`;

// Only what is shown in the boxes changes while a workflow runs; where they are is found once.
export const Graph = view(() => {
  const isUnfolded = signal(false);
  let known = null;
  const layout = (graph, withFolds) => {
    const name = JSON.stringify([withFolds, graph.edges, graph.nodes.map((node) => node.number)]);
    if (known?.name !== name) known = { name, drawn: placed(layered(graph, withFolds)) };
    return known.drawn;
  };
  return ({ graph }) => {
    const drawn = layout(graph, !isUnfolded.value);
    const now = new Map(graph.nodes.map((node) => [node.number, node]));
    const fresh = (box) => ({ ...box, tasks: box.tasks.map((node) => now.get(node.number)) });
    return html`
      <div class="stack">
        <div class="graph" tabindex="0" role="group" aria-label=${`Graph of ${plural(graph.nodes.length, "task")}`}>
          <svg width=${drawn.width} height=${drawn.height} viewBox="0 0 ${drawn.width} ${drawn.height}">
            <g class="edges" aria-hidden="true">${drawn.lines.map((path) => html`<path d=${path} />`)}</g>
            ${drawn.places.map(([box, at]) => (isMany(box) ? html`<${Many} key=${box.key} box=${fresh(box)} at=${at} />` : html`<${One} key=${box.key} node=${now.get(box.tasks[0].number)} at=${at} />`))}
          </svg>
        </div>
        ${(drawn.isFolded || isUnfolded.value) &&
        html`<div class="row apart"><span class="muted small">${isUnfolded.value ? "Every task has a box." : "Tasks that are alike share a box, a square for each."}</span><button class="button little" type="button" onClick=${() => (isUnfolded.value = !isUnfolded.value)}>${isUnfolded.value ? "Fold tasks that are alike" : "Show a box for each task"}</button></div>`}
        ${graph.left_off > 0 && html`<p class="muted small">${plural(graph.left_off, "more task")} not drawn.</p>`}
      </div>
    `;
  };
});
