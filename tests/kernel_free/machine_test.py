#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# machine_test.py BUILD all|ends — programs with no kernel below behave as on Linux, and the machine reports what it
# lacks.
import pathlib
import re
import socket
import subprocess
import sys
import threading

from machine import PATIENCE, bare_command, bare_qemu, compiles, environment, prepare, run, run_emulator
from installed import programs  # after machine, which knows where it is

here = pathlib.Path(__file__).resolve().parent
tap, work, janus_cc, janus_qemu = prepare()
everything = sys.argv[2] == 'all'


def make(source, target):
    output = work / f'{source.stem}.{target}'
    libraries = ['-lbearssl'] if source.stem == 'treehash' else []
    compiles(tap, janus_cc, source, output, *libraries, target=target)
    return output


def boot(image, *arguments, seconds=120, options=(), **settings):
    """Runs the image with janus-qemu; the result has the console and the status."""
    return run_emulator([janus_qemu, '--timeout', str(PATIENCE * seconds), *options, image, *arguments], seconds, env=environment(**settings))


# --- The code of handlers --------------------------------------------------------------------------------------------


def handlers_leave_vector_registers_alone():
    """Handlers do not save vector registers, so they must not use them: the interrupted code's values are in them."""
    objects = sorted(pathlib.Path(sys.argv[1], 'kernel-free/libjanus-kernel-free.a.p').glob('*.o'))
    used, called = [], []
    for thing in objects:
        code = subprocess.run(['objdump', '-d', '--no-show-raw-insn', thing], capture_output=True, text=True, check=True).stdout
        used += [f'{thing.name}: {line}' for line in code.splitlines() if re.search(r'%[xyz]mm\d', line)]
        if re.match('traps_|memory_(frames|page_tables|area|addresses|mappings)|smp_(requests|apic)|threads_|clock_(clock|timer)', thing.name):
            names = subprocess.run(['nm', '-u', thing], capture_output=True, text=True, check=True).stdout
            called += [f'{thing.name}: {name}' for name in re.findall(r'\bmem(?:cpy|move|set|cmp)\b', names)]
    tap.check('nothing of kernel-free names a vector register', len(objects) > 30 and not used, '\n'.join(used))
    tap.check('and no handler calls what does', not called, '\n'.join(called))


# --- The same program with and without a kernel ---------------------------------------------------------------------


def same_results():
    for name, (size, expected) in programs.items():
        if not name.endswith('.c') or not (everything or name == 'fib.c'):
            continue
        image = make(here.parent / 'programs' / name, 'bare')
        for cpus in (1, 2, 4):
            done = boot(image, size, options=['--smp', str(cpus)])
            ok = done.returncode == 0 and (expected is None or done.stdout.decode() == expected)
            tap.check(f'{name} on {cpus} CPUs', ok, f'{done.returncode} {done.stdout[-300:]} {done.stderr[-300:]}')


def size():
    """The fixed part of every image. The goal is 64 KiB; the test fails above the present limit."""
    output = work / 'small'
    source = here.parent / 'bench/programs/hello.c'
    done = subprocess.run([janus_cc, '--target=bare', '-O2', '-s', source, '-o', output], capture_output=True, text=True, env=environment())
    bytes_of_it = output.stat().st_size if done.returncode == 0 else 0
    tap.check('a stripped hello is at most 148 KiB', 0 < bytes_of_it <= 148 * 1024, (bytes_of_it, done.stderr))


SECTIONS_OF_ITS_OWN = r'''
#include <janus/rt.h>
__attribute__((section(".init"), noinline)) static long twice(long n) { return n + n; }
__attribute__((section("my_text"), noinline)) static long next(long n) { return n + 1; }
__attribute__((section("my_constants"))) static const volatile long ten = 10;
__attribute__((section("my_data"))) static volatile long eleven = 11;
static long changed = 12;
static long *const volatile pointer = &changed;
static struct { volatile long first[4000]; } zeros;
__attribute__((constructor)) static void add_one(void) { ++*pointer; }
int main(void) {
  eleven += zeros.first[3999] += 1;
  return (int)(twice(next(ten)) + eleven + *pointer);
}
'''


