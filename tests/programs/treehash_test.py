#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# treehash_test.py BUILD — treehash prints exactly what find, sort and sha256sum print.
import contextlib
import hashlib
import os
import pty
import random
import resource
import socket
import subprocess
import sys

from installed import Tap, build, environment, here, install, run, work_directory

tap = Tap()
work = work_directory()
treehash = work / 'treehash'
pipeline = 'find "$1" -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum'
nobody = {'user': 65534, 'group': 65534, 'extra_groups': []} if os.getuid() == 0 else {}


def expected(directory, **options):
    return run(['bash', '-c', pipeline, 'bash', directory], env=environment(), **options)


def same(claim, directory, status=0, settings={}, **options):
    """Compares both over `directory`; returns treehash's finished process."""
    ours = run([treehash, directory], env=environment(**settings), **options)
    theirs = expected(directory, **options)
    why = f'status {ours.returncode}\nours:\n{ours.stdout[:600]!r}\ntheirs:\n{theirs.stdout[:600]!r}\n{ours.stderr[-600:]!r}'
    tap.check(claim, ours.stdout == theirs.stdout and ours.returncode == status, why)
    return ours


def write(path, contents=b'x'):
    os.makedirs(os.path.dirname(os.fsencode(path)), exist_ok=True)
    with open(path, 'wb') as file:
        file.write(contents)


def odd_names(tree):
    for name in (b'new\nline', b'carriage\rreturn', b'back\\slash', b'all\\of\nthem\r', b'\xff\xfe not utf-8', b' leading',
                 b'trailing ', b'-n', b'tab\there', b'"quotes\'', b'*', b'$(echo)', b'a' * 255, 'ünïcödé'.encode(), b'...'):
        write(os.fsencode(tree) + b'/' + name, name)
        write(os.fsencode(tree) + b'/directory ' + name[:200] + b'/file', name)
    ours = same('names with newlines, returns, backslashes, and no UTF-8', tree)
    checked = subprocess.run(['sha256sum', '-c', '--quiet'], input=ours.stdout, capture_output=True, timeout=60)
    tap.check('sha256sum -c reads them back', checked.returncode == 0 and not checked.stdout, checked.stderr.decode())


def order(tree):
    for name in ('a', 'a.b', 'a-b', 'a0', 'ab/c', 'ab.c', 'ab-', 'ab!', 'ab0/x', 'b/', 'b/a', 'b/a!', 'B', 'Z/z', '~', '0/0/0'):
        if not name.endswith('/'):
            write(tree / name)
    same('directories sort as if their names ended in a slash', tree)


def sizes(tree):
    piece = 64 * 1024
    random.seed(1)
    for size in (0, 1, 55, 56, 63, 64, 65, piece - 1, piece, piece + 1, 3 * piece, 5_000_000):
        write(tree / f'size{size}', random.randbytes(size))
    same('files of every size around a block and a piece', tree)


def types(tree):
    write(tree / 'file')
    write(tree / 'below/file')
    os.mkdir(tree / 'empty')
    os.mkdir(tree / 'below/empty')
    os.mkfifo(tree / 'fifo')
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(tree / 'socket'))
    if os.getuid() == 0:
        os.mknod(tree / 'device', 0o20600, os.makedev(1, 3))
    os.symlink('file', tree / 'link to file')
    os.symlink('below', tree / 'link to directory')
    os.symlink('..', tree / 'below/loop')
    os.symlink('nowhere', tree / 'dangling')
    same('links, FIFOs, sockets, devices and empty directories are left out', tree)
    same('a directory of nothing but directories', tree / 'empty')
    same('a FIFO as DIR', tree / 'fifo')
    same('a file as DIR', tree / 'file')
    same('a link to a file as DIR', tree / 'link to file')
    same('a link to a directory as DIR', tree / 'link to directory')
    same('a link to a directory with a slash behind it', f'{tree}/link to directory/')


def spellings(tree):
    write(tree / 'sub/file')
    write(tree / 'file')
    for directory in (f'{tree}/', f'{tree}//', f'{tree}/sub/..', f'{tree}/./sub'):
        same(f'DIR given as TREE{directory[len(str(tree)):]}', directory)
    for directory in ('.', './', 'sub', 'sub/', '..//tree-spellings'):
        same(f'DIR given as {directory}', directory, cwd=tree)
    ours, theirs = run([treehash], cwd=tree, env=environment()), expected('.', cwd=tree)
    tap.check('no DIR is the current one', ours.stdout == theirs.stdout and ours.returncode == 0, ours)
    tap.check('two are too many', run([treehash, 'a', 'b'], env=environment()).returncode == 2)


