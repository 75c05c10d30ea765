#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# boot.py [--seconds N] [--full] JANUS_QEMU ARGUMENTS... — boots an image that speaks TAP and prints its output. If the
# output is incomplete (the last line is cut off, the plan or a result is missing), it prints `Bail out!` and fails,
# whatever status the image gave. With JANUS_TEST_FULL tests run all their repetitions, which takes an hour, and images
# with --full run; otherwise these are skipped. The emulator is ended after N seconds of processor time. Without QEMU,
# or without a Linux to boot, one skipped test says so.
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'harness'))
from tap import skip_all, skip_all_without  # noqa: E402

NO_KERNEL = 2  # status of janus-qemu: it found no kernel to boot


class Console:
    """Checks the output line by line."""

    def __init__(self):
        self.plan, self.results, self.last = None, 0, b''

    def take(self, line):
        self.last = line
        if plan := re.match(rb'1\.\.(\d+)\b', line):
            self.plan = int(plan[1])
        self.results += re.match(rb'(not )?ok\b', line) is not None

    def lacks(self):
        """What the output lacks, or None."""
        if not self.last.endswith(b'\n'):
            return 'it ends in the middle of a line'
        if self.plan is None:
            return 'its plan is missing'
        return None if self.results == self.plan else f'{self.results} results of {self.plan}'


def main():
    skip_all_without('qemu-system-x86_64')
    command, is_full = sys.argv[1:], os.environ.get('JANUS_TEST_FULL')
    if command[0] == '--seconds':
        if not is_full:
            resource.setrlimit(resource.RLIMIT_CPU, (int(command[1]), resource.RLIM_INFINITY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        del command[:2]
    if command[0] == '--full':
        del command[0]
        if not is_full:
            skip_all('takes an emulator long: with JANUS_TEST_FULL alone')
    if is_full:
        for less in ('JANUS_TEST_FEW', 'JANUS_TEST_ROUNDS', 'JANUS_TEST_STEPS'):
            os.environ.pop(less, None)
    console = Console()
    with tempfile.TemporaryFile('w+') as complaints, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=complaints) as machine:
        for line in machine.stdout:
            console.take(line)
            # The runtime's own lines are on the same console, and are not results.
            sys.stdout.buffer.write(b'# ' + line if line.startswith(b'janus: ') else line)
            sys.stdout.buffer.flush()
        machine.wait()
        complaints.seek(0)
        complaint = complaints.read()
    if machine.returncode == NO_KERNEL and 'no kernel' in complaint:
        skip_all(complaint.strip())
    sys.stderr.write(complaint)
    if f'signal {int(signal.SIGXCPU)}' in complaint:
        print(f'Bail out! The emulator took all of its {resource.getrlimit(resource.RLIMIT_CPU)[0]} seconds of processor time')
    if machine.returncode == 0 and (missing := console.lacks()):
        print(f'{"" if console.last.endswith(bytes([10])) else chr(10)}Bail out! The console is cut off: {missing}')
        return 1
    return machine.returncode


sys.exit(main())
