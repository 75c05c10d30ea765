#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# image_test.py BUILD ROOT — ./dev image, and the program of such an image running in a root directory with nothing
# else, without rights, within limits. Speaks TAP.
import hashlib
import io
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import time

here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here.parent / 'programs'), str(here)]
import cage as cages  # noqa: E402
import limits  # noqa: E402
from installed import Tap, build, environment, install, run, work_directory  # noqa: E402

tap = Tap()
work = work_directory()
source_root = pathlib.Path(sys.argv[2])
page = (source_root / 'docs/deployment.md').read_text()
janus_cc = install(sys.argv[1], work)
mib = 1 << 20


def compiled(source):
    output = work / source.stem
    done = build(janus_cc, source, output)
    if done.returncode:
        tap.check(f'{source.name} compiles', False, done.stderr)
    return output


programs = here.parent / 'programs'
hello, ends, service, hog, guards = (compiled(path) for path in (
    programs / 'hello.c', programs / 'ends.c', here / 'programs/service.c', here / 'programs/hog.c',
    here.parent / 'qemu/programs/guards.c'))


def dev_image(*arguments, cwd=work):
    return run([source_root / 'dev', 'image', *map(str, arguments)], cwd=cwd, env=environment())


def files_of(directory):
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob('*') if path.is_file()}


# --- The image ---------------------------------------------------------------------------------------------------------

def blob(layout, reference):
    content = (layout / 'blobs' / reference['digest'].replace(':', '/')).read_bytes()
    sound = len(content) == reference['size'] and f'sha256:{hashlib.sha256(content).hexdigest()}' == reference['digest']
    return content if sound else b'{}'


def unpacked(layout):
    """The root directory that the image describes. Also checks the format of the image."""
    index = json.loads((layout / 'index.json').read_text())
    tap.check('the image is an OCI layout of version 1.0.0', json.loads((layout / 'oci-layout').read_text()) == {'imageLayoutVersion': '1.0.0'} and
              index['schemaVersion'] == 2 and len(index['manifests']) == 1, index)
    reference = index['manifests'][0]
    manifest = json.loads(blob(layout, reference))
    tap.check('with one manifest, for amd64', reference['mediaType'] == 'application/vnd.oci.image.manifest.v1+json' and
              reference['platform'] == {'architecture': 'amd64', 'os': 'linux'} and manifest.get('schemaVersion') == 2, index)
    config = json.loads(blob(layout, manifest['config']))
    layer = blob(layout, manifest['layers'][0])
    tap.check('one layer, whose digest is in the configuration', len(manifest['layers']) == 1 and
              config['rootfs'] == {'type': 'layers', 'diff_ids': [f'sha256:{hashlib.sha256(layer).hexdigest()}']}, config)
    tap.check('the configuration runs one file as an unprivileged user, without a shell', config['config']['Entrypoint'] == ['/hello'] and
              config['config']['User'] == '65534:65534' and 'Cmd' not in config['config'], config)
    root = work / 'root'
    with tarfile.open(fileobj=io.BytesIO(layer)) as tar:
        entries = tar.getmembers()
        tap.check('the layer contains only that file', [(e.name, e.type, e.mode, e.uid, e.gid, e.mtime) for e in entries] ==
                  [('hello', tarfile.REGTYPE, 0o555, 0, 0, 0)], entries)
        tar.extractall(root)
    tap.check('the file in the layer is the program, byte for byte', (root / 'hello').read_bytes() == hello.read_bytes())
    names = {'index.json', 'oci-layout', *(f'blobs/{r["digest"].replace(":", "/")}' for r in (reference, manifest['config'], manifest['layers'][0]))}
    tap.check('and nothing else is in the layout', set(files_of(layout)) == names, files_of(layout).keys())
    return root