def deep(tree):
    path = tree
    for level in range(130):
        path = path / f'level-{level}'
        write(path / 'file', str(level).encode())
        write(path / 'other', str(-level).encode())
    same('130 levels', tree)
    for workers in (1, 256):
        same(f'130 levels, {workers} workers', tree, settings={'JANUS_WORKERS': workers})


def deeper_than_a_path(tree):
    # sha256sum cannot open these files: their paths are longer than PATH_MAX.
    tree.mkdir()
    at = os.open(tree, os.O_RDONLY)
    for level in range(40):
        os.mkdir('d' * 200, dir_fd=at)
        below = os.open('d' * 200, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    file = os.open('bottom', os.O_WRONLY | os.O_CREAT, dir_fd=at)
    os.write(file, b'deep')
    os.close(file)
    os.close(at)
    ours = run([treehash, tree], env=environment())
    line = f'{hashlib.sha256(b"deep").hexdigest()}  {tree}/{("d" * 200 + "/") * 40}bottom\n'
    tap.check('a path of 8,000 bytes', ours.stdout.decode() == line and ours.returncode == 0, ours.stderr.decode())


def wide(tree):
    random.seed(2)
    for number in range(4000):
        write(tree / f'{number % 37}' / f'{number % 11}' / f'file {number}', random.randbytes(number % 3000))
    same('4,000 files', tree)
    for workers in (1, 2, 4, 8, 256):
        same(f'4,000 files, {workers} workers', tree, settings={'JANUS_WORKERS': workers})
    same('4,000 files, one order from a seed', tree, settings={'JANUS_SEED': 3})
    flat = tree / 'flat'
    for number in range(3000):
        write(flat / f'{number * 7919 % 3000:x}', b'')
    same('3,000 files in one directory', flat)
    ours = run([treehash, tree], env=environment(),
               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (12, 12)))
    tap.check('12 open files are enough', ours.stdout == expected(tree).stdout and ours.returncode == 0, ours.stderr[-600:])
    summary = ours.stderr.decode().splitlines()[-1]
    for word in ('files', 'bytes', 'tasks', 'steals', 'workers', 'budget', ' s,'):
        tap.check(f'the summary tells {word.strip(" ,")}', word in summary, summary)


def unreadable(tree):
    for name in ('open/a', 'open/z', 'shut/inside', 'list-only/file'):
        write(tree / name)
    write(tree / 'secret')
    os.chmod(tree / 'secret', 0)
    os.chmod(tree / 'shut', 0)
    os.chmod(tree / 'list-only', 0o444)
    ours = same('what cannot be read is left out, the rest is hashed, the status is 1', tree, status=1, **nobody)
    for name in ('secret', 'shut', 'list-only/file'):
        tap.check(f'{name} is reported', f'{tree}/{name}: Permission denied\n'.encode() in ours.stderr, ours.stderr)
    os.chmod(tree / 'shut', 0o755)
    os.chmod(tree / 'list-only', 0o755)
    ours = same('a DIR that is not there', tree / 'nowhere', status=1)
    tap.check('is reported', b'nowhere: No such file or directory\n' in ours.stderr, ours.stderr)
    same('a DIR without a name', '', status=1)


def all_of(terminal):
    """Everything printed to a terminal whose other end is closed: the kernel delivers it in pieces, then read fails."""
    pieces = []
    with contextlib.suppress(OSError):
        while piece := os.read(terminal, 10000):
            pieces.append(piece)
    os.close(terminal)
    return b''.join(pieces)


def output(tree):
    write(tree / 'file')
    with open('/dev/full', 'wb') as full:
        ours = subprocess.run([treehash, tree], stdout=full, stderr=subprocess.PIPE, env=environment(), timeout=60)
    tap.check('a full disk below stdout is status 1 and a message',
              ours.returncode == 1 and b'No space left on device' in ours.stderr, ours)
    terminal, other_end = pty.openpty()
    ours = subprocess.run([treehash, tree], stdout=subprocess.PIPE, stderr=other_end, env=environment(), timeout=60)
    os.close(other_end)
    shown = all_of(terminal)
    tap.check('a terminal on stderr sees progress, and then the summary in its place',
              shown.startswith(b'\r\033[K') and b'\r\033[Ktreehash: 1 files' in shown, shown)
    tap.check('and stdout nothing of it', ours.stdout == expected(tree).stdout, ours.stdout)
    quiet = run([treehash, tree], env=environment())
    tap.check('without one there is the summary alone', quiet.stderr.startswith(b'treehash: 1 files, 1 bytes, '), quiet.stderr)


done = build(install(sys.argv[1], work), here / 'treehash.c', treehash)
if tap.check('treehash compiles', done.returncode == 0, done.stderr):
    for group in (odd_names, order, sizes, types, spellings, deep, deeper_than_a_path, wide, unreadable, output):
        group(work / f'tree-{group.__name__}')
    same('/usr/include', '/usr/include', timeout=120)
tap.end()
