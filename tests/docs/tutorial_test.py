#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tutorial_test.py BUILD PAGE [--write] — docs/PAGE (tutorial.md, embedding.md), done as a stranger would: its listings are saved under the names
# in their first lines, its commands run in a shell from top to bottom, and what each prints must be what the page says,
# to the byte. One thing is not as on the page: `./dev install` installs the build under test, in place of building
# another one. Speaks TAP. --write: puts what the commands print into the page.
import os
import pathlib
import re
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent
sys.path.insert(0, str(here.parent / 'programs'))
from installed import Tap, compilers, environment, install, skip_all_without, work_directory  # noqa: E402

PATIENCE = 120
# How the first line of a listing names its file, by language.
NAMES = {'c': r'// ([\w.]+): ', 'rust': r'// ([\w.]+): ', 'python': r'# ([\w.]+): '}
# What each page has at least: listings, commands. What it needs: programs.
PAGES = {'tutorial.md': (8, 30, []), 'embedding.md': (3, 8, ['pkg-config', 'rustc', 'python3'])}
# `dev` of the clone that the stranger stands in.
DEV = '''#!/bin/sh
if [ "$1" != install ]; then exec {dev} "$@"; fi
ln -s {prefix} "$2"
'''


class Shell:
    """A shell whose directory and variables stay from one command to the next."""

    def __init__(self, clone, settings):
        self.state, self.settings = clone / '.shell', settings
        self.state.write_text(f'cd {clone}\n')

    def run(self, command):
        script = f'. {self.state}\n{command}\nended=$?\n{{ declare -px; echo "cd $PWD"; }} > {self.state}\nexit $ended\n'
        try:
            done = subprocess.run(['bash', '--noprofile', '--norc', '-c', script], env=self.settings, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE)
            return done.stdout.decode(errors='replace')
        except subprocess.TimeoutExpired:
            return 'it did not end\n'

    def directory(self):
        return pathlib.Path(re.findall(r'^cd (.*)$', self.state.read_text(), re.M)[-1])


def clone_for(work, janus_cc):
    """What the stranger sees of the repository, and a home directory."""
    clone, home = work / 'clone', work / 'home'
    for directory in (work, clone, home):
        directory.mkdir()
    (clone / 'tests').symlink_to(root / 'tests')
    (clone / 'dev').write_text(DEV.format(dev=root / 'dev', prefix=janus_cc.parent.parent))
    (clone / 'dev').chmod(0o755)
    return clone, home


def follow(page, shell, tap):
    """Does what the page says, block by block; the page with what was printed."""
    written = page
    for language, block in re.findall(r'^```(\w*)\n(.*?)^```$', page, re.M | re.S):
        if language in NAMES:
            name = re.match(NAMES[language], block)
            if tap.check(f'a listing says where it goes: {block.splitlines()[0]}', name):
                (shell.directory() / name[1]).write_text(block)
            continue
        tap.check(f'a block is a listing or commands: {block.splitlines()[0]}', language == 'console')
        seen = ''
        for command, expected in re.findall(r'^\$ (.*\n)((?:(?!\$ ).*\n)*)', block, re.M):
            printed = shell.run(command)
            tap.check(command.strip(), printed == expected, f'printed:\n{printed}\nthe page has:\n{expected}')
            seen += f'$ {command}{printed}'
        written = written.replace(block, seen)
    return written


def main():
    page_name = sys.argv[2]
    listings, commands, needed = PAGES[page_name]
    for program in needed:
        skip_all_without(program)
    tap, work = Tap(), work_directory()
    source = root / 'docs' / page_name
    page = source.read_text()
    janus_cc = install(sys.argv[1], work)
    # Of a compiler that is chosen by what stands below the home directory.
    toolchain = {'RUSTUP_HOME': os.environ.get('RUSTUP_HOME', str(pathlib.Path.home() / '.rustup'))}
    for compiler in compilers:
        clone, home = clone_for(work / compiler, janus_cc)
        settings = environment(HOME=home, CC=compiler, CXX=compiler) | {'LC_ALL': 'C'} | toolchain
        written = follow(page, Shell(clone, settings), tap)
        if '--write' in sys.argv:
            source.write_text(written)
    found = len(re.findall(rf'^```({"|".join(NAMES)})$', page, re.M)), page.count('\n$ ')
    tap.check('the page has its listings and commands', found[0] >= listings and found[1] >= commands, found)
    tap.end()


main()