def image():
    done = dev_image(hello)
    layout = work / 'hello.oci'
    digest = done.stdout.decode().strip()
    tap.check('dev image prints the digest of the image', done.returncode == 0 and re.fullmatch(r'sha256:[0-9a-f]{64}', digest) and
              f'"{digest}"' in (layout / 'index.json').read_text(), done.stderr.decode() + digest)
    root = unpacked(layout)
    again = work / 'elsewhere/sub'
    again.mkdir(parents=True)
    copy = again / 'hello'
    shutil.copy(hello, copy)
    copy.chmod(0o700)
    os.utime(copy, (1, 1))
    second = dev_image('hello', '-o', 'other', cwd=again)
    tap.check('the same input gives the same image, at any time and in any directory', second.stdout == done.stdout and
              files_of(again / 'other') == files_of(layout), second.stderr)
    tap.check('an image that is made again replaces the old one', dev_image(hello).stdout == done.stdout)
    tap.check('another program gives another image', dev_image(ends, '-o', work / 'ends.oci').stdout != done.stdout)
    refused()
    if shutil.which('umoci'):
        done = run(['umoci', 'unpack', '--rootless', '--image', f'{layout}:latest', work / 'bundle'])
        tap.check('umoci reads it and finds the same file', done.returncode == 0 and
                  files_of(work / 'bundle/rootfs') == {'hello': hello.read_bytes()}, done.stderr.decode())
    else:
        tap.skip('umoci reads it and finds the same file', 'umoci is not installed')
    return root


def refused():
    text, taken, library = work / 'text', work / 'taken', work / 'library'
    text.write_text('#!/bin/sh\n')
    subprocess.run(['gcc', '-nostdlib', '-shared', '-x', 'c', '-', '-o', library], input=b'', check=True)
    taken.mkdir()
    (taken / 'precious').write_text('x')
    for claim, arguments in (('a text', [text]), ('a missing file', [work / 'nothing']), ('a program with a loader', ['/bin/true']),
                             ('a shared library', [library]), ('a directory', [taken]), ('nothing', []),
                             ('two programs', [hello, ends]), ('an unknown option', ['-x', hello])):
        done = dev_image(*arguments)
        tap.check(f'refused in one line: {claim}', done.returncode == 2 and done.stderr.count(b'\n') == 1 and not done.stdout, done.stderr)
    done = dev_image(hello, '-o', taken)
    tap.check('a directory that is not an image stays unchanged', done.returncode == 2 and (taken / 'precious').exists(), done.stderr)


# --- The kernel's calls ------------------------------------------------------------------------------------------------

def table(heading):
    """The names in backquotes in the first column of the page's table whose first heading is `heading`."""
    rows = re.search(rf'^\| {heading} .*\n\|[-|]+\n((?:\|.*\n)+)', page, re.MULTILINE)[1].splitlines()
    return [name for row in rows for name in re.findall('`([a-z0-9_]+)`', row.split('|')[1])]


needed, optional = table('needed'), table('used where it may be')
as_init = re.findall('`([a-z]+)`', re.search(r'`janus-qemu --linux`\) also uses (.*?)\.$', page, re.MULTILINE | re.DOTALL)[1])


def listed_calls():
    profile = json.loads((source_root / 'docs/deployment-seccomp.json').read_text())
    first, second, starter, own = (entry['names'] for entry in profile['syscalls'])
    tap.check('the page and the profile list the same calls', sorted(needed) == sorted(first) and sorted(optional) == sorted(second),
              set(needed + optional) ^ set(first + second))
    known = {name.lower(): int(number) for name, number in re.findall(
        r'^  k(\w+) = (\d+),', re.search(r'enum Number : long \{(.*?)\};', (source_root / 'arch/linux/kernel_abi.h').read_text(), re.DOTALL)[1],
        re.MULTILINE)}
    names = {number: name for name, number in cages.NUMBERS.items()}
    source = {names[number] for number in known.values()}
    # Calls that start a program, come from assembly, or are made by the small C library only.
    elsewhere = {'execve', 'rt_sigreturn', 'clone', 'clone3'}
    tap.check('the listed calls are those in the source', source | elsewhere == set(needed + optional + as_init),
              (source | elsewhere) ^ set(needed + optional + as_init))
    return needed + optional + starter + own


