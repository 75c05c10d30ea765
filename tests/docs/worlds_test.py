#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# worlds_test.py BUILD — README.md, "Where it runs": the page's first program prints in each of the three environments
# what the page says. Several workers may take the two tasks in either order, so lines are compared sorted. Speaks TAP.
import pathlib
import re
import shutil
import sys

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent
sys.path.insert(0, str(here.parent / 'programs'))
sys.path.insert(0, str(root / 'qemu'))
from installed import Tap, environment, install, run, work_directory  # noqa: E402
from janus_qemu import kernel  # noqa: E402
from janus_qemu.refusal import Refusal  # noqa: E402

PATIENCE = 120


def blocks(page):
    return [re.sub('^    ', '', block, flags=re.M) for block in re.findall(r'(?:^    .*\n|^\n)+', page, re.M)]


def program_of(page):
    text = next(block for block in blocks(page) if '#include <janus/rt.h>' in block and 'int main(' in block)
    return re.sub(r'^\$.*\n?', '', text, flags=re.M)


def shown_of(page):
    """What the section shows after each command, by the environment in which the command runs the program."""
    section = page.split('## Where it runs\n')[1].split('\n## ')[0]
    shown = {}
    for command, output in re.findall(r'^\$ (.*)\n((?:(?!\$).+\n)*)', next(b for b in blocks(section) if '--target=bare' in b).strip('\n') + '\n', re.M):
        world = 'no kernel' if '--target=bare' in command else 'init' if '--linux' in command else 'a process' if '&& ./hello' in command else None
        if world:
            shown[world] = sorted(output.splitlines())
    return shown


def has_kernel():
    try:
        kernel.find()
    except Refusal:
        return False
    return True


def main():
    tap, work = Tap(), work_directory()
    page = (root / 'README.md').read_text()
    janus_cc = install(sys.argv[1], work)
    source, boot = work / 'hello.c', [janus_cc.parent / 'janus-qemu', '--timeout', str(PATIENCE)]
    source.write_text(program_of(page))
    for target in ('linux', 'bare'):
        done = run([janus_cc, f'--target={target}', source, '-o', work / target], env=environment())
        tap.check(f'the program compiles for {target}', done.returncode == 0, done.stderr)
    commands = {'a process': [work / 'linux'], 'init': [*boot, '--linux', work / 'linux'], 'no kernel': [*boot, work / 'bare']}
    shown = shown_of(page)
    tap.check('the page shows all three worlds', sorted(shown) == sorted(commands) and all(shown.values()), shown)
    for world, command in commands.items():
        if world != 'a process' and not shutil.which('qemu-system-x86_64') or world == 'init' and not has_kernel():
            tap.skip(f'it prints what the page says: {world}', 'there is no QEMU, or no kernel for it')
            continue
        done = run(command, timeout=PATIENCE + 30, env=environment())
        tap.check(f'it prints what the page says: {world}', done.returncode == 0 and sorted(done.stdout.decode().splitlines()) == shown.get(world),
                  f'{done.returncode} {done.stdout[-300:]} {done.stderr[-300:]}')
    tap.end()


main()
