# SPDX-License-Identifier: Apache-2.0
# rows.py — what is measured: a row is a workload at a size with a number of workers, and its goals.
from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    at_most: float  # in the figure's unit, or as a multiple of the figure of `of`
    of: str = None  # a program of the same row

    def __str__(self):
        return f"≤ {self.at_most:,g}" if self.of is None else f"≤ {self.at_most:g} × {self.of}"


@dataclass(frozen=True)
class Figure:
    name: str  # as the programs print it
    unit: str
    goals: tuple = ()
    label: str = None  # as the table shows it, if different


@dataclass(frozen=True)
class Companion:
    """Another program that runs beside the row: the project's with other workers, or a limit program. Each pair of `figures`
    is a figure of the companion and the figure of the row beside which it is shown."""
    label: str
    program: str            # "ours" or "limits"
    workload: str
    size: int
    workers: int
    figures: tuple  # pairs: its figure, the row's figure


@dataclass(frozen=True)
class Row:
    name: str
    workload: str
    size: int
    quick: int  # the size with --quick
    workers: int
    figures: tuple
    companions: tuple = ()
    cpus: int = 1  # with fewer CPUs the row is not measured

    @property
    def title(self):
        return self.name if self.workload in WITHOUT_WORKERS else f"{self.name}, {count(self.workers, 'worker')}"


WITHOUT_WORKERS = ("switch", "steal", "deque", "size", "start")


def count(number, what):
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def ns(at_most=None, of=None, name="ns", unit="ns", also=()):
    return Figure(name, unit, () if at_most is None else (Goal(at_most, of), *also))


def limit(label, workload, size, figures=(("ns", "ns"),), workers=1):
    return Companion("limit: " + label, "limits", workload, size, workers, figures)


def ours(workload, size, workers, figure, label=None):
    label = label or count(workers, "worker")
    return Companion(f"{OURS}, {label}", "ours", workload, size, workers, ((figure, figure),))


OURS = "janus-rt"
ALONE = f"{OURS}, 1 worker"
MILLION = 1_000_000
SPAWN = 2 * MILLION
FUTEX, TIMEOUT = "limit: futex wake", "limit: futex time-out"
BOTH = (("p50", "p50"), ("p99", "p99"))


def yield_row(tasks, goal, companions=()):
    return Row(f"yield, {tasks:,} ready", "yield", tasks, min(tasks, 1000), 1, (ns(goal),), companions)


def wake_row(microseconds):
    idle = "100 us" if microseconds == 100 else "1 ms"
    return Row(f"wake, idle {idle}", "wake", microseconds, microseconds, 2,
               (ns(1.1, FUTEX, "p50"), ns(1.1, FUTEX, "p99"), Figure("others_percent", "% of a CPU", label="idle CPU")),
               (Companion(FUTEX, "limits", "futex_wake", microseconds, 2, BOTH),), cpus=2)


def late_row(workers):
    return Row("late, idle", "late", 1300, 1300, workers, (ns(1.1, TIMEOUT, "p50"), ns(1.1, TIMEOUT, "p99")),
               (Companion(TIMEOUT, "limits", "futex_timeout", 1300, 1, BOTH),), cpus=workers)


def pair_of_rows(name, workload, size, quick, figure, unit, goals, companions=((), ())):
    """The same row with one worker and with two. The goals of each are a number, what it is a multiple of, and others."""
    return tuple(Row(name, workload, size, quick, workers, (ns(goal, of, figure, unit, also),), beside, cpus=workers)
                 for workers, (goal, of, *also), beside in zip((1, 2), goals, companions))


def spawn_rows(name, workload, goal=None, companions=()):
    return pair_of_rows(name, workload, SPAWN, 20_000, "ns", "ns", ((goal, None), (1.1, ALONE, Goal(0.5, "oneTBB"))),
                        (companions, (ours(workload, SPAWN, 1, "ns"),)))


def crowd_row(workers):
    return Row("crowd", "crowd", MILLION, 1000, workers, (ns(1.5, f"{OURS}, 2 workers", "ms", "ms"),),
               (ours("crowd", MILLION, 2, "ms"),), cpus=2)


