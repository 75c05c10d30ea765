#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# peers_test.py — the limit programs and the peers whose packages are installed follow PROTOCOL.md, at small sizes.
# Peers in Rust take a minute to build, so they are tested only with JANUS_SOAK.
import os
import pathlib
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "programs"))
sys.path.insert(0, str(HERE / "peers"))
from installed import Tap, work_directory  # noqa: E402
import build  # noqa: E402

# A small size of each workload, and the figures that it must print.
WORKLOADS = {
    "switch": (20000, "ns"), "yield": (1000, "ns"), "spawn": (20000, "ns"), "spawn_10": (20000, "ns"),
    "spawn_100": (20000, "ns"), "spawn_10000": (20000, "ns"), "uts": (50, "ns"), "fib": (15, "ns"), "fork": (15, "ns"),
    "sort": (5000, "ms"), "reduce": (5000, "ms"), "skynet": (1000, "ns ms"),
    "nqueens": (6, "ms"), "parked": (1000, "bytes create teardown reuse"), "spawned": (10000, "bytes ns"),
    "channel": (5000, "ns"), "channel_16": (5000, "ns"), "channel_64": (5000, "ns"), "wake": (50, "p50 p99 others_percent"), "steal": (10000, "ns"), "deque": (20000, "ns"),
    "ring": (1000, "ns"), "lazy_spawn": (20000, "ns"), "forkjoin": (15, "ns"),
    "first_touch": (1000, "ns guard bytes teardown"), "guard": (1000, "ns single"), "futex_wake": (50, "p50 p99"),
    "futex_timeout": (100, "p50 p99"), "deadline": (100, "ns"), "late": (1300, "p50 p99"),
    **{f"select_{wait}{cases}": (300, "ns") for wait in ("", "wait_") for cases in (2, 8, 64)},
    "lock": (20000, "ns"), "contend_2": (20000, "ns passed"), "contend_8": (20000, "ns passed"),
    "alloc": (20000, "ns"), "alloc_batch": (20000, "ns"), "alloc_mixed": (20000, "ns"), "alloc_elsewhere": (20000, "ns"),
    "round_trip": (5000, "ns"), "heavy_fence": (1000, "ns"),
}
CPUS = len(os.sched_getaffinity(0))


def run(path, *words):
    try:
        return subprocess.run([path, *map(str, words)], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as late:
        return subprocess.CompletedProcess(late.cmd, 124, "", "no end within a minute")


def figures(done):
    """{name: number}; empty if a line has another form."""
    try:
        return {name: float(value) for name, value in (line.split() for line in done.stdout.splitlines())}
    except ValueError:
        return {}


def check_workload(tap, peer, path, workload, workers):
    size, names = WORKLOADS[workload]
    done = run(path, workload, size, workers)
    found = figures(done)
    fine = done.returncode == 0 and set(names.split()) <= set(found) and all(
        value > 0 for name, value in found.items() if not name.endswith("percent"))
    lacks = done.returncode == 1 and ("this kernel" in done.stderr or "no membarrier" in done.stderr)
    tap.check(f"{peer.name}: {workload}, workers: {workers}", fine or lacks, f"status {done.returncode}: {done.stdout}{done.stderr}")


def check_manners(tap, peer, path):
    status = [run(path, *words).returncode for words in (["no-such", 1, 1], [next(iter(peer.workloads)), 0, 1], [])]
    tap.check(f"{peer.name}: unknown is 3, senseless is neither that nor success", status[0] == 3 and not {0, 3} & set(status[1:]), repr(status))
    workload = "yield" if "yield" in peer.workloads else next(iter(peer.workloads))
    endless = subprocess.Popen([path, workload, "1000000000", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.05)
    endless.terminate()
    try:
        ended = endless.wait(timeout=10)
    except subprocess.TimeoutExpired:
        endless.kill()
        ended = "only when killed"
    # A peer that refuses so large a size has ended already.
    tap.check(f"{peer.name}: ends when told to", ended == -signal.SIGTERM or ended == 1, repr(ended))


def check_peer(tap, peer, directory):
    try:
        path = peer.build(directory)
    except build.Unbuildable as failure:
        tap.check(f"{peer.name} builds", False, str(failure))
        return
    tap.check(f"{peer.name} {peer.version()} builds", path.is_file())
    for workload, numbers in peer.workloads.items():
        for workers in numbers:
            if workers <= CPUS:
                check_workload(tap, peer, path, workload, workers)
    check_manners(tap, peer, path)


def is_wanted(peer):
    is_slow = isinstance(peer, build.RustPeer) and "JANUS_SOAK" not in os.environ
    return not is_slow and all(build.is_installed(package) for package in peer.packages)


def main():
    tap, work = Tap(), work_directory()
    for peer in build.LIMITS + build.PEERS:
        if is_wanted(peer):
            check_peer(tap, peer, work / peer.name)
    absurd = build.CxxPeer("absurd", (), "gcc", {}, source="no-such.cpp")
    try:
        absurd.build(work / "absurd")
        said = "nothing"
    except build.Unbuildable as failure:
        said = str(failure)
    tap.check("what cannot be built says so in one line", "no-such.cpp" in said and "\n" not in said, said)
    tap.end()


main()
