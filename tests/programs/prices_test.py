#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every function that the archive exports costs at least one op a call, or stands with its reason in the table of
docs/budgets.md below the heading "Free of charge". Speaks TAP.

    prices_test.py BUILD_DIRECTORY
"""
import re
import shutil
import subprocess
import sys

from installed import Tap, build, environment, here, install, run, work_directory

root = here.parent.parent
tap = Tap()
work = work_directory()


def exported(prefix):
    """What the archive defines, and what of it a public header declares."""
    symbols = subprocess.run(['nm', '--defined-only', '--extern-only', prefix / 'lib/libjanus_rt.a'], capture_output=True,
                             text=True, check=True, timeout=60).stdout
    defined = set(re.findall(r' [TW] (janus_\w+)$', symbols, re.M))
    declared = set()
    for header in (prefix / 'include/janus').iterdir():
        declared |= set(re.findall(r'\b(janus_\w+)\(', re.sub(r'//.*', '', header.read_text())))
    return defined, defined & declared


def free_of_charge():
    """The table's first column: the functions; its second: why. Only rows with both count."""
    text = (root / 'docs/budgets.md').read_text()
    section = re.search(r'^#+ Free of charge\b.*?\n(.*?)(?=^#|\Z)', text, re.M | re.S)
    free = set()
    for first, reason in re.findall(r'^\|(.*?)\|(.*?)\|', section[1] if section else '', re.M):
        if reason.strip(' -'):
            free |= set(re.findall(r'`(janus_\w+)`', first))
    return free


try:
    janus_cc = install(sys.argv[1], work)
    defined, names = exported(janus_cc.parent.parent)
    free = free_of_charge()
    tap.check('the archive exports what the headers declare', len(names) > 60, sorted(names))
    done = build(janus_cc, here / 'prices.cpp', work / 'prices')
    if tap.check('prices.cpp compiles', done.returncode == 0, done.stderr):
        shown = run([work / 'prices'], env=environment(JANUS_WORKERS=1))
        prices = {name: float(price) for name, price in (line.split() for line in shown.stdout.decode().splitlines())}
        tap.check('and runs', shown.returncode == 0, shown)
        for name in sorted(names):
            price = prices.get(name)
            is_priced = price is not None and price >= 1
            tap.check(f'{name} has its price, or a reason for having none', is_priced != (name in free),
                      f'measured: {price}, in the table: {name in free}')
        for name in sorted(free - defined):
            tap.check(f'{name} of the table is there', False)
finally:
    shutil.rmtree(work, ignore_errors=True)
tap.end()
