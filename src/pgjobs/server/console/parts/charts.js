// Charts over time, drawn by uPlot in the colours of the theme.
import { html, view } from "../view.js";

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// series: {label, tone, fill}; data: [seconds, …values per series].
export const Chart = view((given, leaving) => {
  let plot = null;
  let element = null;
  let library = null;
  let isGone = false;

  const size = () => ({ width: element.clientWidth, height: element.clientHeight });

  function build() {
    plot?.destroy();
    const { series, data, say, label } = given.peek();
    const axis = {
      stroke: colour("muted"),
      font: "12px system-ui, sans-serif",
      grid: { stroke: colour("line"), width: 1 },
      ticks: { show: false },
    };
    plot = new library(
      {
        ...size(),
        padding: [10, 20, 0, 0], // Half of the last time is to the right of its point.
        legend: { show: false },
        cursor: { y: false, points: { size: 7 } },
        scales: { y: { range: (_, low, high) => [0, Math.max(high * 1.12, say.least ?? 1)] } },
        axes: [
          { ...axis, grid: { show: false }, space: 70, size: 28, values: (_, ticks) => ticks.map(hours) },
          { ...axis, size: say.space ?? 58, values: (_, ticks) => ticks.map(say.axis), ...(say.steps && { incrs: say.steps }) },
        ],
        series: [
          {},
          ...series.map((line) => ({
            label: line.label,
            stroke: colour(line.tone),
            width: 2,
            fill: line.fill ? `${colour(line.tone)}1f` : undefined,
            points: { show: line.isRare || isSparse, size: line.isRare ? 5 : 6 },
            spanGaps: !line.isRare,
          })),
        ],
        hooks: { setCursor: [tell] },
      },
      data,
      element,
    );
    plot.root.setAttribute("role", "img");
    plot.root.setAttribute("aria-label", label);
  }

  // A line needs neighbours; where there are few, points show what there is.
  const isSparse = (shown, line) => shown.data[line].filter((value) => value !== null && value !== undefined).length < 8;

  function tell(shown) {
    const { series, say, onPoint } = given.peek();
    const place = shown.cursor.idx;
    if (!onPoint) return;
    if (place === null || place === undefined) return onPoint(null);
    onPoint({ at: hours(shown.data[0][place]), values: series.map((_, n) => say.value(shown.data[n + 1][place])) });
  }

  const hours = (seconds) =>
    new Date(seconds * 1000).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });

  const resized = new ResizeObserver(() => plot && element && plot.setSize(size()));
  const themed = () => plot && build();
  addEventListener("themechange", themed);
  leaving(() => {
    isGone = true;
    removeEventListener("themechange", themed);
    resized.disconnect();
    plot?.destroy();
  });

  const mount = async (node) => {
    if (!node || element) return;
    element = node;
    library = (await import("../vendor/uplot.js")).default;
    if (isGone) return;
    build();
    resized.observe(element);
  };

  return ({ data }) => {
    if (plot) plot.setData(data);
    return html`<div class="chart" ref=${mount}></div>`;
  };
});

// What the lines are, and while one points at a time what they are then; the line of text stays as high.
export const Legend = ({ series, point }) => html`
  <div class="legend">
    ${series.map((line, n) => html`<span key=${line.label}><i class=${line.tone}></i>${point ? `${point.values[n]} ${line.label}` : line.label}</span>`)}
    ${point && html`<span>${point.at}</span>`}
  </div>
`;
