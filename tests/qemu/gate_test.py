#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# gate_test.py BUILD — how images are judged: boot.py under meson, and the tally of meson's log. A guest that prints two
# results and ends correctly passes. One that panics, hangs, resets, ends with another status or loses a part of its
# output fails, however many results it has printed. Speaks TAP.
import json
import pathlib
import re
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / 'programs'))
from installed import Tap, environment, run, skip_all_without, work_directory  # noqa: E402

skip_all_without('qemu-system-x86_64')

root = here.parent.parent
# Each guest, with what the tally reports for it; None if it passes.
GUESTS = {'tap_whole': None, 'tap_cut_line': '', 'tap_too_few': 'died', 'tap_no_plan': '', 'status_0': '', 'tap_wrong_status': '',
          'tap_panic': '', 'tap_triple_fault': '', 'tap_hang': 'timed out', 'tap_spin': 'died', 'half_a_status': '', 'reset_after_status': ''}
SECONDS = 10  # real time for each guest; one of them uses all of it
OF_EMULATOR = 2  # processor time for each guest; one of them uses all of it


def run_tests(guests, work):
    """Makes a project with a test for each guest; returns what meson logged of them."""
    tests = [f"test('{name}', find_program('{root}/tests/kernel_free/boot.py'), protocol: 'tap', timeout: {SECONDS}, is_parallel: false,\n"
             f"  args: ['--seconds', '{OF_EMULATOR}', '{root}/qemu/janus-qemu', '{guests}/{name}.elf'])\n" for name in GUESTS]
    (work / 'meson.build').write_text("project('gate')\n" + ''.join(tests))
    plain = environment(JANUS_ACCELERATOR='tcg')
    subprocess.run(['meson', 'setup', work / 'build', work], check=True, stdout=sys.stderr, env=plain, timeout=60)
    done = run(['meson', 'test', '-C', work / 'build'], env=plain, timeout=20 * len(GUESTS))
    return done, work / 'build/meson-logs/testlog.json'


def main():
    tap, work = Tap(), work_directory()
    done, log = run_tests(pathlib.Path(sys.argv[1]) / 'tests/qemu', work)
    said = run(['python3', root / 'tests/harness/tally.py', log], cwd=root).stdout.decode()
    lines = log.read_text().splitlines()
    verdicts = dict(re.search(r'"name": "(?:[^"]* / )?([^"/]*)".*"result": "(\w+)"', line).groups() for line in lines)
    tap.check('meson says that something failed', done.returncode != 0, done.stdout.decode()[-600:])
    for name, words in GUESTS.items():
        failed = re.search(rf'^FAILED .*\b{name}: .*{words or ""}', said, re.M)
        if words is None:
            tap.check(f'{name} passes', verdicts.get(name) == 'OK' and not failed, (verdicts.get(name), said[-900:]))
        else:
            tap.check(f'{name} fails', verdicts.get(name) in ('FAIL', 'ERROR', 'TIMEOUT') and failed, (verdicts.get(name), said[-900:]))
    spinning = next(record for record in map(json.loads, lines) if record['name'].endswith('tap_spin'))
    tap.check('a guest that is always busy is ended by the processor time of its emulator, and that is said',
              f'took all of its {OF_EMULATOR} seconds' in spinning['stdout'], spinning)
    tap.end()


main()
