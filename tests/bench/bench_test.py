#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# bench_test.py BUILD — the benchmark itself: each of the project's workloads at a small size, peers that fail in every
# way, a machine that lacks CPUs, packages or memory, and senseless arguments. Speeds are not judged.
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "programs"))
sys.path.insert(0, str(HERE))
from installed import Tap, install, work_directory  # noqa: E402
import measure  # noqa: E402
import quote  # noqa: E402
import report  # noqa: E402
import rows  # noqa: E402
import verdict  # noqa: E402

# Peers that are shell scripts: what each does, and what its row must say about it.
SCRIPTS = {
    "steady": ("echo ns 5", None),
    "garbled": ("echo ns five", "prints nonsense: 'ns five'"),
    "silent": ("exit 0", "does not print `ns`"),
    "instant": ("echo ns 0", "prints nonsense: ns 0"),
    "crashing": ("kill -SEGV $$", "killed by SIGSEGV"),
    "failing": ("echo ns 5; echo 'the sum is wrong' >&2; exit 1", "ended with status 1: the sum is wrong"),
    "hanging": ("exec sleep 60", "hangs: no end within 1 s"),
}
MODULE = """
class Peer:
    packages = ()
    workloads = {"deque": (1,)}

    def __init__(self, name, script):
        self.name, self.script = name, script

    def build(self, directory):
        path = directory / "program"
        path.write_text("#!/bin/sh\\n" + self.script + "\\n")
        path.chmod(0o755)
        return path


class Broken(Peer):
    def build(self, directory):
        raise RuntimeError("no such compiler")


PEERS = [Peer(name, script) for name, script in SCRIPTS.items()]
PEERS += [Peer("ignorant", "exit 3"), Broken("broken", ""), Peer("absent", "echo ns 1")]
PEERS[-1].packages = ("no-such-package",)
LIMITS = []
"""


class Bench:
    def __init__(self, janus_cc, out, peers):
        self.command = [HERE / "run.py", "--janus-cc", janus_cc, "--out", out, "--peers-from", peers]
        self.out = out

    def __call__(self, *arguments, **options):
        return subprocess.run([sys.executable, *self.command, *arguments], capture_output=True, text=True, timeout=120,
                              **options)

    def results(self):
        return json.loads((self.out / "bench.json").read_text())["rows"]


def is_drawing(path):
    """Well-formed SVG with a bar or a line in it."""
    tags = {element.tag.rpartition("}")[2] for element in xml.etree.ElementTree.parse(path).iter()}
    return {"svg", "rect", "text", "line"} <= tags


def check_all_workloads(tap, bench):
    done = bench("--quick", "--json")
    tap.check("every workload of ours does its work", done.returncode == 0, done.stderr + done.stdout[-2000:])
    results = json.loads(done.stdout)["rows"]
    tap.check("--json prints every row, and nothing else",
              [row["name"] for row in results] == [row.name for row in rows.ROWS])
    tap.check("bench.json holds the same", results == bench.results())
    unmeasured = [row["title"] for row in results if "skipped" not in row for figure in row["figures"]
                  if "median" not in figure["programs"][0]]
    tap.check("every figure of ours is there", not unmeasured, repr(unmeasured))
    drawn = {path.stem for path in (bench.out / "bench").glob("*.svg") if is_drawing(path)}
    measured = {row["workload"] for row in results if "skipped" not in row}
    tap.check("a plot for each workload", drawn == measured, repr(drawn ^ measured))


def check_peers(tap, bench):
    done = bench("--quick", "--peers", "--rounds", "2", "--timeout", "1", "deque")
    programs = {program["label"]: program for program in bench.results()[0]["figures"][0]["programs"]}
    tap.check("peers that fail do not make the bench fail", done.returncode == 0, done.stderr)
    for name, (_, complaint) in SCRIPTS.items():
        said = programs[name].get("failed")
        tap.check(f"a peer that is {name}", said == complaint, f"says {said!r}, not {complaint!r}")
        if complaint:
            tap.check(f"the table says so of a peer that is {name}", f"FAILED: {complaint}" in done.stdout)
    ours, steady = programs[rows.OURS], programs["steady"]
    tap.check("one that works has its ratio to ours",
              steady["values"] == [5, 5] and steady["ratio"] == 5 / ours["median"])
    tap.check("one that does not know the workload has no row", "ignorant" not in programs)
    tap.check("one that cannot be built says why",
              programs["broken"].get("failed") == "does not build: no such compiler")
    if shutil.which("dpkg-query"):
        advice = "apt-get install no-such-package"
        tap.check("missing packages are named", advice in programs["absent"].get("failed", "") and advice in done.stderr)
    tap.check("--packages lists what the peers need", bench("--packages").stdout.strip() == "no-such-package")