ROWS = (
    Row("switch", "switch", 20 * MILLION, 20_000, 1, (ns(0.95, "Boost.Context"),),
        (limit("pop; jmp", "switch", 20 * MILLION),)),
    yield_row(2, 10, (limit("ring of fibers", "ring", 2),)),
    yield_row(1000, 12, (limit("ring of fibers", "ring", 1000),)),
    yield_row(100_000, 30, (limit("ring of fibers", "ring", 100_000),)),
    *spawn_rows("spawn", "spawn", 25, (limit("lazy stacks", "lazy_spawn", SPAWN),)),
    *(row for tasks in (10, 100, 10_000) for row in spawn_rows(f"spawn, scopes of {tasks:,}", f"spawn_{tasks}")),
    *pair_of_rows("fib(35)", "fib", 35, 15, "ns", "ns a spawn", ((25, None), (13, None)),
                  ((limit("fork-join", "forkjoin", 35),), ())),
    *pair_of_rows("fork_join, fib(35)", "fork", 35, 15, "ns", "ns a fork", ((1, "rayon"), (1, "rayon"))),
    *pair_of_rows("parallel_sort", "sort", 10 * MILLION, 5000, "ms", "ms", ((1, "rayon"), (1, "rayon"))),
    *pair_of_rows("parallel_reduce", "reduce", 10 * MILLION, 5000, "ms", "ms", ((1, "rayon"), (1, "rayon"))),
    *pair_of_rows("skynet", "skynet", MILLION, 1000, "ms", "ms", ((23, None), (12, None))),
    *pair_of_rows("nqueens(10)", "nqueens", 10, 6, "ms", "ms", ((6, None), (3.1, None))),
    *pair_of_rows("UTS", "uts", 2000, 50, "ns", "ns a task", ((None, None), (1.1, ALONE)), ((), (ours("uts", 2000, 1, "ns"),))),
    Row("parked", "parked", MILLION, 2000, 1,
        (Figure("bytes", "bytes", (Goal(4800),)), ns(1800, name="create"), ns(200, name="teardown"), ns(150, name="reuse")),
        (limit("first touch", "first_touch", MILLION // 4,
               (("bytes", "bytes"), ("ns", "create"), ("teardown", "teardown"))),)),
    Row("spawned", "spawned", MILLION, 10_000, 1, (Figure("bytes", "bytes", (Goal(192),)), ns())),
    *pair_of_rows("channel", "channel", 500_000, 5000, "ns", "ns a round trip", ((40, None), (60, None)),
                  ((), (limit("cache line", "round_trip", 500_000, workers=2),))),
    Row("channel of 16 bytes", "channel_16", 500_000, 5000, 1, (ns(unit="ns a round trip"),)),
    Row("channel of 64 bytes", "channel_64", 500_000, 5000, 1, (ns(unit="ns a round trip"),)),
    Row("channel in a cage", "channel_in_cage", 500_000, 5000, 1, (ns(1.3, f"{OURS}, no cage", unit="ns a round trip"),),
        (ours("channel", 500_000, 1, "ns", "no cage"),)),
    wake_row(100),
    wake_row(1000),
    Row("steal", "steal", 5 * MILLION, 10_000, 1, (ns(1, "crossbeam-deque"),),
        (limit("Chase-Lev", "steal", 5 * MILLION),)),
    Row("deque", "deque", 20 * MILLION, 20_000, 1, (ns(unit="ns a pair"),),
        (limit("Chase-Lev", "deque", 20 * MILLION),)),
    Row("busy victim", "busy", 20_000, 1000, 2, (ns(3000, name="p50"), ns(name="p99")), cpus=2),
    Row("check, loop of 1 ns", "check", 200 * MILLION, 20_000, 1, (ns(5, name="percent", unit="% more"),)),
    Row("check, calls of 5 ns", "call", 60 * MILLION, 20_000, 1, (ns(10, name="percent", unit="% more"),)),
    *(crowd_row(workers) for workers in (4, 8, 256)),
    Row("start", "start", 1, 1, 2, (ns(300_000, name="first_task"), ns(name="main"))),
    Row("size of hello", "size", 1, 1, 1, (Figure("bytes", "bytes", (Goal(64 * 1024),)),)),
    Row("spawn, join by handle", "spawn_join", MILLION, 5000, 1, (ns(),)),
    Row("alloc and free", "alloc", 5 * MILLION, 20_000, 1, (ns(unit="ns a pair"),)),
    Row("alloc, batches of 1,000", "alloc_batch", 5 * MILLION, 20_000, 1, (ns(2, "mimalloc", unit="ns a pair"),)),
    Row("alloc, mixed sizes", "alloc_mixed", 5 * MILLION, 20_000, 1, (ns(1.5, "mimalloc", unit="ns a pair"),)),
    *(Row(f"deadline, {pending:,} pending", "deadline", pending, min(pending, 1000), 1,
          (ns(25, also=(Goal(0.2, "Go"), Goal(0.5, "tokio")), unit="ns to set and cancel"),)) for pending in (1, 1000, MILLION // 10)),
    Row("sleepers", "sleepers", MILLION, 2000, 1, (Figure("bytes", "bytes"), ns(1500, unit="ns to wake and end")),
        (ours("parked", MILLION, 1, "bytes", "parked"),)),
    *(late_row(workers) for workers in (1, 2)),
    Row("late, busy", "late_busy", 1300, 1300, 1, (ns(name="p50"), ns(200_000, name="p99"))),
    Row("select, 2 cases, one ready", "select_2", 2 * MILLION, 20_000, 1, (ns(unit="ns, with its send"),)),
    Row("select, 8 cases, one ready", "select_8", 2 * MILLION, 20_000, 1, (ns(unit="ns, with its send"),)),
    Row("select, 64 cases, one ready", "select_64", MILLION, 5_000, 1, (ns(unit="ns, with its send"),)),
    Row("select, 2 cases, waits", "select_wait_2", 2 * MILLION, 20_000, 1, (ns(unit="ns, with its send"),)),
    Row("select, 8 cases, waits", "select_wait_8", MILLION, 20_000, 1, (ns(unit="ns, with its send"),)),
    Row("select, 64 cases, waits", "select_wait_64", 300_000, 5_000, 1, (ns(unit="ns, with its send"),)),
    Row("mutex, free", "lock", 5 * MILLION, 20_000, 1, (ns(unit="ns to lock and unlock"),)),
    Row("mutex, 2 tasks", "contend_2", MILLION, 20_000, 1, (ns(), Figure("passed", "others that passed one"))),
    Row("mutex, 8 tasks", "contend_8", MILLION, 20_000, 2, (ns(), Figure("passed", "others that passed one")), cpus=2),
    Row("alloc, freed elsewhere", "alloc_elsewhere", 5 * MILLION, 20_000, 2, (ns(1.5, "mimalloc", unit="ns a pair"),), cpus=2),
)
