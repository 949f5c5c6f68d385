"""Results for people: `python benchmarks/report.py [DIRECTORY]` writes tables and plots again from the JSON.

python benchmarks/report.py --bars      the table of bars alone, as Markdown, for benchmarks/README.md
python benchmarks/report.py --peers     the table of all systems alone
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

RESULTS = Path(__file__).parent / "results"
Result = dict[str, Any]

_COLUMNS = {
    "one": "enqueue one, /s",
    "bulk": "enqueue bulk, /s",
    "drain": "drain, /s",
    "pickup": "pickup p50, ms",
    "idle": "idle, queries/s",
}
_LESS_IS_BETTER = ("pickup", "idle")


def read(directory: Path) -> tuple[dict[str, Any], list[Result]]:
    """The machine, and the results in the order of the run."""
    about = json.loads((directory / "about.json").read_text())
    names = [name for name in about["scenarios"] if (directory / f"{name}.json").exists()]
    return about, [json.loads((directory / f"{name}.json").read_text()) for name in names]


def bars(results: list[Result]) -> str:
    """Every promise with what it must reach, should reach, and did."""
    lines = ["| bar | must | aim | measured | |", "|---|---|---|---|---|"]
    for result in results:
        for bar in result["bars"]:
            sign = "≤" if bar["at_most"] else "≥"
            must = "–" if bar["must"] is None else f"{sign} {bar['must']:g}"
            measured = "–" if bar["value"] is None else f"**{short(bar['value'])}**"
            lines.append(
                f"| {bar['title']} | {must} | {sign} {bar['aim']:g} | {measured} | {_says(bar['verdict'])} |"
            )
    return "\n".join(lines) + "\n"


def _says(verdict: str) -> str:
    return {"aim": "aim reached", "must": "reached", "missed": "**missed**"}.get(verdict, verdict)


def systems(results: list[Result]) -> str:
    """All systems side by side, the best of each column in bold, and how each was used."""
    by_name = {result["name"]: result for result in results if result["name"] in _COLUMNS}
    columns = [name for name in _COLUMNS if name in by_name]
    names = list(dict.fromkeys(name for column in columns for name in by_name[column]["medians"]))
    lines = ["| system | " + " | ".join(_COLUMNS[column] for column in columns) + " |"]
    lines.append("|---" * (len(columns) + 1) + "|")
    for name in names:
        cells = [_cell(column, by_name[column]["medians"], name) for column in columns]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    modes = {name: mode for column in columns for name, mode in by_name[column]["modes"].items()}
    lines += ["", *(f"- {mode}" for mode in dict.fromkeys(modes[name] for name in names if name in modes))]
    return "\n".join(lines) + "\n"


def _cell(column: str, medians: dict[str, float], name: str) -> str:
    if name not in medians:
        return "–"
    best = (min if column in _LESS_IS_BETTER else max)(medians.values())
    shown = short(medians[name])
    return f"**{shown}**" if medians[name] == best else shown


def faster_peers(results: list[Result]) -> list[str]:
    """Where somebody does better than we do, said plainly."""
    found = []
    for result in results:
        medians = result["medians"]
        if result["name"] not in _COLUMNS or "pgjobs" not in medians:
            continue
        less = result["name"] in _LESS_IS_BETTER
        for name, value in medians.items():
            ratio = medians["pgjobs"] / value if less else value / medians["pgjobs"]
            if ratio > 1.0:
                found.append(f"{name} is {ratio:.2f} times better than pgjobs at: {result['title']}.")
    return found


def document(about: dict[str, Any], results: list[Result]) -> str:
    """Everything, for results/…/README.md."""
    postgres = about["postgres"]
    parts = [
        "# Results",
        (
            f"{about['scale']['name']} run of {about['started_at']}: Postgres {postgres['server_version']}, "
            f"{about['cpus']} CPUs ({about['machine']}), Python {about['python']}, "
            f"load {about['load_before']:.1f} before; synchronous_commit = {postgres['synchronous_commit']}, "
            f"fsync = {postgres['fsync']}, shared_buffers = {postgres['shared_buffers']}. "
            f"Medians of {about['scale']['rounds']} interleaved rounds."
        ),
        "## Bars",
        bars(results),
    ]
    if any(result["name"] in _COLUMNS for result in results):
        parts += ["## Systems", systems(results)]
        if faster := faster_peers(results):
            parts += ["Where a peer is faster:", "\n".join(f"- {line}" for line in faster)]
    parts.append("## Everything")
    parts += [details(result) for result in results]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def details(result: Result) -> str:
    lines = [
        f"### {result['title']}",
        "",
        f"| `{result['name']}` | {result['unit']} | rounds | |",
        "|---|---|---|---|",
    ]
    for name, median in result["medians"].items():
        rounds = " ".join(short(value) for value in result["samples"][name])
        lines.append(f"| {name} | {short(median)} | {rounds} | {result['modes'].get(name, '')} |")
    lines += [f"| {name} | – | | left out: {why} |" for name, why in result["skipped"].items()]
    if remarks := [*_load_of(result), *_stolen_from(result)]:
        lines += ["", " ".join(remarks)]
    return "\n".join(lines)


def _load_of(result: Result) -> list[str]:
    load = result.get("load")
    return [f"Load {load['before']:.1f} before, {load['after']:.1f} after."] if load else []


def _stolen_from(result: Result) -> list[str]:
    stolen = result.get("stolen")
    return [f"Other guests of its host took {stolen:.1%} of the machine's time meanwhile."] if stolen else []


def short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def write(directory: Path) -> None:
    """README.md and the plots, from whatever results are there."""
    about, results = read(directory)
    (directory / "README.md").write_text(document(about, results))
    try:
        import matplotlib as mpl
    except ImportError:
        return
    mpl.use("Agg")
    from benchmarks.plots import plot_bars, plot_systems

    plot_bars(results, directory / "bars.png")
    plot_systems([result for result in results if result["name"] in _COLUMNS], directory / "systems.png")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", nargs="?", type=Path, default=RESULTS / "full")
    parser.add_argument("--bars", action="store_true", help="print the table of bars only")
    parser.add_argument("--peers", action="store_true", help="print the table of systems only")
    options = parser.parse_args()
    _, results = read(options.directory)
    if options.bars:
        print(bars(results), end="")
    elif options.peers:
        print(systems(results), end="")
    else:
        write(options.directory)
        print(options.directory / "README.md")


if __name__ == "__main__":
    main()
