# SPDX-License-Identifier: Apache-2.0
# hostile.py — ./dev bench hostile: one neighbour computes, alone and beside a cage of attackers alternately. Measures
# its share of what it does alone, and the longest time without a turn: a row for each attack and size of the cage, a
# pair of columns for each number of workers. Then the shares of neighbours that do something else.
#
# If there is a CPU for each worker and this user may, the program runs at real-time priority (SCHED_RR): then other
# programs take no CPU time from it, and a gap is caused by the scheduler. Workers that share CPUs do not run at that
# priority: the kernel would run two of four for 100 ms, and shorter measurements would be of these two alone.
#
# The table is markdown, so that documents can quote it:
#
#     tests/bench/hostile.py build/bench/hostile.json FILE...
#
# replaces what is between `<!-- hostile table -->` and `<!-- end -->` by the table, what is between `<!-- hostile
# neighbours -->` and `<!-- end -->` by the shares of the other neighbours, and what is between `<!-- hostile shares
# -->` and `<!-- end -->` by the least share of any neighbour beside crowds.
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import machine
from programs import ROOT
from tools import CannotBuild, run_tool

WORKERS = (1, 2, 4)
NEIGHBOURS = ("computes", "talks", "spawns", "allocates", "yields", "computes in eight tasks")
NEIGHBOURS_WORKERS = (1, 2)  # of all neighbours but the one that computes
# All rounds of a case take less than the 950 ms of each second that the kernel allows to real-time programs.
MILLISECONDS, QUICK_MILLISECONDS = 40, 10
SHARE, GAP = 2.5, 5.0  # the goals: at least 1/2.5 of it, and never 5 ms without a turn
FIGURE = re.compile(r"^figure: .*: 1/([\d.]+) ([\d.]+) ms$", re.M)


def cases(program):
    listed = subprocess.run([program, "list"], capture_output=True, text=True, check=True, timeout=30).stdout
    return [(line.split(" ", 1)[1], int(line.split(" ", 1)[0])) for line in listed.splitlines()]


def take_real_time():
    """For the calling process and those that it starts. Does nothing if it is not permitted."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except OSError:
        pass


def measure(program, case, workers, options, neighbour=NEIGHBOURS[0]):
    milliseconds = QUICK_MILLISECONDS if options.quick else MILLISECONDS
    command = [program, str(milliseconds), case[0], str(case[1]), neighbour]
    has_cpus = workers <= len(os.sched_getaffinity(0))
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout,
                              env={"JANUS_WORKERS": str(workers)}, preexec_fn=take_real_time if has_cpus else None)
    except subprocess.TimeoutExpired:
        return {"failed": f"not after {options.timeout:g} s"}
    figure = FIGURE.search(done.stdout)
    if not figure:
        return {"failed": f"status {done.returncode}"}
    return {"divisor": float(figure[1]), "gap_ms": float(figure[2])}


def shown(cell):
    """Share and gap, in bold if they miss their goal."""
    if "failed" in cell:
        return [f"**{cell['failed']}**", ""]
    share, gap = f"1/{cell['divisor']:g}", f"{cell['gap_ms']:g}"
    return [f"**{share}**" if cell["divisor"] > SHARE else share, f"**{gap}**" if cell["gap_ms"] > GAP else gap]


def line(cells):
    return "| " + " | ".join(cells) + " |"


def name_of(attack, tasks):
    return f"{tasks:,} {attack}" if tasks > 1 else attack


def heading():
    columns = [f"{'share' if half == 0 else 'gap, ms'}, {workers} worker{'s' * (workers > 1)}" for workers in WORKERS
               for half in (0, 1)]
    return [line(["a cage of", *columns]), "|" + "---|" * (1 + len(columns))]


def run(options):
    options.out.joinpath("bench/programs").mkdir(parents=True, exist_ok=True)
    program = options.out / "bench/programs/hostile"
    try:
        run_tool([options.janus_cc, "-O2", ROOT / "tests/programs/hostile/neighbours_keep_their_share.c", "-o", program])
    except CannotBuild as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    rows = []
    print("\n".join(heading()), flush=True)
    for case in cases(program):
        cells = [measure(program, case, workers, options) for workers in WORKERS]
        rows.append({"attack": case[0], "tasks": case[1], "workers": dict(zip(WORKERS, cells))})
        print(line([name_of(*case), *sum(map(shown, cells), [])]), flush=True)
    print("\n" + "\n".join(neighbours_heading()), flush=True)
    for row in rows:
        row["neighbours"] = {neighbour: {workers: measure(program, (row["attack"], row["tasks"]), workers, options, neighbour)
                                         for workers in NEIGHBOURS_WORKERS} for neighbour in NEIGHBOURS[1:]}
        print(neighbours_line(row), flush=True)
    result = {"machine": machine.describe(ROOT), "rows": rows}
    (options.out / "bench/hostile.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(f"\n{machine.line(result['machine'])}")
    return 1 if any("failed" in cell for row in rows for cell in cells_of(row)) else 0


# --- Quoting the results in documents --------------------------------------------------------------------------------

def whole_table(rows):
    return heading() + [line([name_of(row["attack"], row["tasks"]), *sum(map(shown, row["workers"].values()), [])])
                        for row in rows]


def cells_of(row):
    return [*row["workers"].values(), *(cell for by_workers in row["neighbours"].values() for cell in by_workers.values())]


def neighbours_heading():
    columns = [f"{neighbour}, {workers} worker{'s' * (workers > 1)}" for neighbour in NEIGHBOURS[1:]
               for workers in NEIGHBOURS_WORKERS]
    return [line(["a cage of", *columns]), "|" + "---|" * (1 + len(columns))]


def neighbours_line(row):
    return line([name_of(row["attack"], row["tasks"]),
                 *(shown(cell)[0] for by_workers in row["neighbours"].values() for cell in by_workers.values())])


def table_of_neighbours(rows):
    return neighbours_heading() + [neighbours_line(row) for row in rows]


def divisor_of(cell):
    return cell.get("divisor", float("inf"))


def worst(row, workers):
    """The cell of the neighbour with the least share."""
    return max([row["workers"][workers], *(by_workers[workers] for by_workers in row["neighbours"].values())], key=divisor_of)


def shares_beside_crowds(rows):
    workers = [str(w) for w in NEIGHBOURS_WORKERS]
    table = [line(["beside a cage of", *(f"{w} worker{'s' * (w != '1')}" for w in workers)]), "|" + "---|" * (1 + len(workers))]
    most = max(row["tasks"] for row in rows)
    worst_of_all = [shown(max((worst(row, w) for row in rows), key=divisor_of))[0] for w in workers]
    return table + [line([name_of(row["attack"], most), *(shown(worst(row, w))[0] for w in workers)])
                    for row in rows if row["tasks"] == most] + [line([f"the worst of all {len(rows)} attacks", *worst_of_all])]


def quote(result, file):
    text = file.read_text(encoding="utf-8")
    for mark, table in (("hostile table", whole_table), ("hostile neighbours", table_of_neighbours),
                        ("hostile shares", shares_beside_crowds)):
        lines = "\n".join(table(result["rows"])) + "\n"
        text = re.sub(rf"(<!-- {mark} -->\n).*?(<!-- end -->)", lambda found, lines=lines: found[1] + lines + found[2], text, flags=re.S)
    file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for quoting in sys.argv[2:]:
        quote(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), Path(quoting))
