#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# measured.py COMMAND ARGUMENT... — runs a test, exits with its status, and prints as the last line how much processor
# time it and its children took, which gate.py adds up. `./dev test` makes meson run each test by it.
import os
import resource
import signal
import subprocess
import sys

WORDS = '# processor time: '


def main():
    status = subprocess.run(sys.argv[1:], check=False).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f'{WORDS}{used.ru_utime + used.ru_stime:.2f} s', flush=True)
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), -status)
    return status


if __name__ == '__main__':
    sys.exit(main())
