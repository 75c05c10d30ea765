#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# prices_test.py BUILD — every function that the archive exports costs what docs/budgets.md says under "What each call
# costs", and at least one op; or it is listed with a reason in the table under "Free of charge". And the prices are those of
# price_table.txt, whose number is the runtime's: who changes a price gives the table a new number. Speaks TAP.
import re
import subprocess
import sys

from installed import Tap, build, environment, here, install, run, work_directory

root = here.parent.parent
tap = Tap()
work = work_directory()


def symbols(archive, which, kind):
    listed = subprocess.run(['nm', which, '--extern-only', archive], capture_output=True, text=True, check=True, timeout=60)
    return set(re.findall(rf' [{kind}] (janus_\w+)$', listed.stdout, re.M))


def exported(prefix):
    """What the archive defines for programs: functions of the public headers, and functions called by what is linked into
    programs besides: the C library and what C++ needs."""
    defined = symbols(prefix / 'lib/libjanus_rt.a', '--defined-only', 'TW')
    called = symbols(prefix / 'lib/libjanus_c.a', '--undefined-only', 'U')
    for header in (prefix / 'include/janus').rglob('*.h*'):
        called |= set(re.findall(r'\b(janus_\w+)\(', re.sub(r'//.*', '', header.read_text())))
    return defined, defined & called


def rows_below(heading):
    """The first table under the heading: the functions that a row's first column names, and the text of its second."""
    text = (root / 'docs/budgets.md').read_text()
    section = re.search(rf'^#+ {heading}\b.*?\n(.*?)(?=^#|\Z)', text, re.M | re.S)
    table = re.search(r'(?:^\|.*\n)+', section[1] if section else '', re.M)
    rows = re.findall(r'^\|(.*?)\|(.*?)\|', table[0] if table else '', re.M)
    return [(re.findall(r'`(janus_\w+)`', first), second.strip(' -')) for first, second in rows]


def free_of_charge():
    return {name for names, reason in rows_below('Free of charge') if reason for name in names}


def listed_prices():
    """The prices of the simplest call of each function."""
    return {name: int(re.match(r'\d+', price)[0]) for names, price in rows_below('What each call costs') for name in names}


def table_of_number():
    """price_table.txt: its number; what the calls cost that do not cost 1; and the constants of price.h."""
    lines = [line.split(' ', 1) for line in (here / 'price_table.txt').read_text().splitlines() if line and line[0] != '#']
    number = int(lines[0][1])
    calls = {name: float(price) for name, price in lines[1:] if name.startswith('janus_')}
    return number, calls, {name: value for name, value in lines[1:] if not name.startswith('janus_')}


def constants():
    text = re.sub(r'//.*', '', (root / 'rt/task/record/price.h').read_text())
    body = text[text.index('namespace price {'):]
    return {name: value.strip() for name, value in re.findall(r'\b(k\w+) = ([^;,]+)', body) if name != 'kTable'}


janus_cc = install(sys.argv[1], work)
defined, names = exported(janus_cc.parent.parent)
free, listed = free_of_charge(), listed_prices()
tap.check('the archive exports what the headers declare and the C library calls', len(names) > 60 and 'janus_once_begin' in names,
          sorted(names))
done = build(janus_cc, here / 'prices.cpp', work / 'prices')
if tap.check('prices.cpp compiles', done.returncode == 0, done.stderr):
    shown = run([work / 'prices'], env=environment(JANUS_WORKERS=1))
    prices = {name: float(price) for name, price in (line.split() for line in shown.stdout.decode().splitlines())}
    tap.check('and runs', shown.returncode == 0, shown)
    for name in sorted(names):
        price = prices.get(name)
        if name in free:
            tap.check(f'{name} is free', price is None or price < 1, f'measured: {price}')
        else:
            tap.check(f'{name} has its price', price == listed.get(name, 1),
                      f'measured: {price}, in the table: {listed.get(name, 1)}')
    number, calls, recorded = table_of_number()
    changed = [f'{name}: {prices[name]}, in the table {calls.get(name, 1)}' for name in sorted(names & set(prices))
               if prices[name] != calls.get(name, 1)]
    changed += [f'{name}: {constants().get(name)}, in the table {recorded.get(name)}' for name in sorted(set(recorded) | set(constants()))
                if constants().get(name) != recorded.get(name)]
    tap.check('no price has changed since its table got its number (kTable in price.h, and tests/programs/price_table.txt)',
              not changed, '\n'.join(changed))
    tap.check('the number is that of the table', prices.get('price_table') == number, prices.get('price_table'))
    for name in sorted(free & set(listed)):
        tap.check(f'{name} is free, or has a price', False)
    for name in sorted((free | set(listed)) - defined):
        tap.check(f'{name} of the table is there', False)
tap.end()
