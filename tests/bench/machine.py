# SPDX-License-Identifier: Apache-2.0
# machine.py — describes the machine on which the figures were measured.
import os
import platform
import re
import subprocess
from pathlib import Path

from rows import count


def first_match(path, pattern):
    try:
        match = re.search(pattern, Path(path).read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
    except OSError:
        return None
    return match and match[1].strip()


def version_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=30).stdout.splitlines()[0]
    except (OSError, IndexError, subprocess.TimeoutExpired):
        return None


def describe(root):
    """A dictionary for bench.json."""
    kilobytes = first_match("/proc/meminfo", r"^MemTotal:\s+(\d+)")
    return {"cpu": first_match("/proc/cpuinfo", r"^model name\s*:\s*(.*)$"),
            "mhz": float(first_match("/proc/cpuinfo", r"^cpu MHz\s*:\s*(.*)$") or 0),
            "cpus": len(os.sched_getaffinity(0)),
            "memory_gib": round(int(kilobytes) / 2**20, 1) if kilobytes else None,
            "kernel": platform.release(), "compiler": version_line(["gcc", "--version"]),
            "commit": version_line(["git", "-C", str(root), "rev-parse", "--short", "HEAD"])}


def line(machine):
    return (f"{machine['cpu']}, {count(machine['cpus'], 'CPU')}, {machine['memory_gib']:g} GiB, Linux {machine['kernel']}, "
            f"{machine['compiler']}")
