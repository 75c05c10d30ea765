#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# odd_machines_test.py BUILD — machines that lack something, and loaders and firmware that pass impossible values. Each
# prints a line and fails, or prints a line and works with what is left.
import pathlib
import re
import struct

import loader
from loader import MIB, PC_MEMORY, RAM, RESERVED, TABLES
from machine import bare_command, bare_qemu, compiles, prepare, run_emulator

here = pathlib.Path(__file__).resolve().parent
tap, work, janus_cc, _ = prepare()
fib = work / 'fib.elf'
WORKS, CPUS, FAILED = 'fib(15) = 610\n', '-smp', 134


def check(claim, result, status, words):
    """`words` must be on the console in this order, with this status; QEMU must have ended in order."""
    console, said, qemu = result
    in_order = re.search('.*'.join(map(re.escape, words)), re.sub(' +', ' ', console), re.S)
    tap.check(claim, said == f'exit {status}\n' and qemu == 33 and in_order, f'{qemu} {said!r} {console[:600]}')


def loaded(claim, status, words, *options, pieces=(), first=b'', **info):
    image = work / 'wrapped.elf'
    loader.wrap(fib, image, [*loader.start_info(**info), *pieces], first)
    check(claim, bare_qemu(image, '-m', '128', *options), status, words)


def loaders():
    """What a PVH loader may pass."""
    loaded('a loader of our own works', 0, [WORKS])
    loaded('a start info of another kind', FAILED, ['janus: not started by a PVH loader'], magic=0x336ec579)
    loaded('one of the first version, without a memory map', FAILED, ['janus: the loader passes no memory map'], version=0)
    loaded('a memory map of no entries', FAILED, ['janus: the loader passes no memory map'], memory_count=0)
    nowhere = ['janus: the loader\'s memory map is not where it says']
    loaded('a memory map beyond what is mapped', FAILED, nowhere, memory_map=1 << 40)
    loaded('one that ends there', FAILED, nowhere, memory_map=(1 << 32) - 24)
    loaded('one of 4,294,967,295 entries', FAILED, nowhere, memory_count=0xffffffff)
    loaded('a command line beyond what is mapped', FAILED, ['janus: the loader\'s command line is not where it says'], command_line=1 << 32)
    loaded('no command line: what the program does without arguments', 0, ['fib(27) = 196418'], command_line=0)
    loaded('a command line of 4,096 bytes', 0, [WORKS], line='prog 15'.ljust(4096))
    loaded('one of 4,097 bytes', FAILED, ['janus: the command line is longer than 4096 bytes'], line='prog 15'.ljust(4097))
    loaded('a list of modules beyond what is mapped', FAILED, ['janus: the loader\'s list of modules'], modules=[(0, 0)], module_list=1 << 50)
    absent = ['janus: the loader names an initrd that is not in memory']
    loaded('an initrd beyond memory', FAILED, absent, modules=[(200 * MIB, 4096)])
    loaded('one that reaches beyond it', FAILED, absent, modules=[(127 * MIB, 2 * MIB)])
    loaded('one without an end', FAILED, absent, modules=[(64 * MIB, (1 << 64) - MIB)])
    loaded('one that lies over the program', FAILED, ['janus: the loader put the initrd over the program'], modules=[(MIB + 4096, 4096)])
    loaded('one of nothing', 0, [WORKS], modules=[(64 * MIB, 0)])
    loaded('one of noughts', FAILED, ['janus: the initrd is no whole cpio archive'], modules=[(64 * MIB, 4096)])


def memories():
    loaded('memory where no address reaches', 0, [WORKS], memory=[*PC_MEMORY, (1 << 60, MIB, RAM), ((1 << 64) - 4096, 4096, RAM)])
    loaded('memory without an end', 0, [WORKS], memory=[PC_MEMORY[0], (MIB, (1 << 64) - 1, RAM)])
    noughts, end = loader.static_noughts(fib)
    program = (MIB, (end + 4095 & ~4095) - MIB, RAM)
    loaded('memory that is reserved as well is not used', FAILED, ['janus: too little memory: less'],
           memory=[*PC_MEMORY, (sum(program[:2]), 200 * MIB, RESERVED)])
    loaded('2 MiB in pieces of 3 pages', FAILED, ['janus: too little memory: less'],
           memory=[program, *((8 * MIB + n * 16384, 12288, RAM) for n in range(170))])
    outside = ['janus: too little memory: the program does not lie in it\n']
    loaded('memory that ends in the program', FAILED, outside, memory=[PC_MEMORY[0], (MIB, end - MIB - 8192, RAM)])
    loaded('a hole in it under the program', FAILED, outside, memory=[*PC_MEMORY, (noughts, 1, RESERVED)])
    loaded('memory of the program that has been written to', 0, [WORKS], first=loader.spoil(noughts, end))
    wide = work / 'wide.c'
    wide.write_text('static volatile char bytes[60 << 20];\nint main(int count, char** words) {\n  return words[0] == 0 || bytes[(unsigned)count << 10];\n}\n')
    if compiles(tap, janus_cc, wide, work / 'wide.elf'):
        check('a program larger than memory', bare_qemu(work / 'wide.elf', '-m', '16'), FAILED, outside)
        check('a large one in enough', bare_qemu(work / 'wide.elf', '-m', '64'), 0, [])
    loaded('no low memory: nowhere for others to start', 0, ['janus: 2 CPUs are announced, 1 run', WORKS], CPUS, '2', memory=PC_MEMORY[1:])
    for size in (2, 3, 4, 5, 6):
        console, said, qemu = bare_qemu(fib, '-m', str(size), CPUS, '2', line='prog 15')
        works = said == 'exit 0\n' and WORKS in console
        refused = said in ('exit 134\n', 'exit 2\n') and re.search('^janus: .*memory', console, re.M)
        tap.check(f'{size} MiB: it works, or says that there is too little', qemu == 33 and (works or refused), f'{said!r} {console[-400:]}')


