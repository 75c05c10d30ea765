#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# hostile_test.py BUILD [PROGRAM...] — tests/programs/hostile with no kernel below: each attack as an image of its own,
# on 1 and 4 emulated CPUs; with JANUS_TEST_FULL on 2 as well. A line `// Bare: no, REASON` or `// Bare: one CPU, REASON` of a
# program says what of that is not done. Speaks TAP.
import concurrent.futures
import os
import pathlib
import re
import shutil
import sys
import time

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / 'programs'))
from installed import Tap, environment, install, run, work_directory  # noqa: E402

if not shutil.which('qemu-system-x86_64'):
    print('1..0 # SKIP qemu-system-x86_64 is missing')
    sys.exit(0)

CPUS = (1, 2, 4) if os.environ.get('JANUS_TEST_FULL') else (1, 4)
PATIENCE = 150
# Programs that have to run on so many CPUs at least: what is left out must not grow unseen.
FLOORS = {1: 36, 2: 33, 4: 33}
AT_ONCE = 2
ON = {1: 'on 1 CPU', 2: 'on 2 CPUs', 4: 'on 4 CPUs'}
# Every kind of attack takes minutes in an emulator; here are those that the machine below takes part in. By order rather
# than by time, as shares of an emulated CPU's time say nothing.
SHARES = [('fork bombs', 1), ('stack overflows', 1), ('talking pairs', 100), ('channel floods', 100), ('blocks of 100 KB', 100),
          ('openers and cancellers', 100), ('guessed handles', 1), ('cancel of 10,000 waiters', 1), ('chains', 20000)]
IN_ORDER = {'JANUS_SEED': 7, 'JANUS_WORKERS': 3}


def bare(source):
    """What the program says of itself: yes, no or one CPU; and why."""
    if re.search(r'^// Host: ', source.read_text(), re.M):
        return 'no', 'it is linked with a libc of its own'
    found = re.search(r'^// Bare: ([^,\n]*), (.*)$', source.read_text(), re.M)
    return found.groups() if found else ('yes', '')


def runs_of(source, cpus):
    """Arguments and settings of each boot."""
    if source.stem == 'neighbours_keep_their_share':
        return [(['40', attack, str(tasks)], IN_ORDER) for attack, tasks in SHARES] if cpus == 1 else []
    if source.stem == 'any_mix_of_calls_balances':
        return [([str(300 // cpus // cpus)], {})]
    return [([], {})]


class Images:
    """Compiled once each."""

    def __init__(self, janus_cc, work):
        self.janus_cc, self.work = janus_cc, work

    def make(self, source):
        standard = '-std=c++20' if source.suffix == '.cpp' else '-std=c11'
        options = ['--target=bare', '-O2', '-Wall', '-Wextra', '-Werror', standard]
        return run([self.janus_cc, *options, source, '-o', self.work / source.stem], timeout=PATIENCE, env=environment())

    def boot(self, source, cpus, arguments, settings):
        begin = time.monotonic()
        command = [self.janus_cc.parent / 'janus-qemu', '--timeout', str(PATIENCE), '--memory', '2048', '--smp', str(cpus)]
        end = run([*command, self.work / source.stem, *arguments], timeout=PATIENCE + 30, env=environment(**settings))
        return end, time.monotonic() - begin


def say(tap, source, cpus, arguments, end, seconds):
    of = f' {" ".join(arguments)}' if arguments else ''
    output = end.stdout.decode(errors='replace')
    # Reports of panics belong to it; what is said besides is why it failed.
    words = [line for line in output.splitlines() if not line.startswith('janus:')][-6:] + output.splitlines()[-4:]
    return tap.check(f'{source.stem.replace("_", " ")}{of} {ON[cpus]}', end.returncode == 0,
                     f'status {end.returncode} after {seconds:.1f} s\n' + '\n'.join(words) + f'\n{end.stderr[-200:].decode(errors="replace")}')


def main():
    tap, work = Tap(), work_directory()
    names = sys.argv[2:]
    sources = sorted(path for path in (here.parent / 'programs/hostile').iterdir() if path.suffix in ('.c', '.cpp'))
    sources = [source for source in sources if not names or source.stem in names]
    ran = dict.fromkeys(CPUS, 0)
    try:
        images = Images(install(sys.argv[1], work), work)
        for source in sources:
            if bare(source)[0] == 'no':
                tap.skip(source.stem.replace('_', ' '), bare(source)[1])
        chosen = [source for source in sources if bare(source)[0] != 'no']
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            for source, done in zip(chosen, list(pool.map(images.make, chosen))):
                if done.returncode != 0 or done.stderr:
                    tap.check(f'{source.stem}: compiles without a word', False, done.stderr.decode())
            for cpus in CPUS:
                boots = [(source, cpus, *how) for source in chosen if cpus == 1 or bare(source)[0] == 'yes' for how in runs_of(source, cpus)]
                held = set()
                for (source, _, arguments, _), result in zip(boots, pool.map(lambda boot: images.boot(*boot), boots)):
                    say(tap, source, cpus, arguments, *result)
                    held.add(source)
                ran[cpus] = len(held)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    for cpus in CPUS if not names else ():
        tap.check(f'{FLOORS[cpus]} programs or more run {ON[cpus]}', ran[cpus] >= FLOORS[cpus], ran[cpus])
    tap.end()


main()