def segments_of(image):
    """(offset, bytes in the file, address, bytes in memory, rights) of each."""
    lines = subprocess.run(['readelf', '-lW', image], capture_output=True, text=True, check=True).stdout.splitlines()
    rows = [line.split() for line in lines if line.startswith('  LOAD ')]
    return [(int(row[1], 16), int(row[4], 16), int(row[2], 16), int(row[5], 16), ' '.join(row[6:-1])) for row in rows]


def pages_are_apart_only_in_memory():
    """A page has the rights of one segment; the file has next to no padding."""
    source = work / 'sections.c'
    source.write_text(SECTIONS_OF_ITS_OWN)
    image = make(source, 'bare')
    stripped = work / 'sections.stripped'
    subprocess.run(['strip', '-o', stripped, image], check=True)
    made = [image, stripped, work / 'small', make(here.parent / 'programs/hello.cpp', 'bare')]
    for program in made:
        segments = segments_of(program)
        pages = {}
        for _, _, address, size, rights in segments:
            for page in range(address // 4096, -(-(address + size) // 4096)):
                pages.setdefault(page, set()).add(rights)
        shared = [hex(page * 4096) for page, rights in pages.items() if len(rights) > 1]
        tap.check(f'{program.name}: no page has the rights of two segments', len({s[4] for s in segments}) == 3 and not shared, (segments, shared))
        end = max(offset + size for offset, size, *_ in segments if size)
        padding = end - sum(size for _, size, *_ in segments)
        tap.check(f'{program.name}: less than 1 KiB of the file is padding', 0 <= padding < 1024, (padding, segments))
    for program in (image, stripped):
        done = boot(program)
        tap.check(f'{program.name}: sections of its own are loaded where they belong', done.returncode == 2 * 11 + 12 + 13, f'{done.returncode} {done.stdout[-400:]}')


def same_words_for_faults():
    def told(output):
        lines = [line for line in output.splitlines() if not line.startswith('janus:   at')]
        # Task numbers come from blocks that workers take, so with several CPUs they differ from run to run.
        output = re.sub(r'\btask \d+', 'task N', '\n'.join(lines))
        # Where stacks grow they are larger, and a report names the largest size and the setting for it.
        output = re.sub(r'stack \d+ bytes(?: of at most \d+)? \(JANUS_STACK(?:_MAX)?\)', 'stack SIZE', output)
        return re.sub(r'overflow at 0x\w+|(?<=access at )0x[1-9a-f]\w{5,6}\b', 'ADDRESS', output)

    linux, image = make(here / 'programs/faults.c', 'linux'), make(here / 'programs/faults.c', 'bare')
    expected = subprocess.run([linux], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment(JANUS_WORKERS=1))
    for cpus in (1, 2):
        done = boot(image, options=['--smp', str(cpus)])
        tap.check(f'faults end their tasks with the same words as on Linux ({cpus} CPUs)',
                  done.returncode == 0 and told(done.stdout.decode()) == told(expected.stdout),
                  '\n'.join(sorted(set(told(done.stdout.decode()).splitlines()) ^ set(told(expected.stdout).splitlines()))))


def places_after_a_handover():
    """Without a kernel no symbols are read, so the test looks up the addresses in the image."""
    image = make(here.parent / 'programs/handover.c', 'bare')
    symbols = [line.split() for line in subprocess.run(['nm', '-S', image], capture_output=True, text=True).stdout.splitlines()]
    bounds = {of[3]: range(int(of[0], 16) + 1, int(of[0], 16) + int(of[1], 16)) for of in symbols if len(of) == 4}
    for cpus in (1, 2) if everything else (1,):
        done = boot(image, options=['--smp', str(cpus)])
        places = [int(address, 16) for address in re.findall(rb'waits at a channel .*\njanus:   at (0x[0-9a-f]+)', done.stdout.replace(b'\r', b''))]
        told = all(any(place in bounds.get(name, ()) for place in places) for name in ('server', 'ask'))
        tap.check(f'after a direct hand-over a deadlock shows the functions that wait, on {cpus} CPUs', done.returncode == 3 and told, done.stdout[-800:])


def stacks_grow():
    """Stacks grow as on Linux. At most as many CPUs as the host has: giving back grown stacks waits for all CPUs."""
    image = make(here.parent / 'programs/growth.c', 'bare')
    for cpus in (1, 2) if everything else (1,):
        options = ['--smp', str(cpus)]
        for how in (('recursion', '200'), ('frames', '500'), ('churn', '10'), ('large',)):
            done = boot(image, *how, options=options)
            tap.check(f'stacks grow: {" ".join(how)} on {cpus} CPUs', done.returncode == 0, f'{done.returncode} {done.stdout[-400:]}')
        depths = []
        for beside in ('0', '40'):
            done = boot(image, 'depth', beside, options=options)
            told = re.search(r'stack overflow at .*, stack 262144 bytes of at most 262144 \(JANUS_STACK_MAX\)', done.stdout.decode())
            tap.check(f'what a stack may grow to is where it ends, beside {beside} on {cpus} CPUs', done.returncode == 0 and told, done.stdout[-400:])
            depths.append(int(re.findall(rb'(?m)^(\d+)$', done.stdout)[-1]) if told else 0)
        tap.check(f'at the same depth, whatever runs beside it, on {cpus} CPUs', max(depths) - min(depths) <= 4096 and min(depths) >= 262144 - 1024, depths)
    done = boot(image, 'cage', '11')
    tap.check('a task without the memory to grow ends alone', done.returncode == 7 and b'with no memory in its budget to grow' in done.stdout,
              f'{done.returncode} {done.stdout[-400:]}')


def same_order():
    """Deterministic mode: the hash of the order is the same on every platform."""
    linux, image = make(here.parent / 'programs/skynet.c', 'linux'), work / 'skynet.bare'
    if not image.exists():
        image = make(here.parent / 'programs/skynet.c', 'bare')
    settings = {'JANUS_SEED': 42, 'JANUS_STATS': 1}
    hashes = [re.search(r'order_hash +(\S+)', text) for text in
              (run([linux, '1000'], env=environment(**settings)).stderr.decode(), boot(image, '1000', **settings).stdout.decode(),
               boot(image, '1000', options=['--smp', '2'], **settings).stdout.decode())]
    tap.check('order_hash is the same with and without a kernel', all(hashes) and len({h[1] for h in hashes}) == 1, [h and h[0] for h in hashes])


def many_tasks():
    image = make(here / 'programs/many.c', 'bare')
    spawned, blocked = (1000000, 100000) if everything else (10000, 1000)
    done = boot(image, str(spawned), str(blocked), options=['--memory', '2048'], seconds=280)
    tap.check(f'{spawned} tasks run, {blocked} wait at once, each above a guard page',
              done.returncode == 0 and done.stdout.decode() == f'{spawned} ran\n{blocked} blocked, all guarded: 1\n'
              f'{blocked} absent pages below them, enough present ones: 1, of these writable and executable: 0\n',
              f'{done.returncode} {done.stdout[-400:]}')


def no_memory():
    """The budget is set above the machine's memory (by default it is below)."""
    image = make(here / 'programs/no_memory.c', 'bare')
    for cpus in (1, 2) if everything else (1,):
        done = boot(image, options=['--smp', str(cpus), '--memory', '64'], JANUS_MEMORY='1g')
        said = done.stdout.decode().splitlines()
        tap.check(f'when no memory is left the task that touched some panics, alone ({cpus} CPUs)',
                  done.returncode == 0 and said[0] == 'janus: no memory is left' and said[-1] == '4 panicked, then 0'
                  and sum(' panicked: invalid memory access at ' in line for line in said) == 4, f'{done.returncode} {done.stdout[-600:]}')


# --- Files -----------------------------------------------------------------------------------------------------------


def make_tree():
    tree = work / 'tree'
    (tree / 'dir/empty').mkdir(parents=True)
    (tree / 'hello').write_text('hello, file')
    (tree / 'dir/nothing').write_text('')
    (tree / 'dir/big').write_bytes(bytes(range(256)) * 700)
    (tree / 'link').symlink_to('hello')
    for n in range(300):
        (tree / f'dir/file {n}').write_text(f'{n}\n' * n)
    return tree


def files_of_the_initrd():
    tree = make_tree()
    image = make(here / 'programs/files.c', 'bare')
    done = boot(image, 'hello', '/dir/../hello', 'dir/nothing', 'dir', 'gone', 'hello/x', 'link', options=['--initrd', str(tree)])
    expected = ["hello: 11 'hello, file' errno 0, end 11, again 0", "/dir/../hello: 11 'hello, file' errno 0, end 11, again 0",
                "dir/nothing: 0 '' errno 0, end 0, again 0", "dir: -1 '' errno 21, end 0, again -1", 'gone: errno 2', 'hello/x: errno 20',
                'link: errno 40', 'creating: 30', 'closed: 9', 'bad buffer: -14',
                '/dev/null: read 0 1, wrote 4, bad buffer 0, entries -20, device 1 1, below it 20',
                '/dev/zero: read 1 0, wrote 4, bad buffer -14, entries -20, device 1 1, below it 20',
                'forwards', 'with the direction flag: 0',
                "beyond all addresses: -14 -14, of the machine's -14, no name -2", 'unknown: -38']
    tap.check('files of the initrd are read, and nothing is written', done.stdout.decode().splitlines() == expected, done.stdout.decode())
    done = boot(image, 'hello')
    tap.check('without an initrd there are no files', done.returncode == 0 and b'hello: errno 2\n' in done.stdout, done.stdout)
    hashing = make(here.parent / 'programs/treehash.c', 'bare')
    wanted = subprocess.run('find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum', shell=True, cwd=tree, capture_output=True, check=True).stdout
    for cpus in (1, 2, 4):
        done = boot(hashing, '.', options=['--smp', str(cpus), '--initrd', str(tree)])
        lines = b''.join(line + b'\n' for line in done.stdout.splitlines() if re.match(rb'[0-9a-f]{64}  ', line))
        tap.check(f'treehash over an initrd is what sha256sum says ({cpus} CPUs)', done.returncode == 0 and lines == wanted,
                  f'{done.returncode} {done.stdout[-600:]}')


# --- Bad luck --------------------------------------------------------------------------------------------------------


def ends_with(claim, result, status, words):
    console, said, qemu = result
    tap.check(claim, said == f'exit {status}\n' and qemu == 33 and words in console, f'{qemu} {said!r} {console[-600:]}')


WHOLE_DUMP = r'^janus:   rip 0x\w+ rsp 0x\w+(.*\n){4}janus:   r14 .* error 0x\w+$'


def deaths():
    image = make(here / 'programs/deaths.c', 'bare')
    for way, words in {'deaf': 'janus: the machine panicked: an illegal instruction; CPU ',
                       'together': 'janus: the machine panicked: an illegal instruction; CPU ',
                       'double': 'janus: the machine panicked: a double fault; CPU ',
                       'nmi': 'janus: the machine panicked: a non-maskable interrupt; CPU ', 'main': "janus: task 1 'main' panicked: invalid memory access at 0x10"}.items():
        for cpus in ('1', '2') if way != 'together' else ('2', '4'):
            console, said, qemu = bare_qemu(image, '-smp', cpus, line=f'prog {way}')
            registers = way == 'main' or len(re.findall(WHOLE_DUMP, console, re.M)) == 1
            tap.check(f'{way} on {cpus} CPUs ends the machine with a dump and 134',
                      said == 'exit 134\n' and qemu == 33 and words in console and registers, f'{qemu} {said!r} {console[-600:]}')


def told_by_the_monitor():
    """Events from outside a running program: a machine check for broken memory, and the NMI of an operator."""
    image, monitor = work / 'deaths.bare', work / 'monitor'
    status = work / 'monitor.status'
    for what, order, cpus, cpu in (('a machine check', b'mce 0 1 0xb600000000000000 5 0x1000 0', '1', '0'),
                                   ('a machine check', b'mce 1 1 0xb600000000000000 5 0x1000 0', '2', '1'),
                                   ('a non-maskable interrupt', b'nmi', '1', '0'), ('a non-maskable interrupt', b'nmi', '2', '[01]')):
        command = bare_command(image, status, '-smp', cpus, '-monitor', f'unix:{monitor},server=on,wait=off', line='prog wait')
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
            seen = process.stdout.readline()
            with socket.socket(socket.AF_UNIX) as said:
                said.connect(str(monitor))
                said.sendall(order + b'\n')
                late = threading.Timer(60, process.kill)
                late.start()
                seen += process.stdout.read()
                late.cancel()
        tap.check(f'{what} on CPU {cpu} of {cpus} ends the machine with a dump and 134',
                  process.returncode == 33 and status.read_text() == 'exit 134\n'
                  and re.match(rf'here\s+janus: the machine panicked: {what}; CPU {cpu}, ', seen) and len(re.findall(WHOLE_DUMP, seen, re.M)) == 1,
                  f'{process.returncode} {seen[-600:]}')


def bad_luck():
    fib = work / 'fib.bare'
    ends_with('a processor without random numbers is enough', bare_qemu(fib, line='prog 15', cpu='max,-rdrand,-rdseed'), 0, 'fib(15) = 610')
    ends_with('and so is an old one', bare_qemu(fib, line='prog 15', cpu='qemu64'), 0, 'fib(15) = 610')
    ends_with('and one without xsave', bare_qemu(fib, '-smp', '2', line='prog 15', cpu='max,-xsave'), 0, 'fib(15) = 610')
    ends_with('no APIC: one CPU, and a line', bare_qemu(fib, line='prog 15', cpu='max,-apic'), 0, 'no local APIC')
    ends_with('a little memory is enough', bare_qemu(fib, '-m', '8', line='prog 10'), 0, 'fib(10) = 55')
    console, said, _ = bare_qemu(fib, '-m', '2', line='prog 10')
    tap.check('2 MiB are too little, and said to be', said in ('exit 134\n', 'exit 2\n') and 'janus: ' in console, f'{said!r} {console[-300:]}')
    broken = work / 'broken.cpio'
    whole = work / 'whole.cpio'
    subprocess.run(['sh', '-c', f'cd {work}/tree && find . | cpio -o -H newc --quiet > {whole}'], check=True)
    broken.write_bytes(whole.read_bytes()[:-1000])
    ends_with('an initrd cut off', bare_qemu(fib, '-initrd', str(broken), line='prog 10'), 134, 'janus: the initrd is no whole cpio archive')
    ends_with('a command line of 4,000 bytes', bare_qemu(fib, line='prog 15' + ' ' * 3990), 0, 'fib(15) = 610')
    ends_with('one of 5,000 bytes, over which QEMU loses the start info', bare_qemu(fib, line='prog ' + 'x' * 5000), 134, 'janus: not started by a PVH loader')
    ends_with('a senseless setting', bare_qemu(fib, line='JANUS_WORKERS=x prog 10'), 2, 'JANUS_WORKERS')
    workers('CPUs that are not there are not waited for', 4, '-smp', '4,maxcpus=8')
    # The firmware's MP table names one CPU of each socket.
    workers('without ACPI an MP table says which CPUs there are', 2, '-no-acpi', '-smp', '2,sockets=2')
    for cpus in (2, 4):
        for machine in ('microvm', 'microvm,acpi=off'):
            workers(f'a {machine} with {cpus} CPUs has {cpus} workers', cpus, '-smp', str(cpus), machine=machine)


def workers(claim, count, *options, **more):
    """The program runs with `count` workers, and the machine prints no other line."""
    console, said, qemu = bare_qemu(work / 'fib.bare', *options, line='JANUS_STATS=1 prog 15', **more)
    tap.check(claim, said == 'exit 0\n' and qemu == 33 and 'fib(15) = 610' in console and re.search(rf'workers +{count}\b', console)
              and console.startswith('fib('), f'{qemu} {said!r} {console[-900:]}')


handlers_leave_vector_registers_alone()
same_results()
if everything:  # measured in the optimised build
    size()
    pages_are_apart_only_in_memory()
same_words_for_faults()
places_after_a_handover()
stacks_grow()
same_order()
files_of_the_initrd()
many_tasks()
no_memory()
deaths()
told_by_the_monitor()
bad_luck()
tap.end()
