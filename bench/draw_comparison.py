#!/usr/bin/env python3
"""Draws a comparison as SVG: one row of pictures per condition.

    bench/draw_comparison.py runs/compare/NAME/results.json bench/results/NAME.svg

Left: the mean model's accuracy on held-out examples over time; the band is one standard deviation
over seeds. Right: how long each strategy took to reach the target. Stand-ins learn nothing, so a
comparison of them has one picture per condition: how long a step takes. A dashed line marks the
modelled ceiling: the time of a strategy that never waits and whose messages cost nothing. Needs
matplotlib (python3-matplotlib).
"""
import json
import sys
import textwrap

import runs


def parser():
    made = runs.parser_of(__doc__, fast=False)
    made.add_argument("results", help="results.json of fast-compare")
    made.add_argument("out", help="the SVG to write")
    made.add_argument("--condition", action="append",
                      help="only these conditions (repeatable); all by default")
    return made


CHOSEN = parser().parse_args()  # before what it needs is looked for, so that --help needs nothing

try:
    import matplotlib
except ImportError:
    sys.exit("draw_comparison.py: matplotlib is missing; apt-get install python3-matplotlib")
matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402

SHADES = {  # of each strategy, for its first row in a condition, its second, ...
    "stencil-async": ["#2f6fdb", "#1c3f7d", "#86aef0"],
    "allreduce": ["#d9622b", "#f2b08c", "#8f3a12"],
    "local": ["#3a9a5b"],
    "single": ["#8c8c8c", "#555555"],
    "stencil-sync": ["#24a3b5"],
    "parameter-server": ["#8e5bd0", "#c4a6ec"],
    "parameter-server-sync": ["#c04fa6"],
}
SPARE = ["#6b7f1e", "#7f1e4f"]


def shades_of(rows):
    """A colour for each row: a strategy keeps its own, and its variants differ in shade."""
    shades, met = [], {}
    for row in rows:
        choice = SHADES.get(row["strategy"], SPARE)
        shades.append(choice[met.get(row["strategy"], 0) % len(choice)])
        met[row["strategy"]] = met.get(row["strategy"], 0) + 1
    return shades


def raced(row, group):
    """Seconds to the target, or of a stand-in the milliseconds of a step; None: never."""
    if group["time"] == "stand-in":
        pace = row["samples_per_second"]
        return pace and 1000 * group["workers"] * group["batch"] / pace["mean"]
    return row["seconds_to_target"] and row["seconds_to_target"]["mean"]


def curves(axis, group):
    for row, shade in zip(group["rows"], shades_of(group["rows"])):
        curve = row["curve"]
        if not curve:
            continue
        x = [point["seconds"] for point in curve]
        y = [100 * point["accuracy"] for point in curve]
        spread = [100 * point["deviation"] for point in curve]
        axis.plot(x, y, color=shade, label=textwrap.fill(row["label"], 36), linewidth=1.6,
                  marker="o", markersize=2.5)
        if any(spread):
            low = [value - d for value, d in zip(y, spread)]
            high = [value + d for value, d in zip(y, spread)]
            axis.fill_between(x, low, high, color=shade, alpha=0.15, linewidth=0)
    if group["target"]:
        axis.axhline(100 * group["target"], color="#999999", linewidth=0.8, linestyle=":")
        axis.annotate(f"target {100 * group['target']:.1f} %", (1, 100 * group["target"]),
                      xycoords=("axes fraction", "data"), xytext=(0, -2), va="top", ha="right",
                      textcoords="offset points", fontsize=7, color="#777777")
    axis.set_xlabel(f"seconds of training ({group['time']} time)")
    axis.set_ylabel("% on held-out examples")
    axis.set_xlim(left=0)
    axis.legend(frameon=False, loc="lower right")


def bars(axis, group):
    rows = group["rows"]
    base = next((raced(row, group) for row in rows if row["strategy"] == "allreduce"), None)
    for place, (row, shade) in enumerate(zip(rows, shades_of(rows))):
        value = raced(row, group)
        axis.barh(place, value or 0, color=shade, height=0.62)
        text = "not reached" if value is None else f"{value:,.1f}"
        if value and base and row is not rows[0]:
            text += f"  ({base / value:.2f}x)"
        axis.annotate(text, (value or 0, place), xytext=(4, 0), textcoords="offset points",
                      va="center", fontsize=8, zorder=4,
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 1})
    if base and group["ceiling"] and group["ceiling"] > 1.02:
        axis.axvline(base / group["ceiling"], color="#444444", linewidth=0.9, linestyle="--")
        axis.annotate(f"ceiling {group['ceiling']:.2f}x", (base / group["ceiling"], -0.5),
                      xytext=(3, 1), textcoords="offset points", fontsize=7, color="#444444")
    axis.set_yticks(range(len(rows)), [textwrap.fill(row["label"], 30) for row in rows])
    axis.set_ylim(len(rows) - 0.45, -0.85)
    axis.margins(x=0.3)
    axis.set_xlabel("milliseconds per step" if group["time"] == "stand-in" else
                    f"seconds to {100 * group['target']:.1f} %")


def draw(name, question, groups, out):
    """Without learning there are no curves, and a row is as high as its bars need."""
    learns = any(g["time"] != "stand-in" for g in groups)
    plt.rcParams.update({
        "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
        "font.size": 8, "axes.labelsize": 8, "legend.fontsize": 8,
        "xtick.labelsize": 8, "ytick.labelsize": 8, "axes.spines.top": False,
        "axes.spines.right": False, "svg.hashsalt": name, "svg.fonttype": "none"})
    heights = [2.7 if learns else 0.9 + 0.3 * len(group["rows"]) for group in groups]
    width = 9.6 if learns else 6.4
    figure, axes = plt.subplots(len(groups), 2 if learns else 1, squeeze=False,
                                layout="constrained", figsize=(width, sum(heights) + 0.4),
                                height_ratios=heights)
    figure.get_layout_engine().set(h_pad=0.08)
    for line, group in zip(axes, groups):
        line[0].set_title(f"{group['condition']} ({group['model']}, {group['topology']})",
                          fontsize=9, fontweight="bold", loc="left")
        if learns:
            curves(line[0], group)
        bars(line[-1], group)
    if question:
        figure.suptitle(textwrap.fill(question, 100 if learns else 70), fontsize=10, x=0.01,
                        ha="left")
    figure.savefig(out, format="svg", metadata={"Date": None})


def main():
    chosen = CHOSEN
    with open(chosen.results, encoding="utf-8") as file:
        data = json.load(file)
    groups = [g for g in data["groups"]
              if not chosen.condition or g["condition"] in chosen.condition]
    if not groups:
        known = ", ".join(g["condition"] for g in data["groups"])
        parser().error(f"no such condition; {chosen.results} has: {known}")
    draw(data["name"], data.get("question", ""), groups, chosen.out)


if __name__ == "__main__":
    main()
