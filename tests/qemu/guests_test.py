#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# guests_test.py BUILD — janus-qemu and its guests: every way in which a guest can end; only a correct end counts as
# success. Speaks TAP.
import os
import pathlib
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / 'programs'))
from installed import Tap, environment, install, run, work_directory  # noqa: E402

tap = Tap()
work = work_directory()
built = pathlib.Path(sys.argv[1])
guests = built / 'tests/qemu'
janus_cc = install(built, work)
janus_qemu = janus_cc.parent / 'janus-qemu'
checkout = here.parent.parent / 'qemu/janus-qemu'
# Always the same accelerator, so that the test gives the same results everywhere. The choice of the accelerator has its
# own test.
plain = {'JANUS_ACCELERATOR': 'tcg', 'XDG_CACHE_HOME': str(work / 'cache')}


def boot(*arguments, command=janus_qemu, timeout=30, cwd=None, **settings):
    return run([command, *map(str, arguments)], timeout=timeout, env=environment(**plain | settings), cwd=cwd)


def ends(claim, status, *arguments, stdout=b'', stderr=b'', **options):
    """Checks the status, the whole of stdout, and that stderr is one line with `stderr` in it, or empty."""
    done = boot(*arguments, **options)
    lines = done.stderr.splitlines()
    said = not lines if not stderr else len(lines) == 1 and lines[0].startswith(b'janus-qemu: ') and stderr in lines[0]
    tap.check(claim, done.returncode == status and (stdout is None or done.stdout == stdout) and said,
              f'status {done.returncode}\n{done.stdout[:300]!r}\n{done.stderr[-1000:].decode()}')
    return done


def good_ends():
    for machine in ('q35', 'microvm'):
        on = ('--machine', machine, '--timeout', 20)
        ends(f'status 0 on {machine}, and nothing but the guest on the console', 0, *on, guests / 'status_0.elf', stdout=b'hello\n')
        ends(f'status 7 on {machine}', 7, *on, guests / 'status_7.elf')
        ends(f'a panic is 134 on {machine}', 134, *on, guests / 'panic.elf', stdout=b"janus: task 1 'main' panicked\n")
    ends('from a checkout as from an installation', 7, guests / 'status_7.elf', command=checkout)
    ends('with several CPUs and other memory', 7, '--smp', 4, '--memory=64', guests / 'status_7.elf')


def bad_ends():
    for guest, console, line in (('triple_fault', b'here\n', b'reset'), ('reset_after_status', b'', b'reset'),
                                 ('no_status', b'1..3\nok 1\n', b'without saying its status'),
                                 ('half_a_status', b'', b'in the middle'), ('status_256', b'', b'exit 256'),
                                 ('wrong_door', b'', b'0x11 on its exit port instead of 0x10')):
        ends(f'{guest} is a failure of its own', 125, '--timeout', 20, guests / f'{guest}.elf', stdout=console, stderr=line)
    began = time.monotonic()
    ends('a guest that hangs is ended with 124', 124, '--timeout', 3.5, guests / 'hang.elf', stdout=b'here\n', stderr=b'3.5 s')
    tap.check('the end is neither before the time limit nor long after it', 3.5 <= time.monotonic() - began < 20, time.monotonic() - began)
    ends('what QEMU refuses is said in its words', 125, '--memory', 1 << 20, guests / 'hang.elf', stderr=b'QEMU failed')


def console():
    line = b'abcdefghijklmnopqrstuvwxyz' * 2 + b'abcdefghijk\n'
    done = boot(guests / 'flood.elf')
    tap.check('a mebibyte of console arrives byte by byte', done.returncode == 0 and done.stdout == line * 16384,
              f'status {done.returncode}, {len(done.stdout)} bytes')
    slow = subprocess.Popen([janus_qemu, guests / 'flood.elf'], stdout=subprocess.PIPE, env=environment(**plain))
    time.sleep(1.5)
    got = slow.stdout.read()
    tap.check('also if the reader is slow', slow.wait(30) == 0 and got == line * 16384, f'{len(got)} bytes')
    reader = subprocess.Popen([janus_qemu, '--timeout', '20', guests / 'flood.elf'], stdout=subprocess.PIPE, env=environment(**plain))
    reader.stdout.read(10)
    reader.stdout.close()
    tap.check('a reader that closes the pipe ends the guest as SIGPIPE would', reader.wait(30) == 128 + signal.SIGPIPE, reader.returncode)