def traced_calls(allowed):
    """strace sees no calls but the listed ones, whatever the program does."""
    if not shutil.which('strace'):
        return [tap.skip(claim, 'strace is not installed') for claim in ('no other call is made', 'outside cages nobody sets a timer')]
    made = set()
    for arguments in ([hello, '100'], [ends, 'contain'], [ends, 'panic'], [ends, 'deadlock'], [ends, 'crowd', '3000'], [guards, '3000'], [hog]):
        log = work / 'strace'
        run(['strace', '-f', '-qq', '-o', log, *map(str, arguments)], env=environment(JANUS_MEMORY='64m', JANUS_WORKERS=4), timeout=120)
        made |= set(re.findall(r'^\d+ +(?:<\.\.\. )?([a-z0-9_]+)', log.read_text(), re.MULTILINE))
    # For a thread that is killed in a call strace may take the result (-EAGAIN) for the number. No call has a negative
    # number.
    made = {name for name in made if not name.startswith('syscall_0xffffffff')}
    tap.check('strace reports calls', {'mmap', 'futex', 'exit_group'} <= made, made)
    tap.check('no other call is made', made <= set(allowed), made - set(allowed))
    timers = {'alarm', 'setitimer', 'timer_create', 'timer_settime', 'timerfd_create', 'timerfd_settime', 'nanosleep', 'clock_nanosleep'}
    tap.check('outside cages nobody sets a timer', not made & timers, made & timers)  # none of these has a cage


# --- In the cage -------------------------------------------------------------------------------------------------------

def caged(root, allowed):
    for program in (ends, guards, service, hog):
        shutil.copy(program, root)
    cage = cages.Cage(root)
    only = cages.only(allowed)
    done = cage.run(['/hello', '20'], allowed=only)
    tap.check('the program works with an empty root, no privileges, and only the listed calls', done.returncode == 0 and done.stdout.count(b'hello') == 20,
              f'{done.returncode} {done.stderr.decode()}')
    done = cage.run(['/ends', 'contain'], allowed=only)
    tap.check('faults end tasks alone', done.returncode == 0 and done.stdout == b'-2 2 100\n' and b'stack overflow' in done.stderr, done.stderr)
    for error in (1, 38):
        strict = cages.filter_of({name: cages.ALLOW for name in needed}, cages.ERRNO | error)
        done = cage.run(['/guards', '3000'], allowed=strict, JANUS_WORKERS=2)
        tap.check(f'the program also works with only the needed calls, if all others fail with error {error}', done.returncode == 0 and
                  b'3000 blocked, all guarded, 0 by canaries\n1 of them failed\n' in done.stdout, f'{done.returncode} {done.stdout} {done.stderr.decode()}')
    broken = []
    for name in optional:
        done = cage.run(['/ends', 'contain'], allowed=cages.without(name), JANUS_WORKERS=2)
        broken += [f'{name}: {done.returncode} {done.stderr.decode()}'] if done.returncode or done.stdout != b'-2 2 100\n' else []
    tap.check('each of the optional calls may be missing', not broken, '\n'.join(broken))
    tap.check('the filter is in force', cage.run(['/hello'], allowed=cages.only(set(allowed) - {'mmap'})).returncode == 128 + 31)
    return cage


def service_at_work(root):
    run_directory = work / 'run'
    run_directory.mkdir()
    run_directory.chmod(0o777)
    (root / 'run').mkdir(exist_ok=True)
    cage = cages.Cage(root, '--bind', run_directory, '/run')
    process = subprocess.Popen(cage.command(['/service', '/run/beat'], {'JANUS_GRACE': 60000}), stdout=subprocess.PIPE)
    process.stdout.readline()
    until_it_beats(run_directory / 'beat')
    probe = cages.Cage(root, '--bind', run_directory, '/run')
    tap.check('the probe of the page finds the service alive', probe.run(['/service', '--alive', '/run/beat']).returncode == 0)
    child = inner_process(process.pid)
    os.kill(child, signal.SIGSTOP)
    time.sleep(4.5)
    tap.check('and not alive after it has been stopped', probe.run(['/service', '--alive', '/run/beat']).returncode == 1)
    os.kill(child, signal.SIGCONT)
    os.kill(child, signal.SIGTERM)
    rest = process.communicate(timeout=120)[0]
    # If the grace expired, the status would be 143.
    tap.check('after SIGTERM the service cleans up and ends with status 0, within its grace', process.returncode == 0 and b'everything is tidy' in rest,
              f'{process.returncode} {rest}')


