#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# pinning_test.py BUILD — on which CPUs workers run, according to /proc: a program that does one thing at a time may run
# anywhere, workers that work at the same time are pinned to one CPU each, and the last one working is free again. The
# process has its own name.
import os
import pathlib
import subprocess
import sys
import time

from installed import Tap, build, environment, here, install, work_directory

tap = Tap()
work = work_directory()
phases = work / 'phases'
everywhere = os.sched_getaffinity(0)


def threads(process):
    """By name: the CPUs on which the thread may run."""
    found = {}
    for task in pathlib.Path(f'/proc/{process.pid}/task').iterdir():
        try:
            found[(task / 'comm').read_text().strip()] = os.sched_getaffinity(int(task.name))
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


class Program:
    def __init__(self, *wanted, **settings):
        self.process = subprocess.Popen([phases, *wanted], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=environment(**{'JANUS_WORKERS': 2, **settings}))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def begins(self, phase):
        return self.process.stdout.readline().decode().strip() == phase

    def go_on(self):
        self.process.stdin.write(b'x')
        self.process.stdin.flush()

    def comes_to(self, claim, holds, patience=60.0):
        """Waits until the condition holds, and checks that it still holds a little later."""
        until = time.monotonic() + patience
        held = False
        while not held and time.monotonic() < until:
            time.sleep(0.02)
            if holds(threads(self.process)):
                time.sleep(0.2)
                held = holds(threads(self.process))
        tap.check(claim, held, str(threads(self.process)))

    def stays(self, claim, holds, seconds=0.6):
        until = time.monotonic() + seconds
        seen = threads(self.process)
        while holds(seen) and time.monotonic() < until:
            time.sleep(0.01)
            seen = threads(self.process)
        tap.check(claim, holds(seen), str(seen))


def all_free(seen):
    return seen and all(cpus == everywhere for cpus in seen.values())


def none_shared(seen):
    """At least one worker is pinned, and no two to the same CPU."""
    pinned = [min(cpus) for cpus in seen.values() if len(cpus) == 1]
    return pinned and len(pinned) == len(set(pinned))


def names():
    for workers in (1, 3):
        with Program('alone', JANUS_WORKERS=workers) as program:
            program.begins('alone')
            wanted = {'phases'} | {f'janus/{n}' for n in range(1, workers)}
            program.comes_to(f'with {workers} workers the process has its own name, and the other threads say what they are',
                             lambda seen, wanted=wanted: set(seen) == wanted)


def pins():
    with Program('alone') as program, Program('alone') as other:
        program.begins('alone')
        other.begins('alone')
        program.stays('main alone is not pinned', all_free)
        other.stays('nor is that of a program beside it', all_free)
    with Program('together', 'alone') as program:
        program.begins('together')
        program.comes_to('workers that have work side by side keep to CPUs of their own', none_shared)
        program.go_on()
        program.begins('alone')
        program.comes_to('whoever is left alone is free again, without ever yielding', all_free)
    with Program('beside') as program:
        program.begins('beside')
        program.comes_to('main is pinned while it works beside another', none_shared)
        program.go_on()
        program.begins('left alone')
        program.comes_to('and free once the other sleeps, though it has not waited itself', all_free)
    with Program('together', 'together') as program:
        program.begins('together')
        program.comes_to('pinned', none_shared)
        program.go_on()
        program.begins('together')
        program.comes_to('and pinned once more', none_shared)
    with Program('together', JANUS_PIN=0) as program:
        program.begins('together')
        program.stays('JANUS_PIN=0: never', all_free)
    with Program('alone', JANUS_PIN=1) as program:
        program.begins('alone')
        program.stays('JANUS_PIN=1: all of them from the start', lambda seen: all(len(cpus) == 1 for cpus in seen.values()))
    with Program('together', JANUS_WORKERS=len(everywhere) + 1) as program:
        program.begins('together')
        program.stays('with more workers than CPUs: never', all_free)


janus_cc = install(sys.argv[1], work)
done = build(janus_cc, here / 'phases.c', phases)
if tap.check('phases.c compiles', done.returncode == 0, done.stderr):
    names()
    if len(everywhere) > 1:
        pins()
    else:
        tap.skip('workers are pinned while several work', 'there is one CPU')
tap.end()