def firmware():
    BOTH = [WORKS, 'workers 2']

    def tables(claim, words, *options, controllers, directory=None):
        loaded(claim, 0, words, *options, rsdp=TABLES, pieces=loader.acpi(controllers, directory), line='JANUS_STATS=1 prog 15')

    tables('ACPI tables of our own work', BOTH, CPUS, '2', controllers=loader.madt([0, 1]))
    tables('a CPU that does not start', ['janus: 3 CPUs are announced, 2 run', *BOTH], CPUS, '2', controllers=loader.madt([0, 7, 1]))
    tables('300 CPUs announced, 2 there', ['janus: 300 CPUs are announced, 2 run', *BOTH], CPUS, '2', controllers=loader.madt(range(300)))
    image = work / 'little.elf'
    memory = [(0, 0x9fc00, RAM), (MIB, 39 * MIB, RAM)]
    loader.wrap(fib, image, [*loader.start_info(rsdp=TABLES, memory=memory), *loader.acpi(loader.madt(range(255)))])
    check('the same with memory for few of them', bare_qemu(image, '-m', '40', CPUS, '2'), 0, ['janus: 255 CPUs are announced, 2 run', WORKS])
    loaded('no tables at all: one CPU, and a line', 0,
           ['janus: neither ACPI nor an MP table says which CPUs there are: one CPU\n', WORKS, 'workers 1\n'], CPUS, '2,sockets=2',
           first=b''.join(loader.forget_firmware()), line='JANUS_STATS=1 prog 15')
    # QEMU's firmware also has an MP table, which names one CPU of each socket. It is used when the ACPI tables are
    # damaged.
    good, damaged, sockets = loader.madt([0]), ['janus: ACPI\'s table of CPUs is missing or damaged', *BOTH], (CPUS, '2,sockets=2')
    tables('a table of CPUs whose sum is wrong', damaged, *sockets, controllers=good[:-1] + bytes([good[-1] ^ 1]))
    tables('a directory that names itself', damaged, *sockets, controllers=good,
           directory=loader.acpi_table(b'XSDT', struct.pack('<QQ', TABLES + 0x100, TABLES + 0x100)))
    tables('a directory without an end', damaged, *sockets, controllers=good, directory=struct.pack('<4sI', b'XSDT', 0xffffffff).ljust(36, b'\0'))


def processors():
    def runs(claim, words, *options, **more):
        check(claim, bare_qemu(fib, *options, line='prog 15', **more), 0, [*words, WORKS])

    runs('no APIC, though there is a second CPU', ['janus: this machine has no local APIC: one CPU'], CPUS, '2', cpu='max,-apic')
    check('no APIC: one worker, whatever is asked for', bare_qemu(fib, line='JANUS_WORKERS=2 JANUS_STATS=1 prog 15', cpu='max,-apic'), 0,
          ['one CPU, one worker, and waiting is polling', WORKS, 'workers 1\n'])
    runs('none of the guards that processors have', [], CPUS, '2', cpu='max,-smep,-smap,-umip,-fsgsbase')
    runs('all of them, and what this emulator may not know', [], CPUS, '2', cpu='max,+smep,+smap,+umip,+x2apic,+tsc-deadline,+kvmclock')
    runs('no random numbers, which is said, no xsave, no pages of 1 GiB', ['janus: this processor draws no random numbers: handles and '], CPUS, '2', cpu='max,-rdrand,-rdseed,-xsave,-pdpe1gb')
    for what in ('nx', 'lm'):
        check(f'without {what}', bare_qemu(fib, cpu=f'max,-{what}'), FAILED, ['janus: this processor has no 64-bit mode'])
    check('a machine without a clock', bare_qemu(fib, machine='microvm,pit=off'), FAILED, ['janus: no clock'])


def ends():
    """Without a port for its status the machine resets at the end."""
    for machine in ('q35', 'microvm'):
        status = work / 'no_port.status'
        command = [word for word in bare_command(fib, status, line='prog 15', machine=machine) if 'isa-debug-exit' not in str(word)]
        command.pop(command.index('-kernel') - 1)  # the option of the removed device
        done = run_emulator(command, 60)
        tap.check(f'without an exit device a {machine} resets', (done.returncode, status.read_text(), done.stdout.decode()) == (0, 'exit 0\n', WORKS), done)


if compiles(tap, janus_cc, here.parent / 'programs/fib.c', fib):
    loaders()
    memories()
    firmware()
    processors()
    ends()
tap.end()
