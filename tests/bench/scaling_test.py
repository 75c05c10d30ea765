#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# scaling_test.py BUILD — trees of tasks on many logical workers: each task is counted by one worker, the same seed
# gives the same distribution, each worker gets its part, and the plot is valid.
import json
import pathlib
import sys
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "programs"))
sys.path.insert(0, str(HERE))
from installed import Tap, install, work_directory  # noqa: E402
import scaling  # noqa: E402

# Smaller trees: their number of tasks. UNEVEN: how much more than its fair share the busiest of 4 and of 16 workers may
# do.
SIZES = {"skynet": ("10000", 11110), "nqueens": ("8", 2056), "uts": ("200", 8440)}
UNEVEN = {4: 1.2, 16: 1.6}


def check_spread(tap, path, size, tasks, workers):
    first, second = (scaling.run(path, size, workers, 7, scaling.EVEN_STACKS) for _ in range(2))
    name = f"{path.name} on {workers} workers"
    tap.check(f"{name}: every task is somebody's", sum(first.tasks) == tasks, repr(first))
    tap.check(f"{name}: the same seed, the same spread", first == second, f"{first}\n{second}")
    tap.check(f"{name}: nobody does much more than others", first.busiest < UNEVEN[workers], repr(first))
    tap.check(f"{name}: fewer steals than tasks", 0 < first.steals < tasks, repr(first))
    return first


def main():
    tap, work = Tap(), work_directory()
    build = pathlib.Path(sys.argv[1])
    options = json.loads((build / "meson-info/intro-buildoptions.json").read_text())
    is_debug = any(option["name"] == "buildtype" and option["value"].startswith("debug") for option in options)
    paths = scaling.build(install(build, work), work, has_assertions=is_debug)
    points = []
    for program in scaling.PROGRAMS:
        for workers in UNEVEN:
            found = check_spread(tap, paths[program.source], *SIZES[program.source], workers)
            points.append(scaling.Point(program, workers, (found,), (found,)))
    page = work / "page.md"
    page.write_text(f"before\n{scaling.BEGIN}stale\n{scaling.END}after\n")
    scaling.write_table(points, page)
    text = page.read_text()
    tap.check("the table replaces the one before, and nothing else", text.startswith(f"before\n{scaling.BEGIN}") and
              text.endswith(f"{scaling.END}after\n") and "stale" not in text and text.count("| skynet") == len(UNEVEN), text)
    tags = [element.tag.rpartition("}")[2] for element in xml.etree.ElementTree.fromstring(scaling.drawing(points)).iter()]
    tap.check("a line for each program in both panels", tags.count("polyline") == 2 * len(scaling.PROGRAMS), repr(tags))
    tap.end()


main()
