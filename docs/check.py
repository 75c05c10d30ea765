#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The book holds together: what it points to exists, its programs compile. Speaks TAP.

    check.py SOURCE_ROOT
"""
import json
import pathlib
import re
import subprocess
import sys

import decisions_index

root = pathlib.Path(sys.argv[1])
sys.path[:0] = [str(root / 'tests/harness'), str(root / 'tests/bench')]
import quote  # noqa: E402
from tap import Tap  # noqa: E402

pages = [root / 'README.md', *sorted((root / 'docs').glob('*.md'))]
tap = Tap()
TOP = {'README.md', 'LICENSE', 'meson.build', 'meson_options.txt', 'dev', 'arch', 'kernel-free', 'rt', 'linker', 'tests', 'qemu', 'docs'}


def points_to(page):
    text = page.read_text()
    for target in re.findall(r'\]\(([^)#]+)', text):
        if '://' not in target:
            yield target, page.parent / target
    for path in re.findall(r'(?<![\w/.-])((?:rt|arch|linker|tests|docs|kernel-free)/[\w./-]*[\w])', text):
        yield path, root / path


def programs(page):
    for block in re.findall(r'(?:^    .*\n|^\n)+', page.read_text(), re.M):
        text = re.sub('^    ', '', block, flags=re.M)
        if 'int main(' in text:
            yield text


def compiles(program):
    language = ['g++', '-x', 'c++', '-std=c++20'] if 'rt.hpp' in program else ['gcc', '-x', 'c', '-std=c11']
    program = re.sub(r'^\$.*\n', '', program, flags=re.M)
    done = subprocess.run([*language, '-Wall', '-Wextra', '-Werror', '-I', root / 'rt/include', '-fsyntax-only', '-'],
                          input=program, capture_output=True, text=True, timeout=60)
    return done.returncode == 0, done.stderr


# Of a clone what git has, else what is not a build.
tracked = subprocess.run(['git', '-C', root, 'ls-tree', '--name-only', 'HEAD', '.'], capture_output=True, text=True)
top = set(tracked.stdout.split() or (path.name for path in root.iterdir() if not path.name.startswith('build')))
tap.none('the top level has what was planned, and nothing else', sorted({name for name in top if not name.startswith('.')} ^ TOP))
for page in pages:
    tap.none(f'{page.name} points to what exists', sorted({name for name, path in points_to(page) if not path.exists()}))
for page in pages:
    for number, program in enumerate(programs(page), 1):
        fine, why = compiles(program)
        tap.none(f'program {number} of {page.name} compiles', [] if fine else why.splitlines())

headers = ''.join(header.read_text() for header in sorted((root / 'rt/include/janus').rglob('*.h')))
results = dict(re.findall(r'#define (JANUS_(?:E_\w+|SUCCESS|CANCELLED|PANIC|BUDGET_EXCEEDED|PENDING)) \(?(-?\d+)\)?', headers))
explained = dict(re.findall(r'^\| `(JANUS_\w+)` \| (-?\d+) \|', (root / 'docs/errors.md').read_text(), re.M))
tap.none('errors.md explains each result with its value, and no other',
         sorted(f'{name} {value}' for name, value in results.items() ^ explained.items()) if results else ['no results found'])

sources = ''.join(path.read_text() for path in sorted([*(root / 'rt').rglob('*.cpp'), *(root / 'rt').rglob('*.h'),
                                                       *(root / 'linker').rglob('*.cpp'), *(root / 'linker').rglob('*.c'), *(root / 'arch/hosted').rglob('*.cpp')]))
reasons = set(re.findall(r'(?:panic|report_panic|panic_because)\((?:\*?[\w.]+, )?(?:Cause::\w+, |JANUS_CAUSE_\w+, )?"([^"%]+)"|return "(stack overflow[^"]*)"|kGraceIsGone\[\] = "([^"]+)"', sources))
said = [next(filter(None, found)) for found in reasons]
page = ' '.join((root / 'docs/errors.md').read_text().split())
tap.none('errors.md explains each reason of a panic', sorted(reason for reason in said if reason not in page) if len(said) > 10 else ['no reasons found'])

recipe = (root / 'docs/meson.build').read_text()
installed = set(re.findall(r"'([\w-]+\.\w+)'", recipe.split('install_dir')[0]))
folders = re.findall(r"^install_subdir\('(\w+)'", recipe, re.M)
tap.none('each page of the book is installed', sorted({page.name for page in pages[1:]} - installed))
tap.none('what installed pages link to is installed beside them', sorted(
    f'{page.name}: {target}' for page in pages[1:] if page.name in installed for target in re.findall(r'\]\(([^)#]+)', page.read_text())
    if '://' not in target and target not in installed and target.split('/')[0] not in folders))

measured, shown = (quote.MARKS.search((root / page).read_text()) for page in ('docs/performance.md', 'README.md'))
tap.none('the figures of README.md are those of performance.md', [line for line in shown[0].splitlines() if line not in ['', shown[1].strip(), shown[3],
      *quote.figures(measured[0]).splitlines()]] if shown[0].count('\n|') == 12 else ['there are not ten of them'])
listed = [line for found in quote.MARKS.finditer((root / 'README.md').read_text()) if found[2] == 'losses' for line in found[0].splitlines()]
tap.none('README.md names each row in which a peer is ahead by more than a tenth, and no other',
         sorted(set(quote.losses(measured[0]).splitlines()) ^ {line for line in listed if line.startswith('|')}))

def shares(page, mark):
    """The rows of a table of shares, each as the name of the attack and the divisors of its cells that are shares."""
    table = re.search(rf'<!-- hostile {mark} -->\n(.*?)<!-- end -->', (root / page).read_text(), re.S)[1]
    return {cells[0]: [float(found[1]) for cell in cells[1:] if (found := re.search(r'1/([\d.]+)', cell))]
            for cells in ([cell.strip() for cell in line.strip('|').split('|')] for line in table.splitlines()) if '1/' in ''.join(cells)}

computes, others = shares('docs/hostile.md', 'table'), shares('docs/hostile.md', 'neighbours')
hostile = root / 'tests/programs/hostile'
most = int(re.search(r'kMaxTasks = (\d+)', (hostile / 'neighbours_keep_their_share.c').read_text())[1])  # attackers in a cage
attacks = dict(re.findall(r'\{"([^"]+)",\s*\w+,\s*([01])\}', (hostile / 'attacks.h').read_text().split('attacks[] = {')[1]))
crowds = [name for name, comes_in_crowds in attacks.items() if comes_in_crowds == '1']
wanted = {*attacks, *(f'{size:,} {name}' for size in (100, most) for name in crowds)}
tap.none('both tables of hostile.md have a row for each attack, and for each crowd of attackers', sorted(
    f'{attack}: {"no row" if attack in wanted else "no attack"}' for table in (computes, others) for attack in wanted ^ table.keys())
    if len(attacks) > 30 and len(crowds) > 10 else ['no attacks found'])
least = {attack: [max(computes[attack][w], *cells[w::2]) for w in (0, 1)] for attack, cells in others.items() if attack in computes}
least[f'the worst of all {len(others)} attacks'] = [max(row[w] for row in least.values()) for w in (0, 1)]
quoted = shares('README.md', 'shares')
tap.none('the shares of README.md are the least of hostile.md', [
    f'{attack}: {cells}, not {least.get(attack)}' for attack, cells in quoted.items() if cells != least.get(attack)]
    if len(quoted) == len(crowds) + 1 else ['rows are missing'])

operations = {'`janus_context_switch`, one way': 'switch', '`janus_yield_check(1)`': 'check', '`JANUS_LOOP_CHECK`': 'loop_check',
              '`janus_yield`, to another task': 'yield', '`janus_nursery_spawn`': 'spawn', 'taking a child, running it, its end': 'run',
              '`janus_nursery_create`, `janus_nursery_await_all`, no child': 'nursery', 'the same with one child: a fork-join step': 'scope_of_one', '`janus_fork_join` of two empty functions': 'fork',
              '`janus_channel_send` into a buffer with room': 'send', '`janus_channel_recv` from a buffer': 'recv',
              'an element of 16 in one `janus_channel_send_many`, `janus_channel_recv_many`': 'send_many recv_many',
              'a single send, a single receive by a task in a cage': 'caged_send caged_recv', 'the same by a task in a cage': 'caged_alloc',
              '`janus_realloc` of 64 bytes to 500, or back; in a cage': 'realloc caged_realloc',
              'a word there and back over two rendezvous channels': 'round_trip', '`janus_alloc(64)`, `janus_free`': 'alloc',
              "the deque's push, pop": 'push pop', "the deque's steal, without the heavy fence itself": 'steal'}
counted = json.loads((root / 'tests/bench/instructions.json').read_text())['operations']
wanted = [f"| {name} | {', '.join(str(round(counted[key]['instructions'])) for key in keys.split())} | "
          f"{', '.join(str(round(counted[key]['locked'])) for key in keys.split())} |" for name, keys in operations.items()]
page = (root / 'docs/performance.md').read_text()
tap.none('performance.md has the instructions that instructions.json holds', [row for row in wanted if row not in page])

tap.none('the index of decisions is what decisions_index.py prints',
      [] if (root / 'docs/decisions/README.md').read_text() == decisions_index.index(root) else ['docs/decisions_index.py . > docs/decisions/README.md'])
tap.none('decisions have the form that decisions_index.py describes', list(decisions_index.complaints(root)))
tap.end()
