#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# layers.py ROOT BUILD — checks that the layers are kept apart, by the includes of their files and the undefined symbols
# of their objects, and that the shipped objects need nothing that a program without a libc lacks. Prints a line for
# each violation. docs/decisions/0250
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

FREESTANDING_HEADERS = {"atomic", "bit", "compare", "concepts", "cstdarg", "cstddef", "cstdint", "initializer_list", "limits", "new", "tuple",
                        "type_traits", "utility", "stdarg.h", "stddef.h", "stdint.h", "cpuid.h", "immintrin.h"}
PLATFORM = "rt/platform.h"
OPTIONAL = "rt/optional.h"  # the parts that a program may lack
SEAM = (PLATFORM, OPTIONAL)
PUBLIC = "rt/include/"
PROCESSOR = "arch/x86_64/"  # its headers are <arch/...>: the includes name no platform


@dataclass(frozen=True)
class Layer:
    folder: str
    sees: tuple  # prefixes of the files that it may include and of the sources whose symbols it may use
    freestanding: bool = True


# From the bottom up. A layer sees itself. Files in none of these layers may see all of them.
LAYERS = (
    Layer("arch/x86_64/", ()),
    Layer("arch/linux/", ("arch/x86_64/", *SEAM)),
    # Also implements what layers above leave open for a build under a sanitizer: hooks, the heap, the start.
    Layer("arch/hosted/", ("arch/x86_64/", *SEAM, "rt/base/", "rt/mem/", "rt/sched/", PUBLIC), freestanding=False),
    Layer("kernel-free/", ("arch/x86_64/", *SEAM)),
    Layer("rt/include/", ()),
    Layer(OPTIONAL, ()),
    Layer(PLATFORM, (OPTIONAL,)),
    Layer("rt/base/", ("arch/x86_64/", *SEAM)),
    Layer("rt/budget/", ("arch/x86_64/", *SEAM, "rt/base/")),
    Layer("rt/mem/", ("arch/x86_64/", *SEAM, "rt/base/", "rt/budget/")),
    Layer("rt/sched/", ("arch/x86_64/", *SEAM, "rt/base/", "rt/budget/", "rt/mem/")),
    Layer("rt/task/", ("arch/x86_64/", *SEAM, "rt/base/", "rt/budget/", "rt/mem/", "rt/sched/")),
    Layer("rt/abi/", ("arch/x86_64/", *SEAM, "rt/base/", "rt/budget/", "rt/mem/", "rt/sched/", "rt/task/", PUBLIC)),
    Layer("linker/", (PUBLIC,), freestanding=False),
)
# The platforms: each defines rt/platform.h. Objects above them may use janus::platform, and nothing else of them.
MACHINES = ("arch/linux/", "kernel-free/")
# Calls upward that are part of the contract: the first function that _start calls.
UPWARD = {"arch/linux/": {"janus_boot"}, "kernel-free/": {"janus_boot"}}
# The functions that a layer calls and that another layer defines: (prefix, the file that defines them).
HOOKS = {"rt/sched/": ("janus::hooks::", "rt/task/run/hooks.cpp")}
# Symbols that the linker makes.
LINKER_SYMBOLS = re.compile(r"_GLOBAL_OFFSET_TABLE_|_DYNAMIC|__ehdr_start|__rela_iplt_(start|end)|__(start|stop)_\w+")
# Functions that compilers call by themselves; weak, so that a program may define its own.
COMPILER_NEEDS = {"memcpy", "memmove", "memset", "memcmp", "bcmp", "strlen"}


def layer_of(path):
    return next((layer for layer in LAYERS if path.startswith(layer.folder)), None)


def may_see(layer, path):
    return path.startswith(layer.folder) or any(path.startswith(prefix) for prefix in layer.sees)


# --- Includes ----------------------------------------------------------------------------------------------------------

CODE = (".h", ".hpp", ".c", ".cpp", ".S")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)


