# SPDX-License-Identifier: Apache-2.0
# growth.py — ./dev bench growth: the cost of an operation as the work grows from a thousand to a million (ten million
# spawned tasks). It should stay within 1.5 times the cost at ten thousand; where it does not, a level of the cache
# ends.
import json
import math
import statistics
import sys
from dataclasses import dataclass

import machine
import measure
import plot
from report import number

SIZES = (10**3, 10**4, 10**5, 10**6)
BASE, FACTOR = 10**4, 1.5


@dataclass(frozen=True)
class Curve:
    title: str
    workload: str
    figure: str
    unit: str
    sizes: dict  # the amount of work -> the workload's SIZE


def same(sizes=SIZES):
    return {size: size for size in sizes}


# The n for which fib(n) makes about so many spawns.
FIB = {10**3: 15, 10**4: 20, 10**5: 24, 10**6: 29}
CURVES = (
    Curve("switches between two fibers", "switch", "ns", "ns", same()),
    Curve("a yield, that many ready", "yield", "ns", "ns", same()),
    Curve("spawn, run and join", "spawn", "ns", "ns", same()),
    Curve("spawned, not yet run", "spawned", "ns", "ns", same(SIZES + (10**7,))),
    Curve("memory of one spawned", "spawned", "bytes", "bytes", same(SIZES + (10**7,))),
    Curve("fib, a spawn", "fib", "ns", "ns", FIB),
    Curve("skynet, a task", "skynet", "ns", "ns", same()),
    Curve("channel, a round trip", "channel", "ns", "ns", same()),
    Curve("blocked at once, create", "parked", "create", "ns", same()),
    Curve("blocked at once, tear down", "parked", "teardown", "ns", same()),
    Curve("blocked at once, create again", "parked", "reuse", "ns", same()),
    Curve("blocked at once, memory", "parked", "bytes", "bytes", same()),
    Curve("steal", "steal", "ns", "ns", same()),
    Curve("alloc and free", "alloc", "ns", "ns", same()),
)


# --- Measuring ---------------------------------------------------------------------------------------------------------

def contenders(ours, quick):
    """One contender for each workload and amount. Curves of the same workload share it."""
    found = {}
    for curve in CURVES:
        for amount, size in curve.sizes.items():
            if quick and amount > BASE:
                continue
            key = (curve.workload, amount)
            if key not in found:
                found[key] = measure.Contender(curve.workload, ours.path(curve.workload), curve.workload, size, 1, {},
                                               "ours")
            found[key].figures[curve.figure] = curve.figure
    return found


def points(curve, found):
    """(amount, median, least, most) of what was measured."""
    for amount in curve.sizes:
        contender = found.get((curve.workload, amount))
        values = contender.values(curve.figure) if contender else []
        if values:
            yield {"amount": amount, "median": statistics.median(values), "least": min(values), "most": max(values)}


def base_of(measured):
    """The cost at BASE, or 0 if that was not measured."""
    return next((point["median"] for point in measured if point["amount"] == BASE), 0)


def judge(curve, found):
    measured = list(points(curve, found))
    base = base_of(measured)
    later = [point["median"] for point in measured if point["amount"] >= BASE]
    failures = [f"{amount:,}: {found[curve.workload, amount].failure}" for amount in curve.sizes
                if (curve.workload, amount) in found and found[curve.workload, amount].failure]
    growth = max(later) / base if base else None
    return {"title": curve.title, "workload": curve.workload, "figure": curve.figure, "unit": curve.unit,
            "points": measured, "growth": growth, "within": growth is not None and growth <= FACTOR, "failed": failures}


def run(ours, options):
    found = contenders(ours, options.quick)
    for (workload, amount), contender in found.items():
        if sys.stderr.isatty():
            print(f"\r\x1b[Kbench: {workload} {amount:,}", end="", file=sys.stderr, flush=True)
        measure.measure([contender], options.rounds, options.timeout)
    curves = [judge(curve, found) for curve in CURVES]
    result = {"machine": machine.describe(measure.programs.ROOT), "rounds": options.rounds, "curves": curves}
    write(result, options)
    return 1 if any(curve["failed"] for curve in curves) else 0


# --- Output ------------------------------------------------------------------------------------------------------------

