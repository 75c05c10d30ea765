#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# scaling.py JANUS_CC — runs trees of tasks in deterministic mode on 4 to 256 logical workers, and writes how evenly the
# work was distributed and how many steals that took into docs/scaling.md (the table) and docs/scaling.svg (the curves).
# The same sources give the same figures on every machine.
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import plot

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DOCS = ROOT / "docs"
WORKERS = (4, 16, 64, 256)
SEEDS = (1, 2, 3, 4, 5)
# As large as main's stack, so that no worker has more room than others to run children on the spawner's stack.
EVEN_STACKS = {"JANUS_STACK": str(2**20)}
BEGIN, END = "<!-- scaling.py writes from here -->\n", "<!-- to here -->\n"


@dataclass(frozen=True)
class Program:
    """One of tests/programs in which everything is done by tasks."""
    source: str
    title: str
    size: str
    options: tuple = ()


PROGRAMS = (
    Program("skynet", "skynet, a million leaves", "1000000"),
    Program("nqueens", "nqueens(11), a task a placement", "11", ("-DTASK_ROWS=16",)),
    Program("uts", "uts, 2,000 trees", "2000"),
)


@dataclass(frozen=True)
class Run:
    """What each worker counted."""
    tasks: tuple
    steals: int
    steals_failed: int

    @property
    def busiest(self):
        """The number of tasks of the busiest worker, as a multiple of its fair share."""
        return max(self.tasks) / statistics.mean(self.tasks)

    @property
    def idlest(self):
        return min(self.tasks) / statistics.mean(self.tasks)


# --- Running -----------------------------------------------------------------------------------------------------------

def build(janus_cc, directory, programs=PROGRAMS, has_assertions=False):
    """The programs with the part that prints each worker's counters: {source name: path}."""
    spread = directory / "spread.o"
    # The runtime's headers must be compiled with the same assertions as the runtime (rt/base/assert.h).
    subprocess.run([janus_cc, "-std=c++20", "-O2", f"-DJANUS_ASSERTIONS={has_assertions:d}", "-I", ROOT, "-I", ROOT / "arch/x86_64/include", "-c", HERE / "scaling/spread.cpp", "-o", spread], check=True)
    for program in programs:
        subprocess.run([janus_cc, "-O2", *program.options, ROOT / f"tests/programs/{program.source}.c", spread, "-o",
                        directory / program.source], check=True)
    return {program.source: directory / program.source for program in programs}