def include_violations(root):
    for path in sorted(Path(root).rglob("*")):
        name = str(path.relative_to(root))
        layer = layer_of(name)
        if layer is None or path.suffix not in CODE:
            continue
        for quoted, angled in INCLUDE.findall(path.read_text(errors="replace")):
            if why := include_violation(layer, quoted, angled):
                yield f"{name}: includes {quoted or angled}: {why}"


def include_violation(layer, quoted, angled):
    if angled.startswith("janus/"):
        return None if may_see(layer, PUBLIC + angled) else "the public headers are for the ABI layer and users"
    if angled.startswith("arch/"):
        return None if may_see(layer, PROCESSOR) else "points upward or aside"
    if angled:
        allowed = not layer.freestanding or angled in FREESTANDING_HEADERS
        return None if allowed else "not a header that compilers bring themselves"
    if quoted.startswith(PROCESSOR) and not layer.folder.startswith(PROCESSOR):
        return "the processor's headers are <arch/...>"
    target = layer_of(quoted)
    if target is None:  # one beside the file: only where there is no include path from the root
        return None if not layer.freestanding and "/" not in quoted else "not a path from the root into a layer below"
    return None if may_see(layer, quoted) else "points upward or aside"


# --- Circles of includes -----------------------------------------------------------------------------------------------
# #pragma once would hide them; then the order of includes decides what a file sees.

def included_paths(root):
    """For each of the project's files, the project's files that it includes: pairs of paths from the root."""
    roots = ("", PUBLIC, PROCESSOR + "include/")
    for path in sorted(Path(root).rglob("*")):
        name = str(path.relative_to(root))
        if layer_of(name) is None or path.suffix not in CODE:
            continue
        for include in INCLUDE.findall(path.read_text(errors="replace")):
            target = next((at + "".join(include) for at in roots if Path(root, at + "".join(include)).is_file()), None)
            if target is not None:
                yield name, target


def circle_violations(root):
    """A line for each circle of includes, among files and among the folders of rt."""
    files = list(included_paths(root))
    rooms = [(Path(a).parts[:2], Path(b).parts[:2]) for a, b in files]
    folders = [("/".join(a) + "/", "/".join(b) + "/") for a, b in rooms if a[0] == b[0] == "rt" and a != b]
    for edges in (files, folders):
        for circle in circles(edges):
            yield f"{circle[0]}: includes itself by way of {', '.join(circle[1:])}"


def circles(edges):
    """The nodes of each circle, in the order in which they include each other, beginning with the first name."""
    graph = {}
    for a, b in edges:
        graph.setdefault(a, set()).add(b)
    seen = set()
    for start in sorted(graph):
        way, steps = [start], [iter(sorted(graph[start]))]
        while steps:
            following = next(steps[-1], None)
            if following is None:
                seen.add(way.pop())
                steps.pop()
            elif following in way:
                circle = way[way.index(following):]
                first = circle.index(min(circle))
                yield circle[first:] + circle[:first]
                seen.update(circle)
            elif following not in seen:
                way.append(following)
                steps.append(iter(sorted(graph.get(following, ()))))


# --- Links -------------------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Symbol:
    name: str
    kind: str  # the letter that nm prints


@dataclass
class Object:
    source: str  # path from the root
    path: str
    symbols: list
    sections: set


def shipped_objects(root, build):
    """The shipped objects, according to the compile commands of BUILD, without the tests' own builds of the same sources."""
    sources = {}
    for entry in json.loads(Path(build, "compile_commands.json").read_text()):
        source = os.path.relpath(Path(entry["directory"], entry["file"]).resolve(), Path(root).resolve())
        path = Path(entry["directory"], entry["output"])
        if layer_of(source) and layer_of(source).freestanding and not entry["output"].startswith("tests/") and path.exists():
            sources[str(path)] = source
    return read_objects(sources)


# What optimisers append to the name of a function's copy.
CLONE = re.compile(r"\.(\d+|isra|part|constprop|cold|llvm)(\.\d+)*$")


