#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# hostile_test.py BUILD bare-CPUS|init [PROGRAM...] — runs tests/programs/hostile in an emulator. `bare-2`: with no
# kernel, each attack as an image of its own, on 2 CPUs; 1 and 4 likewise. `init`: some attacks as the only process of a
# Linux on 2 CPUs, and all others as children of one process (one_after_another.c) in one boot. With JANUS_TEST_FULL
# each runs by itself, also on 1 CPU (with more CPUs than the host has, Linux itself may wait for ever). A line `//
# Bare: no, REASON`, `// Bare: one CPU, REASON` or `// Init: ...` in a program says what is not run. Speaks TAP.
import concurrent.futures
import itertools
import os
import pathlib
import re
import shutil
import sys
import time

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent.parent / 'qemu'))
from janus_qemu import kernel  # noqa: E402
from janus_qemu.refusal import Refusal  # noqa: E402
from machine import PATIENCE, environment, prepare, run, run_emulator  # noqa: E402

FULL = bool(os.environ.get('JANUS_TEST_FULL'))
WORLD, _, cpus_of_world = sys.argv[2].partition('-')
CPUS = (int(cpus_of_world),) if WORLD == 'bare' else (1, 2) if FULL else (2,)
SECONDS, TOGETHER = 400 if FULL else 150, 600  # processor time of an emulator
# As /init, where the rest is Linux's: the programs that use most of what is different there (faults, pipes, files, the
# end of the process).
SOME = ('bad_pointers_are_the_callers_panic', 'a_full_pipe_holds_its_writer_alone', 'files_need_system_calls', 'leaving_is_the_roots',
        'every_depth_of_stack_works_or_panics', 'a_block_is_freed_once_however_many_try')
# The least number of programs that must run on each number of CPUs, so that the exclusions cannot grow unnoticed.
FLOORS = {'bare': {1: 40, 2: 37, 4: 37}, 'init': {1: 44, 2: 43} if FULL else {2: len(SOME)}}[WORLD]
CHILDREN = 40
AT_ONCE = 2
PARTS = 4
ON = {1: 'on 1 CPU', 2: 'on 2 CPUs', 4: 'on 4 CPUs'}
# All kinds of attacks would take minutes in an emulator; these are the ones in which the machine takes part. Judged by
# order, not by time, since shares of an emulated CPU's time mean nothing.
SHARES = [('fork bombs', 1), ('stack overflows', 1), ('talking pairs', 100), ('channel floods', 100), ('blocks of 100 KB', 100),
          ('openers and cancellers', 100), ('guessed handles', 1), ('cancel of 10,000 waiters', 1), ('chains', 20000)]
IN_ORDER = {'JANUS_SEED': 7, 'JANUS_WORKERS': 3}


def fits(source):
    """What the program's comments allow in this environment: yes, no or one CPU; and the reason."""
    if re.search(r'^// Host: ', source.read_text(), re.M):
        return 'no', 'it is linked with a libc of its own'
    found = re.search(rf'^// {WORLD.title()}: ([^,\n]*), (.*)$', source.read_text(), re.M)
    return found.groups() if found else ('yes', '')


