#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# gate_test.py ROOT BUILD — tests gate.py's selection of tests: it leaves out only tests that it names, and in doubt
# none. Prints TAP.
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import gate  # noqa: E402
import tally  # noqa: E402
import times  # noqa: E402
from tap import Tap  # noqa: E402

# A change, and the suites that it needs.
CHANGES = (
    (['docs/quickstart.md'], {'docs'}),
    (['docs/budgets.md'], {'docs', 'abi', 'hostile'}),
    (['docs/quickstart.md', 'tests/models/deque_model_test.cpp'], {'docs', 'models', 'layers'}),
    (['qemu/janus_qemu/machine.py'], {'qemu', 'lower'}),
    (['LICENSE'], set()),
    ([], gate.EVERYTHING),
    (['rt/task/nurseries/spawn.cpp'], gate.EVERYTHING),
    (['docs/budgets.md', 'rt/base/list.h'], gate.EVERYTHING),
    (['arch/linux/memory/guards.cpp'], gate.EVERYTHING),
    (['tests/harness/gate.py'], gate.EVERYTHING),
    (['tests/meson.build'], gate.EVERYTHING),
    (['meson.build'], gate.EVERYTHING),
    (['dev'], gate.EVERYTHING),
    (['a/new/folder/file.cpp'], gate.EVERYTHING),
)


def read_by(build, root):
    """For each test that is a script: its suites, and the pages and scripts of docs/ that its text names."""
    for test in json.loads((build / 'meson-info/intro-tests.json').read_text()):
        suites = {suite.split(':')[-1] for suite in test['suite']}
        for word in test['cmd']:
            script = pathlib.Path(word).resolve()
            if script.suffix == '.py' and script.is_relative_to(root / 'tests') and script.name != 'gate_test.py':
                code = [line for line in script.read_text().splitlines() if not line.lstrip().startswith('#')]
                for path in re.findall(r'docs/[a-z_/-]+\.(?:md|py)', '\n'.join(code)):
                    yield script.name, suites, path


def costs(*rows):
    return [times.Cost('build', test, frozenset(suites.split()), seconds) for test, suites, seconds in rows]


def unmet(options, ran, page=None, costs=()):
    count = tally.Count()
    count.ran = ran
    wanted = tally.Wanted(options)
    wanted.floors, wanted.page = [], page
    return list(wanted.unmet(count, list(costs)))


def made_up_build(build):
    """A configured build directory with two tests, of which one needs ThreadSanitizer."""
    (build / 'meson-info').mkdir(parents=True)
    names = ('a', 'a-hosted-tsan')
    (build / 'meson-info/intro-tests.json').write_text(json.dumps([{'name': f'p:s / {name}', 'depends': [f'@{name}@'], 'suite': ['p:s']} for name in names]))
    (build / 'meson-info/intro-targets.json').write_text(json.dumps([{'id': f'@{name}@', 'filename': [f'{build}/tests/test-{name}']} for name in names]))
    return build


class Page:
    """A stand-in for docs/requirements.md with one requirement, which names tests."""

    def __init__(self, names):
        self.names = names

    def read_text(self):
        return f'| R001 | it holds | met | {self.names} |\n'