def table(curves):
    amounts = sorted({point["amount"] for curve in curves for point in curve["points"]})
    yield f"{'':38}{'unit':7}" + "".join(f"{amount:>12,}" for amount in amounts) + f"   most / at {BASE:,}"
    for curve in curves:
        at = {point["amount"]: number(point["median"]) for point in curve["points"]}
        growth = f"{curve['growth']:.2f}" if curve["growth"] else "-"
        remark = "" if curve["within"] else f"  more than {FACTOR:g}"
        yield (f"{curve['title']:38}{curve['unit']:7}" + "".join(f"{at.get(amount, ''):>12}" for amount in amounts) +
               f"   {growth}{remark}")
        yield from (f"    FAILED at {failure}" for failure in curve["failed"])


def write(result, options):
    directory = options.out / "bench"
    directory.mkdir(parents=True, exist_ok=True)
    text = json.dumps(result, indent=1)
    (directory / "growth.json").write_text(text + "\n", encoding="utf-8")
    (directory / "growth.svg").write_text(drawing(result), encoding="utf-8")
    print(text if options.json else "\n".join(table(result["curves"])))


# --- The plot: a small panel for each curve, with the allowed band; all have the same scale of amounts -----------------

COLUMNS, PANEL_WIDTH, PANEL_HEIGHT = 3, 290, 190
INSET_LEFT, INSET_TOP, PLOT_WIDTH, PLOT_HEIGHT = 48, 44, 215, 110


def drawing(result):
    curves = [curve for curve in result["curves"] if curve["points"]]
    parts = []
    for index, curve in enumerate(curves):
        parts += panel(curve, index % COLUMNS * PANEL_WIDTH, index // COLUMNS * PANEL_HEIGHT)
    height = math.ceil(len(curves) / COLUMNS) * PANEL_HEIGHT + 42
    footer = (f"{machine.line(result['machine'])}\nmedian of {result['rounds']} rounds; "
              f"band: up to {FACTOR:g} x the cost at {BASE:,}")
    return plot.document(parts, height, footer)


def panel(curve, left, top):
    amounts = [point["amount"] for point in curve["points"]]
    peak = 1.15 * max(max(point["most"] for point in curve["points"]), FACTOR * base_of(curve["points"]))
    low, high = math.log10(min(amounts)) - 0.3, math.log10(max(max(amounts), 10 * min(amounts)))
    origin = left + INSET_LEFT, top + INSET_TOP + PLOT_HEIGHT

    def place(amount, value):
        return (origin[0] + PLOT_WIDTH * (math.log10(amount) - low) / (high - low),
                origin[1] - PLOT_HEIGHT * value / peak)

    return (band(curve, place) + axes(curve, place, amounts, peak, origin) + line_of(curve, place) +
            [plot.text(left + 16, top + 22, curve["title"], 13, weight="bold"),
             plot.text(left + 16, top + 37, curve["unit"], 10, fill="#7b8794")])


def band(curve, place):
    base = base_of(curve["points"])
    if not base:
        return []
    x1, y1 = place(BASE, FACTOR * base)
    x2, y2 = place(max(point["amount"] for point in curve["points"]), 0)
    return [f"<rect x='{x1:.1f}' y='{y1:.1f}' width='{max(x2 - x1, 1):.1f}' height='{y2 - y1:.1f}' fill='#ebfbee'/>"]


def axes(curve, place, amounts, peak, origin):
    parts = [plot.line(origin[0], origin[1], origin[0] + PLOT_WIDTH, origin[1], "#9aa5b1"),
             plot.line(origin[0], origin[1], origin[0], origin[1] - PLOT_HEIGHT, "#9aa5b1")]
    for amount in amounts:
        x, _ = place(amount, 0)
        parts.append(plot.text(x, origin[1] + 15, f"10^{round(math.log10(amount))}", 10, "middle", "#7b8794"))
    step = plot.nice_step(peak / 4)
    for i in range(int(peak / step) + 1):
        _, y = place(amounts[0], step * i)
        parts.append(plot.text(origin[0] - 5, y + 3, plot.tick_label(step * i), 10, "end", "#7b8794"))
    return parts


def line_of(curve, place):
    colour = plot.COLOURS["ours"] if curve["within"] else "#c92a2a"
    spots = [place(point["amount"], point["median"]) for point in curve["points"]]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
    parts = [f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-width='2'/>"]
    for point, (x, y) in zip(curve["points"], spots):
        least, most = place(point["amount"], point["least"])[1], place(point["amount"], point["most"])[1]
        parts += [plot.line(x, least, x, most, colour), f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3.5' fill='{colour}'/>",
                  plot.text(x, min(y, most) - 6, number(point["median"]), 10, "middle")]
    return parts
