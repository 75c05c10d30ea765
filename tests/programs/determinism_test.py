#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# determinism_test.py BUILD — the same program, seed and number of logical workers give exactly the same order of
# events, in JANUS_TEST_RUNS runs.
import os
import re
import sys

from installed import Tap, build, environment, here, install, programs, run, work_directory

runs = int(os.environ.get('JANUS_TEST_RUNS', '20'))
tap = Tap()
work = work_directory()


def order_hash(command, workers, seed):
    done = run(command, env=environment(JANUS_WORKERS=workers, JANUS_SEED=seed, JANUS_STATS=1))
    found = re.search(rb'order_hash\W+(?:0x)?([0-9a-f]+)', done.stderr)
    if done.returncode or not found:
        return f'status {done.returncode}: {done.stderr[-300:].decode()}'
    return found.group(1).decode()


janus_cc = install(sys.argv[1], work)
commands = {}
for name, (size, _) in programs.items():
    done = build(janus_cc, here / name, work / f'{name}.run')
    if tap.check(f'{name} compiles', done.returncode == 0, done.stderr):
        commands[name] = [work / f'{name}.run', size]
tree = work / 'tree'
for number in range(60):
    file = tree / f'd{number % 5}' / f'e{number % 3}' / f'f{number}'
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(bytes(range(256)) * 37 * number)
if build(janus_cc, here / 'treehash.c', work / 'treehash.run').returncode == 0:
    commands['treehash.c'] = [work / 'treehash.run', tree]
tap.check('treehash.c compiles', 'treehash.c' in commands)

for name, command in commands.items():
    by_seed = {}
    for workers in (1, 2, 4, 8, 256):
        hashes = {order_hash(command, workers, 7) for _ in range(runs)}
        ok = len(hashes) == 1 and re.fullmatch('[0-9a-f]+', *hashes) and int(*hashes, 16)
        tap.check(f'{name}: one order in {runs} runs with {workers} logical workers', ok, '\n'.join(sorted(hashes)))
        by_seed[workers] = hashes
    others = {order_hash(command, 4, seed) for seed in (0, 1, 2, 3)}
    tap.check(f'{name}: other seeds give other orders', len(others - by_seed[4]) > 1, '\n'.join(sorted(others)))
    done = run(command, env=environment(JANUS_WORKERS=2, JANUS_STATS=1))
    outside = re.search(rb'order_hash +(0x)?0*[1-9a-f]', done.stderr)
    tap.check(f'{name}: outside deterministic mode there is no hash', b'janus: workers' in done.stderr and not outside,
              done.stderr[-400:].decode())
tap.end()
