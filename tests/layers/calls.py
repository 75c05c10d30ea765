# SPDX-License-Identifier: Apache-2.0
# calls.py — which functions of an archive or object call which others directly, and which call through a pointer,
# according to objdump; and which members of a struct are function pointers, according to an object's debug information.
import re
import subprocess
from dataclasses import dataclass, field

MEMBER = re.compile(r"^\S+:\s+file format ")
FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
INDIRECT = re.compile(r"\t(?:notrack )?(?:call|jmp)[lqw]?\s+\*")
BRANCH = re.compile(r"\t(?:notrack |bnd )?(?:call|j\w+)[lqw]?\s+(?:[0-9a-f]+ <([^>+]+)>)?")
TARGET = re.compile(r"R_X86_64_\w+\s+(\S+?)(?:[-+]0x[0-9a-f]+)?$")
SECTION = re.compile(r"^\.text\.(?:unlikely\.|hot\.|split\.|startup\.)?")
# What optimisers append to the name of a function's copy or part.
CLONE = re.compile(r"\.(\d+|isra|part|constprop|cold|llvm)(\.\d+)*$")


@dataclass
class Function:
    calls: set = field(default_factory=set)  # names of functions, directly called or jumped to
    is_indirect: bool = False                # calls or jumps through a register or memory


def functions_of(archive):
    """What each function of the archive or object calls, by mangled names. Local functions with the same name are merged."""
    listing = subprocess.run(["objdump", "-drw", "--no-show-raw-insn", archive], check=True, capture_output=True, text=True)
    found, function = {}, None
    for line in listing.stdout.splitlines():
        if MEMBER.match(line):
            function = None
        elif start := FUNCTION.match(line):
            function = found.setdefault(start[1], Function())
        elif function is not None and INDIRECT.search(line):
            function.is_indirect = True
        elif function is not None and (branch := BRANCH.search(line)):
            relocated = TARGET.search(line)
            target = relocated[1] if relocated else branch[1]
            if target:
                function.calls.add(SECTION.sub("", target))
    return found


def plain_names(names):
    """`janus::Class::function` for each mangled name, without arguments, template arguments and suffixes of copies."""
    names = list(names)
    done = subprocess.run(["c++filt"], input="".join(f"{CLONE.sub('', name)}\n" for name in names), capture_output=True,
                          text=True, check=True)
    return {name: plain_name(shown) for name, shown in zip(names, done.stdout.splitlines())}


def plain_name(shown):
    shown = shown.replace("(anonymous namespace)::", "")
    while (shorter := re.sub(r"\([^()]*\)", "", shown)) != shown:
        shown = shorter
    while (shorter := re.sub(r"<[^<>]*>", "", shown)) != shown:
        shown = shorter
    return shown.removesuffix(" const").split(" ")[-1]


def reached(functions, entries, last=()):
    """The path to each function that the entries reach by direct calls, not following calls of the functions in `last`."""
    names = plain_names(functions)
    ways = {entry: [names[entry]] for entry in entries if entry in functions}
    waiting = list(ways)
    while waiting:
        caller = waiting.pop(0)
        if names[caller] in last:
            continue
        for callee in sorted(functions[caller].calls):
            if callee in functions and callee not in ways:
                ways[callee] = [*ways[caller], names[callee]]
                waiting.append(callee)
    return ways


# --- Structs -----------------------------------------------------------------------------------------------------------

ENTRY = re.compile(r"^\s*<[0-9a-f]+><([0-9a-f]+)>: Abbrev Number: \d+ \((DW_TAG_\w+)\)")
NESTING = re.compile(r"^\s*<([0-9a-f]+)>")
ATTRIBUTE = re.compile(r"^\s*<[0-9a-f]+>\s+(DW_AT_\w+)\s*:\s*(?:\(indirect (?:line )?string, offset: \w+\):\s*)?(.*?)\s*$")
WRAPPERS = {"DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type", "DW_TAG_array_type", "DW_TAG_atomic_type"}
STRUCTS = {"DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type"}


@dataclass
class Entry:
    tag: str
    attributes: dict = field(default_factory=dict)
    children: list = field(default_factory=list)

    def name(self):
        return self.attributes.get("DW_AT_name", "?")

    def type(self, entries):
        return entries.get(self.attributes.get("DW_AT_type", "").strip("<>").removeprefix("0x"))


def debug_entries(path):
    """The entries of an object's debug information, by offset. The object must have one compilation unit."""
    listing = subprocess.run(["readelf", "--debug-dump=info", path], check=True, capture_output=True, text=True).stdout
    entries, above, entry = {}, [], None
    for line in listing.splitlines():
        if start := ENTRY.match(line):
            depth = int(NESTING.match(line)[1], 16)
            entry = entries[start[1]] = Entry(start[2])
            del above[depth:]
            if above:
                above[-1].children.append(entry)
            above.append(entry)
        elif entry is not None and (attribute := ATTRIBUTE.match(line)):
            entry.attributes[attribute[1]] = attribute[2]
    return entries


def function_pointers(entries, struct, seen=()):
    """The members of the struct, and of the structs inside it, that are function pointers."""
    for member in struct.children:
        if member.tag not in ("DW_TAG_member", "DW_TAG_inheritance") or "DW_AT_external" in member.attributes:
            continue
        what = member.type(entries)
        while what is not None and what.tag in WRAPPERS:
            what = what.type(entries)
        if what is None:
            continue
        if what.tag in STRUCTS and id(what) not in seen:
            yield from (f"{member.name()}.{inner}" for inner in function_pointers(entries, what, (*seen, id(what))))
        pointed = what.type(entries) if what.tag in ("DW_TAG_pointer_type", "DW_TAG_ptr_to_member_type") else None
        while pointed is not None and pointed.tag in WRAPPERS:
            pointed = pointed.type(entries)
        if pointed is not None and pointed.tag == "DW_TAG_subroutine_type":
            yield member.name()


def function_pointers_of(entries, name):
    """The function pointers of the struct with that name; None if the object does not define it."""
    structs = [entry for entry in entries.values()
               if entry.tag in STRUCTS and entry.name() == name and "DW_AT_declaration" not in entry.attributes]
    return list(function_pointers(entries, structs[0])) if structs else None
