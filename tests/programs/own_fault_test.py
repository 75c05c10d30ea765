#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# own_fault_test.py BUILD — a fault in the runtime's own code ends the process with a dump and status 134. A fault in
# code that the runtime calls for a task, or in a copy that the task asked for, is the task's panic. In programs of
# every linker.
import re
import shutil
import signal
import subprocess
import sys

from installed import Tap, environment, here, install, run, work_directory

tap = Tap()
work = work_directory()
OWN = re.compile(rb'^janus: the runtime panicked: invalid memory access at 0x[0-9a-f]+, ip 0x([0-9a-f]+), in a call of task \d+, worker \d+\n'
                 rb'(janus:   r.*\n){4}janus:   at 0x\1(?: <[^ >]+>)?( 0x[0-9a-f]+(?: <[^ >]+>)?)+\n'
                 rb"janus:   build id ([0-9a-f]{40}), the runtime's text 0x[0-9a-f]+ to 0x[0-9a-f]+\n$", re.M)
TASKS = rb'janus: task \d+ panicked: invalid memory access at 0x%s;'


def links(janus_cc):
    """Programs by name: linked by janus-cc at fixed addresses and position-independent, and host programs by each linker."""
    source = here / 'own_fault.c'
    plain = environment(PKG_CONFIG_PATH=janus_cc.parent.parent / 'lib/pkgconfig')
    flags = run(['pkg-config', '--cflags', '--libs', 'janus-rt'], env=plain).stdout.decode().split()
    compiled = {
        'fixed': ([janus_cc, '-O2', '-no-pie', source], environment()),
        'at any address': ([janus_cc, '-O2', '-pie', source], environment()),
        'host': (['gcc', '-O2', '-DJANUS_IN_A_HOST', source, *flags, '-Wl,--build-id'], plain),
        'host, unused sections dropped': (['gcc', '-O2', '-DJANUS_IN_A_HOST', source, *flags, '-Wl,--gc-sections'], plain),
    }
    if shutil.which('ld.lld'):
        compiled['fixed, lld'] = ([janus_cc, '-O2', '-fuse-ld=lld', '-Wl,--build-id=sha1', source], environment())
        compiled['host, lld'] = (['gcc', '-O2', '-fuse-ld=lld', '-Wl,--build-id=sha1', '-DJANUS_IN_A_HOST', source, *flags], plain)
    for number, (name, (command, env)) in enumerate(compiled.items()):
        program = work / f'own_fault_{number}'
        done = subprocess.run([*command, '-Wno-incompatible-pointer-types', '-o', program], env=env, capture_output=True, check=False)
        if tap.check(f'links: {name}', done.returncode == 0, done.stderr.decode()):
            yield name, program


def ends(program, *how, settings={}):
    try:
        return subprocess.run([program, *how], env=environment(**settings), capture_output=True, timeout=120, check=False)
    except subprocess.TimeoutExpired as hung:
        return subprocess.CompletedProcess(hung.cmd, None, hung.stdout or b'', hung.stderr or b'')


def build_id(program):
    notes = run(['readelf', '-n', program]).stdout.decode()
    found = re.search(r'Build ID: ([0-9a-f]+)', notes)
    return found.group(1).encode() if found else None


def main():
    janus_cc = install(sys.argv[1], work)
    for name, program in links(janus_cc):
        for workers in (1, 4):
            settings = {'JANUS_WORKERS': workers}
            done = ends(program, 'ruins', settings=settings)
            dump = OWN.search(done.stderr)
            tap.check(f'{name}: a fault with a lock held ends the process with a report, {workers} workers',
                      done.returncode in (134, -signal.SIGABRT) and dump, f'{done.returncode} {done.stderr.decode()}')
            tap.check(f'{name}: the dump contains the build id', dump and dump.group(4) == build_id(program), done.stderr.decode())
            for how, address in (('copy', rb'1230'), ('destroy', rb'20')):
                done = ends(program, how, settings=settings)
                tap.check(f'{name}: {how} is a fault of the task, {workers} workers',
                          done.returncode == 7 and re.search(TASKS % address, done.stderr) and b'the runtime' not in done.stderr,
                          f'{done.returncode} {done.stderr.decode()}')
            done = ends(program, 'none', settings=settings)
            tap.check(f'{name}: a call of an invalid function address is a fault of the task, {workers} workers',
                      done.returncode == 7 and b'as it should' in done.stderr and b'the runtime' not in done.stderr,
                      f'{done.returncode} {done.stderr.decode()}')
    program = work / 'own_fault_0'
    for which in range(13):
        done = ends(program, 'misaligned', str(which), settings={'JANUS_WORKERS': 2})
        told = b'panicked' in done.stderr
        tap.check(f'a call with a misaligned stack, number {which}: works as with an aligned stack, or ends the task or the process',
                  done.returncode in (7, 8, 134, -signal.SIGABRT) and (told or done.returncode == 8),
                  f'{done.returncode} {done.stderr.decode()}')
    shutil.rmtree(work)
    tap.end()


main()
