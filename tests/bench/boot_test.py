#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# boot_test.py BUILD — runs ./dev bench boot once: it measures both environments, and the counted figures keep their
# promises: 5 ms to the first task on one CPU, and no operation that takes more instructions without a kernel.
import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "programs"))
sys.path.insert(0, str(HERE.parent.parent / "qemu"))
from installed import Tap, environment, install, skip_all, work_directory  # noqa: E402
from janus_qemu import kernel  # noqa: E402
from janus_qemu.refusal import Refusal  # noqa: E402

MOST_MS, MOST_RATIO = 5, 1.05


def missing():
    if not shutil.which("qemu-system-x86_64"):
        return "qemu-system-x86_64 is missing"
    try:
        kernel.find()
    except Refusal as refusal:
        return str(refusal)
    return None


def main():
    tap, work = Tap(), work_directory()
    janus_cc = install(sys.argv[1], work)
    done = subprocess.run([sys.executable, HERE / "run.py", "--janus-cc", janus_cc, "--out", work / "out", "boot", "--quick", "--json"],
                          capture_output=True, text=True, env=environment(), timeout=560)
    if not tap.check("it measures", done.returncode == 0, done.stderr[-600:]):
        return tap.end()
    result = json.loads(done.stdout)
    seen = {(row["world"], row["cpus"], row["clock"]) for row in result["boots"]}
    tap.check("both worlds, on 1 and 4 CPUs, by both clocks", len(seen) == 7, seen)
    counted = [row for row in result["boots"] if (row["world"], row["cpus"], row["clock"]) == ("bare", 1, "guest")]
    tap.check(f"no kernel, 1 CPU: the first task within {MOST_MS} ms of the first instruction",
              counted and 0 < counted[0]["first_task"] < MOST_MS, counted)
    for row in result["operations"]:
        tap.check(f"{row['workload']} takes no more instructions than as /init", 0 < row["bare guest"] <= MOST_RATIO * row["linux guest"], row)
    return tap.end()


if why := missing():
    skip_all(why)
main()
