#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tidy.py BUILD — clang-tidy over what ships (arch, kernel-free, rt, linker), each file once as it is compiled to ship. What was clean and
# has not changed since, headers included, is not looked at again.
import hashlib
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SHIPPED = ("arch/", "kernel-free/", "rt/", "linker/")
EXTRA = ("-Wno-unknown-warning-option", "-Wno-unused-command-line-argument")


def shipped_commands(build):
    """File -> its one compile command; test builds of the same sources are left out."""
    chosen = {}
    for entry in json.loads(Path(build, "compile_commands.json").read_text()):
        file = os.path.relpath(Path(entry["directory"], entry["file"]).resolve())
        if file.startswith(SHIPPED) and file.endswith((".cpp", ".c")) and not entry["output"].startswith("tests/"):
            chosen.setdefault(file, entry)
    return chosen


def fingerprint_of_all_headers():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.h", "*.hpp", ".clang-tidy"],
                            check=True, capture_output=True, text=True).stdout.split()
    digest = hashlib.sha256()
    for name in sorted(listed):
        if os.path.exists(name):
            digest.update(Path(name).read_bytes())
    return digest.hexdigest()


def tidy(file, entry, cache, headers):
    key = hashlib.sha256((headers + entry["command"]).encode() + Path(file).read_bytes()).hexdigest()
    if Path(cache, key).exists():
        return True
    extra = [f"--extra-arg={argument}" for argument in EXTRA]
    done = subprocess.run(["clang-tidy", "--quiet", "-p", cache, *extra, entry["file"]],
                          cwd=entry["directory"], capture_output=True, text=True)
    if done.returncode == 0:
        Path(cache, key).touch()
        return True
    sys.stdout.write(done.stdout)
    if "error:" not in done.stdout:
        sys.stdout.write(done.stderr)
    return False


def main():
    build = sys.argv[1]
    commands = shipped_commands(build)
    cache = Path(build, "tidy").resolve()
    cache.mkdir(exist_ok=True)
    Path(cache, "compile_commands.json").write_text(json.dumps(list(commands.values())))
    headers = fingerprint_of_all_headers()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        clean = list(pool.map(lambda item: tidy(*item, str(cache), headers), sorted(commands.items())))
    return 0 if commands and all(clean) else 1


sys.exit(main())
