#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# output_test.py BUILD — the output of programs without a kernel arrives complete, in order and unmixed, by the virtio
# console that janus-qemu's machines have, and by the serial port where there is no working virtio console. The
# machine's own last message goes to the serial port.
import pathlib
import re
import subprocess
import time

from machine import PATIENCE, bare_qemu, compiles, environment, prepare, run_emulator

here = pathlib.Path(__file__).resolve().parent
tap, work, janus_cc, janus_qemu = prepare()
chatty, deaths = work / 'chatty', work / 'deaths'
MIB = 1 << 20
SECONDS = 100
MODERN = ('-global', 'virtio-mmio.force-legacy=false')


def boot(image, *arguments, options=()):
    return run_emulator([janus_qemu, '--timeout', str(PATIENCE * SECONDS), *options, image, *arguments], SECONDS, env=environment())


# --- The expected output ---------------------------------------------------------------------------------------------


def bulk(size, piece):
    """The output of `chatty speed`."""
    one = bytearray(10 if n % 64 == 63 else 48 + n % 64 for n in range(piece))
    one[-1] = 10
    return bytes(one) * -(-size // piece)


def line_of(task, line):
    return b'%d %d %s' % (task, line, bytes([97 + task % 26]) * ((task * 977 + line * line * 131) % 9001))


def wrong_lines(said, tasks, lines):
    """What is wrong with the output of `chatty lines`, or None: each line must be complete, those of a task in order."""
    if not said.endswith(b'\n'):
        return 'it ends in the middle of a line'
    given = {task: [] for task in range(tasks)}
    for text in said[:-1].split(b'\n'):
        task, line = (int(word) for word in text.split(b' ')[:2])
        if text != line_of(task, line):
            return f'not as it was written: {text[:80]}'
        given[task].append(line)
    return next((f'task {task}: {seen}' for task, seen in given.items() if seen != list(range(lines))), None)


def whole(claim, machine, lines):
    """Tests bulk output, and lines of many tasks."""
    tasks = 8
    for cpus in ('1', '4'):
        done = boot(chatty, 'lines', str(tasks), str(lines), options=[*machine, '--smp', cpus])
        try:
            problem = wrong_lines(done.stdout, tasks, lines)
        except (ValueError, KeyError) as error:
            problem = repr(error)
        tap.check(f'lines of {tasks} tasks {claim}, {cpus} CPUs', done.returncode == 0 and problem is None, f'{done.returncode} {problem} {done.stderr[-300:]}')


def in_bulk(claim, machine, sizes):
    for size, piece in sizes:
        done = boot(chatty, 'speed', str(size), str(piece), options=machine)
        said, _, took = done.stdout.rpartition(b'speed ')
        tap.check(f'{size} bytes in pieces of {piece} {claim}', done.returncode == 0 and said == bulk(size, piece),
                  f'{done.returncode} {len(said)} {took} {done.stderr[-300:]}')


# --- Machines of janus-qemu ------------------------------------------------------------------------------------------


def by_janus_qemu():
    by_virtio = [('by virtio', []), ('by virtio on a microvm', ['--machine', 'microvm'])]
    for claim, machine in by_virtio:
        whole(claim, machine, 40)
        in_bulk(claim, machine, [(4 * MIB, 4096), (4 * MIB, 100_001), (50_000, 7)])
    by_serial = ['--console', 'serial']
    whole('by the serial port', by_serial, 4)
    in_bulk('by the serial port', by_serial, [(50_000, 1000)])


def slow_readers():
    """More than the pipes hold: neither QEMU nor the guest may drop what a slow reader has not read."""
    for console, size in (('virtio', 8 * MIB), ('serial', MIB // 4)):
        command = [janus_qemu, '--timeout', '100', '--console', console, chatty, 'speed', str(size), '4096']
        slow = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment())
        said = b''
        for pause in (3, 0.5, 0.5):
            time.sleep(pause)
            said += slow.stdout.read(150_000)
        said += slow.stdout.read()
        tap.check(f'a reader that is slow gets all of it ({console})', slow.wait(60) == 0 and said.rpartition(b'speed ')[0] == bulk(size, 4096),
                  f'{len(said)}')


# --- Machines that janus-qemu does not make --------------------------------------------------------------------------


def two_consoles(image, line, *device, machine='q35'):
    """The output on the serial port, that on virtio's console, and the status."""
    by_virtio = work / 'by_virtio'
    by_virtio.unlink(missing_ok=True)
    serial, said, qemu = bare_qemu(image, '-chardev', f'file,id=virtio,path={by_virtio}', *device, line=line, machine=machine)
    return serial, by_virtio.read_text() if by_virtio.exists() else '', (said, qemu)


def goes(claim, which, *device, machine='q35'):
    serial, virtio, end = two_consoles(chatty, 'prog speed 300 100', *device, machine=machine)
    text = bulk(300, 100).decode()
    by = {'serial': serial.startswith(text) and not virtio, 'virtio': virtio.startswith(text) and not serial}
    tap.check(claim, by[which] and end == ('exit 0\n', 33), f'{end} {serial[-300:]!r} {virtio[-300:]!r}')


def odd_devices():
    port = ('-device', 'virtconsole,chardev=virtio')
    goes('a device with one port has all output', 'virtio', '-device', 'virtio-serial-pci,max_ports=1,disable-legacy=on', *port)
    goes('also one that speaks what was before version 1, too', 'virtio', '-device', 'virtio-serial-pci,max_ports=1,disable-legacy=off', *port)
    goes('but not one that speaks only that', 'serial', '-device', 'virtio-serial-pci,max_ports=1,disable-modern=on,disable-legacy=off', *port)
    goes('nor one of several ports, where the first may be missing', 'serial', '-device', 'virtio-serial-pci,disable-legacy=on', *port)
    goes('the second of two, if the first is no console', 'virtio', '-device', 'virtio-rng-pci,addr=3', '-device', 'virtio-serial-pci,max_ports=1,addr=4', *port)
    goes('one of a microvm', 'virtio', *MODERN, '-device', 'virtio-serial-device,max_ports=1', *port, machine='microvm,acpi=off')
    goes('but not if nothing says where it is', 'serial', *MODERN, '-device', 'virtio-serial-device,max_ports=1', *port, machine='microvm')
    goes('without a device there is the serial port', 'serial')


def last_words():
    device = ('-device', 'virtio-serial-pci,max_ports=1', '-device', 'virtconsole,chardev=virtio')
    serial, virtio, end = two_consoles(deaths, 'prog main', *device)
    tap.check('what the runtime says of a task is output', "janus: task 1 'main' panicked" in virtio and not serial and end == ('exit 134\n', 33),
              f'{end} {serial[-300:]!r} {virtio[-300:]!r}')
    for way in ('deaf', 'double', 'nmi'):
        serial, virtio, end = two_consoles(deaths, f'prog {way}', *device)
        tap.check(f'what the machine says at its end goes by the serial port: {way}',
                  re.match('janus: the machine panicked: .*\njanus:   rip', serial.replace('\r', '')) and end == ('exit 134\n', 33),
                  f'{end} {serial[-300:]!r} {virtio[-300:]!r}')
    done = boot(deaths, 'double')
    tap.check('and arrives where output does', done.returncode == 134 and b'panicked: a double fault' in done.stdout, done)


for image in (chatty, deaths):
    compiles(tap, janus_cc, here / f'programs/{image.name}.c', image)
by_janus_qemu()
slow_readers()
odd_devices()
last_words()
tap.end()
