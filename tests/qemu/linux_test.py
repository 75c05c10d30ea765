#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# linux_test.py BUILD ends|all|two — programs as the first process of a Linux kernel, booted by janus-qemu --linux: the
# ends of main (ends), everything on one CPU (all), or on two (two). Speaks TAP.
import hashlib
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / 'programs'))
from installed import PATIENCE, Tap, build, environment, install, programs as sizes, run, run_emulator, work_directory  # noqa: E402

tap = Tap()
SECONDS = 60  # processor time of an emulator
work = work_directory()
janus_cc = install(sys.argv[1], work)
janus_qemu = janus_cc.parent / 'janus-qemu'
# Always the same accelerator, so that the test gives the same results everywhere.
plain = {'JANUS_ACCELERATOR': 'tcg'} | {k: v for k, v in os.environ.items() if k == 'JANUS_KERNEL'}


def compiled(name, folder=here / 'programs'):
    output = work / name.removesuffix('.c')
    done = build(janus_cc, folder / name, output)
    if done.returncode:
        tap.check(f'{name} compiles', False, done.stderr)
    return output


def start(*arguments, **settings):
    return [janus_qemu, '--linux', '--timeout', str(PATIENCE * SECONDS), *map(str, arguments)], environment(**plain | settings)


def boot(*arguments, **settings):
    command, env = start(*arguments, **settings)
    return run_emulator(command, SECONDS, env=env)


def ends(claim, status, *arguments, stdout=None, stderr=b'', **settings):
    """Checks the status, the whole of stdout, and a part of stderr."""
    done = boot(*arguments, **settings)
    ok = done.returncode == status and (stdout is None or re.fullmatch(stdout, done.stdout)) and stderr in done.stderr
    tap.check(claim, ok and (stderr or not done.stderr), f'status {done.returncode}\n{done.stdout[-1500:]!r}\n{done.stderr[-500:]!r}')
    return done


def programs():
    folder = here.parent / 'programs'
    return compiled('hello.c', folder), compiled('ends.c', folder)


def main_ends(hello, ends_as):
    ends('three tasks say hello, and nobody else says anything', 0, hello, stdout=rb'(hello from task \d+\n){3}')
    ends('a panic of main is 134', 134, ends_as, 'panic', stdout=rb"janus: .*main has had enough(.|\n)*")


def two_cpus(hello, ends_as):
    ends('on two CPUs, too', 0, '--smp', 2, hello, 5, stdout=rb'(hello from task \d+\n){5}')
    ends('an overflow and a wild write end their tasks alone', 0, '--smp', 2, ends_as, 'contain', stdout=rb'(janus: .*\n)+-2 2 100\n')
    same_results(2, list(sizes) if os.environ.get('JANUS_TEST_FULL') else ['skynet.c'])
    older_guards()


def other_ends(ends_as):
    ends('the status of main is its own', 7, ends_as, 'return', 7, stdout=b'')
    ends('senseless settings are 2', 2, ends_as, 'return', 0, stdout=rb'janus: .*JANUS_WORKERS.*\n', JANUS_WORKERS='many')
    ends('an exit behind the runtime is a failure of its own', 125, compiled('stop.c'), stdout=rb'here\n(.|\n)*',
         stderr=b'janus-qemu: the kernel ended before the program did')
    ends('children come and go without the machine', 5, compiled('orphans.c'), stdout=rb'nobody is left\n')


def same_results(cpus, names):
    """Programs that print the same everywhere; tests/kernel_free runs the same ones without a kernel."""
    for name in names:
        size, expected = sizes[name]
        if expected is not None:
            ends(f'{name} prints what it prints elsewhere, {cpus} CPUs', 0, '--smp', cpus, compiled(name, here.parent / 'programs'), size,
                 stdout=re.escape(expected).encode())


def given():
    program = compiled('given.c')
    done = boot(program, 'plain', 'two words', '', '--smp=3', 'a=b c', 'back\\slash', 'ünï', JANUS_SEED='7', JANUS_STATS='0')
    tap.check('the program is process 1', done.stdout.startswith(b'pid 1\n'), done.stdout)
    arguments = re.findall(r'argument <(.*)>', done.stdout.decode())
    tap.check('arguments arrive unchanged', arguments == ['/init', 'plain', 'two words', '', '--smp=3', 'a=b c', 'back\\slash', 'ünï'],
              done.stdout.decode())
    settings = re.findall(r'setting <(.*)>', done.stdout.decode())
    tap.check('settings arrive unchanged', {'JANUS_SEED=7', 'JANUS_STATS=0'} < set(settings) and
              not any(s.startswith(('JANUS_KERNEL', 'JANUS_ACC')) for s in settings), settings)
    many = [str(n) for n in range(30)]
    done = boot(program, *many)
    tap.check('30 arguments arrive', re.findall(r'argument <(.*)>', done.stdout.decode())[1:] == many, done.stdout.decode())


