#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# callbacks_test.py ROOT ARCHIVE COMPILER... — there is no callback between a spawn and the queue: struct Nursery has no
# function pointer, and a spawn makes no call through a pointer on its usual path. ARCHIVE is libjanus_rt.a. Speaks TAP.
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # leaves no files in the source tree
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))
from calls import debug_entries, function_pointers_of, functions_of, reached  # noqa: E402
from tap import Tap  # noqa: E402

ENTRIES = ("janus_nursery_spawn", "janus_nursery_spawn_in", "janus_scheduler_spawn")
# Functions in which a spawn lets other tasks run, handles a request or ends its caller. What they call does not belong
# to the spawn.
GIVES_WAY = {"janus::Scheduler::yield", "janus::Scheduler::yield_to_next", "janus::Scheduler::yield_pinned", "janus::Scheduler::suspend",
             "janus::Scheduler::start_fresh", "janus::Scheduler::run_pending_action", "janus_context_switch",
             "janus::DeterministicScheduler::step", "janus::panic", "janus::end_for_budget",
             "janus::end_by_force", "janus::panic_for_access", "janus::IdleWorkers::poll_sources"}
# The runtime's own function pointers, which are set once and called when ops or memory are short.
OWN_POINTERS = {"janus::PoolCharge::reclaim": "takes back cached memory",
                "janus::charge_waiting": "waits for a recharge",
                "janus::UnservedAccounts::list": "offers what is returned to those who wait",
                "janus::open_account": "limits the turns of a new cage",
                "janus::TurnMeter::ask": "watches the turns of cages",
                "janus::tell_panic": "keeps what a report function is to be told"}
# A call of a function that the caller passes, a jump through a switch's table, and the kernel's clock in its vDSO.
HARMLESS = {"janus::kernel::Once::run", "janus::vformat", "janus::platform::read_ns"}

NURSERY = '#include "rt/task/record/nursery.h"\njanus::Nursery* nursery = new janus::Nursery();\n'
SAMPLE = """
struct Inner { int count; void (*hook)(int); };
struct Clean { int count; char name[8]; Clean* next; };
struct Base { int number; long (*const table[2])(void*); };
struct Direct : Base { Clean clean; Inner inner; long (*spawn)(void*); };
Clean clean; Direct* direct;
"""
CALLS = """
extern "C" {
void (*callback)(int);
__attribute__((noinline)) void deep(int n) { callback(n); __asm__(""); }
__attribute__((noinline)) void shallow(int n) { deep(n + 1); __asm__(""); }
void entry(int n) { shallow(n + 1); __asm__(""); }
__attribute__((noinline)) void plain(int n) { __asm__ volatile("" : : "r"(n)); }
void clean_entry(int n) { plain(n + 1); __asm__(""); }
}
"""


def compiled(compiler, folder, text, *options):
    source, output = Path(folder, "sample.cpp"), Path(folder, "sample.o")
    source.write_text(text)
    subprocess.run([*compiler, "-std=c++20", "-ffreestanding", "-fno-exceptions", "-fno-rtti", *options, "-c", source, "-o", output],
                   check=True)
    return output


def struct_claims(root, compiler, folder):
    includes = [f"-I{root}", f"-I{root}/rt/include", f"-I{root}/arch/x86_64/include", "-g", "-gdwarf-4", "-O0"]
    held = function_pointers_of(debug_entries(compiled(compiler, folder, NURSERY, *includes)), "Nursery")
    yield "a nursery holds no pointer to a function", held == [], held
    sample = debug_entries(compiled(compiler, folder, SAMPLE, "-g", "-gdwarf-4", "-O0"))
    found = function_pointers_of(sample, "Direct") or []
    yield "each pointer to a function in a struct, its base and its members is found", \
        sorted(name.split(".")[-1] for name in found) == ["hook", "spawn", "table"], found
    yield "a struct without one has none", function_pointers_of(sample, "Clean") == [], "found one"
    yield "a struct that is not there is no struct without one", function_pointers_of(sample, "Absent") is None, "found it"


def call_claims(compiler, folder, archive):
    functions = functions_of(archive)
    missing = [entry for entry in ENTRIES if entry not in functions]
    indirect = [entry for entry in ENTRIES if entry in functions and functions[entry].is_indirect]
    yield "the usual path of a spawn calls through no pointer", not missing and not indirect, missing + indirect
    ways = reached(functions, ENTRIES, GIVES_WAY)
    found = {way[-1]: " > ".join(way) for name, way in ways.items() if functions[name].is_indirect and way[-1] not in GIVES_WAY}
    strange = sorted(way for name, way in found.items() if name not in OWN_POINTERS and name not in HARMLESS)
    yield "the rest of a spawn calls through no pointer but six of the runtime's own", not strange and len(ways) > 50, strange
    absent = sorted(set(OWN_POINTERS) - set(found))
    yield "each of those six is really called", not absent, absent
    sample = functions_of(compiled(compiler, folder, CALLS, "-O2"))
    found = [way for name, way in reached(sample, ["entry"]).items() if sample[name].is_indirect]
    yield "a call through a pointer is found behind direct calls", found == [["entry", "shallow", "deep"]], found
    found = [way for name, way in reached(sample, ["entry"], {"shallow"}).items() if sample[name].is_indirect]
    yield "nothing is followed beyond where it is to end", not found, found
    found = [way for name, way in reached(sample, ["clean_entry"]).items() if sample[name].is_indirect]
    yield "direct calls alone are none", not found, found


def main():
    tap, root, archive, compiler = Tap("layers-callbacks"), sys.argv[1], sys.argv[2], sys.argv[3:]
    with tempfile.TemporaryDirectory() as folder:
        for claims in (struct_claims(root, compiler, folder), call_claims(compiler, folder, archive)):
            for claim, held, found in claims:
                tap.check(claim, held, str(found))
    tap.end()


main()
