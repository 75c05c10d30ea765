#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every function that the archive exports to programs costs at least one op a call, or stands with its reason in the
table of docs/budgets.md below the heading "Free of charge". Speaks TAP.

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


# They do nothing that could cost more than the call.
PLAIN = ('janus_cap_derive', 'janus_cap_revoke', 'janus_nursery_state', 'janus_rt_create', 'janus_task_state')


def symbols(archive, which, kind):
    listed = subprocess.run(['nm', which, '--extern-only', archive], capture_output=True, text=True, check=True, timeout=60)
    return set(re.findall(rf' [{kind}] (janus_\w+)$', listed.stdout, re.M))


def exported(prefix):
    """What the archive defines, and what of it programs call: by a public header, or through what is linked into them
    besides, the C library and what C++ needs."""
    defined = symbols(prefix / 'lib/libjanus_rt.a', '--defined-only', 'TW')
    called = symbols(prefix / 'lib/libjanus_c.a', '--undefined-only', 'U')
    for header in (prefix / 'include/janus').rglob('*.h*'):
        called |= set(re.findall(r'\b(janus_\w+)\(', re.sub(r'//.*', '', header.read_text())))
    return defined, defined & called


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
    tap.check('the archive exports what the headers declare and the C library calls', len(names) > 60 and 'janus_once_begin' in names,
              sorted(names))
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
        for name in PLAIN:
            tap.check(f'{name} costs 1 op', prices.get(name) == 1, f'measured: {prices.get(name)}')
        for name in sorted(free - defined):
            tap.check(f'{name} of the table is there', False)
finally:
    shutil.rmtree(work, ignore_errors=True)
tap.end()
