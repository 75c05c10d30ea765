#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# growth_test.py BUILD — growing stacks: deep tasks work; they overflow at the same depth whatever runs beside them;
# they pay for what they use; and they go on or panic when the machine refuses to grow, in a forked child, when the
# kernel writes to the stack, and while the tasks are listed.
import json
import pathlib
import re
import resource
import signal
import subprocess
import sys
import threading
import time

from installed import Tap, build, compilers, environment, here, install, programs, run, work_directory

tap = Tap()
work = work_directory()
OVERFLOW = re.compile(rb'panicked: stack overflow([a-z, ]*) at 0x[0-9a-f]+; nursery \S+, stack (\d+) bytes of at most (\d+) \(JANUS_STACK_MAX\)\n')


def is_optimized():
    options = json.loads((pathlib.Path(sys.argv[1]) / 'meson-info/intro-buildoptions.json').read_text())
    return next(option['value'] for option in options if option['name'] == 'optimization') != '0'


def ends(program, *how, settings=None, **options):
    return run([program, *map(str, how)], env=environment(**(settings or {})), **options)


def ends_well(claim, program, *how, status=0, settings=None, **options):
    done = ends(program, *how, settings=settings, **options)
    tap.check(claim, done.returncode == status and (status != 0 or not done.stderr), f'{done.returncode} {done.stderr[-400:]}')
    return done


def look_at_depths(program, workers, most):
    """The depth of an overflow is the same to within a page, also if the task's parents have been much deeper."""
    settings = {'JANUS_WORKERS': workers, 'JANUS_STACK_MAX': most}
    depths = {}
    for how in ((), (100,), (3000,), (0, 1), (0, 5), (3000, 2), (0, 40), (0, 0, 900000), (0, 1, 500000), (3000, 1, 500000), (0, 5, 900000)):
        done = ends(program, 'depth', *how, settings=settings)
        told = OVERFLOW.search(done.stderr)
        ok = done.returncode == 0 and told and int(told.group(3)) == most and abs(int(told.group(2)) - most) <= 4096
        tap.check(f'{workers} workers, at most {most}: the panic report contains the size of the stack, {how}', ok, done.stderr)
        depths[how] = int(done.stdout or b'0')
    tap.check(f'{workers} workers: the overflow is at {most} bytes, whatever other tasks do',
              all(most - 1024 <= depth <= most + 5 * 1024 for depth in depths.values()), depths)
    tap.check(f'{workers} workers: the depth of the overflow is the same in all cases', max(depths.values()) - min(depths.values()) <= 4096, depths)


def look_while_it_grows(program):
    """SIGQUIT lists the tasks, reading their stacks, while these grow and shrink."""
    with subprocess.Popen([program, 'churn', '1000000'], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=environment(JANUS_WORKERS=4)) as process:
        process.stdout.readline()  # from here on the runtime handles the signal
        told = []
        reader = threading.Thread(target=lambda: told.extend(process.stderr))
        reader.start()
        # Signals that arrive while a list is written count as one.
        deadline = time.monotonic() + 60
        while sum(line.count(b'task') for line in told) <= 100 and time.monotonic() < deadline:
            process.send_signal(signal.SIGQUIT)
            time.sleep(0.005)
        was_running = process.poll() is None
        process.kill()
        reader.join()
    told = b''.join(told)
    tap.check('tasks are listed while their stacks grow', was_running and b'panicked' not in told and told.count(b'task') > 100,
              told[-400:])


def look_at_large_ones(program):
    for workers in (1, 4):
        settings = {'JANUS_WORKERS': workers}
        ends_well(f'a task that requests a large stack can use 38 MiB, {workers} workers', program, 'far', settings=settings)
        done = ends(program, 'without', program, 'far', settings=settings)
        if done.returncode != 77:
            tap.check(f'and also with stacks of a fixed size, {workers} workers', done.returncode == 0 and not done.stderr, done)
    done = ends(program, 'halves', settings={'JANUS_WORKERS': 1})
    tap.check('the other half of a fork goes no deeper where its caller has left a long stack',
              done.returncode == 0 and int(done.stdout or b'-1') <= 262144 + 8192, done)
    done = ends_well('a task ends if there is no memory for its large stack', program, 'too far', status=7, settings={'JANUS_MEMORY': '48m'})
    tap.check('and the report gives the reason', done.stderr.count(b'panicked: no memory for its stack') == 1, done.stderr)


