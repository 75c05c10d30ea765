# SPDX-License-Identifier: Apache-2.0
# tools.py — compilers and the like, of which only whether they did it matters, and in one line why not.
import shutil
import subprocess
from pathlib import Path


class CannotBuild(Exception):
    """Says why in one line."""


def run_tool(command, **options):
    """What the command printed; its first error line is why it failed."""
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
    """As Debian knows it; elsewhere nothing is."""
    if not shutil.which("dpkg-query"):
        return False
    done = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status}", package], capture_output=True, text=True)
    return done.stdout == "installed"