def output_of(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def read_objects(sources):
    """The object files: `sources` maps each object's path to the source that it was compiled from."""
    if not sources:
        return []
    found = [line.rsplit(": ", 1) for line in output_of("nm", "-AP", *sources).splitlines()]
    found = [(path, CLONE.sub("", rest.split()[0]), rest.split()[1]) for path, rest in found]
    names = output_of("c++filt", input="".join(f"{name}\n" for _, name, _ in found)).splitlines()
    symbols = {path: [] for path in sources}
    for (path, _, kind), name in zip(found, names):
        symbols[path].append(Symbol(name, kind))
    sections, path = {path: set() for path in sources}, next(iter(sources))  # readelf prints no name for a single file
    for line in output_of("readelf", "-SW", *sources).splitlines():
        if line.startswith("File: "):
            path = line.removeprefix("File: ")
        elif section := re.match(r"\s*\[\s*\d+\]\s+(\.\S+)", line):
            sections[path].add(section.group(1))
    return [Object(source, path, symbols[path], sections[path]) for path, source in sources.items()]


def link_violations(objects):
    defined = {}
    for thing in objects:
        for symbol in thing.symbols:
            if symbol.kind not in "UwvNn":
                defined.setdefault(symbol.name, set()).add(thing.source)
    for thing in objects:
        layer = layer_of(thing.source)
        for symbol in thing.symbols:
            if symbol.kind == "U" and (why := need_violation(layer, symbol.name, defined)):
                yield f"{thing.source}: needs {symbol.name}: {why}"


def need_violation(layer, name, defined):
    if LINKER_SYMBOLS.fullmatch(name) or name in UPWARD.get(layer.folder, ()):
        return None
    homes = defined.get(name)
    if not homes:
        return "nothing that ships defines it"
    if any(may_see(layer, home) for home in homes):
        return None
    prefix, definer = HOOKS.get(layer.folder, (None, None))
    if prefix and name.startswith(prefix) and homes == {definer}:
        return None
    if name.startswith("janus::platform::") and any(home.startswith(MACHINES) for home in homes):
        return None
    return f"it is defined in {', '.join(sorted(homes))}"


# --- Rooms -------------------------------------------------------------------------------------------------------------
# A source and its header are one room. The rooms of a layer have an order: each includes and calls only those below it.

# Functions that a lower room declares and a higher one defines. (A layer's hooks are declared in the layer below.)
UPWARD_WITHIN = {
    "janus::bare::assertion_failed": "kernel-free/console/dump.cpp",
    "janus::panic": "rt/task/run/abort_task.cpp",
    "janus::end_for_budget": "rt/task/run/abort_task.cpp",
    "janus::end_as_panicked": "rt/task/run/abort_task.cpp",
    "janus::panic_for_access": "rt/task/run/abort_task.cpp",
    "janus::end_for_overrun": "rt/task/run/abort_task.cpp",
    "janus::end_left_open": "rt/task/run/await.cpp",
}


# The folders of a layer from the bottom up: each may include and call only the folders to its left. "" stands for the
# files beside the folders.
RANKS = {
    "arch/linux/": ("", "files", "memory", "auxv", "time", "symbols", "threads", "signals", "process", "limits", "start"),
    "kernel-free/": ("cpu", "smp", "console", "memory", "clock", "threads", "traps", "devices", "files", "firmware", "boot"),
    "rt/task/": ("record", "report", "wait", "account", "locks", "nurseries", "sync", "stacks", "channels", "mailboxes", "run", "supervise"),
    "rt/abi/": ("reports", "entry", "inspect", "start", ""),
}


def rank_of(layer, path):
    """The position of the file's folder in RANKS; None if the folder has none."""
    folder = path[len(layer):].rpartition("/")[0]
    return RANKS[layer].index(folder) if folder in RANKS[layer] else None


def rank_violations(root, objects):
    """A line for each include or call from a folder to a higher one, and for each file in a folder without a rank. A
    platform's own calls of janus::platform count as calls of its own files."""
    includes = list(included_paths(root))
    for layer in RANKS:
        for path in sorted(Path(root, layer).rglob("*")):
            name = str(path.relative_to(root))
            if path.suffix in CODE and rank_of(layer, name) is None:
                yield f"{name}: stands in no folder of {layer} that has a rank"
        calls = called_sources([thing for thing in objects if thing.source.startswith(layer)])
        for a, b in sorted({(a, b) for a, b in (*includes, *calls) if a.startswith(layer) and b.startswith(layer)}):
            ranks = rank_of(layer, a), rank_of(layer, b)
            if None not in ranks and ranks[0] < ranks[1]:
                yield f"{a}: includes or calls {b}, whose folder stands above its own"


def room_of(path):
    return str(Path(path).with_suffix(""))


def called_sources(objects):
    """For each object's source, the sources that define what it uses, without declared calls upward."""
    homes = {}
    for thing in objects:
        for symbol in thing.symbols:
            if symbol.kind not in "UwvNn":
                homes.setdefault(symbol.name, set()).add(thing.source)
    for thing in objects:
        for symbol in thing.symbols:
            found = homes.get(symbol.name, set()) if symbol.kind == "U" else set()
            bare = symbol.name.split("(")[0]
            if len(found) == 1 and found != {UPWARD_WITHIN.get(bare)} and not bare.startswith("janus::hooks::"):
                yield thing.source, min(found)


def tied_rooms(edges):
    """The sets of rooms that include or call each other in a circle."""
    below = {}
    for a, b in edges:
        below.setdefault(a, set()).add(b)

    def reached(start):
        found, open_ends = set(), [start]
        while open_ends:
            new = below.get(open_ends.pop(), set()) - found
            found |= new
            open_ends += new
        return found

    reach = {room: reached(room) for room in below}
    return {frozenset(b for b in reach[a] if a in reach.get(b, ())) for a in reach if a in reach[a]}


def room_violations(root, objects):
    """A line for each circle of rooms within a layer."""
    edges = [(room_of(a), room_of(b)) for a, b in (*included_paths(root), *called_sources(objects))]
    for layer in LAYERS:
        if not re.fullmatch(r"rt/\w+/", layer.folder) or layer.folder == PUBLIC:
            continue
        inside = [(a, b) for a, b in edges if a != b and a.startswith(layer.folder) and b.startswith(layer.folder)]
        for tied in sorted(map(sorted, tied_rooms(inside))):
            yield f"{tied[0]}: includes or calls itself by way of {', '.join(tied[1:])}"
    for name, home in UPWARD_WITHIN.items():
        defined = {thing.source for thing in objects for symbol in thing.symbols
                   if symbol.name.split("(")[0] == name and symbol.kind not in "UwvNn"}
        if defined - {home}:
            yield f"{name}: is defined in {', '.join(sorted(defined))}, and called upward only to {home}"


# --- What a program without a libc lacks -------------------------------------------------------------------------------

BAD_SECTIONS = {".tdata": "thread-local data", ".tbss": "thread-local data", ".init_array": "a constructor before main",
                ".ctors": "a constructor before main", ".fini_array": "a destructor after main"}


def object_violations(objects):
    for thing in objects:
        for section in thing.sections:
            for bad, what in BAD_SECTIONS.items():
                if section == bad or section.startswith(bad + "."):
                    yield f"{thing.source}: has {what} ({section})"
        for symbol in thing.symbols:
            if symbol.kind == "i":
                yield f"{thing.source}: {symbol.name} is an IFUNC, which needs a loader"
            if symbol.kind in "TDBRVWGSC" and not is_ours(symbol):
                yield f"{thing.source}: {symbol.name} takes a name that is not ours"


def is_ours(symbol):
    # The demangled name contains the namespace even if the symbol is a template's instance or a vtable.
    if symbol.name.startswith("janus_") or "janus::" in symbol.name or symbol.name == "_start":
        return True
    # Inline functions of the compiler's headers, which an unoptimised build keeps; any copy may be used.
    inlines = ("operator new(unsigned long, void*)",)
    return symbol.kind in "VW" and (symbol.name in COMPILER_NEEDS or symbol.name in inlines or "std::" in symbol.name)


# --- The isolated runtime ----------------------------------------------------------------------------------------------

# The mutable data of the whole process, and the only file that may use each. All other data belongs to a runtime.
ANYONE = "rt/abi/"
PROCESS_WIDE = {
    "handler_in_force": "rt/mem/misuse.cpp",  # called by a corrupt heap, which does not know its runtime
    "local_keys": "rt/task/account/locals.cpp",  # a task-local key is the same in every runtime
    "local_keys_lock": "rt/task/account/locals.cpp",
    "free_keys_of_root": "rt/task/account/locals.cpp",
    "free_keys_of_all": "rt/task/account/locals.cpp",
    "the_runtime": "rt/abi/entry/global_runtime.cpp",  # the runtime that NULL means; only one file may use it
    "runtime_places": "rt/abi/entry/runtime_table.cpp",  # the handles of all runtimes
    "is_program": "rt/abi/entry/global_runtime.cpp",
    "every_thread_is_worker": ANYONE,  # constant once there is a second thread; each entry of the ABI reads it
    "beginning": "rt/abi/start/global_runtime_life.cpp",
    "threads": "rt/abi/entry/thread_table.cpp",  # threads outside tasks, with their current nurseries
    "threads_lock": "rt/abi/entry/thread_table.cpp",
    "program": "rt/abi/start/boot.cpp",  # argc, argv and environ of the process's one main
    "grace_ms": "rt/abi/start/boot.cpp",
    "buckets": "rt/task/locks/keyed_lock.cpp",  # locks of descriptors, such as stdout, which all runtimes share
    "sync_buckets": "rt/task/sync/sync_queue.cpp",  # queues at the addresses of the users' locks
    # a thread waits for all slow readers; these are its lock and counters, and what it waits for
    "the_room": "rt/task/wait/room_bell.cpp",
    "room_waiters": "rt/task/wait/room.cpp",
    "answered_calls": "rt/task/wait/room.cpp",
    # helper threads serve all runtimes; these are their lock, their number, and what they do or wait for
    "helpers_lock": "rt/task/run/blocking.cpp",
    "helper_count": "rt/task/run/blocking.cpp",
    "idle_helpers": "rt/task/run/blocking.cpp",
    "queued_calls": "rt/task/run/blocking.cpp",
    "running_calls": "rt/task/run/blocking.cpp",
    "lines_dropped": "rt/task/report/log.cpp",  # lines of the runtime that no reader took
    "patience_whole_ns": "rt/task/report/log.cpp",  # how long the runtime waits for that reader
}


def state_violations(objects, process_wide=None):
    """A line for each mutable datum of the process that PROCESS_WIDE does not list, and for each use of one by another file."""
    process_wide = PROCESS_WIDE if process_wide is None else process_wide
    for thing in objects:
        if not thing.source.startswith("rt/"):
            continue
        for symbol in thing.symbols:
            bare = symbol.name.split("::")[-1]
            home = process_wide.get(bare)
            if home == ANYONE and thing.source.startswith(ANYONE):
                continue
            if symbol.kind in "BbDdGgSsC" and not is_constant(symbol) and home != thing.source:
                yield f"{thing.source}: {symbol.name} is mutable data of the whole process"
            elif symbol.kind == "U" and home not in (None, thing.source):
                yield f"{thing.source}: names {symbol.name}, which only {home} may"


def is_constant(symbol):
    """Constants with relocations are in .data.rel.ro, which nm reports as data. Constants' names begin with k.
    rt.h defines janus_abi_reference in every file that includes it."""
    return bool(re.search(r"(^|::)k[A-Z]\w*(\[abi.*\])?$", symbol.name)) or symbol.name.startswith(
        ("vtable for", ".L", ".", "janus_abi_reference"))


# --- What a program may lack -------------------------------------------------------------------------------------------

PART = re.compile(r"^// PART +(\S+) +(\S+) +(\S+)\n((?://   \S+ {2,}\S.*\n)+)", re.MULTILINE)
OF_OTHERS = re.compile(r"^// (?:PROGRAM|LINKER) +(\S+(?: \S+)*)  ", re.MULTILINE)
BY_HAND = re.compile(r"gnu::weak|#pragma weak|__attribute__\(\(weak|gnu::used\]\] const char")
EXTERN = re.compile(r"\bEXTERN\(([^)]*)\)|\bDEFINED\(\w+\) \? (\w+) : 0")


@dataclass(frozen=True)
class Part:
    source: str
    anchor: str  # "-": none
    linked_by: str  # a linker script, or a function of the same source
    symbols: tuple


def parts_of(text):
    for source, anchor, linked_by, lines in PART.findall(text):
        symbols = (line.split()[1] for line in lines.splitlines())
        yield Part(source, anchor, linked_by, tuple(symbol for symbol in symbols if symbol != "-"))


def optional_violations(root, objects):
    """A line for each weak symbol that is missing in the list of rt/optional.h, for each wrong entry of the list, and for
    each file that declares such a symbol without its macros."""
    path = Path(root, OPTIONAL)
    if not path.is_file():
        yield f"{OPTIONAL}: is missing"
        return
    text = path.read_text()
    parts = list(parts_of(text))
    listed = {symbol for part in parts for symbol in part.symbols} | set(" ".join(OF_OTHERS.findall(text)).split())
    weak = {}
    for thing in objects:
        for symbol in thing.symbols:
            if symbol.kind in "wv":
                weak.setdefault(symbol.name.split("(")[0], set()).add(thing.source)
    for name in sorted(weak.keys() - listed):
        yield f"{min(weak[name])}: {name} is weak, and not in the list of {OPTIONAL}"
    for name in sorted(listed - weak.keys()):
        yield f"{OPTIONAL}: nobody asks whether {name} is there"
    yield from part_violations(root, objects, parts)
    for path in sorted(Path(root).rglob("*")):
        name = str(path.relative_to(root))
        if path.suffix in CODE and may_use_optional(name) and BY_HAND.search(path.read_text(errors="replace")):
            yield f"{name}: declares what may be missing by hand, without the macros of {OPTIONAL}"


def may_use_optional(name):
    layer = layer_of(name)
    return layer is not None and layer.freestanding and name != OPTIONAL and may_see(layer, OPTIONAL)


def part_violations(root, objects, parts):
    defined = {}
    for thing in objects:
        for symbol in thing.symbols:
            if symbol.kind in "TRDBWV":
                defined.setdefault(symbol.name.split("(")[0], set()).add(thing.source)
    scripts = {}
    for path in sorted(Path(root, "linker").glob("*.ld")):
        for name in " ".join(map(" ".join, EXTERN.findall(path.read_text()))).split():
            scripts[name] = str(path.relative_to(root))
    for part in parts:
        if not Path(root, part.source).is_file():
            yield f"{OPTIONAL}: there is no {part.source}"
        for symbol in part.symbols:
            if defined.get(symbol) != {part.source}:
                yield f"{OPTIONAL}: {symbol} is not defined in {part.source} alone"
        if part.anchor == "-" and defined.get(part.linked_by) != {part.source}:
            yield f"{OPTIONAL}: {part.linked_by} is not in {part.source}, and so does not link it"
        if part.anchor != "-" and scripts.get(part.anchor) != part.linked_by:
            yield f"{OPTIONAL}: {part.linked_by} does not link {part.source} by {part.anchor}"
        if part.anchor != "-" and part.source.endswith(".cpp") and defined.get(part.anchor) != {part.source}:
            yield f"{OPTIONAL}: the anchor {part.anchor} is not in {part.source}"
    for name in sorted(scripts.keys() - {part.anchor for part in parts}):
        yield f"{scripts[name]}: asks for {name}, which is no anchor in the list of {OPTIONAL}"


# --- Idioms (docs/contributing.md) -------------------------------------------------------------------------------------

NAMESPACE_STATIC = re.compile(r"^(?:\[\[[^\]]*\]\]\s*)*(?:(?:inline|constexpr|constinit)\s+)*static\b", re.MULTILINE)
MODELS = "tests/models/"
ATOMIC_WORD = re.compile(r"^[^/\n]*(?<![\w:])(Atomic|std::atomic)<[^;()]*;[^\n]*", re.MULTILINE)
# Marks words that a model need not see, since they order nothing.
STATISTICS = "statistics only"
ATOMIC_ITSELF = "rt/base/atomic.h"
# The records of tasks, nurseries and runtimes hold words of several protocols. A model sees the Atomic ones, and its
# search does not follow the headers of that folder.
RECORDS = "rt/task/record/"


def idiom_violations(root):
    modelled = modelled_files(root)
    for path in sorted(Path(root).rglob("*")):
        name = str(path.relative_to(root))
        layer = layer_of(name)
        if layer is None or layer.folder in (PUBLIC, "linker/") or path.suffix not in (".h", ".cpp"):
            continue
        text = path.read_text(errors="replace")
        if NAMESPACE_STATIC.search(COMMENT.sub("", text)):
            yield f"{name}: has static outside functions and classes, where an anonymous namespace is the rule"
        if name.startswith("rt/") and path.suffix == ".h" and name != ATOMIC_ITSELF and not name.startswith(RECORDS):
            yield from atomic_violations(name, text, name in modelled)


def atomic_violations(name, text, is_modelled):
    for word in ATOMIC_WORD.finditer(text):
        if is_modelled and word[1] == "std::atomic" and STATISTICS not in word[0]:
            yield f"{name}: tests/models reads this header, but does not see that word: {word[0].strip()}"
        elif not is_modelled and word[1] == "Atomic":
            yield f"{name}: no model reads this header, so its words are std::atomic: {word[0].strip()}"


def modelled_files(root):
    """The headers that models include, directly or through others, without those that only the records include."""
    below = {}
    for a, b in included_paths(root):
        below.setdefault(a, set()).add(b)
    found = set()
    for path in Path(root, MODELS).rglob("*"):
        if path.suffix in CODE:
            found |= {quoted for quoted, _ in INCLUDE.findall(path.read_text(errors="replace"))}
    open_ends = list(found)
    while open_ends:
        header = open_ends.pop()
        new = set() if header.startswith(RECORDS) else below.get(header, set()) - found
        found |= new
        open_ends += new
    return found


# --- Data with one writer ----------------------------------------------------------------------------------------------

# Data that only one header and its source may write (the header says so), and a pattern of such writes.
FUEL_WRITERS = ("rt/task/wait/slice.h", "rt/task/wait/slice.cpp")
FUEL_WRITE = re.compile(r"\bfuel\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)|\bfuel\s*(?:\+\+|--)|(?:\+\+|--)\s*[\w.>()-]*\bfuel\b"
                        r"|(?<!&)&\s*[\w.>()-]*(?:->|\.)fuel\b|\bslot_(?:store|sub_is_negative)<[^>]*\bfuel\b")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def writer_violations(root):
    """Whoever takes fuel must also keep the rules for what is left of it; slice.h is the place for both."""
    for path in sorted(Path(root).rglob("*")):
        name = str(path.relative_to(root))
        layer = layer_of(name)
        if layer is None or not layer.freestanding or path.suffix not in (".h", ".cpp") or name in FUEL_WRITERS:
            continue
        for line in COMMENT.sub("", path.read_text(errors="replace")).splitlines():
            if FUEL_WRITE.search(line):
                yield f"{name}: writes fuel, which {FUEL_WRITERS[0]} alone does: {line.strip()}"


def violations(root, build):
    objects = list(shipped_objects(root, build))
    if not objects:
        yield f"{build}: holds no object of any layer"
    yield from include_violations(root)
    yield from circle_violations(root)
    yield from link_violations(objects)
    yield from room_violations(root, objects)
    yield from rank_violations(root, objects)
    yield from object_violations(objects)
    yield from state_violations(objects)
    yield from optional_violations(root, objects)
    yield from idiom_violations(root)
    yield from writer_violations(root)


def main():
    found = list(violations(sys.argv[1], sys.argv[2]))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
