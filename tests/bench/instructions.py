# SPDX-License-Identifier: Apache-2.0
# instructions.py — how many instructions an operation takes, and how many of them lock the bus, counted one by one
# (counting/stepper.c). Unlike times these figures are exact, so instructions.json records them and a test compares
# them: a change that adds instructions is reported. `./dev bench instructions` prints them, `--update` records them.
import json
import subprocess
import sys
from pathlib import Path

import machine
import programs
from tools import CannotBuild, run_tool

KEPT = Path(__file__).resolve().parent / "instructions.json"
COUNTING = programs.HERE / "counting"
# Each includes the few instructions of the loop around it.
OPERATIONS = {
    "switch": "janus_context_switch, one way",
    "yield": "janus_yield, two tasks",
    "spawn": "janus_nursery_spawn",
    "run": "taking a task from the deque, running an empty function, its end",
    "nursery": "janus_nursery_create and janus_nursery_await_all, no child",
    "scope_of_one": "the same with one child",
    "fork": "janus_fork_join of two empty functions",
    "check": "janus_yield_check",
    "loop_check": "JANUS_LOOP_CHECK",
    "send": "janus_channel_send into a buffer with room",
    "recv": "janus_channel_recv from a buffer",
    "send_many": "as send, in janus_channel_send_many of 16",
    "recv_many": "as recv, in janus_channel_recv_many of 16",
    "round_trip": "a word there and back over two rendezvous channels",
    "alloc": "janus_alloc(64) and janus_free",
    "alloc_large": "janus_alloc(100000) and janus_free",
    "realloc": "janus_realloc of 64 bytes to 500, or back",
    "caged_send": "as send, by a task in a cage",
    "caged_recv": "as recv, by a task in a cage",
    "caged_alloc": "as alloc, by a task in a cage",
    "caged_realloc": "as realloc, by a task in a cage",
    "caged_spawn": "as spawn, by a task in a cage",
    "confined_spawn": "as spawn, by a task in a cage that a token confines",
    "push": "the deque's push",
    "pop": "its pop",
    "steal": "its steal, without the heavy fence itself",
}
COUNT = 256
# Allowed difference per operation. The count itself does not vary, but now and then a page is new.
TOLERANCE = 0.05
NOT_ALLOWED = 3
UPDATE = "./dev bench instructions --update"


class CannotCount(Exception):
    """Its text is the reason."""


def build(janus_cc, out):
    """Builds stepper and count; returns their paths."""
    janus_cc, out = Path(janus_cc).resolve(), Path(out)
    out.mkdir(parents=True, exist_ok=True)
    run_tool(["gcc", "-O2", "-Wall", "-Wextra", COUNTING / "stepper.c", "-o", out / "stepper"])
    common = [janus_cc, "-O2", "-Wall", "-Wextra", "-I", programs.ROOT, "-I", programs.ROOT / "arch/x86_64/include",
              "-c"]
    alone = ["-std=c++20", "-Djanus=deque_alone"]
    run_tool([*common, "-std=c11", COUNTING / "count.c", "-o", out / "count.o"])
    run_tool([*common, *alone, COUNTING / "count_deque.cpp", "-o", out / "count_deque.o"])
    objects = [out / name for name in ("count.o", "count_deque.o")]
    run_tool([janus_cc, *objects, "-o", out / "count"])
    return out / "stepper", out / "count"


def count_operation(stepper, count, operation, times=COUNT):
    done = subprocess.run([stepper, count, operation, str(times)], env=programs.environment(1), capture_output=True,
                          text=True, timeout=120)
    if done.returncode == NOT_ALLOWED:
        raise CannotCount("tracing is not allowed here")
    if done.returncode != 0:
        raise RuntimeError(f"{operation}: {done.stderr.strip() or done.returncode}")
    instructions, locked = map(int, done.stdout.split())
    return {"instructions": instructions / times, "locked": locked / times}


def count_all(janus_cc, out):
    stepper, count = build(janus_cc, out)
    return {operation: count_operation(stepper, count, operation) for operation in OPERATIONS}


def compiler():
    return machine.version_line(["gcc", "--version"])


# --- Comparing ---------------------------------------------------------------------------------------------------------

def differences(kept, counted):
    """A line for each operation whose count differs."""
    for operation in OPERATIONS:
        before, now = kept.get(operation), counted[operation]
        if before is None:
            yield f"{operation}: {now['instructions']:g} instructions, {now['locked']:g} locked; not counted before"
        elif any(abs(before[what] - now[what]) > TOLERANCE for what in now):
            yield f"{operation}: " + ", ".join(change(what, before[what], now[what]) for what in now)


def change(what, before, now):
    if abs(before - now) <= TOLERANCE:
        return f"{now:.1f} {what} as before"
    relative = f", {100 * (now - before) / before:+.1f} %" if before else ""
    return f"{what} {before:.1f} -> {now:.1f} ({now - before:+.1f}{relative})"


def write_down(counted):
    kept = {"compiler": compiler(), "count": COUNT, "operations": counted}
    KEPT.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def read_kept():
    return json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {"compiler": None, "operations": {}}


def table(counted):
    yield f"{'per operation':16}{'instructions':>14}{'locked':>9}"
    for operation, found in counted.items():
        yield f"{operation:16}{found['instructions']:14.1f}{found['locked']:9.1f}   {OPERATIONS[operation]}"


def run(options):
    """./dev bench instructions [--update]"""
    try:
        counted = count_all(options.janus_cc, options.out / "bench/counting")
    except (CannotCount, CannotBuild) as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    print(json.dumps(counted, indent=1) if options.json else "\n".join(table(counted)))
    for line in differences(read_kept()["operations"], counted):
        print(f"bench: {line}", file=sys.stderr)
    if options.update:
        write_down(counted)
    return 0
