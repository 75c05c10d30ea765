# SPDX-License-Identifier: Apache-2.0
# build.py — the peers that are packaged by Debian, and how each is built, offline: PEERS, and LIMITS for the limit
# programs. Results go below the directory that the caller gives; nothing is written beside the sources.
import os
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIMITS_HERE = HERE.parent / "limits"
ROOT = HERE.parent.parent.parent
sys.path.insert(0, str(HERE.parent))
from tools import CannotBuild as Unbuildable  # noqa: E402
from tools import is_installed  # noqa: E402
from tools import run_tool as run  # noqa: E402

OPTIMISED = ("-O3", "-march=native", "-DNDEBUG", "-Wall", "-Wextra")
BOTH, ONE, TWO = (1, 2), (1,), (2,)
SPAWNS = {"spawn": BOTH, "spawn_10": BOTH, "spawn_100": BOTH, "spawn_10000": BOTH}
ALLOCATIONS = {"alloc": ONE, "alloc_batch": ONE, "alloc_mixed": ONE, "alloc_elsewhere": TWO}


def package_version(package):
    """The version without epoch, repacking suffix and Debian revision."""
    full = run(["dpkg-query", "-W", "-f", "${Version}", package])
    return full.split(":")[-1].split("-")[0].split("+")[0]


@dataclass(frozen=True)
class Peer:
    """A program that is called as PROGRAM WORKLOAD SIZE WORKERS. `packages`: Debian's, to build and to run it; `versioned`
    is the one whose version is shown. `workloads`: the numbers of workers that it supports, by workload. `most`: sizes
    that it gets instead of larger ones, which would take too long (figures are per operation, so they do not depend on it)."""
    name: str
    packages: tuple
    versioned: str
    workloads: dict
    most: dict = field(default_factory=dict)

    def version(self):
        return package_version(self.versioned)

    def size(self, workload, size):
        return min(size, self.most.get(workload, size))

    def build(self, out_dir):
        """Builds the program below `out_dir`; returns its path."""
        out_dir = Path(out_dir).resolve()
        out_dir.mkdir(parents=True, exist_ok=True)
        return self.compile(out_dir)


# --- C and C++ -----------------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class CxxPeer(Peer):
    source: Path = None
    libraries: tuple = ()

    def compile(self, out_dir):
        measure, program = out_dir / "measure.o", out_dir / "peer"
        run(["gcc", "-std=gnu11", *OPTIMISED, "-c", HERE / "measure.c", "-o", measure])
        run(["g++", "-std=c++17", *OPTIMISED, HERE / self.source, measure, *self.libraries, "-pthread", "-o", program])
        return program


@dataclass(frozen=True)
class MallocPeer(Peer):
    """malloc and free of a library that takes the place of the C library's."""
    libraries: tuple = ()

    def compile(self, out_dir):
        program = out_dir / "peer"
        run(["gcc", "-std=gnu11", *OPTIMISED, HERE / "measure.c", HERE / "malloc/malloc.c", *self.libraries, "-pthread",
             "-o", program])
        return program


@dataclass(frozen=True)
class Limits(Peer):
    def version(self):
        return "of this tree"

    def compile(self, out_dir):
        sources = [HERE / "measure.c", *sorted(LIMITS_HERE.glob("*.c")), *sorted(LIMITS_HERE.glob("*.S"))]
        run(["gcc", "-std=gnu11", *OPTIMISED, "-I", ROOT, "-I", ROOT / "arch/x86_64/include", *sources, "-pthread", "-o", out_dir / "limits"])
        return out_dir / "limits"


# --- Go ------------------------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class GoPeer(Peer):
    def version(self):
        return run(["go", "version"], env=self.environment("/nonexistent")).split()[2].removeprefix("go")

    def environment(self, out_dir):
        """An environment without network access and without use of the home directory."""
        return os.environ | {"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0",
                             "GOCACHE": f"{out_dir}/go-cache", "GOPATH": f"{out_dir}/go"}

    def compile(self, out_dir):
        run(["go", "build", "-o", out_dir / "peer", "."], cwd=HERE / "go", env=self.environment(out_dir))
        return out_dir / "peer"


# --- Rust ----------------------------------------------------------------------------------------------------------------

CRATES = Path("/usr/share/cargo/registry")
# Debian's newer compiler makes faster code. The two packages conflict; if the older one is installed, it is used.
RUST = ("rustc", "cargo") if is_installed("rustc") else ("rustc-web", "cargo-web")
CARGO_CONFIG = f"""[source.crates-io]
replace-with = "debian"
[source.debian]
directory = "{CRATES}"
"""


