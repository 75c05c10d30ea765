#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tutorial_test.py BUILD PAGE [--write] — follows docs/PAGE (tutorial.md, embedding.md, sovereign.md) as a reader would. Saves each
# listing under the name in its first line, runs the commands in a shell from top to bottom, and compares what each
# prints with the page, byte by byte. One difference: `./dev install` installs the build under test instead of building
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
# The minimum numbers of listings and commands of each page, and the programs that it needs.
PAGES = {'tutorial.md': (8, 30, []), 'embedding.md': (3, 8, ['pkg-config', 'rustc', 'python3']),
         'sovereign.md': (2, 5, [])}
# The `dev` script in the clone.
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
    """Makes the reader's clone of the repository and a home directory."""
    clone, home = work / 'clone', work / 'home'
    for directory in (work, clone, home):
        directory.mkdir()
    (clone / 'tests').symlink_to(root / 'tests')
    (clone / 'dev').write_text(DEV.format(dev=root / 'dev', prefix=janus_cc.parent.parent))
    (clone / 'dev').chmod(0o755)
    return clone, home


def follow(page, shell, tap):
    """Follows the page block by block; returns the page with the actual output."""
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
    # Rust's compiler is chosen by files below the home directory, so keep the real one.
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