def reader_stands_still():
    """Time-outs and signals work although nobody reads the output, wherever stderr goes."""
    for claim, options, number, status in (('a time-out', ('--timeout', '3'), None, 124), ('SIGTERM', (), signal.SIGTERM, 143),
                                           ('SIGINT', (), signal.SIGINT, 130)):
        read, write = os.pipe()
        process = subprocess.Popen([janus_qemu, *options, guests / 'flood.elf'], stdout=write, stderr=write, env=environment(**plain))
        patience = time.monotonic() + 20
        while select.select([], [write], [], 0)[1] and time.monotonic() < patience:
            time.sleep(0.05)
        if number is not None:
            process.send_signal(number)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
        tap.check(f'{claim} ends it with {status} though nobody reads', process.wait() == status, process.returncode)
        os.close(read)
        os.close(write)


def stdout_fails():
    """Failures to write to stdout are janus-qemu's own, and are never reported as main's."""
    def status_of(claim, expected, said, words, *arguments, **options):
        done = subprocess.run(['sh', '-c', f'exec "$0" "$@" {words}', janus_qemu, *arguments], stderr=subprocess.PIPE, timeout=30,
                              env=environment(**plain), **options)
        lines = done.stderr.splitlines()
        tap.check(claim, done.returncode == expected and len(lines) == 1 and lines[0].startswith(b'janus-qemu: ') and said in lines[0],
                  f'{done.returncode} {done.stderr[-600:]}')
    status_of('a stdout that is full', 125, b'stdout: No space left', '>/dev/full', guests / 'status_0.elf')
    status_of('likewise for --help', 2, b'No space left', '>/dev/full', '--help')
    status_of('one that is closed', 2, b'stdout is closed', '>&-', guests / 'status_0.elf')
    for what in ('<&-', '2>&-', '<&- 2>&-'):
        done = subprocess.run(['sh', '-c', f'exec "$0" "$@" {what}', janus_qemu, guests / 'status_0.elf'], stdout=subprocess.PIPE,
                              timeout=30, env=environment(**plain))
        tap.check(f'what else is closed ({what}) does no harm', (done.returncode, done.stdout) == (0, b'hello\n'), done)
    read, write = os.pipe()
    os.set_blocking(write, False)
    process = subprocess.Popen([janus_qemu, guests / 'flood.elf'], stdout=write, env=environment(**plain))
    os.close(write)
    time.sleep(1.5)
    with open(read, 'rb') as slow:
        got = len(slow.read())
    tap.check('a reader that does not wait loses nothing', process.wait(30) == 0 and got == 1 << 20, f'{process.returncode}, {got} bytes')


