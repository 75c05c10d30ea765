#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# layers_test.py ROOT BUILD COMPILER... — the source tree keeps its layers, and the checker (layers.py) refuses each of
# many small trees that violate one rule. Speaks TAP.
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # leaves no files in the source tree
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "harness"))
import layers  # noqa: E402
from tap import Tap  # noqa: E402

GOOD = {
    "arch/x86_64/include/arch/switch.h": "#include <cstdint>\nnamespace janus::arch { int turn(); }\n",
    "arch/x86_64/switch.cpp": '#include <arch/switch.h>\nnamespace janus::arch { int turn() { return 1; } }\n',
    "rt/platform.h": "#include <cstddef>\nnamespace janus::platform { int now(); }\n",
    "arch/linux/clock.cpp": '#include "rt/platform.h"\n#include <arch/switch.h>\n'
                            "namespace janus::platform { int now() { return arch::turn(); } }\n",
    "rt/optional.h": "// PART   rt/sched/more.cpp  janus_more  linker/reports.ld\n//   janus::more         there is no more\n"
                     "// PROGRAM  janus_config  there is none\n#define JANUS_OPTIONAL gnu::weak\n"
                     '#define JANUS_ANCHOR(name) extern "C" { extern const char name; [[gnu::used]] const char name = 0; }\n',
    "tests/models/list_model_test.cpp": '#include "rt/sched/queue.h"\n#include "rt/task/record/task.h"\n',
    # one word that a model sees, and one that no model sees
    "rt/task/record/task.h": '#include "rt/base/atomic.h"\n#include "rt/sched/event.h"\n'
                             "namespace janus { struct Task { Atomic<int> cancel; std::atomic<int> state; Event event; }; }\n",
    "rt/base/atomic.h": "#include <atomic>\nnamespace janus { template <typename T> using Atomic = std::atomic<T>; }\n",
    "rt/sched/queue.h": '#include "rt/base/atomic.h"\nnamespace janus { struct Queue { Atomic<int> first;\n'
                        "std::atomic<int> taken;  // statistics only\n}; }\n",
    "rt/sched/event.h": "#include <atomic>\nnamespace janus { struct Event { std::atomic<int> word; static int total; }; }\n",
    "linker/reports.ld": "EXTERN(janus_more)\n",
    "rt/sched/more.h": '#include "rt/optional.h"\nnamespace janus { [[JANUS_OPTIONAL]] int more(); }\n',
    "rt/sched/more.cpp": '#include "rt/sched/more.h"\nJANUS_ANCHOR(janus_more)\nnamespace janus { int more() { return 1; } }\n',
    "rt/abi/begin.cpp": '#include "rt/sched/more.h"\nextern "C" [[JANUS_OPTIONAL]] const int janus_config;\n'
                        "namespace janus { int begin() { return more != nullptr && &janus_config != nullptr ? more() : 0; } }\n",
    "rt/include/janus/rt.h": '#include <stdint.h>\nextern "C" int janus_run(void);\n',
    "rt/base/list.h": "namespace janus { int count(); inline constexpr int kLimit = 3; }\n",
    "rt/base/list.cpp": '#include "rt/base/list.h"\nnamespace janus { int count() { return kLimit; } }\n',
    "rt/sched/run.h": "namespace janus { int run(); }\n",
    "rt/sched/run.cpp": '#include "rt/sched/run.h"\n#include "rt/base/list.h"\n#include "rt/platform.h"\n'
                        "namespace janus { namespace hooks { int start(); }\n"
                        "int run() { return count() + platform::now() + hooks::start(); } }\n",
    "rt/task/wait/slice.h": "struct Slice { long fuel; };  // the writer of fuel\n",
    "rt/task/wait/slice.cpp": '#include "rt/task/wait/slice.h"\nnamespace janus { void take(Slice& s) { s.fuel -= 1; } }\n',
    "rt/task/wait/read.cpp": '#include "rt/task/wait/slice.h"\n// fuel = 0 in a comment\n'
                        'namespace janus { bool look(const Slice& s) { return true && s.fuel >= 0 && s.fuel != 3; } }\n',
    "rt/task/run/hooks.cpp": '#include "rt/sched/run.h"\nnamespace janus { namespace hooks { int start() { return 1; } } }\n',
    "rt/abi/adapter.cpp": '#include <janus/rt.h>\n#include "rt/sched/run.h"\nint janus_run() { return janus::run(); }\n',
}

