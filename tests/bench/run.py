#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# run.py — ./dev bench: builds the programs, measures row by row, prints the table, and leaves bench.json and a plot per
# workload. Exit status 0: the project's programs did everything; 1: they did not; 2: wrong arguments.
import argparse
import json
import sys
import time
from pathlib import Path

import boot
import growth
import hostile
import instructions
import machine
import measure
import plot
import programs
import report
import tools
import verdict
from rows import OURS, ROWS

PEERS = programs.HERE / "peers/build.py"
# Seconds allowed for one process. A peer that hangs costs one of these; the longest correct run takes some ten seconds.
TIMEOUT, QUICK_TIMEOUT = 90, 10
ROUNDS, QUICK_ROUNDS = 7, 1


def arguments():
    parser = argparse.ArgumentParser(prog="./dev bench")
    parser.add_argument("names", nargs="*", metavar="NAME", help="rows or workloads; `growth`: cost as the work grows; `boot`: "
                        "from the first instruction to the first task in QEMU; `hostile`: what attacks leave to a neighbour; `instructions`: how many an operation takes")
    parser.add_argument("--peers", action="store_true", help="beside the peers that Debian packages hold")
    parser.add_argument("--json", action="store_true", help="bench.json on stdout in place of the table")
    parser.add_argument("--quick", action="store_true", help="one round, small sizes: whether it works, not how fast")
    parser.add_argument("--rounds", type=int, help=f"at least {ROUNDS} say something")
    parser.add_argument("--timeout", type=float, help="seconds that one process may take")
    parser.add_argument("--update", action="store_true", help="with `instructions`: they are as they should be from now on")
    parser.add_argument("--packages", action="store_true", help="print the Debian packages of the peers, and nothing else")
    parser.add_argument("--janus-cc", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--peers-from", type=Path, default=PEERS, help=argparse.SUPPRESS)
    return parser.parse_args()


def say(words):
    print(f"bench: {words}", file=sys.stderr, flush=True)


def give_up(words):
    say(words)
    sys.exit(2)


def chosen_rows(names):
    known = {row.workload for row in ROWS} | {row.name for row in ROWS}
    for name in names:
        if name not in known:
            workloads = " ".join(dict.fromkeys(row.workload for row in ROWS))
            give_up(f"no such workload: {name}; there are: {workloads} boot growth hostile instructions")
    return [row for row in ROWS if not names or row.workload in names or row.name in names]


# --- The programs that are measured ------------------------------------------------------------------------------------

class Built:
    """The peers and limit programs that these rows need: a path for each that could be built, a reason for each that could
    not."""

    def __init__(self, module, rows, options):
        self.peers = [peer for peer in (getattr(module, "PEERS", ()) if options.peers else ())
                      if any(can_do(peer, row.workload, row.workers) for row in rows)]
        needed = {companion.workload for row in rows for companion in row.companions if companion.program == "limits"}
        self.limits = [limit for limit in getattr(module, "LIMITS", ()) if needed & set(limit.workloads)]
        self.paths, self.reasons, self.versions = {}, {}, {}
        for program in self.limits + self.peers:
            self.build(program, options.out / "bench/programs" / program.name)

    def build(self, program, directory):
        if missing := programs.missing_packages(program.packages):
            self.reasons[program.name] = f"not built; missing: apt-get install {' '.join(missing)}"
            return
        directory.mkdir(parents=True, exist_ok=True)
        say(f"building {program.name}")
        try:
            self.paths[program.name] = program.build(directory)
            if hasattr(program, "version") and program in self.peers:
                self.versions[program.name] = program.version()
        except Exception as failure:  # whatever goes wrong in a build, the others are measured
            self.reasons[program.name] = "does not build: " + " ".join(str(failure).split())[:200]


def can_do(program, workload, workers):
    return workers in program.workloads.get(workload, ())


def size_for(program, workload, size):
    return program.size(workload, size) if hasattr(program, "size") else size


def contenders_of(row, ours, built, quick):
    size = row.quick if quick else row.size
    figures = {figure.name: figure.name for figure in row.figures}
    found = [measure.Contender(OURS, ours.path(row.workload), row.workload, size, row.workers, figures, "ours")]
    for companion in row.companions:
        found += companion_of(companion, ours, built, row, quick)
    for peer in built.peers:
        if can_do(peer, row.workload, row.workers):
            found.append(contender_of(peer, peer.name, row.workload, size_for(peer, row.workload, size), row.workers,
                                      figures, "peer", built))
    return found


def contender_of(program, label, workload, size, workers, figures, kind, built):
    contender = measure.Contender(label, built.paths.get(program.name), workload, size, workers, figures, kind)
    contender.failure = built.reasons.get(program.name)
    return contender


def companion_of(companion, ours, built, row, quick):
    size = min(companion.size, row.quick) if quick else companion.size
    figures = dict(companion.figures)
    if companion.program == "ours":
        return [measure.Contender(companion.label, ours.path(companion.workload), companion.workload, size,
                                  companion.workers, figures, "ours")]
    return [contender_of(limit, companion.label, companion.workload, size, companion.workers, figures, "limit", built)
            for limit in built.limits if companion.workload in limit.workloads]


# --- Measuring ---------------------------------------------------------------------------------------------------------

def progress(row):
    def show(round_number):
        if sys.stderr.isatty():
            print(f"\r\x1b[Kbench: {row.title}, round {round_number + 1}", end="", file=sys.stderr, flush=True)
    return show


def timed_row(row, ours, built, options):
    start = time.monotonic()
    return measure_row(row, ours, built, options) | {"seconds": round(time.monotonic() - start, 1)}


def measure_row(row, ours, built, options):
    cpus = len(measure.cpus())
    if cpus < row.cpus:
        return verdict.skipped(row, f"needs {row.cpus} CPUs; this machine gives {cpus}")
    contenders = contenders_of(row, ours, built, options.quick)
    if row.workload == "size":
        measure.measure_size(contenders[0])
        return verdict.judge(row, contenders[:1], not options.quick)
    measure.measure(contenders, options.rounds, options.timeout, progress(row))
    return verdict.judge(row, contenders, not options.quick)


def measure_rows(rows, ours, built, options):
    """Measures all rows. Results are written after each row, so that an interrupted run leaves some."""
    result = {"machine": machine.describe(programs.ROOT), "rounds": options.rounds, "quick": options.quick,
              "versions": built.versions, "rows": []}
    for row in rows:
        result["rows"].append(timed_row(row, ours, built, options))
        write_results(result, options.out)
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
        if not options.json:
            print("\n".join(report.row_lines(result["rows"][-1])), flush=True)
    return result


def write_results(result, out):
    (out / "bench").mkdir(parents=True, exist_ok=True)
    (out / "bench.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    footer = f"{machine.line(result['machine'])}\nmedian of {result['rounds']} rounds, whiskers from least to most"
    plot.write_plots(result["rows"], out / "bench", footer)


def ours_failed(rows):
    return [program["failed"] for row in rows for figure in row["figures"] for program in figure["programs"]
            if program["kind"] == "ours" and "failed" in program]


def build_ours(options):
    ours = programs.Ours(options.janus_cc, options.out / "bench/programs")
    try:
        ours.build()
    except tools.CannotBuild as failure:
        say(f"our own programs do not build: {failure}")
        sys.exit(1)
    return ours


def bench(options, module):
    rows = chosen_rows(options.names)
    ours = build_ours(options)
    built = Built(module, rows, options)
    for name, why in sorted(built.reasons.items()):
        say(f"{name}: {why}")
    if not options.json:
        print(report.heading())
    result = measure_rows(rows, ours, built, options)
    lines = report.ending(result, machine.line(result["machine"]))
    print(json.dumps(result, indent=1) if options.json else "\n".join(lines))
    return 1 if ours_failed(result["rows"]) else 0


def main():
    options = arguments()
    module = programs.load_peers(options.peers_from)
    if options.packages:
        print(*sorted({package for peer in getattr(module, "PEERS", ()) for package in peer.packages}))
        return 0
    if options.rounds is not None and options.rounds < 1:
        give_up("--rounds wants 1 or more")
    options.rounds = options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS)
    options.timeout = options.timeout or (QUICK_TIMEOUT if options.quick else TIMEOUT)
    if options.names == ["instructions"]:
        return instructions.run(options)
    if options.names == ["boot"]:
        return boot.run(options)
    if options.names == ["hostile"]:
        return hostile.run(options)
    if options.names == ["growth"]:
        return growth.run(build_ours(options), options)
    return bench(options, module)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