def signals():
    scratch = work / 'scratch'
    scratch.mkdir()

    def sent(number, disposition, *options):
        process = subprocess.Popen([janus_qemu, *options, guests / 'hang.elf'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   env=environment(**plain, TMPDIR=scratch), preexec_fn=lambda: signal.signal(number, disposition))
        process.stdout.readline()
        process.send_signal(number)
        return process.wait(20)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        status, left = sent(number, signal.SIG_DFL), list(scratch.iterdir())
        tap.check(f'{number.name} ends it with {128 + number}, and it leaves nothing behind', status == 128 + number and not left, (status, left))
    status = sent(signal.SIGHUP, signal.SIG_IGN, '--timeout', '4')
    tap.check('SIGHUP does not end it under nohup, which ignores SIGHUP', status == 124, status)
    process = subprocess.Popen([janus_qemu, guests / 'hang.elf'], stdout=subprocess.PIPE, env=environment(**plain))
    process.stdout.readline()
    tap.check('while janus-qemu runs there is one machine', len(machines_of(guests / 'hang.elf')) == 1, machines_of(guests / 'hang.elf'))
    process.kill()
    process.wait(10)
    patience = time.monotonic() + 10
    while (left := machines_of(guests / 'hang.elf')) and time.monotonic() < patience:
        time.sleep(0.05)
    tap.check('after janus-qemu is killed, no machine is left', not left, left)


def machines_of(image):
    found = []
    for entry in pathlib.Path('/proc').glob('[0-9]*/cmdline'):
        try:
            words = entry.read_bytes().split(b'\0')
        except OSError:
            continue
        if words[0].endswith(b'qemu-system-x86_64') and os.fsencode(image) in words:
            found.append(entry.parent.name)
    return found


def handed_over():
    image = guests / 'mirror.elf'
    arguments = ['plain', '', 'two words', 'a"quote', 'back\\slash', '--smp', 'new\nline', '--', 'ünï']
    done = boot(image, *arguments, JANUS_SEED='7', JANUS_TRACE='a b')
    expected = f'JANUS_SEED=7 "JANUS_TRACE=a b" {image} plain "" "two words" "a\\"quote" "back\\\\slash" --smp "new\nline" -- ünï\n'
    tap.check('settings first, then the arguments, quoted', done.stdout.decode() == expected, f'{done.stdout!r}\n{expected!r}')
    tap.check('settings of janus-qemu itself are not passed on', b'ACCELERATOR' not in done.stdout, done.stdout)

    for machine in ('q35', 'microvm'):
        room = 4000 - len(os.fsencode(image)) - 1
        done = boot('--machine', machine, '--timeout', 20, image, 'x' * room)
        tap.check(f'4,000 bytes of them arrive on a {machine}', done.returncode == 0 and
                  done.stdout.startswith(f'{image} {"x" * room}'.encode()), done.stdout[-300:])
        for more in (1, 1000, 30000):
            ends(f'{more} more on a {machine} are refused', 2, '--machine', machine, '--timeout', 5, image, 'x' * (room + more),
                 stderr=b'4000 bytes')
    device = 'virtio_mmio.device=512@0xfeb00e00:12'
    ends('a word about a device cannot be the last one', 2, image, 'a', device, stderr=b'cannot be virtio_mmio.device=')
    ends('before others it is as good as they are', 0, image, device, 'a', stdout=f'{image} {device} a\n'.encode())
    setting = work / 'JANUS_SEED=1.elf'
    setting.symlink_to(image)
    ends('a program that looks like a setting is none to a machine', 2, setting.name, stderr=b'say ./JANUS_SEED=1.elf', cwd=work)
    ends('by another name it is booted', 0, f'./{setting.name}', stdout=b'./JANUS_SEED=1.elf\n', cwd=work)
    ends('settings count, too', 2, image, 'x' * room, stderr=b'4000 bytes', JANUS_SEED=7)

    tree = work / 'tree'
    (tree / 'sub/empty').mkdir(parents=True)
    (tree / 'sub/file').write_bytes(bytes(range(256)) * 5)
    (tree / 'odd').write_bytes(b'x')
    (tree / 'script').write_text('#!/bin/sh\n')
    (tree / 'script').chmod(0o755)
    (tree / 'link').symlink_to('sub/file')
    (tree / 'TRAILER!!!').write_text('an archive ends with this name')
    done = boot('--initrd', tree, image)
    again = boot('--initrd', tree, image)
    archive = done.stdout.partition(b'\n')[2]
    tap.check('the same directory is the same initial file system', archive and done.stdout == again.stdout, len(archive))
    if not shutil.which('cpio'):
        return tap.skip('cpio unpacks the initial file system', 'cpio is not installed')
    out = work / 'out'
    out.mkdir()
    unpacked = subprocess.run(['cpio', '-idm', '--quiet'], input=archive, cwd=out, capture_output=True)
    tap.check('cpio unpacks the initial file system', unpacked.returncode == 0, unpacked.stderr)
    same = subprocess.run(['diff', '-r', '--no-dereference', tree, out], capture_output=True, text=True)
    tap.check('and finds the original files in it', same.returncode == 0, same.stdout)
    tap.check('and their permissions and links', stat.S_IMODE((out / 'script').stat().st_mode) == 0o755 and
              os.readlink(out / 'link') == 'sub/file', '')


def unreadable():
    """A file that cannot be read is an error; it is not left out."""
    nobody = {'user': 65534, 'group': 65534, 'extra_groups': []} if os.getuid() == 0 else {}
    for what, mode in (('directory', 0), ('directory', 0o444), ('file', 0)):
        tree = work / f'locked {what} {mode}'
        (tree / 'sub').mkdir(parents=True)
        locked = tree / 'sub/locked'
        if what == 'file':
            locked.write_text('x')
        else:
            locked.mkdir()
            (locked / 'below').write_text('x')
        locked.chmod(mode)
        done = run([janus_qemu, '--timeout', '20', '--initrd', tree, guests / 'status_0.elf'], env=environment(**plain), **nobody)
        locked.chmod(0o755)  # so that it can be removed afterwards
        tap.check(f'a {what} of mode {mode:o} that cannot be read is refused, and named', done.returncode == 2 and not done.stdout and
                  done.stderr.count(b'\n') == 1 and os.fsencode(locked) in done.stderr and b'Permission denied' in done.stderr, done)


def refused():
    image = guests / 'status_0.elf'
    linux = work / 'linux'
    subprocess.run([janus_cc, here.parent / 'programs/hello.c', '-o', linux], check=True, env=environment())
    text, cut = work / 'text', work / 'cut'
    text.write_text('not a program\n')
    cut.write_bytes(image.read_bytes()[:100])
    one_line = dict(stdout=b'')
    ends('a file that is missing', 2, work / 'nothing', stderr=b'nothing: No such file', **one_line)
    ends('a directory', 2, work, stderr=b'no regular file', **one_line)
    os.mkfifo(work / 'pipe')
    ends('a pipe that nobody writes to', 2, work / 'pipe', stderr=b'no regular file', **one_line)
    ends('a text', 2, text, stderr=b'no program', **one_line)
    ends('an image that is cut off', 2, cut, stderr=b'cut off', **one_line)
    ends('a Linux program without --linux', 2, linux, stderr=b'give --linux', **one_line)
    ends('an image with --linux', 2, '--linux', image, stderr=b'leave --linux away', **one_line)
    ends('a program that needs a loader', 2, '--linux', '/bin/true', stderr=b'loader', **one_line)
    ends('an object file', 2, '--linux', next(built.glob('rt/*.p/*.o')), stderr=b'nothing to load', **one_line)
    library, pie = work / 'library', work / 'pie'
    for output, option in ((library, '-shared'), (pie, '-static-pie')):
        subprocess.run(['gcc', '-nostdlib', '-fPIE', option, '-x', 'c', '-', '-o', output], input=b'void _start(void) {}', check=True)
    ends('a shared library', 2, '--linux', library, stderr=b'shared library', **one_line)
    ends('a static program that can be loaded anywhere is a program', 2, '--linux', pie, stderr=b'JANUS_KERNEL', JANUS_KERNEL='/nonexistent')
    ends('no kernel', 2, '--linux', linux, stderr=b'JANUS_KERNEL', JANUS_KERNEL='/nonexistent', **one_line)
    bare = work / 'path'
    bare.mkdir()
    sparse = work / 'sparse'
    with open(sparse, 'wb') as file:
        file.truncate(300 << 20)
    for tool in ('python3', 'env', 'bash'):
        (bare / tool).symlink_to(sys.executable if tool == 'python3' else shutil.which(tool))
    ends('no QEMU', 2, image, stderr=b'not installed', PATH=bare, **one_line)
    broken = bare / 'qemu-system-x86_64'
    broken.write_text('no program\n')
    broken.chmod(0o755)
    ends('a QEMU that is no program', 2, image, stderr=b'Exec format error', PATH=bare, **one_line)
    ends('a time-out of a month', 0, '--timeout', 3000000, image, stdout=b'hello\n')
    for claim, options in (('no program', ()), ('an unknown option', ('--smpp', 2, image)), ('a senseless number', ('--smp', 'x', image)),
                           ('no CPU', ('--smp', 0, image)), ('a number of 5,000 digits', ('--smp', '1' * 5000, image)),
                           ('an unknown machine', ('--machine', 'pc', image)),
                           ('a senseless time', ('--timeout', 'soon', image)), ('no time', ('--timeout', 0, image)),
                           ('an initial file system that is none', ('--initrd', text, image)), ('a value left out', ('--smp',)),
                           ('a disk that is none', ('--disk', work / 'nothing', image)), ('a directory for a disk', ('--disk', work, image)),
                           ('a disk that is larger than the memory of a kernel', ('--disk', sparse, '--linux', linux)),
                           ('arguments that no kernel can take', ('--linux', linux, 'a"b')),
                           ('more than a kernel takes', ('--linux', linux, 'x' * 3000)),
                           ('too many for a kernel', ('--linux', linux, *range(40)))):
        ends(f'refused in one line: {claim}', 2, *options, stderr=b'janus-qemu: ', JANUS_KERNEL=image)
    done = boot('--help')
    tap.check('--help helps', done.returncode == 0 and b'--timeout' in done.stdout, done.stdout)


def debugger():
    if not shutil.which('gdb'):
        return tap.skip('gdb finds the guest before its first instruction', 'gdb is not installed')
    with socket.socket() as free:
        free.bind(('localhost', 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([janus_qemu, f'--gdb={port}', guests / 'status_7.elf'], stderr=subprocess.PIPE, env=environment(**plain))
    tap.check('janus-qemu prints that it waits for gdb, and the address', process.stderr.readline().endswith(b'localhost:%d\n' % port))
    done = run(['gdb', '-nx', '-batch', '-ex', 'set tcp connect-timeout 20', '-ex', f'target remote localhost:{port}',
                '-ex', 'hbreak *&entry', '-ex', 'continue', '-ex', 'info symbol $pc', '-ex', 'detach', guests / 'status_7.elf'])
    tap.check('gdb finds the guest before its first instruction', b'entry in section .text' in done.stdout, done.stdout + done.stderr)
    tap.check('after gdb continues it, the guest runs to its end', process.wait(30) == 7, process.returncode)


def accelerators():
    """With a QEMU that hangs, warns or works when it is told to use KVM."""
    if not os.access('/dev/kvm', os.R_OK | os.W_OK):
        return tap.skip('KVM only where a guest ran under it', 'there is no /dev/kvm here')
    for what, does, chosen in (('hangs', 'exec sleep 60', 'tcg'), ('warns', 'echo no such feature >&2', 'tcg'), ('works', ':', 'kvm')):
        fake = work / what
        fake.mkdir()
        qemu = fake / 'qemu-system-x86_64'
        # This QEMU records the accelerator that it was given, and always boots with TCG.
        qemu.write_text(f'''#!/bin/bash
words=("$@")
for i in "${{!words[@]}}"; do
  if [ "${{words[i]}}" = kvm ]; then echo kvm >>{fake}/used; words[i]=tcg; {does}; fi
  if [ "${{words[i]}}" = host ]; then words[i]=max; fi
done
exec {shutil.which('qemu-system-x86_64')} "${{words[@]}}"
''')
        qemu.chmod(0o755)
        how = dict(JANUS_ACCELERATOR='', PATH=f'{fake}:{os.environ["PATH"]}')
        ends(f'where KVM {what}, a guest still runs', 7, guests / 'status_7.elf', **how)
        probes = (fake / 'used').read_text().count('kvm')
        ends('and once more', 7, guests / 'status_7.elf', **how)
        used = (fake / 'used').read_text().count('kvm')
        tap.check(f'under {chosen}, with one probe for both', (probes, used) == ((1, 1) if chosen == 'tcg' else (2, 3)), (probes, used))


good_ends()
bad_ends()
console()
reader_stands_still()
stdout_fails()
signals()
handed_over()
unreadable()
refused()
debugger()
accelerators()
tap.end()