# The claim, the files that are changed in the good tree, and the start of the expected complaint.
SEEDED = [
    ("an include that points upward is refused",
     {"rt/base/list.h": '#include "rt/sched/run.h"\nnamespace janus { int count(); inline constexpr int kLimit = 3; }\n'},
     "rt/base/list.h: includes rt/sched/run.h: points upward or aside"),
    ("two headers that include each other are refused",
     {"rt/base/list.h": '#pragma once\n#include "rt/base/node.h"\nnamespace janus { int count(); inline constexpr int kLimit = 3; }\n',
      "rt/base/node.h": '#pragma once\n#include "rt/base/list.h"\n'},
     "rt/base/list.h: includes itself by way of rt/base/node.h"),
    ("two folders that include each other are refused",
     {"rt/base/list.h": '#include "rt/sched/run.h"\nnamespace janus { int count(); inline constexpr int kLimit = 3; }\n'},
     "rt/base/: includes itself by way of rt/sched/"),
    ("two rooms that include each other are refused, though their headers do not",
     {"rt/task/wait/slice.cpp": '#include "rt/task/wait/slice.h"\n#include "rt/task/wait/read.h"\n', "rt/task/wait/read.h": "",
      "rt/task/wait/read.cpp": '#include "rt/task/wait/slice.h"\n'},
     "rt/task/wait/read: includes or calls itself by way of rt/task/wait/slice"),
    ("two rooms that call each other are refused, though they do not include each other",
     {"rt/task/wait/slice.cpp": "namespace janus { int look(); int take() { return look(); } }\n",
      "rt/task/wait/read.cpp": "namespace janus { int take(); int look() { return take(); } }\n"},
     "rt/task/wait/read: includes or calls itself by way of rt/task/wait/slice"),
    ("a call upward that is declared as one is defined where it is said to be",
     {"rt/task/wait/slice.cpp": "namespace janus { int panic() { return 1; } }\n"},
     "janus::panic: is defined in rt/task/wait/slice.cpp, and called upward only to rt/task/run/abort_task.cpp"),
    ("an include around the platform seam is refused",
     {"arch/linux/futex.h": "", "rt/sched/run.h": '#include "arch/linux/futex.h"\nnamespace janus { int run(); }\n'},
     "rt/sched/run.h: includes arch/linux/futex.h: points upward or aside"),
    ("the processor may not see the platform",
     {"arch/x86_64/include/arch/switch.h": '#include "rt/platform.h"\nnamespace janus::arch { int turn(); }\n'},
     "arch/x86_64/include/arch/switch.h: includes rt/platform.h"),
    ("the public headers are not for lower layers",
     {"rt/sched/run.h": "#include <janus/rt.h>\nnamespace janus { int run(); }\n"}, "rt/sched/run.h: includes janus/rt.h"),
    ("a library header is refused",
     {"rt/base/list.h": "#include <vector>\nnamespace janus { int count(); inline constexpr int kLimit = 3; }\n"},
     "rt/base/list.h: includes vector"),
    ("an include that is no path from the root is refused",
     {"rt/base/list.cpp": '#include "list.h"\nnamespace janus { int count() { return kLimit; } }\n'},
     "rt/base/list.cpp: includes list.h"),
    ("a link that points upward is refused, though nothing was included",
     {"rt/base/list.cpp": "namespace janus { int run(); int count() { return run(); } }\n"},
     "rt/base/list.cpp: needs janus::run(): it is defined in rt/sched/run.cpp"),
    ("a hook that is defined anywhere else is refused",
     {"rt/task/run/hooks.cpp": "namespace janus { int start() { return 1; } }\n",
      "rt/task/run/task.cpp": "namespace janus { namespace hooks { int start() { return 1; } } }\n"},
     "rt/sched/run.cpp: needs janus::hooks::start(): it is defined in rt/task/run/task.cpp"),
    ("a link around the platform seam is refused",
     {"arch/linux/clock.cpp": "namespace janus { namespace kernel { int raw() { return 1; } }\n"
                              "namespace platform { int now() { return 1; } } }\n",
      "rt/sched/run.cpp": "namespace janus { namespace kernel { int raw(); } int run() { return kernel::raw(); } }\n"},
     "rt/sched/run.cpp: needs janus::kernel::raw(): it is defined in arch/linux/clock.cpp"),
    ("a call of the C library is refused",
     {"rt/base/list.cpp": 'extern "C" int puts(const char*);\nnamespace janus { int count() { return puts(""); } }\n'},
     "rt/base/list.cpp: needs puts: nothing that ships defines it"),
    ("thread-local data is refused",
     {"rt/base/list.cpp": "namespace janus { thread_local int mine = 1; int count() { return ++mine; } }\n"},
     "rt/base/list.cpp: has thread-local data"),
    ("a constructor before main is refused",
     {"rt/base/list.cpp": "namespace janus { volatile int input = 1; struct S { S(); int x; }; S::S() : x(input) {}\n"
                          "S s; int count() { return s.x; } }\n"},
     "rt/base/list.cpp: has a constructor before main"),
    ("an IFUNC is refused",
     {"rt/base/list.cpp": 'extern "C" { static int one() { return 1; } void* janus_pick() { return (void*)one; }\n'
                          'int janus_picked() __attribute__((ifunc("janus_pick"))); }\n'
                          "namespace janus { int count() { return janus_picked(); } }\n"},
     "rt/base/list.cpp: janus_picked is an IFUNC"),
    ("a name that is not ours is refused",
     {"rt/base/list.cpp": "int count_all() { return 3; }\nnamespace janus { int count() { return count_all(); } }\n"},
     "rt/base/list.cpp: count_all() takes a name that is not ours"),
    ("mutable data of the whole process is refused",
     {"rt/sched/run.cpp": "namespace janus { int total; int run() { return ++total; } }\n"},
     "rt/sched/run.cpp: janus::total is mutable data of the whole process"),
    ("a weak symbol that is not in the list is refused",
     {"rt/sched/other.cpp": '#include "rt/optional.h"\n'
                            "namespace janus { [[JANUS_OPTIONAL]] int other(); int ask() { return other != nullptr; } }\n"},
     "rt/sched/other.cpp: janus::other is weak, and not in the list of rt/optional.h"),
    ("a weak symbol that is declared by hand is refused",
     {"rt/sched/more.h": '#include "rt/optional.h"\nnamespace janus { [[gnu::weak]] int more(); }\n'},
     "rt/sched/more.h: declares what may be missing by hand"),
    ("an anchor that is defined by hand is refused",
     {"rt/sched/more.cpp": '#include "rt/sched/more.h"\nextern "C" { extern const char janus_more; [[gnu::used]] const char janus_more = 0; }\n'
                           "namespace janus { int more() { return 1; } }\n"},
     "rt/sched/more.cpp: declares what may be missing by hand"),
    ("a part in the list that nobody asks for is refused",
     {"rt/abi/begin.cpp": "namespace janus { int begin() { return 1; } }\n"},
     "rt/optional.h: nobody asks whether janus::more is there"),
    ("a part that is defined elsewhere than the list says is refused",
     {"rt/sched/more.cpp": '#include "rt/sched/more.h"\nJANUS_ANCHOR(janus_more)\n',
      "rt/sched/run.cpp": '#include "rt/sched/more.h"\nnamespace janus { int more() { return 1; } int run() { return 1; } }\n'},
     "rt/optional.h: janus::more is not defined in rt/sched/more.cpp alone"),
    ("a part that no linker script links is refused", {"linker/reports.ld": "EXTERN()\n"},
     "rt/optional.h: linker/reports.ld does not link rt/sched/more.cpp by janus_more"),
    ("a part whose anchor stands elsewhere is refused",
     {"rt/sched/more.cpp": '#include "rt/sched/more.h"\nnamespace janus { int more() { return 1; } }\n',
      "rt/sched/run.cpp": '#include "rt/optional.h"\nJANUS_ANCHOR(janus_more)\nnamespace janus { int run() { return 1; } }\n'},
     "rt/optional.h: the anchor janus_more is not in rt/sched/more.cpp"),
    ("a linker script that asks for an anchor beside the list is refused",
     {"linker/reports.ld": "EXTERN(janus_more janus_other)\n"}, "linker/reports.ld: asks for janus_other"),
    *((f"a static beside anonymous namespaces is refused: {line}", {"rt/base/list.cpp": f"{line}\nnamespace janus {{ int count() {{ return one(); }} }}\n"},
       "rt/base/list.cpp: has static outside functions and classes")
      for line in ("static int one() { return 1; }", "[[gnu::noinline]] static int one() { return 1; }", "static inline int one() { return 1; }",
                   "inline static int one() { return 1; }")),
    ("a word that a model would not see is refused",
     {"rt/sched/queue.h": '#include "rt/base/atomic.h"\nnamespace janus { struct Queue { std::atomic<int> first; }; }\n'},
     "rt/sched/queue.h: tests/models reads this header, but does not see that word: namespace janus { struct Queue { std::atomic<int> first; }; }"),
    ("a word for models that no model reads is refused",
     {"rt/sched/event.h": '#include "rt/base/atomic.h"\nnamespace janus { struct Event { Atomic<int> word; }; }\n'},
     "rt/sched/event.h: no model reads this header, so its words are std::atomic: namespace janus { struct Event { Atomic<int> word; }; }"),
    *((f"whoever writes fuel beside its one writer is refused: {write}",
       {"rt/sched/run.cpp": "namespace janus { struct Worker { long fuel; } w, *p = &w;\n"
                            "template <long Worker::*kField> bool slot_sub_is_negative(long);\n"
                            f"int run() {{ {write}; return w.fuel == 1 && p->fuel <= 2; }} }}\n"},
       f"rt/sched/run.cpp: writes fuel, which rt/task/wait/slice.h alone does: int run() {{ {write};")
      for write in ("w.fuel -= 1", "p->fuel = 7", "--p->fuel", "w.fuel++", "long* at = &w.fuel; *at = 1",
                    "(void)sizeof(slot_sub_is_negative<&Worker::fuel>(1))")),
]


