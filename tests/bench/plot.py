# SPDX-License-Identifier: Apache-2.0
# plot.py — one SVG per workload: a panel for each figure of each row, with a horizontal bar for each program, the best
# first, and a whisker from the least to the greatest round. The project's own bar is coloured; a dashed line is a goal.
import math
from html import escape

from report import number
from rows import OURS

WIDTH, LEFT, RIGHT = 860, 200, 150
BAR, GAP, HEAD, FOOT = 18, 8, 54, 30
SPAN = WIDTH - LEFT - RIGHT
COLOURS = {"ours": "#d9480f", "peer": "#7b8794", "limit": "#c5d3de"}
FONT = "font-family='-apple-system, Segoe UI, Helvetica, Arial, sans-serif'"
LOG_FROM = 25  # the ratio of the longest to the shortest bar from which a logarithmic scale is used


def text(x, y, words, size=12, anchor="start", fill="#1f2933", weight="normal"):
    """With a halo, so that it is readable where it crosses a line."""
    return (f"<text x='{x:.1f}' y='{y:.1f}' font-size='{size}' text-anchor='{anchor}' fill='{fill}' "
            f"font-weight='{weight}' stroke='#ffffff' stroke-width='3' paint-order='stroke'>{escape(words)}</text>")


def tick_label(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"


def line(x1, y1, x2, y2, colour, width=1, dash=""):
    dashes = f" stroke-dasharray='{dash}'" if dash else ""
    return (f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' stroke='{colour}' "
            f"stroke-width='{width}'{dashes}/>")


def bar(x, y, width, colour):
    return f"<rect x='{x:.1f}' y='{y:.1f}' width='{max(width, 1):.1f}' height='{BAR}' rx='2' fill='{colour}'/>"


class Scale:
    """Maps a value to a horizontal position: linear from 0, or logarithmic where short bars would vanish."""

    def __init__(self, values):
        self.top = max(max(values), 1e-9)
        least = min(value for value in values if value > 0) if any(value > 0 for value in values) else self.top
        self.logarithmic = self.top / least > LOG_FROM
        self.bottom = 10 ** math.floor(math.log10(least)) if self.logarithmic else 0
        if self.logarithmic and least / self.bottom < 1.5:
            self.bottom /= 2

    def __call__(self, value):
        if not self.logarithmic:
            return SPAN * max(value, 0) / self.top
        return SPAN * math.log(max(value, self.bottom) / self.bottom) / math.log(self.top / self.bottom)

    def ticks(self):
        if self.logarithmic:
            first, last = math.ceil(math.log10(self.bottom) - 1e-9), math.floor(math.log10(self.top))
            return [10.0 ** power for power in range(first, last + 1)]
        step = nice_step(self.top / 4)
        return [step * i for i in range(int(self.top / step) + 1)]


def nice_step(least):
    power = 10 ** math.floor(math.log10(least))
    return next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= least * 0.999)


def panel(row, figure, top):
    """The SVG of one panel, and its height."""
    measured = sorted((p for p in figure["programs"] if "median" in p), key=lambda program: program["median"])
    failed = [p for p in figure["programs"] if "failed" in p]
    if not measured:
        return [], 0
    bounds = [goal["bound"] for goal in figure["goals"] if "bound" in goal]
    scale = Scale([p["median"] for p in measured] + [p["most"] for p in measured] + bounds)
    bottom = top + HEAD + (BAR + GAP) * (len(measured) + len(failed))
    parts = panel_head(row, figure, scale, top) + axis(scale, top + HEAD - 6, bottom)
    rows_of_bars = [(program, top + HEAD + index * (BAR + GAP)) for index, program in enumerate(measured + failed)]
    for program, y in rows_of_bars:
        parts += program_bar(program, scale, y)
    for bound in bounds:
        x = LEFT + scale(bound)
        parts += [line(x, top + HEAD - 6, x, bottom, "#2b8a3e", 1.5, "5 3"),
                  text(x, top + HEAD - 10, f"goal {number(bound)}", 11, "middle", "#2b8a3e")]
    for program, y in rows_of_bars:
        parts += program_words(program, scale, y)
    return parts, bottom + FOOT - top


def panel_head(row, figure, scale, top):
    name = f": {figure['label']}" if len(row["figures"]) > 1 else ""
    scale_note = ", logarithmic scale" if scale.logarithmic else ""
    return [text(16, top + 22, row["title"] + name, 15, weight="bold"),
            text(WIDTH - 16, top + 22, f"{figure['unit']}{scale_note}; less is better", 12, "end", "#52606d")]


def axis(scale, top, bottom):
    parts = [line(LEFT, top, LEFT, bottom, "#9aa5b1")]
    for tick in scale.ticks():
        x = LEFT + scale(tick)
        parts += [line(x, top, x, bottom, "#e4e7eb"), text(x, bottom + 14, tick_label(tick), 10, "middle", "#7b8794")]
    return parts


def program_bar(program, scale, y):
    if "failed" in program:
        return []
    middle = y + BAR / 2
    least, most = LEFT + scale(program["least"]), LEFT + scale(program["most"])
    return [bar(LEFT, y, scale(program["median"]), COLOURS[program["kind"]]),
            line(least, middle, most, middle, "#1f2933"), line(least, middle - 4, least, middle + 4, "#1f2933"),
            line(most, middle - 4, most, middle + 4, "#1f2933")]


def program_words(program, scale, y):
    baseline = y + BAR / 2 + 4
    weight = "bold" if program["label"] == OURS else "normal"
    label = text(LEFT - 8, baseline, program["label"], 12, "end", weight=weight)
    if "failed" in program:
        return [label, text(LEFT + 6, baseline, "failed: " + program["failed"][:70], 11, fill="#c92a2a")]
    ratio = f"  ({program['ratio']:.2f} ×)" if "ratio" in program else ""
    end = LEFT + scale(max(program["most"], program["median"]))
    return [label, text(end + 7, baseline, number(program["median"]) + ratio, 12, weight=weight)]


def document(parts, height, footer):
    head = (f"<svg xmlns='http://www.w3.org/2000/svg' width='{WIDTH}' height='{height:.0f}' "
            f"viewBox='0 0 {WIDTH} {height:.0f}' {FONT}>")
    background = f"<rect width='{WIDTH}' height='{height:.0f}' fill='#ffffff'/>"
    lines = [text(16, height - 12 * (footer.count("\n") - i) - 10, words, 10, fill="#9aa5b1")
             for i, words in enumerate(footer.split("\n"))]
    return "\n".join([head, background, *parts, *lines, "</svg>", ""])


def workload_plot(rows, footer):
    """The SVG of all rows of one workload, or None if nothing was measured."""
    parts, top = [], 0
    for row in rows:
        for figure in row["figures"]:
            drawn, height = panel(row, figure, top)
            parts, top = parts + drawn, top + height
    return document(parts, top + 36, footer) if parts else None


def write_plots(rows, directory, footer):
    for workload in dict.fromkeys(row["workload"] for row in rows):
        drawing = workload_plot([row for row in rows if row["workload"] == workload], footer)
        if drawing:
            (directory / f"{workload}.svg").write_text(drawing, encoding="utf-8")
