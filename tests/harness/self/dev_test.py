#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# dev_test.py DEV — tests what `./dev install` builds, with DEV in a project of one source file. Prints TAP.
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from tap import Tap  # noqa: E402

PROJECT = {
    'meson.build': "project('little', 'c', 'cpp')\nstatic_library('little', 'little.c', install: true, install_dir: 'lib')\n",
    'meson_options.txt': "option('tests', type: 'boolean', value: true)\n",
    'little.c': 'int little(void) { return 1; }\n',
}


def install(root, prefix):
    return subprocess.run([root / 'dev', 'install', prefix], capture_output=True, text=True, timeout=120)


def compilations(root):
    """How often the source file has been compiled, since the build directory was made."""
    log = root / 'build-install/.ninja_log'
    return sum('little.c.o' in line for line in log.read_text().splitlines()) if log.exists() else 0


def main(dev):
    tap = Tap()
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        for name, text in PROJECT.items():
            (root / name).write_text(text)
        shutil.copy(dev, root / 'dev')
        first = install(root, root / 'one')
        built = root / 'build-install/kept'
        built.touch()  # lost with a build directory that is made anew
        second = install(root, root / 'two')
        (root / 'little.c').write_text('int little(void) { return 2; }\n')
        third = install(root, root / 'one')
        tap.check('each installation succeeds', not any(each.returncode for each in (first, second, third)),
                  first.stderr + second.stderr + third.stderr)
        tap.check('both prefixes have the library', all((root / prefix / 'lib/liblittle.a').exists() for prefix in ('one', 'two')))
        tap.check('a second prefix needs no second build directory', built.exists())
        tap.check('a source file is compiled once, and again after a change', compilations(root) == 2, compilations(root))
        says = 'some 80 seconds'
        tap.check('only the first says how long building takes', says in first.stderr and says not in second.stderr + third.stderr,
                  first.stderr + second.stderr)
    tap.end()


main(pathlib.Path(sys.argv[1]).resolve())
