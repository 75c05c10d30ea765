#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The man pages: one for each function of the public headers and each command, none that mandoc or groff has a word
against, and in each what the header says. Speaks TAP.

    manual_test.py SOURCE_ROOT DIRECTORY_WITH_man1_man3_man7
"""
import pathlib
import re
import shutil
import subprocess
import sys

root, manual = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path.insert(0, str(root / 'tests/harness'))
from tap import Tap  # noqa: E402

tap = Tap()


def said(*command):
    done = subprocess.run([*command], capture_output=True, text=True, timeout=60)
    return done.stdout, done.stderr


headers = ''.join(path.read_text() for path in [*sorted((root / 'rt/include/janus').rglob('*.h'))])
declared = set(re.findall(r'\b(janus_\w*[^\W_])\(', re.sub(r'//[^\n]*', '', headers)))
pages = sorted(manual.glob('man[137]/*'))
here = {page.stem for page in pages}
tap.none('each function of the headers has a page, and there is no other but the macros', sorted(
    declared ^ {page.stem for page in pages if page.suffix == '.3' and not page.stem.startswith('JANUS_LOOP_')}) if declared else ['no functions'])
tap.none('each command has a page, and so has the whole', sorted({'janus-cc', 'janus-qemu', 'janus_rt'} - here))
referred = {name for page in pages for name in re.findall(r'^\.Xr (\S+) ', page.read_text(), re.M)}
tap.none('what a page refers to is there', sorted(referred - here))
tap.none('each page says what its name does', [page.name for page in pages if not re.search(r'^\.Nd \S+ \S+', page.read_text(), re.M)])

if shutil.which('mandoc'):
    tap.none('mandoc has no warning', said('mandoc', '-T', 'lint', '-W', 'warning', *pages)[0].splitlines())
else:
    tap.skip('mandoc has no warning', 'mandoc is not installed')
if shutil.which('groff'):
    tap.none('groff has no warning', [f'{page.name}: {line}' for page in pages
                                      for line in said('groff', '-ww', '-mandoc', '-Tutf8', page)[1].splitlines()])
    shown = re.sub(r'.\x08|\x1b\[[\d;]*m', '', said('groff', '-mandoc', '-Tascii', '-P-c', manual / 'man3/janus_nursery_spawn_in.3')[0])
    wanted = ['#include <janus/rt.h>', 'janus_nursery_spawn_in(janus_nursery* nursery, janus_task_fn fn,', 'The owner and every task below it may',
              'size_t stack_size;', 'JANUS_SPAWN_DETACHED 1u', 'janus_nursery_open(3)']
    plain = ' '.join(shown.split())
    heads = {said('groff', '-mandoc', '-Tascii', '-P-c', page)[0].lstrip().split('\n')[0] for page in pages}
    tap.none('no page says in its head that it is of another system', [head for head in heads if 'BSD' in head or 'janus-rt' not in head])
    tap.none('janus_nursery_spawn_in(3) shows its prototype, its comment, its options and its kin', [text for text in wanted if text not in plain])
else:
    tap.skip('groff has no warning', 'groff is not installed')
tap.end()