def until_it_beats(file):
    until = time.monotonic() + 60
    while not (file.exists() and file.stat().st_size) and time.monotonic() < until:
        time.sleep(0.02)


def inner_process(pid):
    """The program itself: the innermost of the processes below bwrap."""
    while children := pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text().split():
        pid = int(children[0])
    return pid


# --- Limits ------------------------------------------------------------------------------------------------------------

def workers_in(done):
    found = re.search(rb'workers +(\d+)', done.stderr)
    return int(found[1]) if found else done.stderr


def grouped(root):
    """With /proc and control groups readable, as containers have them."""
    for directory in ('proc', 'sys/fs/cgroup'):
        (root / directory).mkdir(parents=True, exist_ok=True)
    cage = cages.Cage(root, '--proc', '/proc', '--ro-bind', '/sys/fs/cgroup', '/sys/fs/cgroup')
    cpus = len(os.sched_getaffinity(0))
    for quota in (0.5, 1, 1.5, cpus + 1):
        group = limits.Group(quota=quota)
        done = cage.run(['/hello'], before=group.join, JANUS_STATS=1)
        group.remove()
        tap.check(f'a quota of {quota} CPUs', workers_in(done) == max(1, min(int(quota), cpus)), workers_in(done))
    for size in (32, 64, 256):
        for program, settings in ((['/ends', 'crowd', '1000000'], {}), (['/hog'], {}), (['/hog'], {'JANUS_WORKERS': 8})):
            group = limits.Group(memory=size * mib)
            done = cage.run(program, before=group.join, timeout=120, **settings)
            killed = group.kills()
            group.remove()
            tap.check(f'{program[0]} uses what {size} MiB allow, gets errors for the rest, and no process is killed {settings}',
                      done.returncode == 0 and killed == 0, f'{done.returncode}, {killed} killed\n{done.stdout}\n{done.stderr.decode()}')
    taken = int(re.match(rb'(\d+) MiB', done.stdout)[1]) if done.stdout else 0
    tap.check('the program can use three quarters of the memory', 0.68 * size <= taken <= 0.76 * size, done.stdout)
    empty = cages.Cage(root)
    group = limits.Group(memory=64 * mib)
    done = empty.run(['/hog'], before=group.join, JANUS_MEMORY='48m')
    killed = group.kills()
    group.remove()
    tap.check('if the limits cannot be read, a setting has the same effect', done.returncode == 0 and killed == 0, f'{done.returncode}, {killed} killed')


def limited():
    """Limited by the process itself: RLIMIT_AS."""
    for size in (200, 400):
        done = run([hog], env=environment(JANUS_MEMORY='8g', JANUS_WORKERS=2),
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size * mib, size * mib)))
        taken = int(re.match(rb'(\d+) MiB', done.stdout)[1]) if done.stdout else 0
        tap.check(f'with {size} MiB of address space the program uses what there is, gets errors for the rest, and ends normally',
                  done.returncode == 0 and 0.25 * size < taken < size, f'{done.returncode} {done.stdout} {done.stderr.decode()}')


root = image()
allowed = listed_calls()
traced_calls(allowed)
limited()
if why := cages.why_not():
    tap.skip('the program works with an empty root, no privileges, and only the listed calls', why)
else:
    caged(root, allowed)
    service_at_work(root)
    if why := limits.why_not():
        tap.skip('workers and memory follow the control group (address space was limited instead)', why)
    else:
        grouped(root)
tap.end()
