# SPDX-License-Identifier: Apache-2.0
# cage.py — runs a program as PID 1 of new namespaces. Its directory is the whole file system, read-only; it has no
# capabilities, an unprivileged user, no network, and only the system calls that are allowed.
import os
import shutil
import struct
import subprocess
import tempfile

NUMBERS = {}
with open('/usr/include/x86_64-linux-gnu/asm/unistd_64.h') as header:
    for line in header:
        words = line.split()
        if len(words) == 3 and words[1].startswith('__NR_'):
            NUMBERS[words[1].removeprefix('__NR_')] = int(words[2])

LOAD, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
X86_64 = 0xc000003e
ALLOW, KILL, ERRNO = 0x7fff0000, 0x80000000, 0x00050000
EPERM = 1


def instruction(code, value, yes=0, no=0):
    return struct.pack('<HBBI', code, yes, no, value)


def filter_of(answers, otherwise):
    """A seccomp program: `answers` maps names of system calls to their results, all others get `otherwise`."""
    program = [instruction(LOAD, 4), instruction(IF_EQUAL, X86_64, 1, 0), instruction(RETURN, KILL), instruction(LOAD, 0)]
    for name, answer in answers.items():
        program += [instruction(IF_EQUAL, NUMBERS[name], 0, 1), instruction(RETURN, answer)]
    return b''.join([*program, instruction(RETURN, otherwise)])


def only(names):
    """A seccomp program that kills a process which makes any other call."""
    return filter_of({name: ALLOW for name in names}, KILL)


def without(name, error=EPERM):
    return filter_of({name: ERRNO | error}, ALLOW)


class Cage:
    def __init__(self, root, *more):
        """`more`: arguments between bwrap's own options and the program."""
        self._command = ['bwrap', '--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts', '--ro-bind', root, '/',
                         '--cap-drop', 'ALL', '--uid', '65534', '--gid', '65534', '--as-pid-1', '--die-with-parent', '--new-session',
                         '--clearenv', *more]

    def command(self, arguments, settings):
        words = list(self._command)
        for name, value in settings.items():
            words += ['--setenv', name, str(value)]
        return [*words, *arguments]

    def run(self, arguments, allowed=None, timeout=60, before=None, **settings):
        """The finished process. `allowed` is a seccomp program; `before` runs in the child, outside the cage."""
        words = self.command(arguments, settings)
        with tempfile.TemporaryFile() as rules:
            fds = ()
            if allowed is not None:
                rules.write(allowed)
                rules.seek(0)
                words[1:1] = ['--seccomp', str(rules.fileno())]
                fds = (rules.fileno(),)
            return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, pass_fds=fds, preexec_fn=before)


def why_not():
    """Why no cage can be made here; None if it can."""
    if not shutil.which('bwrap'):
        return 'bubblewrap is not installed'
    with tempfile.TemporaryDirectory() as root:
        os.mkdir(f'{root}/bin')
        done = Cage('/').run(['/bin/true'])
    return None if done.returncode == 0 else f'no namespaces here: {done.stderr.decode().strip()}'