def look_at_marks(program):
    """The deepest stack of each name, in steps, of tasks whose stacks have grown."""
    settings = {'JANUS_STATS': 1, 'JANUS_WORKERS': 1}
    told = re.findall(rb'(?m)^janus: stack_peak +(\d+) of (.+)$', ends(program, 'deep', settings=settings).stderr)
    sizes = {re.sub(rb'^0x[0-9a-f]+ ', b'', name): int(size) for size, name in told}
    expected = {b"'main'": 524288, rb"'deep\x0a2'": 262144, rb"'deep\x0a1'": 131072, b'<recurse_alone>': 131072}
    tap.check('JANUS_STATS shows the depth of the deepest stack for each name',
              sizes.keys() == expected.keys() and all(abs(sizes[name] - size) <= 8192 for name, size in expected.items()), told)
    tap.check('the deepest name comes first', [int(size) for size, _ in told] == sorted(sizes.values(), reverse=True), told)
    done = ends(program, 'deep', 60, settings=settings)
    told = re.findall(rb'(?m)^janus: stack_peak +\d+ of (.+)$', done.stderr)
    tap.check('of many names, the deepest are shown', len(told) == 32 and told[:2] == [b"'main'", rb"'deep\x0a2'"], told)
    done = ends(program, 'deep')
    tap.check('without JANUS_STATS nothing is printed', done.returncode == 0 and not done.stderr, done.stderr)


def the_order_is_the_same_without(program, others):
    for name, arguments in others.items():
        for seed in (1, 7):
            settings = {'JANUS_SEED': seed, 'JANUS_STATS': 1}
            hashes = []
            for command in ([name, *arguments], [program, 'without', name, *arguments]):
                done = run([str(word) for word in command], env=environment(**settings), timeout=120)
                hashes.append(re.findall(rb'(?:stack_max|order_hash|tasks_inline) +(\S+)', done.stderr))
            if not hashes[1]:
                return tap.skip('the order where stacks do not grow', 'no seccomp here')
            grown, fixed = hashes
            tap.check(f'{name.name}, seed {seed}: the same order of events where stacks grow and where they do not',
                      len(grown) == 3 and grown[0] == b'262144' and fixed[0] == b'8192' and grown[1:] == fixed[1:], hashes)
    return None


def look_at_many(program):
    """Takes three seconds and 2.4 GB on two busy CPUs; skipped on machines with less memory."""
    needed = 4 << 30
    available = re.search(r'MemAvailable: +(\d+) kB', pathlib.Path('/proc/meminfo').read_text(encoding='utf-8'))
    limit = re.search(rb'bytes_limit +(\d+)', ends(program, 'sizes', settings={'JANUS_STATS': 1}).stderr)
    if int(available.group(1)) << 10 < needed or int(limit.group(1)) < needed:
        tap.skip('100,000 tasks with frames of 20,000 bytes work', f'less than {needed >> 30} GiB of memory')
        return
    ends_well('100,000 tasks with frames of 20,000 bytes work', program, 'frames', 100000, timeout=300)


def with_little_address_space(program):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    done = ends(program, 'recursion', 500, preexec_fn=limit)
    tap.check('500 deep tasks in 1 GiB of address space', done.returncode == 0, f'{done.returncode} {done.stderr[-400:]}')