def output():
    line = b'abcdefghijklmnopqrstuvwxyz' * 2 + b'abcdefghijk\n'
    done = boot(compiled('lines.c'))
    tap.check('a long output arrives byte by byte, ends of lines included', done.returncode == 0 and done.stdout == line * 4000,
              f'status {done.returncode}, {len(done.stdout)} bytes')


def older_guards():
    done = boot('--smp', 2, compiled('guards.c'), 2000)
    if done.stdout.startswith(b'installing a guard: 0\n'):
        tap.skip('guards where the kernel installs none', 'this kernel installs them')
    else:
        tap.check('this kernel installs no guards', done.stdout.startswith(b'installing a guard: -22\n'), done.stdout)
    tap.check('the stacks of 2000 blocked tasks still have guards, and none has only a canary', b'2000 blocked, all guarded, 0 by canaries\n' in done.stdout,
              done.stdout)
    tap.check('and the guard works: an overflow ends one task', done.returncode == 0 and b'1 of them failed\n' in done.stdout and
              b'stack overflow' in done.stdout, done.stdout)


def files():
    tree = work / 'tree'
    (tree / 'data/sub').mkdir(parents=True)
    for number in range(40):
        (tree / f'data/sub/{number}').write_bytes(b'%d' % number * (number * 301))
    expected = ''.join(f'{hashlib.sha256(path.read_bytes()).hexdigest()}  /{path.relative_to(tree)}\n'
                       for path in sorted((p for p in tree.rglob('*') if p.is_file()), key=lambda p: os.fsencode(p)))
    treehash = work / 'treehash'
    if build(janus_cc, here.parent / 'programs/treehash.c', treehash).returncode:
        return tap.skip('an initial file system is hashed as on the host', 'BearSSL is not installed')
    done = boot('--initrd', tree, treehash, '/data')
    # The progress display is on the same console.
    sums = ''.join(line + '\n' for line in re.findall(r'[0-9a-f]{64}  /.+', done.stdout.decode()))
    tap.check('an initial file system is hashed as on the host', done.returncode == 0 and sums == expected, done.stdout.decode()[-1500:])
    disk = work / 'disk'
    disk.write_bytes(random.Random(1).randbytes(3 << 20))
    done = boot('--disk', disk, '--memory', 256, treehash, '/dev')
    expected = f'{hashlib.sha256(disk.read_bytes()).hexdigest()}  /dev/vda'
    tap.check('a disk is a file below /dev', done.returncode == 0 and expected in done.stdout.decode(), done.stdout.decode()[-1500:])


def told(claim, status, program, how, numbers, **settings):
    command, env = start(program, how, **settings)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    process.stdout.readline()
    began = time.monotonic()
    for number in numbers:
        process.send_signal(number)
        time.sleep(0.5)
    try:
        _, stderr = process.communicate(timeout=40)
    except subprocess.TimeoutExpired:
        process.kill()
        _, stderr = process.communicate()
    tap.check(claim, process.returncode == status and not stderr, f'status {process.returncode}, {stderr}')
    return time.monotonic() - began


def signals(program):
    told('SIGTERM cancels main, whose negative value becomes 143', 143, program, 'wait', [signal.SIGTERM])
    told('after SIGINT the status is 130', 130, program, 'wait', [signal.SIGINT])
    told('a main that cleans up keeps its status', 9, program, 'tidy', [signal.SIGTERM])
    took = told('a program that ignores SIGTERM runs until its grace is over', 143, program, 'ignore', [signal.SIGTERM], JANUS_GRACE=2000)
    tap.check('it runs for the grace and not much longer', 2 <= took < 20, took)
    command, env = start(program, 'wait')
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=env)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    tap.check('a SIGTERM before the program has started ends the machine', process.wait(20) == 143, process.returncode)
    told('a second signal ends the program at once', 143, program, 'ignore', [signal.SIGTERM, signal.SIGTERM], JANUS_GRACE=60000)
    command, env = start(program, 'ignore')
    done = run([*command[:2], '--timeout', '4', *command[4:]], env=env, timeout=60)
    tap.check('the status after a time-out is 124', done.returncode == 124 and b'4 s' in done.stderr,
              f'{done.returncode} {done.stdout} {done.stderr}')


def has_kernel():
    program = compiled('given.c')
    done = run([janus_qemu, '--linux', '--timeout', '0.1', program], env=environment(**plain))
    return b'no kernel' not in done.stderr and b'not installed' not in done.stderr, done.stderr.decode().strip()


there, why = has_kernel()
if not there:
    tap.skip('programs as the first process of a Linux kernel', why)
else:
    hello, ends_as = programs()
    if sys.argv[2] == 'two':
        two_cpus(hello, ends_as)
    else:
        main_ends(hello, ends_as)
    if sys.argv[2] == 'all':
        other_ends(ends_as)
        same_results(1, sizes)
        given()
        output()
        files()
        signals(ends_as)
tap.end()
