"""Pictures of the results; needs matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib import pyplot

_COLORS = {"missed": "#c0392b", "must": "#d68910", "aim": "#1e8449"}


def plot_bars(results: list[dict[str, Any]], path: Path) -> None:
    """How far beyond or short of what it must reach each bar is: right of the line is good."""
    rows = [bar for result in results for bar in result["bars"] if bar["value"]][::-1]
    if not rows:
        return
    figure, axes = pyplot.subplots(figsize=(10, 0.5 * len(rows) + 1.2))
    for place, bar in enumerate(rows):
        gain, aim = _gain(bar, bar["value"]), _gain(bar, bar["aim"])
        color = _COLORS.get(bar["verdict"], "#777")
        axes.plot([1, gain], [place, place], color=color, linewidth=3, alpha=0.5)
        axes.plot(gain, place, "o", color=color, markersize=8)
        axes.plot(aim, place, "|", color="#555", markersize=16)
        axes.annotate(f"{bar['value']:.2f}", (gain, place), (0, 8), textcoords="offset points", ha="center")
    axes.axvline(1, color="#555", linewidth=1)
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), [_wrapped(bar["title"]) for bar in rows], fontsize=8)
    axes.set_ylim(-0.7, len(rows) - 0.3)
    axes.set_xlabel("measured, in multiples of what it must reach (| = the aim)")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _gain(bar: dict[str, Any], value: float) -> float:
    bound = bar["aim"] if bar["must"] is None else bar["must"]
    return float(bound / value if bar["at_most"] else value / bound)


def _wrapped(title: str, width: int = 52) -> str:
    lines = [""]
    for word in title.split():
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] += f"{word} "
    return "\n".join(line.strip() for line in lines)


def plot_systems(results: list[dict[str, Any]], path: Path) -> None:
    """Every system's median with the spread of its rounds, one panel for each contest."""
    if not results:
        return
    names = list(dict.fromkeys(name for result in results for name in result["medians"]))[::-1]
    figure, panels = pyplot.subplots(
        1, len(results), figsize=(3.2 * len(results) + 1.4, 0.42 * len(names) + 1.2), squeeze=False
    )
    for axes, result in zip(panels[0], results, strict=True):
        for place, name in enumerate(names):
            if name not in result["medians"]:
                continue
            color = "#1e6091" if name == "pgjobs" else "#999"
            axes.barh(place, result["medians"][name], color=color, height=0.6)
            rounds = result["samples"][name]
            axes.plot([min(rounds), max(rounds)], [place, place], color="#222", linewidth=1)
        axes.set_title(f"{result['title']}\n{result['unit']}", fontsize=8)
        axes.tick_params(labelsize=7)
        axes.set_ylim(-0.6, len(names) - 0.4)
        axes.set_yticks(range(len(names)), names if axes is panels[0][0] else [""] * len(names), fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
