#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""walk.py BUILD [--root TREE] [--files] [OPERATION...] — through which files of the runtime an operation goes: the files of
the instructions that it executes, including inlined ones, according to the program's debug information. A room is a
source with its header. Lines: those executed, and all lines of the files.

BUILD is configured with -Dbuildtype=release -Ddebug=true, and built. TREE is the source tree from which it was configured,
for older trees.
"""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from tools import run_tool  # noqa: E402

OPERATIONS = ("spawn", "run", "scope_of_one", "check", "alloc", "send", "yield")
COUNT = {"check": 8192}  # enough to include the ends of some slices
LAYERS = ("rt/base", "rt/budget", "rt/mem", "rt/sched", "rt/task", "rt/abi", "arch/")


def build(builddir, root, out):
    """The paths of stepper and count, linked with the build's library."""
    run_tool(["meson", "install", "-C", builddir, "--no-rebuild", "--quiet", "--destdir", out / "root"])
    janus_cc = next((out / "root").rglob("bin/janus-cc"))
    run_tool(["gcc", "-O2", HERE / "counting/stepper.c", "-o", out / "stepper"])
    common = [janus_cc, "-O2", "-g", "-I", root, "-I", root / "arch/x86_64/include", "-c"]
    run_tool([*common, "-std=c11", root / "tests/bench/counting/count.c", "-o", out / "count.o"])
    run_tool([*common, "-std=c++20", "-Djanus=deque_alone", root / "tests/bench/counting/count_deque.cpp", "-o", out / "deque.o"])
    run_tool([janus_cc, out / "count.o", out / "deque.o", "-o", out / "count"])
    return out / "stepper", out / "count"


def lines_of(stepper, count, operation, root):
    plain = {name: value for name, value in os.environ.items() if not name.startswith("JANUS_")} | {"JANUS_WORKERS": "1"}
    done = subprocess.run([stepper, "--where", count, operation, str(COUNT.get(operation, 256))], capture_output=True, text=True, env=plain, timeout=120)
    if done.returncode != 0:
        raise SystemExit(f"walk: {operation}: {done.stderr.strip() or done.returncode}")
    found = subprocess.run(["addr2line", "-i", "-e", count], input=done.stdout, capture_output=True, text=True, check=True, timeout=300).stdout
    frames = {line.split(" (")[0].rpartition(":")[::2] for line in found.splitlines()}
    relative = {(os.path.relpath(os.path.normpath(path), root), line) for path, line in frames if os.path.normpath(path).startswith(str(root))}
    return {(path, line) for path, line in relative if path.startswith(LAYERS)}


def main():
    parser = argparse.ArgumentParser(prog="walk.py")
    parser.add_argument("build", type=Path)
    parser.add_argument("operations", nargs="*", default=OPERATIONS)
    parser.add_argument("--root", type=Path, default=HERE.parent.parent)
    parser.add_argument("--files", action="store_true", help="name them")
    options = parser.parse_args()
    root = options.root.resolve()
    with tempfile.TemporaryDirectory() as out:
        stepper, count = build(options.build, root, Path(out))
        print(f"{'':16}{'files':>8}{'rooms':>8}{'lines':>8}{'of':>8}")
        for operation in options.operations:
            lines = lines_of(stepper, count, operation, root)
            files = {path for path, _ in lines}
            rooms = sorted({os.path.splitext(path)[0] for path in files})
            whole = sum(len((root / path).read_text().splitlines()) for path in files)
            print(f"{operation:16}{len(files):8}{len(rooms):8}{len(lines):8}{whole:8}" + ("  " + " ".join(rooms) if options.files else ""))


if __name__ == "__main__":
    main()
