#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# same_notes.py PROGRAM IMAGE JANUS_QEMU TEST — what a test notes (harness: note()) is the same in all worlds: on this
# machine, on 1 and 2 CPUs with no kernel, and as /init of a Linux kernel of its own.
import re
import shutil
import subprocess
import sys

NOTE = re.compile(r'^# ([a-z][^:]*: .*)$', re.MULTILINE)
NO_KERNEL = 2                                  # janus-qemu: nothing was begun
program, image, janus_qemu, test = sys.argv[1:]
worlds = [('1 CPU with no kernel', ['--smp', '1', image]), ('2 CPUs with no kernel', ['--smp', '2', image]),
          ('/init of a Linux kernel', ['--linux', program])]


def notes_of(command):
    done = subprocess.run([*command, test], capture_output=True, text=True, timeout=200)
    return NOTE.findall(done.stdout) if done.returncode == 0 else [], done


if not shutil.which('qemu-system-x86_64'):
    print('1..0 # SKIP qemu-system-x86_64 is missing')
    sys.exit(0)
here, _ = notes_of([program])
print(f'TAP version 13\n1..{1 + len(worlds)}')
print(f'{"ok" if here else "not ok"} 1 - {test} notes something on this machine')
for number, (world, arguments) in enumerate(worlds, 2):
    there, done = notes_of([janus_qemu, *arguments])
    if done.returncode == NO_KERNEL and 'kernel' in done.stderr:
        print(f'ok {number} - and the same as {world} # SKIP {done.stderr.strip()}')
        continue
    for line in set(here) ^ set(there):
        print(f'# differs: {line}')
    print(f'{"ok" if here == there else "not ok"} {number} - and the same as {world}')