def main():
    tap, root, build = Tap('gate'), pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    tests, name = list(gate.tests_of(build)), build.name
    used = {suite for _, suites in tests for suite in suites}
    tap.none('every suite has a budget', used - gate.BUDGETS.keys())
    tap.none('every suite that is named runs in some build', () if name != 'build' else gate.BUDGETS.keys() - used)
    tap.none('every row of the second tier names a test', () if name not in gate.BUILDS else [
        tests_named for builds, tests_named in gate.SECOND_TIER if re.fullmatch(builds, name) and builds in ('.*', name)
        and name == 'build' and not any(re.fullmatch(tests_named, test) for test, _ in tests)])
    page = (root / 'docs/testing.md').read_text()
    tap.none('docs/testing.md has every row of the second tier', [row for row in gate.SECOND_TIER if '`' + row[1].replace('|', '\\|') + '`' not in page])
    tap.check('a test that no row names runs at the gate', gate.is_selected('gate', 'build', 'a-new-test', {'task'}, []))
    tap.none('--all runs every test', [test for test, suites in tests if name in gate.BUILDS and not gate.is_selected('all', name, test, suites, [])
                                       and name != 'build-coverage'])
    tap.check('tests of clang\'s and of unoptimised code do less at the gate, those of what ships do not',
              'JANUS_TEST_FEW' in gate.settings_for('gate', 'build-clang') and 'JANUS_TEST_FEW' not in gate.settings_for('gate', 'build'))
    tap.check('the gate has two builds', gate.builds_for('gate') == ['build', 'build-clang'], gate.builds_for('gate'))
    with tempfile.TemporaryDirectory() as folder:
        for made, wanted in (('build', []), ('build-clang', ['tests/test-a-hosted-tsan'])):
            seen = gate.targets_for('gate', made_up_build(pathlib.Path(folder, made)))
            tap.check(f'of {made} the gate builds {"what its tests need" if wanted else "everything"}', seen == wanted, seen)
        tap.none('and --all builds everything, and so does a suite', [target for selection in ('all', 'task')
                                                                      for target in gate.targets_for(selection, pathlib.Path(folder, 'build-clang'))])
    tap.none('but not with --all, nor of a suite', [build for build in gate.BUILDS for selection in ('all', 'task') if gate.settings_for(selection, build)])
    for paths, suites in CHANGES:
        found = gate.suites_for(paths)
        tap.check(f'a change to {" and ".join(paths) or "what is not known"} needs {"everything" if suites is None else suites or "nothing"}', found == suites, found)
    tap.none('every path in these changes exists', [path for paths, _ in CHANGES for path in paths if 'new' not in path and not (root / path).exists()])
    tap.none('a change to a page needs the suite of each script that reads it', [
        f'{script} of {sorted(suites)} reads {path}' for script, suites, path in read_by(build, root)
        if (needed := gate.suites_for([path])) is not gate.EVERYTHING and not needed & suites])
    tap.none('suites that changes need exist', {suite for _, suites in gate.SUITES_BY_PATH for suite in suites} - gate.BUDGETS.keys())

    left_out = Page('`coverage of rt`, `debugger`, `valgrind: it is silent`')
    tap.none('what requirements name may be left out by the gate', unmet(['--tier=gate'], [], left_out))
    tap.check('but not by --all', len(unmet(['--tier=all'], [], left_out)) == 1)
    tap.check('any other test that requirements name must run', len(unmet(['--tier=gate'], [], Page('`debugger`, `layers`'))) == 1)

    spent = costs(('a', 'mem', 10.0), ('b', 'mem task', 5.0))
    tap.check('a suite is the sum of its tests', times.sums(spent) == {'mem': 15.0, 'task': 5.0}, times.sums(spent))
    above = list(times.above_budget(spent, {'mem': 14, 'task': 5}))
    tap.check('a suite above its budget is named', len(above) == 1 and 'suite mem: 15 s' in above[0], above)
    tap.none('a slower machine may take longer', times.above_budget(spent, {'mem': 14, 'task': 5}, 1.2))
    tap.check('a suite without a budget has none to spend', len(list(times.above_budget(spent, {'mem': 20}))) == 1)
    beyond = costs(('a', 'mem', 1e9))
    tap.check('--all fails above a budget', len(unmet(['--tier=all'], [], costs=beyond)) == 1)
    tap.none('the gate does not', unmet(['--tier=gate'], [], costs=beyond))
    record = {'name': 'janus-rt:mem+qemu / heap', 'duration': 9.5, 'stdout': 'ok 1 - a\n# processor time: 2.50 s\n'}
    tap.check('what a test took is its processor time', times.cost_of('build', record) == ('build', 'heap', {'mem', 'qemu'}, 2.5),
              times.cost_of('build', record))
    record['stdout'] = 'ok 1 - a\n'
    tap.check('or by the clock if it could not say', times.cost_of('build', record).seconds == 9.5)
    many = times.report(costs(*((f't{n}', 'mem', float(n)) for n in range(50))), gate.BUDGETS)
    shown = [line.split(': ')[1] for line in many if ' build: t' in line]
    tap.check('the 20 slowest are shown, the slowest first', shown == [f't{n}' for n in range(49, 29, -1)], shown)

    ended = subprocess.run([root / 'tests/harness/measured.py', 'sh', '-c', 'echo said; exit 7'], capture_output=True, text=True, timeout=30)
    tap.check('what is measured says and ends as it does', ended.returncode == 7 and re.fullmatch(r'said\n# processor time: [\d.]+ s\n', ended.stdout), ended)
    ended = subprocess.run([root / 'tests/harness/measured.py', 'sh', '-c', 'kill -SEGV $$'], capture_output=True, text=True, timeout=30)
    tap.check('also by a signal', ended.returncode == -11, ended)
    refused = subprocess.run([root / 'dev', 'test', 'nosuchsuite'], capture_output=True, text=True, timeout=30)
    tap.check('./dev test refuses a suite that there is not, names those that there are, and builds nothing',
              refused.returncode == 2 and not refused.stdout and refused.stderr.count('\n') == 1 and ' stress ' in refused.stderr, refused)
    tap.end()


main()