def seeded_ranks():
    """For each layer with ranked folders: trees of two files with an include and a call from the lowest folder to the
    highest, and a tree with a folder that has no rank."""
    for layer, folders in layers.RANKS.items():
        low, high = (f"{layer}{folder}/".replace("//", "/") for folder in (folders[0], folders[-1]))
        yield (f"an include from the lowest folder of {layer} to the highest is refused",
               {f"{low}low.h": f'#include "{high}high.h"\n', f"{high}high.h": ""},
               f"{low}low.h: includes or calls {high}high.h, whose folder stands above its own")
        yield (f"a call from the lowest folder of {layer} to the highest is refused, though nothing was included",
               {f"{low}low.cpp": "namespace janus { int high(); int low() { return high(); } }\n",
                f"{high}high.cpp": "namespace janus { int high() { return 1; } }\n"},
               f"{low}low.cpp: includes or calls {high}high.cpp, whose folder stands above its own")
        yield (f"a folder of {layer} without a rank is refused", {f"{layer}new/new.h": ""},
               f"{layer}new/new.h: stands in no folder of {layer} that has a rank")


def compile_once(folder, files, name, compiler, compiled={}):
    """The object of files[name]. Most trees share most of their files, so objects are reused."""
    headers = tuple(text for other, text in sorted(files.items()) if other.endswith(".h"))
    key = (files[name], headers)
    if key not in compiled:
        output = f"{folder}/object.o"
        subprocess.run([*compiler, "-std=c++20", "-O1", "-ffreestanding", "-fPIC", f"-I{folder}", f"-I{folder}/rt/include",
                        f"-I{folder}/arch/x86_64/include",
                        "-c", f"{folder}/{name}", "-o", output], check=True)
        compiled[key] = Path(output).read_bytes()
    return compiled[key]


