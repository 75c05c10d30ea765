# SPDX-License-Identifier: Apache-2.0
# programs.py — the programs that are compared: the project's, compiled by the installed janus-cc as users would; the
# limit programs; the peers. Each is called as `PROGRAM WORKLOAD SIZE WORKERS` (PROTOCOL.md).
import importlib.util
import os
import shutil
from pathlib import Path

from tools import is_installed, run_tool

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


class Ours:
    """The project's own programs, in `out`."""

    def __init__(self, janus_cc, out):
        self.janus_cc, self.out = Path(janus_cc).resolve(), Path(out)

    def build(self):
        objects = self.out / "objects"
        shutil.rmtree(objects, ignore_errors=True)
        objects.mkdir(parents=True)
        common = ["-O2", "-Wall", "-Wextra", "-c", "-I", ROOT, "-I", ROOT / "arch/x86_64/include"]
        self.compile("-std=c11", *common, *sorted((HERE / "workloads").glob("*.c")), cwd=objects)
        # Its loops are the compiler's as much as ours, so it is optimised as the peers are.
        self.compile("-std=c++20", *common, "-O3", "-march=native", HERE / "workloads/forks.cpp", "-o", objects / "forks.o")
        # The deque in another namespace, on a platform that the workload defines.
        self.compile("-std=c++20", *common, "-Djanus=deque_alone", HERE / "workloads/deque.cpp", "-o", objects / "deque.o")
        self.compile(*sorted(objects.glob("*.o")), "-o", self.out / "janus-rt")
        programs = HERE / "programs"
        start = ["-I", ROOT, "-I", ROOT / "arch/x86_64/include", "-Wl,-e,bench_start"]
        self.compile("-O2", *start, *sorted(programs.glob("start.*")), "-o", self.out / "start")
        self.compile("-O2", "-s", programs / "hello.c", "-o", self.out / "hello")

    def compile(self, *arguments, cwd=None):
        run_tool([self.janus_cc, *arguments], cwd=cwd)

    def path(self, workload):
        return self.out / {"start": "start", "size": "hello"}.get(workload, "janus-rt")


def load_peers(path):
    """The module with the peers (`PEERS`) and the limit programs (`LIMITS`), or None if there is none. Each of them has
    `name`, `packages` (of Debian, to build it), `build(directory)`, which returns its path, and `workloads`, which maps a
    workload's name to the numbers of workers that it supports. It may have `size(workload, size)`, which returns a
    smaller size if it could not end in time otherwise (figures are per operation)."""
    if not Path(path).exists():
        return None
    specification = importlib.util.spec_from_file_location("bench_peers", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def missing_packages(packages):
    if not packages or not shutil.which("dpkg-query"):
        return []
    return [package for package in packages if not is_installed(package)]


def environment(workers):
    plain = {name: value for name, value in os.environ.items() if not name.startswith("JANUS_")}
    return plain | {"JANUS_WORKERS": str(workers), "JANUS_PIN": "1"}