def runs_of(source, cpus):
    """Arguments and settings of each boot."""
    if source.stem == 'neighbours_keep_their_share':
        return [(['40', attack, str(tasks)], IN_ORDER) for attack, tasks in SHARES] if cpus == 1 else []
    if source.stem == 'every_depth_of_a_growing_stack_works' and cpus > 1 and WORLD == 'bare' and not FULL:
        # giving back a stack waits for all CPUs, also for those that the host is not running
        return [([str(4 * cpus)], {})]
    if source.stem == 'no_call_outruns_its_ops' and WORLD == 'bare':
        # Each of its steps costs an emulator much; all in one boot come too near to its limit on a busy machine.
        return [([str(part), str(PARTS)], {}) for part in range(1, PARTS + 1)]
    if source.stem == 'any_mix_of_calls_balances':
        return [([str(300 // cpus // cpus)], {})]
    return [([], {})]


class Images:
    """Compiles each program once."""

    def __init__(self, janus_cc, janus_qemu, work):
        self.janus_cc, self.janus_qemu, self.work = janus_cc, janus_qemu, work

    def make(self, source):
        standard = '-std=c++20' if source.suffix == '.cpp' else '-std=c11'
        options = [f'--target={"bare" if WORLD == "bare" else "linux"}', '-O2', '-Wall', '-Wextra', '-Werror', standard]
        return run([self.janus_cc, *options, source, '-o', self.work / source.stem], timeout=SECONDS, env=environment())

    def boot(self, source, cpus, arguments, settings):
        begin = time.monotonic()
        command = [self.janus_qemu, '--timeout', str(PATIENCE * SECONDS), '--memory', '2048', '--smp', str(cpus),
                   *(['--linux'] if WORLD == 'init' else [])]
        end = run_emulator([*command, self.work / source.stem, *arguments], SECONDS, env=environment(**settings))
        return end, time.monotonic() - begin


def say(tap, source, cpus, arguments, end, seconds):
    of = f' {" ".join(arguments)}' if arguments else ''
    output = end.stdout.decode(errors='replace')
    # Reports of panics are expected; other lines tell why the program failed.
    words = [line for line in output.splitlines() if not line.startswith('janus:')][-6:] + output.splitlines()[-4:]
    return tap.check(f'{source.stem.replace("_", " ")}{of} {ON[cpus]}', end.returncode == 0,
                     f'status {end.returncode} after {seconds:.1f} s\n' + '\n'.join(words) + f'\n{end.stderr[-200:].decode(errors="replace")}')


def in_one_boot(images, sources):
    """Runs those that need no settings as children of one process; returns a function that tells how each ended."""
    runs = [(source, arguments) for source in sources for arguments, settings in runs_of(source, 2) if not settings]
    tree = images.work / 'tree'
    (tree / 'programs').mkdir(parents=True)
    for source, _ in runs:
        shutil.copy(images.work / source.stem, tree / 'programs')
    (tree / 'list').write_text(''.join(' '.join([source.stem, *arguments]) + '\n' for source, arguments in runs))
    parent = images.work / 'one_after_another'
    made = run(['cc', '-O2', '-Wall', '-Wextra', '-Werror', '-static', here / 'programs' / f'{parent.name}.c', '-o', parent], timeout=SECONDS)
    end = run_emulator([images.janus_qemu, '--linux', '--timeout', str(PATIENCE * TOGETHER), '--memory', '2048', '--smp', '2', '--initrd', tree, parent],
                       TOGETHER, env=environment())
    output = end.stdout.decode(errors='replace')
    ended = re.findall(r'((?:.*\n)*?)ended (\w+) (\d+)\n', output)

    def tell(tap):
        tap.check(f'{parent.name}.c compiles', made.returncode == 0, made.stderr.decode())
        for (source, _), (said, name, status) in itertools.zip_longest(runs, ended, fillvalue=('', '', '')):
            words = [line for line in said.splitlines() if not line.startswith('janus:')]
            tap.check(f'{source.stem.replace("_", " ")} beside others of one boot of Linux on 2 CPUs', (name, status) == (source.stem, '0'),
                      f'{name} {status}\n' + '\n'.join(words[-8:]))
        tap.check(f'{CHILDREN} programs or more run in one boot', end.returncode == 0 and len(ended) >= CHILDREN,
                  f'{len(ended)} ended, status {end.returncode}\n{output[-600:]}\n{end.stderr[-200:].decode(errors="replace")}')
    return tell


def skip_without_kernel():
    try:
        kernel.find()
    except Refusal as why:
        print(f'1..0 # SKIP {why}')
        sys.exit(0)


def main():
    if WORLD == 'init':
        skip_without_kernel()
    tap, work, janus_cc, janus_qemu = prepare()
    names = sys.argv[3:]
    sources = sorted(path for path in (here.parent / 'programs/hostile').iterdir() if path.suffix in ('.c', '.cpp'))
    sources = [source for source in sources if not names or source.stem in names]
    ran = dict.fromkeys(CPUS, 0)
    images = Images(janus_cc, janus_qemu, work)
    for source in sources:
        if fits(source)[0] == 'no':
            tap.skip(source.stem.replace('_', ' '), fits(source)[1])
    chosen = [source for source in sources if fits(source)[0] != 'no']
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for source, done in zip(chosen, list(pool.map(images.make, chosen))):
            if done.returncode != 0 or done.stderr:
                tap.check(f'{source.stem}: compiles without a word', False, done.stderr.decode())
        alone = [source for source in chosen if names or WORLD == 'bare' or FULL or source.stem in SOME]
        others = [source for source in chosen if source not in alone and fits(source)[0] == 'yes']
        together = pool.submit(in_one_boot, images, others) if others else None
        for cpus in CPUS:
            boots = [(source, cpus, *how) for source in alone if cpus == 1 or fits(source)[0] == 'yes' for how in runs_of(source, cpus)]
            held = set()
            for (source, _, arguments, _), result in zip(boots, pool.map(lambda boot: images.boot(*boot), boots)):
                say(tap, source, cpus, arguments, *result)
                held.add(source)
            ran[cpus] = len(held)
    if together:
        together.result()(tap)
    for cpus in CPUS if not names else ():
        tap.check(f'{FLOORS[cpus]} programs or more run {ON[cpus]}', ran[cpus] >= FLOORS[cpus], ran[cpus])
    tap.end()


main()