def check_questions(tap, bench):
    unknown = bench("no-such-workload")
    tap.check("an unknown name is answered by those that there are",
              unknown.returncode == 2 and "no such workload: no-such-workload; there are: switch" in unknown.stderr,
              unknown.stderr)
    tap.check("no rounds are no measurement", bench("--rounds", "0", "deque").returncode == 2)
    program = bench.out / "bench/programs/janus-rt"
    status = [subprocess.run([program, *words], capture_output=True, timeout=10).returncode
              for words in (["no-such", "1", "1"], ["deque", "0", "1"], ["deque", "1"], ["deque", "1", "1000"])]
    tap.check("the program itself: unknown, senseless, too few, other workers", status == [3, 2, 2, 1], repr(status))


def check_small_machines(tap, bench):
    one_cpu = bench("--quick", "wake", preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))
    tap.check("with one CPU, rows of two workers say so",
              one_cpu.returncode == 0 and one_cpu.stdout.count("needs 2 CPUs; this machine gives 1") == 2,
              one_cpu.stdout + one_cpu.stderr)
    program = bench.out / "bench/programs/janus-rt"
    half_a_gib = (2**29, 2**29)
    done = subprocess.run([program, "parked", "1000000", "1"], capture_output=True, text=True, timeout=60,
                          env={"JANUS_WORKERS": "1"},
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, half_a_gib))
    figures = dict(line.split() for line in done.stdout.splitlines())
    tap.check("where memory ends, a million tasks are as many as there are",
              done.returncode == 0 and 1000 < float(figures.get("tasks", 0)) < 1000000,
              f"{done.returncode} {done.stdout} {done.stderr[-500:]}")


TABLE = """
| | janus-rt | goal | limit | peers |
|---|---|---|---|---|
| near, ns | 1,090 |  |  | A 1,000 |
| far, 2 workers, ms | 22.2 | ≤ 1 missed | 5.00 | A 10.0 (size 24), B failed, C 21.0 |
| several, 1 worker, bytes | 150 |  |  | B 100, C 75.0 |
| several, 1 worker: idle CPU, % of a CPU | 3.00 |  |  | C 0 |
| unmeasured, ns | failed |  |  | A 1.00 |
"""
LOSSES = ["| A | far, 2 workers (2.2) |", "| B | several, 1 worker, bytes (1.5) |",
          "| C | several, 1 worker, bytes (2.0); several, 1 worker: idle CPU |"]


def check_quotes(tap):
    said = quote.losses(TABLE).splitlines()[2:]
    tap.check("the rows in which a peer is ahead by more than a tenth are listed by peer", said == LOSSES, repr(said))
    figure = rows.Figure("ns", "ns", (rows.Goal(2, "A"), rows.Goal(7), rows.Goal(1, "B")))
    judged = verdict.judge(rows.Row("row", "deque", 1, 1, 1, (figure,)),
                           [measured(rows.OURS, 8, "ours"), measured("A", 5, "peer")])
    shown = quote.line_of(judged, judged["figures"][0])
    tap.check("each goal of a row is judged", "| ≤ 2 × A **met**; ≤ 7 missed; ≤ 1 × B not measured |" in shown, shown)
    lines = "".join(report.row_lines(judged))
    tap.check("the table on stdout has each of them",
              "goal ≤ 2 × A = 10.0: met, 0.80 times it; goal ≤ 7: MISSED, 1.14 times it; goal ≤ 1 × B: not measured here" in lines,
              lines)


def measured(label, value, kind):
    return measure.Contender(label, "", "deque", 1, 1, {"ns": "ns"}, kind, [{"ns": value}])


def check_growth(tap, bench):
    done = bench("growth", "--quick")
    curves = json.loads((bench.out / "bench/growth.json").read_text())["curves"]
    whole = all(len(curve["points"]) == 2 for curve in curves) and is_drawing(bench.out / "bench/growth.svg")
    tap.check("growth: a curve for each workload", done.returncode == 0 and whole, done.stdout + done.stderr)


def main():
    tap, work = Tap(), work_directory()
    peers = work / "build.py"
    peers.write_text(f"SCRIPTS = {({name: script for name, (script, _) in SCRIPTS.items()})!r}\n{MODULE}")
    check_quotes(tap)
    bench = Bench(install(pathlib.Path(sys.argv[1]), work), work / "out", peers)
    for check in (check_all_workloads, check_peers, check_questions, check_small_machines, check_growth):
        check(tap, bench)
    tap.end()


main()
