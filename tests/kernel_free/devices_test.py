#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# devices_test.py BUILD — devices of a machine without a kernel: a program reads from /dev/vda what the disk's file
# holds, and gets random numbers if the processor or a device has them.
import hashlib
import pathlib
import random

from machine import PATIENCE, bare_qemu, compiles, environment, prepare, run_emulator

here = pathlib.Path(__file__).resolve().parent
tap, work, janus_cc, janus_qemu = prepare()
image, words = work / 'hash_disk.elf', work / 'random_words.elf'
MIB = 1 << 20
SECONDS = 60


def make_disk(name, size):
    path = work / name
    path.write_bytes(random.Random(size).randbytes(size))
    return path


def sha256sum(disk, path='/dev/vda'):
    return f'{hashlib.sha256(disk.read_bytes()).hexdigest()}  {path}\n'


def by_ours(*arguments):
    return run_emulator([janus_qemu, '--timeout', str(PATIENCE * SECONDS), *arguments], SECONDS, env=environment())


def by_janus_qemu():
    disk = make_disk('a, b=c', 3 * MIB + 512)
    for machine in ('q35', 'microvm'):
        for cpus in ('1', '2'):
            done = by_ours('--machine', machine, '--smp', cpus, '--disk', disk, image, '/dev/vda')
            tap.check(f'a disk on {machine} with {cpus} CPUs has the hash that its file has',
                      (done.returncode, done.stdout.decode()) == (0, sha256sum(disk)), f'{done.returncode} {done.stdout} {done.stderr}')
    done = by_ours(image, '/dev/vda')
    tap.check('without --disk there is none', (done.returncode, done.stdout) == (1, b'/dev/vda: open: errno 2\n'), done)
    tree = work / 'tree/dev'
    tree.mkdir(parents=True)
    (tree / 'vda').write_text('a file')
    done = by_ours('--disk', disk, '--initrd', tree.parent, image, '/dev/vda')
    tap.check('a file of that name in the initrd comes first', (done.returncode, done.stdout.decode()) == (0, sha256sum(tree / 'vda')), done)


def drive(disk, name, more='driver=file'):
    return ['-blockdev', f'{more},node-name={name}-file,filename={disk},read-only=on' if more == 'driver=file' else more,
            '-blockdev', f'driver=raw,node-name={name},file={name}-file,read-only=on']


def hashes(claim, disks, *options, paths=('/dev/vda',), machine='q35'):
    console, said, qemu = bare_qemu(image, *options, line='prog ' + ' '.join(paths), machine=machine)
    expected = ''.join(sha256sum(disk, path) for disk, path in zip(disks, paths))
    tap.check(claim, (console.replace('\r', ''), said, qemu) == (expected, 'exit 0\n', 33), f'{qemu} {said!r} {console[-600:]}')


def fails(claim, words, *options, machine='q35'):
    console, said, qemu = bare_qemu(image, *options, line='prog /dev/vda', machine=machine)
    tap.check(claim, said == 'exit 1\n' and qemu == 33 and words in console, f'{qemu} {said!r} {console[-600:]}')


def other_machines():
    one, two = make_disk('one', MIB), make_disk('two', 512)
    both, paths = [*drive(one, 'one'), *drive(two, 'two')], ('/dev/vda', '/dev/vdb')
    hashes('two disks, in the order of their slots', [two, one], *both, '-device', 'virtio-blk-pci,drive=one,addr=9',
           '-device', 'virtio-blk-pci,drive=two,addr=4', paths=paths)
    hashes('functions of one slot, of which the first is something else', [one, two], *both,
           '-device', 'virtio-rng-pci,addr=5.0,multifunction=on', '-device', 'virtio-blk-pci,drive=one,addr=5.3',
           '-device', 'virtio-blk-pci,drive=two,addr=5.7', paths=paths)
    modern = ['-global', 'virtio-mmio.force-legacy=false']
    hashes('two disks of a microvm, in the order of the words', [one, two], *both, *modern, '-device', 'virtio-blk-device,drive=one',
           '-device', 'virtio-blk-device,drive=two', paths=paths, machine='microvm,acpi=off')
    hashes('a queue of 4', [one], *drive(one, 'one'), '-device', 'virtio-blk-pci,drive=one,queue-size=4,seg-max-adjust=on,disable-legacy=on')
    hashes('a queue of 1,024', [one], *drive(one, 'one'), '-device', 'virtio-blk-pci,drive=one,queue-size=1024')
    fails('a disk that only speaks what was before version 1 is none', '/dev/vda: open: errno 2', *drive(one, 'one'),
          '-device', 'virtio-blk-pci,drive=one,disable-modern=on,disable-legacy=off')
    fails('nor is one of a microvm', '/dev/vda: open: errno 2', *drive(one, 'one'), '-device', 'virtio-blk-device,drive=one',
          machine='microvm,acpi=off')
    broken = f'driver=blkdebug,node-name=one-file,image.driver=file,image.filename={one},inject-error.0.event=read_aio,read-only=on'
    fails('a disk that fails is an error of the read', '/dev/vda: read: errno 5', *drive(one, 'one', broken),
          '-device', 'virtio-blk-pci,drive=one,rerror=report')


def random_numbers():
    none, pci, mmio = 'max,-rdrand,-rdseed', ('-device', 'virtio-rng-pci'), ('-global', 'virtio-mmio.force-legacy=false', '-device', 'virtio-rng-device')
    microvm = 'microvm,acpi=off'
    # keys of handles come from the processor only
    weak = 'janus: this processor draws no random numbers: handles and canaries can be guessed\n'
    for claim, word, cpu, machine, options in (
            ('random numbers are the processor\'s', 'random', 'max', 'q35', ()), ('or a device\'s', 'random', none, 'q35', pci),
            ('or both\'s', 'random', 'max', 'q35', pci), ('also on a microvm', 'random', none, microvm, mmio),
            ('without either there are none', 'no source', none, 'q35', ()), ('nor on a microvm', 'no source', none, microvm, ())):
        console, said, qemu = bare_qemu(words, *options, machine=machine, cpu=cpu)
        tap.check(claim, (console.replace('\r', ''), said, qemu) == ((weak if cpu == none else '') + f'{word}, 0 words are equal\n', 'exit 0\n', 33), f'{qemu} {said!r} {console[-600:]}')


if compiles(tap, janus_cc, here / 'programs/hash_disk.c', image, '-lbearssl'):
    by_janus_qemu()
    other_machines()
if compiles(tap, janus_cc, here / 'programs/random_words.c', words):
    random_numbers()
tap.end()