def grow(folder, files, compiler):
    """Writes the tree, compiles its sources, and writes the compile commands of a build directory."""
    commands = []
    for name, text in files.items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    Path(folder, "build").mkdir()
    for name in files:
        if name.endswith(".cpp"):
            output = name.replace("/", "_") + ".o"
            Path(folder, "build", output).write_bytes(compile_once(folder, files, name, compiler))
            commands.append({"directory": f"{folder}/build", "file": f"../{name}", "output": output})
    Path(folder, "build/compile_commands.json").write_text(json.dumps(commands))


def found_in(files, compiler):
    with tempfile.TemporaryDirectory() as folder:
        grow(folder, files, compiler)
        return list(layers.violations(folder, f"{folder}/build"))


def claims(root, build, compiler):
    found = list(layers.violations(root, build))
    yield "this tree keeps its layers", not found, found
    areas = [layer.folder for layer in layers.LAYERS if layer.folder.startswith("rt/") and layer.folder != "rt/include/" and layer.folder.endswith("/")]
    found = [f"{area}: no sources" for area in areas if not any(Path(root, area).rglob("*.cpp"))]
    found += [f"{area}: no tests" for area in areas if not any(Path(root, "tests", Path(area).name).rglob("*_test.cpp"))]
    yield "each area of rt has a folder, and one of its tests", len(areas) == 6 and not found, found or areas
    found = [f"{layer}{folder}" for layer, folders in layers.RANKS.items() for folder in folders if not Path(root, layer, folder).is_dir()]
    yield "each folder that has a rank is there", not found, found
    found = found_in(GOOD, compiler)
    yield "a good tree is accepted", not found, found
    for claim, files, said in (*((claim, {**GOOD, **changed}, said) for claim, changed, said in SEEDED), *seeded_ranks()):
        found = found_in(files, compiler)
        yield claim, any(said in line for line in found), found
    with tempfile.TemporaryDirectory() as folder:
        grow(folder, {}, compiler)
        found = list(layers.violations(folder, f"{folder}/build"))
    yield "a build without objects proves nothing", bool(found), found


def main():
    tap = Tap("layers")
    for claim, held, found in claims(sys.argv[1], sys.argv[2], sys.argv[3:]):
        tap.check(claim, held, "\n".join(found) or "nothing was found")
    tap.end()


main()
