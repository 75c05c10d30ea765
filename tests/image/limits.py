# SPDX-License-Identifier: Apache-2.0
# limits.py — control groups for tests: a quota of CPU and a limit of memory, in either version of cgroups, where this
# machine allows them.
import os
import pathlib
import time

ROOT = pathlib.Path('/sys/fs/cgroup')


class Group:
    """One group for each requested controller, with no effect outside the group."""

    def __init__(self, quota=None, memory=None):
        self._directories = []
        self._unified = (ROOT / 'cgroup.controllers').exists()
        name = f'janus-test-{os.getpid()}'
        if self._unified:
            (ROOT / 'cgroup.subtree_control').write_text('+cpu +memory')
            self._make(ROOT / name)
            if quota:
                self._write('cpu.max', f'{int(quota * 100000)} 100000')
            if memory:
                self._write('memory.max', memory)
                self._write('memory.swap.max', 0, wanted=False)
        else:
            if quota:
                self._make(ROOT / 'cpu' / name)
                self._write('cpu.cfs_quota_us', int(quota * 100000))
            if memory:
                self._make(ROOT / 'memory' / name)
                self._write('memory.limit_in_bytes', memory)
                self._write('memory.memsw.limit_in_bytes', memory, wanted=False)

    def _make(self, directory):
        try:
            directory.mkdir()
        except OSError:
            self.remove()
            raise
        self._directories.append(directory)

    def _write(self, name, value, wanted=True):
        try:
            (self._directories[-1] / name).write_text(str(value))
        except OSError:
            if wanted:
                self.remove()
                raise

    def join(self):
        """Puts a child process into the groups before it executes a program."""
        for directory in self._directories:
            (directory / 'cgroup.procs').write_text(str(os.getpid()))

    def kills(self):
        """The number of processes that the kernel killed for lack of memory."""
        name = 'memory.events' if self._unified else 'memory.oom_control'
        words = (self._directories[-1] / name).read_text().split()
        return int(words[words.index('oom_kill') + 1])

    def remove(self):
        for directory in self._directories:
            for _ in range(100):
                try:
                    directory.rmdir()
                    break
                except OSError:
                    time.sleep(0.05)


def why_not():
    """Why no groups can be made here; None if they can."""
    try:
        Group(quota=1, memory=64 << 20).remove()
    except OSError as error:
        return f'no control group can be made here: {error}'
    return None