@dataclass(frozen=True)
class RustPeer(Peer):
    crate: str = None

    def version(self):
        return f"{super().version()} (rustc {package_version(RUST[0])})"

    def compile(self, out_dir):
        sources = out_dir / "sources"
        shutil.rmtree(sources, ignore_errors=True)
        for crate in ("measure", self.crate):  # cargo writes its lock file beside the sources
            shutil.copytree(HERE / "rust" / crate, sources / crate)
        home = out_dir / "cargo"
        home.mkdir(exist_ok=True)
        (home / "config.toml").write_text(CARGO_CONFIG)
        run(["/usr/bin/cargo", "build", "--release", "--offline", "--quiet", "--target-dir", out_dir / "target"],
            cwd=sources / self.crate, env=self.environment(home))
        return out_dir / "target/release" / f"{self.crate}-peer"

    @staticmethod
    def environment(home):
        """The environment in which Debian's compiler is used, not one that the user has installed."""
        plain = {name: value for name, value in os.environ.items() if not name.startswith(("CARGO", "RUST"))}
        return plain | {"CARGO_HOME": str(home), "PATH": "/usr/bin:/bin", "RUSTC": "/usr/bin/rustc",
                        "RUSTFLAGS": "-C target-cpu=native"}


# --- The list of peers ---------------------------------------------------------------------------------------------------

PEERS = [
    CxxPeer("Boost.Context", ("gcc", "g++", "libboost-context-dev"), "libboost-context1.74-dev",
            {"switch": ONE}, source="boost/context.cpp", libraries=("-lboost_context",)),
    CxxPeer("Boost.Fiber", ("gcc", "g++", "libboost-fiber-dev", "libboost-context-dev", "libgoogle-perftools-dev"),
            "libboost-fiber1.74-dev",
            {"yield": ONE, "spawn": BOTH, "fib": BOTH, "skynet": BOTH, "parked": ONE, "channel": BOTH},
            most={"fib": 24}, source="boost/fiber.cpp", libraries=("-lboost_fiber", "-lboost_context", "-ltcmalloc")),
    GoPeer("Go", ("golang-go",), "golang-go",
           {"yield": ONE, **SPAWNS, "fib": BOTH, "skynet": BOTH, "uts": BOTH, "nqueens": BOTH, "parked": ONE,
            "channel": BOTH, "channel_16": ONE, "channel_64": ONE, "wake": TWO, "deadline": ONE, "late": BOTH, "lock": ONE, "contend_2": ONE, "contend_8": TWO,
            **{f"select_{wait}{cases}": ONE for wait in ("", "wait_") for cases in (2, 8, 64)}}, most={"fib": 28}),
    RustPeer("tokio", (*RUST, "librust-tokio-dev", "librust-libc-dev"), "librust-tokio-dev",
             {"yield": ONE, **SPAWNS, "fib": BOTH, "skynet": BOTH, "uts": BOTH, "parked": ONE, "spawned": ONE,
              "channel": BOTH, "wake": TWO, "deadline": ONE, "late": BOTH, "lock": ONE, "contend_2": ONE, "contend_8": TWO},
             most={"fib": 28}, crate="tokio"),
    RustPeer("rayon", (*RUST, "librust-rayon-dev", "librust-libc-dev"), "librust-rayon-dev",
             {**SPAWNS, "fib": BOTH, "fork": BOTH, "sort": BOTH, "reduce": BOTH, "skynet": BOTH, "uts": BOTH,
              "nqueens": BOTH, "wake": TWO}, crate="rayon"),
    RustPeer("crossbeam-deque", (*RUST, "librust-crossbeam-deque-dev", "librust-libc-dev"),
             "librust-crossbeam-deque-dev", {"steal": ONE, "deque": ONE}, crate="crossbeam"),
    CxxPeer("oneTBB", ("gcc", "g++", "libtbb-dev"), "libtbb-dev",
            {**SPAWNS, "fib": BOTH, "skynet": BOTH, "uts": BOTH, "nqueens": BOTH, "wake": TWO},
            most={"fib": 30}, source="tbb/tbb.cpp", libraries=("-ltbb",)),
    MallocPeer("glibc", ("gcc", "libc6-dev"), "libc6-dev", ALLOCATIONS),
    MallocPeer("jemalloc", ("gcc", "libjemalloc-dev"), "libjemalloc-dev", ALLOCATIONS, libraries=("-ljemalloc",)),
    MallocPeer("mimalloc", ("gcc", "libmimalloc-dev"), "libmimalloc-dev", ALLOCATIONS, libraries=("-lmimalloc",)),
]
LIMITS = [
    Limits("limits", ("gcc", "libc6-dev"), "gcc",
           {"switch": ONE, "ring": ONE, "lazy_spawn": ONE, "forkjoin": ONE, "first_touch": ONE, "guard": ONE, "steal": ONE,
            "deque": ONE, "heavy_fence": BOTH, "futex_wake": TWO, "futex_timeout": ONE, "round_trip": TWO}),
]
