#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tidy.py BUILD — clang-tidy over what ships (arch, kernel-free, rt, linker), with the options by which it is compiled to ship.
# Files that share options are looked at as one, so that headers are read once; where their own names would meet, in
# halves. What was clean and has not changed since, headers included, is not looked at again.
import hashlib
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

SHIPPED = ("arch/", "kernel-free/", "rt/", "linker/")
EXTRA = ("-Wno-unknown-warning-option", "-Wno-unused-command-line-argument")
CHECKS = "--checks=-bugprone-suspicious-include"  # added to those of .clang-tidy: including sources is what is done here


@dataclass
class Unit:
    files: list        # from the root
    directory: str     # where it is compiled
    options: tuple     # compiler first


def units_as_shipped(build):
    """What is compiled by the same options; test builds of the same sources are left out."""
    units, seen = {}, set()
    for entry in json.loads(Path(build, "compile_commands.json").read_text()):
        file = os.path.relpath(Path(entry["directory"], entry["file"]).resolve())
        if file.startswith(SHIPPED) and file.endswith((".cpp", ".c")) and not entry["output"].startswith("tests/") and file not in seen:
            seen.add(file)
            options = options_of(entry)
            units.setdefault((*options, Path(file).suffix), Unit([], entry["directory"], options)).files.append(file)
    return list(units.values())


def options_of(entry):
    """Without what names this very file: source, output, dependencies."""
    words = [word for word in shlex.split(entry["command"]) if word not in ("ccache", "-c", "-MD", entry["file"])]
    named = {"-o", "-MF", "-MQ"}
    return tuple(word for before, word in zip(["", *words], words) if word not in named and before not in named)


def compiled(unit, cache):
    """The source of a unit, and its compile command."""
    root = Path.cwd()
    text = "".join(f'#include "{root / file}"\n' for file in unit.files)
    source = cache / (hashlib.sha256((text + shlex.join(unit.options)).encode()).hexdigest()[:16] + Path(unit.files[0]).suffix)
    source.write_text(text)
    return source, [*unit.options, "-c", str(source)]


def halves(unit, cache):
    """The unit, or what it falls apart into until each part compiles."""
    if len(unit.files) == 1 or subprocess.run([*compiled(unit, cache)[1], "-fsyntax-only"], cwd=unit.directory, capture_output=True).returncode == 0:
        return [unit]
    middle = len(unit.files) // 2
    parts = [Unit(files, unit.directory, unit.options) for files in (unit.files[:middle], unit.files[middle:])]
    return [piece for part in parts for piece in halves(part, cache)]


def fingerprint_of_all_headers():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.h", "*.hpp", ".clang-tidy"],
                            check=True, capture_output=True, text=True).stdout.split()
    digest = hashlib.sha256()
    for name in sorted(listed):
        if os.path.exists(name):
            digest.update(Path(name).read_bytes())
    return digest.hexdigest()


def tidy(unit, source, cache, headers):
    texts = b"".join(Path(file).read_bytes() for file in unit.files)
    key = hashlib.sha256((headers + shlex.join(unit.options)).encode() + texts).hexdigest()
    if Path(cache, key).exists():
        return True
    extra = [f"--extra-arg={argument}" for argument in EXTRA]
    done = subprocess.run(["clang-tidy", "--quiet", "-p", cache, CHECKS, *extra, source],
                          cwd=unit.directory, capture_output=True, text=True)
    if done.returncode == 0:
        Path(cache, key).touch()
        return True
    sys.stdout.write(done.stdout)
    if "error:" not in done.stdout:
        sys.stdout.write(done.stderr)
    return False


def main():
    build = sys.argv[1]
    cache = Path(build, "tidy").resolve()
    cache.mkdir(exist_ok=True)
    headers = fingerprint_of_all_headers()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        units = [unit for units in pool.map(lambda unit: halves(unit, cache), units_as_shipped(build)) for unit in units]
        made = [compiled(unit, cache) for unit in units]
        Path(cache, "compile_commands.json").write_text(json.dumps(
            [{"directory": unit.directory, "file": str(source), "arguments": command} for unit, (source, command) in zip(units, made)]))
        clean = list(pool.map(lambda unit, source: tidy(unit, source[0], cache, headers), units, made))
    return 0 if units and all(clean) else 1


sys.exit(main())
