# SPDX-License-Identifier: Apache-2.0
# boot.py — ./dev bench boot: the time from the first instruction to the first task, and the times of operations,
# without a kernel and as /init of Linux, in QEMU without KVM. By two clocks: guest time with -icount shift=0, where
# each instruction of any CPU takes a nanosecond and nothing else takes time, so the result is the same on every
# machine; and wall time, which is the emulator's. Medians of several boots.
import importlib.machinery
import importlib.util
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from programs import HERE, ROOT, Ours
from tools import CannotBuild, run_tool

sys.path.insert(0, str(ROOT / "qemu"))
# With counted instructions Linux takes minutes to reach /init on 4 CPUs. The guest time on 4 CPUs is too long: when a
# CPU is reset, QEMU advances its clock to its own next event, which may be 50 ms away.
CASES = (("guest", "bare", 1), ("guest", "linux", 1), ("guest", "bare", 4), ("wall", "bare", 1), ("wall", "linux", 1), ("wall", "bare", 4),
         ("wall", "linux", 4))
WORLDS = ("bare", "linux")
WORLD_NAMES = {"bare": "no kernel", "linux": "/init of Linux"}
OPERATIONS = {"yield": 2, "spawn": 100_000, "fib": 20, "channel": 50_000}
QUICK_OPERATIONS = {"fib": 12}
PATIENCE = 120
LINUX_TRIES = 2
# Published for other machines, with KVM: never printed as if it had been measured here.
PUBLISHED = ("Unikraft, published (EuroSys '21, doi:10.1145/3447786.3456248, figure 10; KVM): guest alone, first instruction to main, "
             "tens to hundreds of microseconds without devices, up to 1 ms with a network card; 3 to 40 ms with the VMM")


class Failed(Exception):
    """Its text is the reason."""


class TimedOut(Failed):
    """The guest was still running at the end of the time allowed."""


# --- Programs ----------------------------------------------------------------------------------------------------------

def symbol(program, name):
    listed = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    return next(int(line.split()[0], 16) for line in listed.splitlines() if line.endswith(f" {name}"))


def enter_at(program, name):
    """Changes the note of the boot protocol so that another instruction is the first one."""
    image = bytearray(program.read_bytes())
    note = struct.pack("<III4sQ", 4, 8, 18, b"Xen\0", symbol(program, "janus_pvh_start"))
    if image.count(note) != 1:
        raise CannotBuild("the image has no such note")
    at = image.index(note) + len(note) - 8
    image[at:at + 8] = struct.pack("<Q", symbol(program, name))
    program.write_bytes(image)


class ForWorld(Ours):
    """The programs for one environment."""

    def __init__(self, janus_cc, out, world):
        super().__init__(janus_cc, out / world)
        self.world = world

    def compile(self, *arguments, cwd=None):
        run_tool([self.janus_cc, f"--target={self.world}", *arguments], cwd=cwd)

    def build(self):
        super().build()
        entry = {"bare": ["boot/entry.S", "-Wl,-u,bench_pvh_entry"], "linux": ["start.S", "-Wl,-e,bench_start"]}[self.world]
        words = [word if word.startswith("-") else HERE / "programs" / word for word in entry]
        self.compile("-O2", "-I", ROOT, "-I", ROOT / "arch/x86_64/include", *words, HERE / "programs/boot/boot.c", "-o", self.out / "boot")
        if self.world == "bare":
            enter_at(self.out / "boot", "bench_pvh_entry")


# --- Boots -------------------------------------------------------------------------------------------------------------