def run(path, size, workers, seed, settings):
    plain = {name: value for name, value in os.environ.items() if not name.startswith("JANUS_")}
    environment = plain | settings | {"JANUS_WORKERS": str(workers), "JANUS_SEED": str(seed)}
    done = subprocess.run([path, size], env=environment, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise RuntimeError(f"{path.name} with {workers} workers and seed {seed}: status {done.returncode}: {done.stderr[-300:]}")
    rows = [tuple(map(int, row)) for row in re.findall(r"^worker (\d+) (\d+) (\d+) (\d+)$", done.stderr, re.M)]
    if [row[0] for row in rows] != list(range(workers)):
        raise RuntimeError(f"{path.name}: {len(rows)} of {workers} workers")
    return Run(tuple(row[1] for row in rows), sum(row[2] for row in rows), sum(row[3] for row in rows))


@dataclass(frozen=True)
class Point:
    """A program on one number of workers: a run for each seed."""
    program: Program
    workers: int
    runs: tuple  # with stacks of equal size
    by_default: tuple

    @property
    def tasks(self):
        return sum(self.runs[0].tasks)

    def median(self, value):
        return statistics.median(value(one) for one in self.runs)


def measure(paths):
    for program in PROGRAMS:
        for workers in WORKERS:
            print(f"scaling: {program.title}, {workers} workers", file=sys.stderr, flush=True)
            yield Point(program, workers, *(
                tuple(run(paths[program.source], program.size, workers, seed, settings) for seed in SEEDS)
                for settings in (EVEN_STACKS, {})))


# --- Output ------------------------------------------------------------------------------------------------------------

def table(points):
    yield "| | tasks | workers | busiest: median, worst | idlest | busiest by default | steals | tasks a steal | in vain |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for point in points:
        steals = point.median(lambda one: one.steals)
        yield (f"| {point.program.title} | {point.tasks:,} | {point.workers} | {point.median(lambda one: one.busiest):.3f}, "
               f"{max(one.busiest for one in point.runs):.3f} | {point.median(lambda one: one.idlest):.3f} | "
               f"{statistics.median(one.busiest for one in point.by_default):.3f} | {steals:,.0f} | "
               f"{point.tasks / steals:.1f} | {point.median(lambda one: one.steals_failed):,.0f} |")


def write_table(points, page):
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    page.write_text(before + BEGIN + "\n" + "\n".join(table(points)) + "\n\n" + END + after, encoding="utf-8")


# --- The curves: two panels, a line for each program -------------------------------------------------------------------

COLOURS = ("#d9480f", "#1c7ed6", "#2b8a3e")
PANEL_WIDTH, TOP, PLOT_WIDTH, PLOT_HEIGHT, LEFT = 430, 64, 330, 200, 60


def drawing(points):
    spread, steals = {}, {}
    for point in points:
        spread.setdefault(point.program, {})[point.workers] = point.median(lambda one: one.busiest)
        steals.setdefault(point.program, {})[point.workers] = 100 * point.median(lambda one: one.steals) / point.tasks
    parts = panel("Tasks of the busiest worker, fair share = 1", spread, 0, 1.0) + panel("Steals in 100 tasks", steals, 1, 0.0)
    footer = f"deterministic mode, median of {len(SEEDS)} seeds; logical workers from left to right"
    return plot.document(parts, TOP + PLOT_HEIGHT + 60, footer)


def panel(title, curves, column, floor):
    left, bottom = column * PANEL_WIDTH + LEFT, TOP + PLOT_HEIGHT
    peak = floor + 1.15 * (max(value for curve in curves.values() for value in curve.values()) - floor)
    first, last = math.log2(WORKERS[0]), math.log2(WORKERS[-1])

    def place(workers, value):
        return (left + PLOT_WIDTH * (math.log2(workers) - first) / (last - first),
                bottom - PLOT_HEIGHT * (value - floor) / (peak - floor))

    parts = [plot.text(left - 40, TOP - 30, title, 13, weight="bold")] + axes(place, left, bottom, floor, peak)
    for (program, curve), colour in zip(curves.items(), COLOURS):
        spots = [place(workers, value) for workers, value in curve.items()]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
        parts.append(f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-width='2'/>")
        parts += [f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3.5' fill='{colour}'/>" for x, y in spots]
    for i, (program, colour) in enumerate(zip(curves, COLOURS)):
        parts.append(plot.text(left + 8, TOP - 10 + 15 * i, program.title, 11, fill=colour))
    return parts


def axes(place, left, bottom, floor, peak):
    parts = [plot.line(left, bottom, left + PLOT_WIDTH, bottom, "#9aa5b1"),
             plot.line(left, bottom, left, bottom - PLOT_HEIGHT, "#9aa5b1")]
    parts += [plot.text(place(workers, floor)[0], bottom + 16, str(workers), 10, "middle", "#7b8794") for workers in WORKERS]
    step = plot.nice_step((peak - floor) / 4)
    for i in range(int((peak - floor) / step) + 1):
        value = floor + step * i
        parts.append(plot.text(left - 6, place(WORKERS[0], value)[1] + 3, f"{value:,g}", 10, "end", "#7b8794"))
    return parts


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: scaling.py JANUS_CC")
    with tempfile.TemporaryDirectory(prefix="janus-scaling-") as directory:
        points = list(measure(build(Path(sys.argv[1]).resolve(), Path(directory))))
    write_table(points, DOCS / "scaling.md")
    (DOCS / "scaling.svg").write_text(drawing(points), encoding="utf-8")


if __name__ == "__main__":
    main()
