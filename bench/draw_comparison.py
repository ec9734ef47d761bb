#!/usr/bin/env python3
"""Draws a comparison: one row of pictures per condition, as SVG.

    bench/draw_comparison.py runs/compare-NAME/results.json bench/results/NAME.svg

On the left the mean model's accuracy on held-out examples over time (a band: one standard deviation
over seeds), on the right how long each strategy took to the target; for stand-ins, which learn
nothing, only how long a step takes. Needs python3-matplotlib.
"""
import argparse
import json
import sys
import textwrap

try:
    import matplotlib
except ImportError:
    sys.exit("draw_comparison.py: matplotlib is missing; apt-get install python3-matplotlib")
matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

COLOURS = {
    "stencil-async": "#2f6fdb",
    "allreduce": "#d9622b",
    "local": "#3a9a5b",
    "single": "#8c8c8c",
    "stencil-sync": "#24a3b5",
    "parameter-server": "#8e5bd0",
    "parameter-server-sync": "#c04fa6",
    "stencil-gradients": "#b58a1d",
}
SPARE = ["#6b7f1e", "#1e4f7f", "#7f1e4f", "#555555"]


def colour(row, rows):
    name = row["label"]
    same = [other for other in rows if other["strategy"] == row["strategy"]]
    if same.index(row) == 0 and row["strategy"] in COLOURS:
        return COLOURS[row["strategy"]]
    spare = sorted(other["label"] for other in rows if other["strategy"] not in COLOURS
                   or [o["strategy"] for o in rows[:rows.index(other)]].count(other["strategy"]))
    return SPARE[spare.index(name) % len(SPARE)]


def curves(axis, group):
    for row in group["rows"]:
        curve = row["curve"]
        if not curve:
            continue
        shade = colour(row, group["rows"])
        x = [point["seconds"] for point in curve]
        y = [100 * point["accuracy"] for point in curve]
        spread = [100 * point["deviation"] for point in curve]
        axis.plot(x, y, color=shade, label=textwrap.fill(row["label"], 30), linewidth=1.6,
                  marker="o", markersize=2.5)
        if any(spread):
            low = [value - d for value, d in zip(y, spread)]
            high = [value + d for value, d in zip(y, spread)]
            axis.fill_between(x, low, high, color=shade, alpha=0.15, linewidth=0)
    axis.set_xlabel(f"seconds of training ({group['time']} time)")
    axis.set_ylabel("% on held-out examples")
    axis.set_xlim(left=0)
    axis.legend(fontsize=8, frameon=False, loc="lower right")


def bars(axis, group):
    learns = group["time"] != "stand-in"
    rows = group["rows"]

    def raced(row):
        if learns:
            return row["seconds_to_target"] and row["seconds_to_target"]["mean"]
        pace = row["samples_per_second"]
        return pace and 1000 * group["workers"] * group["batch"] / pace["mean"]

    base = next((raced(row) for row in rows if row["strategy"] == "allreduce"), None)
    for place, row in enumerate(rows):
        value = raced(row)
        axis.barh(place, value or 0, color=colour(row, rows), height=0.62)
        text = "not reached" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
        if value and base and row["strategy"] != "allreduce":
            text += f"  ({base / value:.2f}x)"
        axis.annotate(text, (value or 0, place), xytext=(4, 0), textcoords="offset points",
                      va="center", fontsize=8)
    axis.set_yticks(range(len(rows)), [textwrap.fill(row["label"], 30) for row in rows], fontsize=8)
    axis.invert_yaxis()
    axis.margins(x=0.3)
    text = f"seconds to {100 * group['target']:.1f} %" if learns else "ms per step"
    if group["ceiling"] and group["ceiling"] > 1.02:
        text += f"   (modelled ceiling: {group['ceiling']:.2f}x)"
    axis.set_xlabel(text, fontsize=9)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", help="results.json of fast-compare")
    parser.add_argument("out", help="the SVG to write")
    parser.add_argument("--condition", action="append",
                        help="only these conditions (repeatable); all by default")
    parser.add_argument("--rows", type=int,
                        help="only so many rows of each condition, the first; all by default")
    chosen = parser.parse_args()
    with open(chosen.results, encoding="utf-8") as file:
        data = json.load(file)
    groups = [g for g in data["groups"]
              if not chosen.condition or g["condition"] in chosen.condition]
    if not groups:
        known = ", ".join(g["condition"] for g in data["groups"])
        parser.error(f"no such condition; {chosen.results} has: {known}")
    for group in groups:
        group["rows"] = group["rows"][:chosen.rows]
    learns = any(g["time"] != "stand-in" for g in groups)
    plt.rcParams.update({"font.family": "sans-serif", "axes.spines.top": False,
                         "axes.spines.right": False, "svg.hashsalt": data["name"]})
    columns = 2 if learns else 1
    figure, axes = plt.subplots(len(groups), columns, squeeze=False, layout="constrained",
                                figsize=(4.8 * columns + 0.4, (3.1 if learns else 1.9) * len(groups)))
    for line, group in zip(axes, groups):
        title = f"{group['condition']}: {group['model']}, {group['topology']}"
        line[0].set_title(title, fontsize=10, loc="left")
        if learns:
            curves(line[0], group)
        bars(line[-1], group)
    figure.savefig(chosen.out, format="svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