def load_janus_qemu():
    """The janus-qemu program as a module, for its construction of QEMU's command line."""
    loader = importlib.machinery.SourceFileLoader("janus_qemu_program", str(ROOT / "qemu/janus-qemu"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class Emulator:
    def __init__(self):
        self.program = load_janus_qemu()
        self.qemu = self.program.machine.find_qemu()
        self.timed_out = importlib.import_module("janus_qemu.session").TIMED_OUT

    def boot(self, world, path, arguments, cpus, counted):
        """What the program printed, and the seconds from QEMU's start to its end. With more emulated processors than real
        ones Linux sometimes waits for ever; that is not measured, so a Linux may try again, and an image without may not."""
        tries = LINUX_TRIES if world == "linux" else 1
        for left in reversed(range(tries)):
            try:
                return self.try_boot(world, path, arguments, cpus, counted)
            except TimedOut as late:
                if left == 0:
                    raise
                print(f"bench: {late}; once more", file=sys.stderr)

    def try_boot(self, world, path, arguments, cpus, counted):
        options = self.program.Options()
        options.linux = world == "linux"
        with tempfile.TemporaryDirectory(prefix="janus-bench.") as scratch, tempfile.TemporaryFile() as console:
            words = self.program.boot_options(options, str(path), arguments, Path(scratch))
            kind = self.program.machine.Machine(self.qemu, "q35", cpus, 512, "tcg")
            session = self.program.Session(kind, words + (["-icount", "shift=0,sleep=off"] if counted else []), options.linux, console.fileno())
            began = time.monotonic()
            session.run(PATIENCE)
            seconds = time.monotonic() - began
            console.seek(0)
            said = console.read().decode(errors="replace")
        if session.status != 0:
            failure = TimedOut if session.status == self.timed_out else Failed
            clock = "guest" if counted else "wall"
            raise failure(f"{path.name} ({WORLD_NAMES[world]}, {cpus} CPUs, {clock}): {session.explanation or session.status}: {said[-200:]}")
        return said, seconds


def figures(said):
    lines = (line.split() for line in said.splitlines())
    return {words[0]: float(words[1]) for words in lines if len(words) == 2}


def boot_once(emulator, programs, world, cpus, counted):
    """The milliseconds of one boot."""
    said, seconds = emulator.boot(world, programs[world].out / "boot", [], cpus, counted)
    seen = figures(said)
    if seen.get("workers") != cpus or seen["first_task"] <= seen["entered"]:
        raise Failed(f"senseless: {said!r}")
    tick = 1 / seen["ticks_per_ms"]
    return {"entered": seen["entered"] * tick, "main": (seen["main"] - seen["entered"]) * tick,
            "first_task": (seen["first_task"] - seen["entered"]) * tick, "since_reset": seen["first_task"] * tick, "process": 1000 * seconds}


def medians(samples):
    return {key: statistics.median(sample[key] for sample in samples) for key in samples[0]}


def measure_boots(emulator, programs, rounds):
    """By clock, environment and number of CPUs."""
    return [{"clock": clock, "world": world, "cpus": cpus,
             **medians([boot_once(emulator, programs, world, cpus, clock == "guest") for _ in range(rounds)])}
            for clock, world, cpus in CASES]


def measure_operations(emulator, programs, operations, rounds):
    """Guest nanoseconds per operation, on one CPU with one worker."""
    rows = []
    for workload, size in operations.items():
        row = {"workload": workload}
        for clock in ("guest", "wall"):
            samples = {world: [] for world in WORLDS}
            for _ in range(1 if clock == "guest" else rounds):
                for world in WORLDS:  # alternately, so that other load of the host affects both
                    said, _ = emulator.boot(world, programs[world].out / "janus-rt", [workload, str(size), "1"], 1, clock == "guest")
                    samples[world].append(figures(said)["ns"])
            row |= {f"{world} {clock}": statistics.median(samples[world]) for world in WORLDS}
        rows.append(row)
    return rows


# --- Output ------------------------------------------------------------------------------------------------------------

def table(result):
    yield f"{'milliseconds':30}{'to main':>10}{'first task':>12}{'since reset':>13}{'QEMU, all':>11}"
    for row in result["boots"]:
        name = f"{WORLD_NAMES[row['world']]}, {row['cpus']} CPU{'s' if row['cpus'] > 1 else ''}, {row['clock']}"
        yield f"{name:30}{row['main']:10.3f}{row['first_task']:12.3f}{row['since_reset']:13.1f}{row['process']:11.0f}"
    yield "guest: -icount; on 4 CPUs it contains what QEMU's clock jumps when CPUs are reset, see the wall's"
    yield "to main, first task: since the program's first instruction; Linux's own start is in `since reset` alone"
    yield PUBLISHED
    yield ""
    yield f"{'ns an operation':16}{'no kernel':>14}{'/init':>10}{'no kernel':>14}{'/init':>10}"
    yield f"{'':16}{'instructions':>14}{'':>10}{'wall':>14}"
    for row in result["operations"]:
        yield f"{row['workload']:16}" + "".join(f"{row[f'{world} {clock}']:{14 if world == 'bare' else 10}.1f}"
                                                for clock in ("guest", "wall") for world in WORLDS)


def run(options):
    """./dev bench boot"""
    for name in [name for name in os.environ if name.startswith("JANUS_") and name != "JANUS_KERNEL"]:
        del os.environ[name]
    os.environ["JANUS_ACCELERATOR"] = "tcg"
    rounds = options.rounds
    try:
        programs = {world: ForWorld(options.janus_cc, options.out / "bench/boot", world) for world in WORLDS}
        for world in WORLDS:
            programs[world].build()
        emulator = Emulator()
        result = {"boots": measure_boots(emulator, programs, rounds),
                  "operations": measure_operations(emulator, programs, QUICK_OPERATIONS if options.quick else OPERATIONS, rounds)}
    except (CannotBuild, Failed, importlib.import_module("janus_qemu.refusal").Refusal) as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    (options.out / "bench/boot.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1) if options.json else "\n".join(table(result)))
    return 0