def look_at(program, compiler):
    done = ends(program, 'sizes')
    sizes = done.stdout.split()
    if sizes and sizes[0] == sizes[1]:
        tap.skip(f'{compiler}: stacks that grow', "this kernel's guards do not move")
        return
    tap.check(f'{compiler}: the default stack has 8 KiB at first and 256 KiB at most', sizes == [b'8192', b'262144'], done.stdout)
    done = ends(program, 'sizes', settings={'JANUS_STACK_MAX': '100k', 'JANUS_STACK': '16k'})
    tap.check(f'{compiler}: the environment sets both sizes', done.stdout == b'16384 131072\n', done.stdout)
    for workers in (1, 4):
        settings = {'JANUS_WORKERS': workers}
        ends_well(f'{compiler}: frames of 20,000 bytes in 5,000 tasks, {workers} workers', program, 'frames', 5000, settings=settings)
        ends_well(f'{compiler}: 200 KiB deep in 1,000 tasks at once, {workers} workers', program, 'recursion', 1000, settings=settings)
        ends_well(f'{compiler}: the kernel writes to frames that nobody has touched, {workers} workers', program, 'kernel', settings=settings)
        ends_well(f'{compiler}: stacks grow and shrink, {workers} workers', program, 'churn', 100, settings=settings)
        ends_well(f'{compiler}: in deterministic mode, {workers} workers', program, 'recursion', 50, settings=settings | {'JANUS_SEED': 1})
        look_at_depths(program, workers, 262144)
    look_at_depths(program, 2, 65536)
    look_at_depths(program, 2, 32768)
    for workers in (1, 2):
        for on_exhaustion in (0, 1):  # SUSPEND, FAIL
            claim = (f'{compiler}: a task that yields near the end of its stack, with no memory left, ends alone, {workers} workers, '
                     f'{("SUSPEND", "FAIL")[on_exhaustion]}')
            if not is_optimized():
                tap.skip(claim, 'a runtime that is not optimized has larger frames than it keeps room for')
                continue
            ended = {depth: run([program, 'drained', str(depth), str(on_exhaustion)], env=environment(JANUS_WORKERS=workers)).returncode
                     for depth in range(65500, 68300, 40)}
            wrong = {depth: status for depth, status in ended.items() if status != 0}
            tap.check(claim, not wrong, wrong)
    ends_well(f'{compiler}: growth by many pages is charged for each page', program, 'large')
    ends_well(f'{compiler}: stacks grow in a forked process as in its parent', program, 'fork')
    done = ends_well(f'{compiler}: a task without the memory to grow ends alone', program, 'cage', 11, status=7, settings={'JANUS_WORKERS': 1})
    told = OVERFLOW.search(done.stderr)
    tap.check(f'{compiler}: and its report gives the reason', told and told.group(1) == b', with no memory in its budget to grow', done.stderr)
    done = ends_well(f'{compiler}: under FAIL the task ends with the outcome BUDGET, without a panic', program, 'cage', 11, 'fail', status=6)
    tap.check(f'{compiler}: and nothing is printed', not done.stderr, done.stderr)
    depths = [int(ends(program, 'pauper', deep, settings={'JANUS_WORKERS': 1}).stdout or b'0') for deep in (0, 250000, 900000)]
    tap.check(f"{compiler}: a child may not use the growth of its parent's stack beyond 64 KiB", max(depths) <= 65536 + 16384 + 8192 and max(depths) - min(depths) <= 4096, depths)
    for advice in ('', 102, 103):
        done = ends(program, *(['refused', advice] if advice else ['refused']))
        if done.returncode == 77:
            tap.skip(f'{compiler}: a filter that refuses', 'no seccomp here')
            continue
        why = {told.group(1) for told in OVERFLOW.finditer(done.stderr)}
        if advice == 102:
            # A step removes guards and makes none.
            tap.check(f'{compiler}: if a filter installed later refuses new guards, stacks that have guards still grow',
                      done.returncode == 8 and not why, f'{done.returncode} {done.stderr[-400:]}')
            continue
        tap.check(f'{compiler}: if a filter installed later refuses {advice or "madvise"}, a panic gives the reason',
                  done.returncode == 7 and why == {b', since the machine refuses to let it grow'}, f'{done.returncode} {done.stderr[-400:]}')
    done = ends(program, 'without', program, 'sizes')
    if done.returncode != 77:
        tap.check(f'{compiler}: if a filter installed before refuses guards, stack sizes are fixed', done.stdout == b'8192 8192\n', done)
    done = ends(program, 'ruin', settings={'JANUS_WORKERS': 1})
    tap.check(f'{compiler}: a fault of the fault handler while it grows a stack ends the process with a dump',
              done.returncode == -signal.SIGABRT and b'the runtime panicked: a fault while another was looked into' in done.stderr and
              b'build id' in done.stderr, f'{done.returncode} {done.stderr[-600:]}')
    look_at_large_ones(program)
    look_at_marks(program)
    look_while_it_grows(program)
    with_little_address_space(program)
    if compiler == 'gcc':
        look_at_many(program)
        # Printed for comparison: the time of a step, and that of touching a page.
        print(f"# {ends(program, 'time', settings={'JANUS_WORKERS': 1}).stdout.decode().strip()}")


def main():
    janus_cc = install(sys.argv[1], work)
    for compiler in compilers:
        program = work / f'growth-{compiler}'
        done = build(janus_cc, here / 'growth.c', program, compiler)
        if tap.check(f'{compiler}: growth.c compiles', done.returncode == 0, done.stderr):
            look_at(program, compiler)
    others = {}
    for source in ('fib.c', 'skynet.c', 'nqueens.c', 'uts.c', 'primes.c'):
        others[work / source[:-2]] = [{'fib.c': '16', 'skynet.c': '10000', 'uts.c': '300'}.get(source, programs[source][0])]
        done = build(janus_cc, here / source, work / source[:-2])
        tap.check(f'{source} compiles', done.returncode == 0, done.stderr)
    the_order_is_the_same_without(work / f'growth-{compilers[0]}', others)
    tap.end()


main()
