# SPDX-License-Identifier: Apache-2.0
# measure.py — one row: every program that takes part, in rounds. Each round is a fresh process; the order rotates.
import os
import re
import signal
import subprocess
from dataclasses import dataclass, field

import programs

LINE = re.compile(r"([a-z_][a-z0-9_]*) (-?[0-9]+(?:\.[0-9]+)?)")
UNKNOWN = 3


class Failed(Exception):
    """A program did not do its work. Its text is the reason."""


@dataclass
class Contender:
    """One program in one row, and what it printed in each round."""
    label: str
    path: str
    workload: str
    size: int
    workers: int
    figures: dict  # its figure -> the row's figure
    kind: str = "peer"                  # ours, peer, limit
    rounds: list = field(default_factory=list)
    failure: str = None
    unknown: bool = False  # it does not have this workload

    def values(self, figure):
        own = next((own for own, rows in self.figures.items() if rows == figure), None)
        return [found[own] for found in self.rounds if own in found]


def is_share(figure):
    """A share may be 0 or negative, so ratios of shares mean nothing."""
    return figure.endswith("percent")


def cpus():
    return sorted(os.sched_getaffinity(0))


def settle(workers):
    """Runs in the child before it becomes the program: a single worker is put on the last CPU, and the kernel kills this
    process first when memory runs out."""
    if workers == 1:
        os.sched_setaffinity(0, {cpus()[-1]})
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("1000")
    except OSError:
        pass


def run_once(contender, timeout):
    """What the program printed: {figure: number}. None if it does not have the workload."""
    command = [str(contender.path), contender.workload, str(contender.size), str(contender.workers)]
    try:
        done = subprocess.run(command, env=programs.environment(contender.workers), capture_output=True, timeout=timeout,
                              stdin=subprocess.DEVNULL, preexec_fn=lambda: settle(contender.workers))
    except subprocess.TimeoutExpired:
        raise Failed(f"hangs: no end within {timeout:g} s") from None
    except OSError as failure:
        raise Failed(f"does not start: {failure.strerror}") from None
    if done.returncode == UNKNOWN:
        return None
    if done.returncode != 0:
        raise Failed(ending(done.returncode) + last_line(done.stderr))
    found = parse(done.stdout.decode(errors="replace"), contender.figures)
    # Other programs print only those of the row's figures that make sense for them.
    missing = [name for name in contender.figures if name not in found]
    if missing and (contender.kind == "ours" or len(missing) == len(contender.figures)):
        raise Failed(f"does not print `{missing[0]}`")
    return found


def ending(status):
    if status >= 0:
        return f"ended with status {status}"
    name = signal.Signals(-status).name if -status in signal.valid_signals() else f"signal {-status}"
    return f"killed by {name}" + (" (out of memory?)" if -status == signal.SIGKILL else "")


def last_line(stderr):
    lines = stderr.decode(errors="replace").strip().splitlines()
    return f": {lines[-1].strip()[:160]}" if lines else ""


def parse(output, wanted):
    found = {}
    for line in output.splitlines():
        match = LINE.fullmatch(line.strip())
        if not match:
            raise Failed(f"prints nonsense: {line.strip()[:80]!r}")
        found[match[1]] = float(match[2])
    for name in wanted:
        if found.get(name, 1) <= 0 and not is_share(name):
            raise Failed(f"prints nonsense: {name} {found[name]:g}")
    return found


def measure(contenders, rounds, timeout, progress=lambda round_number: None):
    """Fills in the contenders' rounds. One that failed or does not have the workload takes no part in later rounds."""
    for round_number in range(rounds):
        progress(round_number)
        turn = round_number % len(contenders)
        for contender in contenders[turn:] + contenders[:turn]:
            if not contender.failure and not contender.unknown:
                take_turn(contender, timeout)


def take_turn(contender, timeout):
    try:
        found = run_once(contender, timeout)
    except Failed as failure:
        contender.failure = str(failure)
        return
    contender.unknown = found is None
    if found is not None:
        contender.rounds.append(found)


def measure_size(contender):
    """The only figure that no process prints: the size of a file."""
    contender.rounds.append({"bytes": float(os.path.getsize(contender.path))})
