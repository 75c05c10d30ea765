#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# same_notes.py PROGRAM IMAGE JANUS_QEMU TEST — the notes of a test (note() of the harness) are the same on this
# machine, with no kernel on 1, 2 and 4 CPUs, and as /init of a Linux kernel.
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'harness'))
from tap import Tap, skip_all_without  # noqa: E402

NOTE = re.compile(r'^# ([a-z][^:]*: .*)$', re.MULTILINE)
NO_KERNEL = 2  # status of janus-qemu: it found no kernel to boot
program, image, janus_qemu, test = sys.argv[1:]
worlds = [('1 CPU with no kernel', ['--smp', '1', image]), ('2 CPUs with no kernel', ['--smp', '2', image]),
          ('4 CPUs with no kernel', ['--smp', '4', image]),
          ('/init of a Linux kernel', ['--linux', program])]


def notes_of(command):
    done = subprocess.run([*command, test], capture_output=True, text=True, timeout=1200)
    return NOTE.findall(done.stdout) if done.returncode == 0 else [], done


skip_all_without('qemu-system-x86_64')
tap = Tap()
here, _ = notes_of([program])
tap.check(f'{test} notes something on this machine', here)
for world, arguments in worlds:
    there, done = notes_of([janus_qemu, *arguments])
    if done.returncode == NO_KERNEL and 'kernel' in done.stderr:
        tap.skip(f'and the same as {world}', done.stderr.strip())
    else:
        tap.check(f'and the same as {world}', here == there, '\n'.join(f'differs: {line}' for line in set(here) ^ set(there)))
tap.end()
