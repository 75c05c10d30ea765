# SPDX-License-Identifier: Apache-2.0
# tools.py — runs compilers and the like, for which only success matters, and a one-line reason for a failure.
import shutil
import subprocess
from pathlib import Path


class CannotBuild(Exception):
    """Its text is the reason, in one line."""


def run_tool(command, **options):
    """What the command printed. If it fails, its first error line is the reason."""
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=900, **options)
    except (OSError, subprocess.TimeoutExpired) as failure:
        raise CannotBuild(str(failure)) from failure
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip() or f"status {done.returncode}").splitlines()
        why = next((line for line in lines if "error" in line), lines[-1])
        raise CannotBuild(f"{Path(str(command[0])).name}: {why.strip()}"[:300])
    return done.stdout


def is_installed(package):
    """According to Debian's package manager; on other systems nothing is."""
    if not shutil.which("dpkg-query"):
        return False
    done = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status}", package], capture_output=True, text=True)
    return done.stdout == "installed"
