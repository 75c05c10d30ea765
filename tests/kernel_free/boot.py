#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# boot.py JANUS_QEMU ARGUMENTS... — boots an image that speaks TAP and relays what it says. A console that is not whole,
# because its last line is cut, its plan is missing or a result is, ends with `Bail out!` and a failure, whatever the
# status is that the image has said. Where there is no QEMU, one skipped test says so.
import re
import shutil
import subprocess
import sys


class Console:
    """What has been said so far."""

    def __init__(self):
        self.plan, self.results, self.last = None, 0, b''

    def take(self, line):
        self.last = line
        if plan := re.match(rb'1\.\.(\d+)\b', line):
            self.plan = int(plan[1])
        self.results += re.match(rb'(not )?ok\b', line) is not None

    def lacks(self):
        """What of it is missing, or None."""
        if not self.last.endswith(b'\n'):
            return 'it ends in the middle of a line'
        if self.plan is None:
            return 'its plan is missing'
        return None if self.results == self.plan else f'{self.results} results of {self.plan}'


def main():
    if not shutil.which('qemu-system-x86_64'):
        print('1..0 # SKIP qemu-system-x86_64 is missing')
        return 0
    console = Console()
    with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE) as machine:
        for line in machine.stdout:
            console.take(line)
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
    if machine.returncode == 0 and (missing := console.lacks()):
        print(f'{"" if console.last.endswith(bytes([10])) else chr(10)}Bail out! The console is cut off: {missing}')
        return 1
    return machine.returncode


sys.exit(main())
