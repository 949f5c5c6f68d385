"""Results for people: a table, and a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def markdown(results: dict[str, Any]) -> str:
    """A table of ratios against their bars, and the machine they were measured on."""
    lines = [
        "| measured | ours | against | ratio | must | aim | |",
        "|---|---|---|---|---|---|---|",
    ]
    for result in results["results"]:
        sign = "≤" if result["bar"]["at_most"] else "≥"
        ours, against = (
            f"{number(result['medians'][name])} {result['unit']} ({name})"
            for name in (result["ours"], result["against"])
        )
        lines.append(
            f"| {result['title']} | {ours} | {against} | **{result['ratio']:.2f}** "
            f"| {sign} {result['bar']['must']} | {sign} {result['bar']['aim']} | {result['verdict']} |"
        )
    about = results["about"]
    postgres = about["postgres"]
    lines += [
        "",
        (
            f"Postgres {postgres['server_version']}, {about['cpus']} CPUs ({about['machine']}), "
            f"synchronous_commit = {postgres['synchronous_commit']}, fsync = {postgres['fsync']}; "
            "medians over interleaved rounds."
        ),
        "",
    ]
    return "\n".join(lines)


def number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def plot(results: dict[str, Any], path: Path) -> None:
    """Every ratio with its bars, on one logarithmic line each; skipped without matplotlib."""
    try:
        import matplotlib as mpl
    except ImportError:
        return
    mpl.use("Agg")
    from matplotlib import pyplot

    rows = results["results"][::-1]
    figure, axes = pyplot.subplots(figsize=(8, 0.6 * len(rows) + 1.2))
    for place, row in enumerate(rows):
        color = {"missed": "#c0392b", "must": "#d68910"}.get(row["verdict"], "#1e8449")
        axes.plot([1, row["ratio"]], [place, place], color=color, linewidth=2, alpha=0.5)
        axes.plot(row["ratio"], place, "o", color=color, markersize=9)
        axes.plot(row["bar"]["must"], place, "|", color="#555", markersize=18)
        axes.annotate(
            f"{row['ratio']:.2f}", (row["ratio"], place), (0, 9), textcoords="offset points", ha="center"
        )
    axes.axvline(1, color="#999", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), [row["title"] for row in rows])
    axes.set_ylim(-0.7, len(rows) - 0.3)
    axes.set_xlabel("ratio to what it is compared with (| = the bar it must reach)")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
