#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# gate.py — selects the tests to run, and has the budget of each suite. docs/testing.md and docs/decisions/0300
# explain it; `./dev test` calls it:
#   gate.py suites                          the suites, one a line
#   gate.py builds SELECTION                the build directories that SELECTION needs
#   gate.py options BUILD                   its compilers for C and C++, then the options of meson, one on each line
#   gate.py settings SELECTION BUILD        the environment of its tests, one NAME=VALUE a line
#   gate.py targets SELECTION BUILD         what to build in a configured build directory for SELECTION; nothing: everything
#   gate.py tests SELECTION BUILD [PATH...] the tests of a configured build directory that SELECTION runs
# SELECTION is `gate` (the tests for every landing), `all`, `changed` (the gate's tests for changes to the PATHs), or a
# suite.
import json
import re
import sys
from pathlib import Path

# The configuration of each build directory: compilers, then meson's options. docs/decisions/0042.
BUILDS = {
    'build': ('gcc', 'g++', '-Dbuildtype=release', '-Dsanitizers=address'),
    'build-clang': ('clang', 'clang++', '-Dbuildtype=release', '-Dsanitizers=thread', '-Dworlds=freestanding,bare,hosted'),
    'build-debug': ('gcc', 'g++', '-Dbuildtype=debug', '-Dsanitizers=', '-Dworlds=freestanding,bare'),
    'build-coverage': ('gcc', 'g++', '-Dbuildtype=debug', '-Dsanitizers=', '-Db_coverage=true', '-Dworlds=hosted'),
}

# Reduces tests at the gate, by the environment that they read. Builds besides the first only repeat the tests of
# `build` with other compilers and options, so loops of thousands become loops of hundreds there
# (tests/harness/scale.h); only gcc compiles programs; a program whose order must be the same each time
# runs 5 times, not 20. `--all`, or a suite by name, runs everything.
FEWER = {'JANUS_TEST_FEW': '1'}
LESS_AT_GATE = {'build': {'JANUS_TEST_COMPILERS': 'gcc', 'JANUS_TEST_RUNS': '5'}, 'build-clang': FEWER}

# Seconds of processor time that the tests of a suite may take, in all builds together. Lists all suites.
BUDGETS = {
    'abi': 300, 'arch': 60, 'base': 60, 'bench': 200, 'budget': 120, 'api': 900, 'debugger': 120, 'docs': 200,
    'first-hour': 600, 'harness': 60, 'hosted': 600, 'hostile': 900, 'image': 120, 'kernel-free': 60, 'layers': 60, 'linker': 150,
    'linux': 60, 'lower': 120, 'mem': 150, 'models': 300, 'offsets': 60, 'programs': 400, 'qemu': 1500, 'sched': 200, 'stress': 250, 'task': 300,
}

# The second tier: tests that `./dev test --all` runs and the gate does not. The gate runs each test that no row names.
# Builds, then tests, each as an expression that has to match the whole name.
SECOND_TIER = [
    ('.*', 'first-hour-.*'), ('.*', 'docs-(commands|embedding|sovereign|tutorial|worlds)'), ('.*', 'image.*'), ('.*', 'bench.*'),
    ('.*', 'debugger'), ('.*', 'valgrind'), ('.*', 'abi-hosts'), ('.*', 'lower-(fuzz|outputs)'),
    ('.*', 'qemu-(guests|gate|linux-[12])'), ('.*', 'kernel-free-(odd-machines|output)'), ('.*', 'hostile-(all|init|bare-[14])'), ('.*', 'model-mistakes'), ('.*', '.*-bare-4'), ('.*', '(?!linux-init).*-init'),
    ('build-clang', '(?!.*-tsan$).*'),
    ('build-(debug|coverage)', '.*'),
]
COVERAGE = 'coverage of rt'  # a result that the tests of build-coverage add to the tally, like a test

# The minimum number of results of tests whose names match, so that no environment loses its tests unnoticed.
FLOORS = {
    'gate': [('^(arch|base|budget|config|api|mem|sched|stress|task)$', 715), ('^(base|budget|config|api|mem|sched|stress|task)-hosted-tsan$', 700), ('-bare-1$', 690), ('-bare-2$', 690)],
    'all': [('^(arch|base|budget|config|api|mem|sched|stress|task)$', 715 * 3), ('-bare-1$', 690 * 3), ('-bare-2$', 690),
            ('-bare-4$', 685)],
}
FLOORS_WITH_KERNEL = {'gate': [('-init$', 90)], 'all': [('-init$', 780)]}

