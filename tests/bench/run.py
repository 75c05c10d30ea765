#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# run.py JANUS_CC BUILD [NAME] — compiles bench.c as a user would, runs each benchmark several times in processes of its
# own, prints the medians beside their ceilings, and leaves everything in BUILD/bench.json.
import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
RUNS = 5


@dataclass(frozen=True)
class Bench:
    name: str
    what: str
    size: int
    workers: int = 0           # 0: as many as the machine has CPUs
    ceiling_ns: float = None   # per operation; what the specification asks for
    ceiling_bytes: float = None


BENCHES = (
    Bench("switch", "janus_context_switch, one way", 20_000_000, 1, 500),
    Bench("check", "janus_yield_check(1)", 200_000_000, 1),
    Bench("yield", "janus_yield between two tasks", 2_000_000, 1),
    Bench("spawn_join", "spawn a task, join and release it", 2_000_000, 1, 1000),
    Bench("fib", "fib(35), a nursery and a spawn a call", 35),
    Bench("skynet", "a million leaves, ten children a task", 1_000_000),
    Bench("channel", "a word handed over a rendezvous channel", 1_000_000, 1),
    Bench("parked", "a million tasks blocked at once, guarded", 1_000_000, 0, None, 16 * 1024),
    Bench("alloc", "janus_alloc(64) and janus_free", 50_000_000, 1),
)


def compile_bench(janus_cc, build):
    program = build / "bench-program"
    subprocess.run([janus_cc, "-O2", "-Wall", "-Wextra", "-o", program, HERE / "bench.c"], check=True)
    return program


def environment(bench):
    plain = {name: value for name, value in os.environ.items() if not name.startswith("JANUS_")}
    return plain | ({"JANUS_WORKERS": str(bench.workers)} if bench.workers else {})


def measure(program, bench):
    """Nanoseconds and bytes of one operation, in each of the runs."""
    runs = []
    for _ in range(RUNS):
        done = subprocess.run([program, bench.name, str(bench.size)], env=environment(bench), capture_output=True,
                              text=True, timeout=300)
        if done.returncode != 0:
            raise RuntimeError(f"{bench.name}: status {done.returncode}: {done.stderr.strip()}")
        operations, nanoseconds, resident = map(int, done.stdout.split())
        runs.append((nanoseconds / operations, resident / operations))
    return runs


def ratio(value, ceiling):
    return f"{value / ceiling:10.3f}" if ceiling else " " * 10


def report(bench, runs):
    times = sorted(time for time, _ in runs)
    median, size = statistics.median(times), statistics.median(resident for _, resident in runs)
    print(f"{bench.name:12}{median:10.2f}{times[0]:10.2f}{times[-1]:10.2f}{ratio(median, bench.ceiling_ns)}"
          f"{size:10.0f}{ratio(size, bench.ceiling_bytes)}  {bench.what}", flush=True)
    return {"name": bench.name, "what": bench.what, "size": bench.size, "workers": bench.workers, "ns": median,
            "ns_of_runs": times, "bytes": size, "ceiling_ns": bench.ceiling_ns, "ceiling_bytes": bench.ceiling_bytes}


def main():
    if "--peers" in sys.argv:
        sys.exit("bench: the peers are not built yet; without --peers it measures janus-rt alone")
    janus_cc, build, names = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    chosen = [bench for bench in BENCHES if not names or bench.name in names]
    if not chosen:
        sys.exit(f"bench: no such benchmark; there are: {' '.join(bench.name for bench in BENCHES)}")
    program = compile_bench(janus_cc, build)
    print(f"{'per operation':12}{'ns':>9}{'least':>10}{'most':>10}{'/ceiling':>10}{'bytes':>10}{'/ceiling':>10}")
    results, failed = [], False
    for bench in chosen:
        try:
            results.append(report(bench, measure(program, bench)))
        except (RuntimeError, subprocess.TimeoutExpired, ValueError) as failure:
            print(f"bench: {failure}", file=sys.stderr)
            failed = True
    (build / "bench.json").write_text(json.dumps({"runs": RUNS, "cpus": os.cpu_count(), "results": results}, indent=1) + "\n")
    sys.exit(1 if failed else 0)


main()