# The suites for a change to files whose paths begin like this; the first row that fits counts. A path that no row names
# needs all suites. The pages with rows of their own are read by tests of other suites (tests/harness/self/gate_test.py
# looks for such tests).
EVERYTHING = None
SUITES_BY_PATH = [
    ('docs/abi.md', {'docs', 'abi'}), ('docs/budgets.md', {'docs', 'abi', 'hostile'}), ('docs/hostile.md', {'docs', 'hostile'}),
    ('docs/lowering.md', {'docs', 'lower'}), ('docs/nurseries.md', {'docs', 'api'}), ('docs/security.md', {'docs', 'api'}), ('docs/manual/', {'docs', 'api', 'first-hour'}),
    ('docs/testing.md', {'docs', 'harness'}), ('docs/requirements.md', {'docs', 'harness'}), ('docs/contributing.md', {'docs', 'layers'}),
    ('docs/deployment.md', {'docs', 'image'}),
    ('docs/', {'docs'}), ('README.md', {'docs'}), ('LICENSE', set()), ('.clang-format', set()), ('.clang-tidy', set()), ('.editorconfig', set()),
    ('tests/models/', {'models', 'layers'}), ('tests/layers/', {'layers'}), ('tests/offsets/', {'offsets'}), ('tests/docs/', {'docs', 'harness'}),
    ('tests/qemu/', {'qemu'}), ('qemu/', {'qemu', 'lower'}), ('tests/kernel_free/', {'qemu', 'kernel-free', 'hostile'}),
    ('tests/linker/', {'linker'}), ('tests/lower/', {'lower'}), ('tests/bench/', {'bench', 'docs'}), ('tests/image/', {'image'}),
    ('tests/debugger/', {'debugger'}), ('tests/first_hour/', {'first-hour'}),
]


def is_second(build, test):
    return any(re.fullmatch(builds, build) and re.fullmatch(tests, test) for builds, tests in SECOND_TIER)


def is_second_everywhere(test):
    """Whether the gate runs the test in no build."""
    return test == COVERAGE or all(is_second(build, test) for build in BUILDS)


def suites_for(paths):
    """The suites to run for changes to `paths`, or EVERYTHING."""
    needed = set()
    for path in paths:
        suites = next((suites for beginning, suites in SUITES_BY_PATH if path.startswith(beginning)), EVERYTHING)
        if suites is EVERYTHING:
            return EVERYTHING
        needed |= suites
    return needed if paths else EVERYTHING


def tests_of(build):
    """Names of a configured build directory's tests, each with its suites."""
    for test in json.loads(Path(build, 'meson-info/intro-tests.json').read_text()):
        yield test['name'].split(' / ')[-1], {suite.split(':')[-1] for suite in test['suite']}


def is_selected(selection, build, test, suites, paths):
    if selection == 'all':
        return True
    if selection in BUDGETS:
        return selection in suites
    needed = suites_for(paths) if selection == 'changed' else EVERYTHING
    return not is_second(build, test) and (needed is EVERYTHING or bool(needed & suites))


def targets_for(selection, build):
    """File names of what the tests of a configured build directory need that the gate runs. Nothing where everything is to be
    built: in the first build, which has tests that read the build directory, and for other selections than the gate's."""
    if selection not in ('gate', 'changed') or Path(build).name == next(iter(BUILDS)):
        return []
    needed = {target for test in json.loads(Path(build, 'meson-info/intro-tests.json').read_text())
              if not is_second(Path(build).name, test['name'].split(' / ')[-1]) for target in test['depends']}
    return sorted(str(Path(file).relative_to(Path(build).resolve())) for target in json.loads(Path(build, 'meson-info/intro-targets.json').read_text())
                  if target['id'] in needed for file in target['filename'])


def settings_for(selection, build):
    return LESS_AT_GATE.get(build, {}) if selection in ('gate', 'changed') else {}


def builds_for(selection):
    """The builds that the selection needs. The gate skips a build whose tests are all of the second tier."""
    if selection == 'coverage':
        return ['build-coverage']
    skipped = {build for builds, tests in SECOND_TIER for build in BUILDS if tests == '.*' and re.fullmatch(builds, build)}
    return [build for build in BUILDS if selection == 'all' or build not in skipped]


def main():
    command, *arguments = sys.argv[1:]
    if command == 'suites':
        print(*BUDGETS, 'coverage', sep='\n')
    elif command == 'builds':
        print(*builds_for(*arguments), sep='\n')
    elif command == 'options':
        print(*BUILDS[arguments[0]], sep='\n')
    elif command == 'settings':
        for name, value in settings_for(arguments[0], Path(arguments[1]).name).items():
            print(f'{name}={value}')
    elif command == 'targets':
        for target in targets_for(*arguments):
            print(target)
    elif command == 'tests':
        selection, build, *paths = arguments
        name = Path(build).name
        for test, suites in tests_of(build):
            if is_selected('hosted' if selection == 'coverage' else selection, name, test, suites, paths):
                print(test)
    else:
        sys.exit(f'gate.py does not know {command}')


if __name__ == '__main__':
    main()
