#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# process_test.py BUILD — the process: exit statuses, settings, signals, contained panics, and that it needs nothing
# from its surroundings.
import ctypes
import fcntl
import os
import pathlib
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time

from installed import Tap, build, environment, here, install, run, work_directory

tap = Tap()
work = work_directory()
ends = work / 'ends'
SAID = b'abcdefg\nh1ijk'  # printed by `ends say`


def ends_with(claim, status, *how, stderr=rb'', stdout=None, settings={}, **options):
    done = run([ends, *how], env=environment(**settings), timeout=120, **options)
    ok = done.returncode == status and re.search(stderr, done.stderr) and (stdout is None or done.stdout == stdout)
    tap.check(claim, ok, f'status {done.returncode}\n{done.stdout[-300:]!r}\n{done.stderr[-1500:].decode()}')
    return done


def statuses():
    for value, status in ((0, 0), (5, 5), (255, 255), (256, 0), (300, 44)):
        ends_with(f'main returns {value}: status {status}', status, 'return', str(value))
        tap.check('and nothing is printed on stderr', run([ends, 'return', str(value)], env=environment(), timeout=30).stderr == b'')
    for value, status in ((-1, 255), (-4, 252), (-5, 251), (-256, 0)):  # anybody's: no name of janus's
        ends_with(f'main returns {value}: status {status}, and one line says so', status, 'return', str(value),
                  stderr=rb'^janus: main returned %d: exit status %d\n$' % (value, status))
    ends_with('an error of the interface is named', 250, 'return', '-4102',
              stderr=rb'^janus: main returned -4102 \(JANUS_E_BUDGET: the budget does not reach\): exit status 250\n$')
    ends_with('janus_exit(6): status 6', 6, 'exit', '6')
    for value in (0, 5):
        ends_with(f'a failure that nobody read makes {value} a 1, and a line names nursery, task and code', 1, 'unread', str(value),
                  stderr=rb"^janus: main left the nursery '-' open, and nobody read how it ended: task \d+ failed with -\d+\n$")
    for workers in (1, 2, 8):
        settings = {'JANUS_WORKERS': workers}
        ends_with(f'a deadlock is status 3 and names the waiting tasks, {workers} workers', 3, 'deadlock', settings=settings,
                  stderr=rb"^janus: deadlock: .*\njanus:   task 1 'main' waits at a channel 0x[0-9a-f]+ \(0 of 0\); nursery -\n"
                         rb'janus:   at 0x[0-9a-f]+ <main\+0x[0-9a-f]+>.*\n$')
        ends_with(f'parking when no task can unpark is a deadlock, too, {workers} workers', 3, 'park', settings=settings)
        ends_with(f'a sleep is no deadlock, and a timer that is not needed any more hides none, {workers} workers', 3, 'deadlock-after-sleep', settings=settings)
        ends_with(f'the report distinguishes a task that waits for a task from one that waits for a nursery, {workers} workers', 3, 'deadlock-join', settings=settings,
                  stderr=rb"task 1 'main' waits for (?:tasks|nursery -) to end(.*\n)*.*'joiner' <join_other> waits for task 2 to end; nursery -/-\n")
        prioritized = ends_with(f'the report names priorities other than the normal one, {workers} workers', 3, 'deadlock-priorities', settings=settings,
                                stderr=rb'<sleep_for_ever> of high priority is parked; nursery -/-\n')
        tap.check(f'... each, {workers} workers', re.search(rb'<sleep_for_ever> of low priority is parked; nursery -/-\n', prioritized.stderr), prioritized.stderr)
        locked = ends_with(f'the report says which locks are waited for, and who holds them, {workers} workers', 3, 'deadlock-lock', settings=settings,
                           stderr=rb"'locker' <lock_it> waits for the mutex at 0x[0-9a-f]+, which task 1 holds; nursery -/-\n")
        tap.check(f'... and permits, {workers} workers', re.search(rb"'acquirer' <acquire_it> waits for the semaphore at 0x[0-9a-f]+; nursery -/-\n", locked.stderr), locked.stderr)
        ends_with(f'the report names the filter that a full mailbox waits for, {workers} workers', 3, 'deadlock-mailbox', settings=settings,
                  stderr=rb"task 1 'main' waits at a channel 0x[0-9a-f]+ \(2 of 2\), a mailbox; not wanted by 0x[0-9a-f]+ <wants_none>; nursery -\n")
        ends_with(f'... and none that does not wait any more, {workers} workers', 3, 'deadlock-mailbox-alone', settings=settings,
                  stderr=rb"task 1 'main' waits at a channel 0x[0-9a-f]+ \(2 of 2\), a mailbox; nursery -\n")
        ends_with(f'... also if the task awaited a nursery before, {workers} workers', 3, 'deadlock-after-await', settings=settings,
                  stderr=rb"<await_and_join> waits for task 2 to end; nursery -/-\n")
    ends_with('a deadlock is status 3 in deterministic mode', 3, 'deadlock', settings={'JANUS_SEED': 1})
    ends_with('a panic of main is status 134, by SIGABRT, and says why', -signal.SIGABRT, 'panic', stderr=rb'janus: .*main has had enough.*\njanus:   at 0x[0-9a-f]+ <main\+0x[0-9a-f]+>')
    reports = [run([ends, 'crash-together'], env=environment(JANUS_WORKERS=2)).stderr for _ in range(20)]
    tap.check('of two tasks that crash at the same moment, both reports name functions', all(
        len(re.findall(rb'janus:   at 0x[0-9a-f]+ <(?:crash_with_another|write_to_nowhere)[+>]', report)) == 2 for report in reports), reports)
    ends_with('a crash of main is status 134, by SIGABRT', -signal.SIGABRT, 'crash', stderr=rb'^janus: .*main')
    ends_with('a double free of main is status 134, by SIGABRT', -signal.SIGABRT, 'free-twice', stderr=rb"^janus: .*'main' panicked: double free of 0x")
    for workers in (1, 2, 4):
        ends_with(f'a main that gives up its own handle keeps its status, {workers} workers', 9, 'disown', settings={'JANUS_WORKERS': workers})
    ends_with('and a main that gives up its handle in deterministic mode', 9, 'disown', settings={'JANUS_SEED': 1})
    ends_with('an overflow of main is status 134, by SIGABRT', -signal.SIGABRT, 'overflow', stderr=rb'(?i)^janus: .*main.*overflow')


def contained():
    for settings in ({}, {'JANUS_WORKERS': 1}, {'JANUS_WORKERS': 8}, {'JANUS_SEED': 5}):
        done = ends_with(f'an overflow and a wild write end their tasks alone {settings}', 0, 'contain', stdout=b'-2 2 100\n',
                         settings=settings)
    lines = done.stderr.decode().splitlines()
    tap.check('each line of the runtime begins with janus:', lines and all(line.startswith('janus: ') for line in lines), lines)
    deep = next((line for line in lines if 'deep one' in line), '')
    wild = next((line for line in lines if 'wild one' in line), '')
    for word in ('sandbox', 'overflow', 'JANUS_STACK'):
        tap.check(f'the line about the overflow contains {word}', word in deep, lines)
    for word in ('sandbox', '0x123450', 'JANUS_STACK'):
        tap.check(f'the line about the wild write contains {word}', word in wild, lines)
    tap.check('both lines contain a task id', re.search(r'task \d+', deep) and re.search(r'task \d+', wild), lines)
    for settings in ({}, {'JANUS_WORKERS': 1}, {'JANUS_WORKERS': 4}, {'JANUS_SEED': 5}):
        done = ends_with(f'bad frees end their tasks alone {settings}', 7, 'misfree', settings=settings)
        for words in ('double free of 0x', 'realloc of 0x[0-9a-f]+, which was freed before', 'free of 0x[0-9a-f]+, where no block begins',
                      'free of 0x8, where no block begins'):
            tap.check(f'one line contains {words}', len(re.findall(rb'(?m)^janus: task \d+ panicked: ' + words.encode(), done.stderr)) >= 1,
                      done.stderr.decode())
    for _ in range(3):
        ends_with('a task that never yields does not delay the tasks that its worker had queued', 0, 'spinner',
                  stdout=b'all others are done\n', settings={'JANUS_WORKERS': 2})


def unread():
    """The runtime's lines go to a full pipe: the program goes on, and later reports how many lines were lost."""
    for workers in (1, 4):
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        filled = 0
        try:
            while True:
                filled += os.write(writer, b'.' * 4096)
        except BlockingIOError:
            os.set_blocking(writer, True)
        process = subprocess.Popen([ends, 'panics', '5000'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=writer,
                                   env=environment(JANUS_WORKERS=workers))
        os.close(writer)
        started = time.monotonic()
        said = process.stdout.readline()
        took = time.monotonic() - started
        tap.check(f'the reports of 5,000 panics that nobody reads delay no other task, {workers} workers', said == b'done\n' and took < 60,
                  f'{said!r} after {took:.1f} s')
        while filled:
            filled -= len(os.read(reader, filled))
        process.stdin.close()
        text = b''
        while piece := os.read(reader, 65536):
            text += piece
        os.close(reader)
        process.wait(timeout=30)
        lost = re.match(rb'janus: (\d+) lines dropped\njanus: task \d+ panicked: the last one', text)
        tap.check('the dropped lines are counted, and the next line is written', process.returncode == 0 and lost and
                  int(lost[1]) == 10000, text[:300].decode())


def forged():
    done = ends_with('a panic whose texts would forge lines is contained', 0, 'forge')
    lines = done.stderr.decode(errors='replace').splitlines()
    tap.check('the report is two lines of printable text', len(lines) == 2 and all(' ' <= c <= '~' for line in lines for c in line), lines)
    tap.check('with all control characters escaped', r"'x\x0ajanus: \x1b[2J' panicked: y\x0ajanus: task 1 'main' panicked: \x9b 'z'\x0d; nursery -/n\x09n," in
              lines[0], lines)


def settings():
    senseless = {'JANUS_WORKERS': ('0', 'x', '-1', '1025', '', '2x', '1e3'), 'JANUS_SEED': ('x', '', '-1', '99999999999999999999'),
                 'JANUS_STACK': ('x', '', '99999999999'), 'JANUS_STACK_MAX': ('x', '', '9m'), 'JANUS_MEMORY': ('x', '', '1', '1023k'), 'JANUS_PIN': ('2', 'yes', ''),
                 'JANUS_PROFILE': ('core', ''), 'JANUS_GRACE': ('x', ''), 'JANUS_STATS': ('maybe', ''),
                 'JANUS_SIGPIPE': ('die', ''), 'JANUS_CORE': ('yes', '')}
    for name, values in senseless.items():
        for value in values:
            done = ends_with(f'{name}={value!r} is status 2', 2, 'return', '0', settings={name: value}, stdout=b'')
            tap.check(f'and one line on stderr names {name}', done.stderr.startswith(b'janus: ') and name.encode() in done.stderr and
                      done.stderr.count(b'\n') == 1, done.stderr)
    ends_with('other JANUS_ names are ignored', 4, 'return', '4', stderr=b'^$', settings={'JANUS_SOMETHING': 'x', 'JANUS_': '', 'JANUS': '1'})
    ends_with('a name that is one letter off is ignored, with a line that names the right one', 4, 'return', '4', settings={'JANUS_WORKER': 'x'},
              stderr=rb'^janus: JANUS_WORKER is no setting; did you mean JANUS_WORKERS\?\n$')
    done = ends_with('JANUS_STATS shows the settings in force', 0, 'return', '0',
                     settings={'JANUS_STATS': 1, 'JANUS_WORKERS': 3, 'JANUS_STACK': 65536})
    tap.check('workers and stack size are among them', re.search(rb'workers +3\n', done.stderr) and
              re.search(rb'stack_size +65536\n', done.stderr), done.stderr.decode())
    for row in (rb'profile +service', rb'grace_ms +5000', rb'pin +while several work', rb'bytes_limit +\d+', rb'fair_turns +\d+',
                rb'bytes_peak +\d+', rb'stack_max +\d+', rb'stack_steps +\d+', rb'stacks_(installed|protected) +[1-9]\d*'):
        tap.check(f'the statistics contain {row.decode()}', re.search(rb'janus: ' + row + rb'\n', done.stderr), done.stderr.decode())
    ends_with('a main that spawns nothing ends in JANUS_PROFILE=sovereign as ever', 0, 'return', '0', settings={'JANUS_PROFILE': 'sovereign'})
    done = ends_with('JANUS_PROFILE=core is status 2', 2, 'return', '0', stdout=b'', settings={'JANUS_PROFILE': 'core'})
    tap.check('and one line on stderr says which profiles there are', done.stderr == b'janus: JANUS_PROFILE=core: not service, cluster or sovereign\n', done.stderr)
    done = ends_with('JANUS_TRACE is status 2 as long as nothing is traced', 2, 'return', '0', stdout=b'', settings={'JANUS_TRACE': 't'})
    tap.check('and one line on stderr gives the reason for JANUS_TRACE', done.stderr == b'janus: janus_rt_config.trace (JANUS_TRACE): not in this release\n', done.stderr)


def bounded():
    for workers in (1, 4):
        process = subprocess.Popen([ends, 'crowd', '1000000'], stdout=subprocess.PIPE,
                                   env=environment(JANUS_MEMORY='64m', JANUS_WORKERS=workers))
        blocked = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        tap.check(f'a million tasks in 64 MiB get an error and end, {workers} workers', process.returncode == 0,
                  f'status {process.returncode}, {blocked!r} blocked')
        tap.check('thousands of these tasks did block', int(blocked or 0) > 4000, blocked)
        tap.check('and the process used no more than that memory, a sixteenth of it, and the memory of queues', usage.ru_maxrss < 88 << 10,
                  f'{usage.ru_maxrss} KiB')


def refused():
    """There is room for some threads, but not for all: main must not start."""
    done = ends_with('without threads for all workers it is status 2, and main has not run', 2, 'return', '0', stdout=b'',
                     settings={'JANUS_WORKERS': 1000},
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (128 << 20, 128 << 20)))
    said = re.match(rb'janus: 1000 workers wanted, but the machine gave memory and threads for only (\d+)\n', done.stderr)
    tap.check('and the message says how many workers were possible', said and 1 < int(said[1]) < 1000, done.stderr.decode())


def short_of_memory():
    """Limits at which only some of the workers' stacks and threads can be made; which ones depends on timing."""
    def is_told(done):
        return done.returncode == 7 or done.returncode == 2 and done.stderr.startswith(b'janus: ')
    mib = 1 << 20
    for mode, runs, step, settings in (('', 3, mib, {'JANUS_WORKERS': 4}), (', deterministic', 3, mib, {'JANUS_WORKERS': 1, 'JANUS_SEED': 1}),
                                       # Which worker runs main is decided by the seed: with this one, the second of two.
                                       (', deterministic with two workers', 1, mib // 8, {'JANUS_WORKERS': 2, 'JANUS_SEED': 1})):
        others = {}
        for limit in range(2 * mib, 25 * mib, step):
            for _ in range(runs):
                done = run([ends, 'return', '7'], env=environment(**settings), timeout=30,
                           preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit)))
                if not is_told(done):
                    others[limit] = (done.returncode, done.stderr)
        tap.check('with any amount of memory main runs, or it is status 2 and a line' + mode, not others, others)


def refuse_call(number):
    """Runs in the child before the program: a filter that answers the system call with EPERM. Raises OSError if filters do not work."""
    words = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x50001), (0x06, 0, 0, 0x7fff0000)]
    code = b''.join(struct.pack('HBBI', *word) for word in words)
    buffer = ctypes.create_string_buffer(code)
    program = struct.pack('HxxxxxxP', len(words), ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), 'prctl')


def filtered():
    for name, number in (('sigaltstack', 131), ('rt_sigaction', 13)):
        try:
            ends_with(f'where {name} is refused it is status 2, and one line says so', 2, 'return', '0', stdout=b'',
                      stderr=rb'^janus: the kernel refuses rt_sigaction or sigaltstack, .*\n$', preexec_fn=lambda number=number: refuse_call(number))
        except subprocess.SubprocessError:
            tap.skip(f'where {name} is refused', 'no seccomp here')


def ends_by(claim, how, signals, status, grace=None, patience=120, workers=2, program=ends, said=None, **settings):
    process = subprocess.Popen([program, *how.split()], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=environment(JANUS_WORKERS=workers, **({'JANUS_GRACE': grace} if grace else {}), **settings))
    complaint = b''
    try:
        process.stdout.readline()
        for number in signals:
            process.send_signal(number)
            time.sleep(0.3)
        _, complaint = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
    ok = process.returncode == status and (said is None or re.fullmatch(said, complaint))
    tap.check(claim, ok, f'status {process.returncode}\n{complaint.decode()}')


def signals():
    ends_by('SIGTERM cancels main, whose negative value becomes 143', 'wait', [signal.SIGTERM], 143)
    ends_by('after SIGINT the status is 130', 'wait', [signal.SIGINT], 130)
    ends_by('a main that cleans up keeps its status', 'tidy', [signal.SIGTERM], 9)
    for workers in (1, 2, 4):
        ends_by(f'so does a main that only yields, {workers} workers', 'tidy', [signal.SIGTERM], 9, grace=600000, workers=workers)
        for how in ('yielding', 'talking', 'caged'):
            ends_by(f'a task that never uses up a slice sees the cancel as soon, {how}, {workers} workers', f'busy {how}', [signal.SIGTERM], 9, grace=600000, workers=workers)
    ends_by('a second signal ends a program that ignores the first', 'ignore', [signal.SIGTERM, signal.SIGTERM], 143)
    ends_by('and so does the end of the grace', 'ignore', [signal.SIGTERM], 143, grace=500)
    over = rb' did not yield in the 500 ms of grace; the program ends\n'
    for workers in (1, 2, 8):
        ends_by(f'a main that did not yield is named when the grace is over, {workers} workers', 'late main', [signal.SIGTERM], 143, grace=500,
                workers=workers, said=rb"janus: SIGTERM: task 1 'main'" + over)
    for settings in ({}, {'JANUS_SEED': 3}):
        ends_by(f'and so is a task, with its function {settings or ""}', 'late task', [signal.SIGINT], 130, grace=500, workers=4,
                said=rb'janus: SIGINT: task \d+ <say_and_spin>' + over, **settings)
    stripped = work / 'stripped'
    subprocess.run([janus_cc, '-O2', '-s', here / 'ends.c', '-o', stripped], check=True, timeout=120)
    ends_by('a stripped program names the task, too', 'late task', [signal.SIGTERM], 143, grace=500, program=stripped,
            said=rb'janus: SIGTERM: task \d+' + over)
    ends_by('a main that yields but does not end gets a different message', 'late nobody', [signal.SIGTERM], 143, grace=500,
            said=rb'janus: SIGTERM: main did not end in the 500 ms of grace, though every task yields or waits; the program ends\n')
    ends_by('a main that ends in time is not mentioned', 'wait', [signal.SIGTERM], 143, said=rb'.*main returned -.*\n|')
    ends_by('SIGPIPE from another process is ignored', 'wait', [signal.SIGPIPE, signal.SIGTERM], 143)
    for workers in (1, 2, 8):
        ends_with(f'a system call that SIGTERM interrupts returns to a main that is cancelled, {workers} workers', 0, 'interrupted',
                  settings={'JANUS_WORKERS': workers})


class Asked:
    """A program that has printed its first line, is asked by SIGQUIT for its tasks, and is then told to end."""

    def __init__(self, *how, program=ends, below=(), times=1, shown=None, **settings):
        """`shown`: (count, pattern). Asks again, up to 50 times, until the answer has `count` matches: a list waits only 50 ms for
        each place, which may be too short on a busy machine."""
        process = subprocess.Popen([*below, program, *how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=environment(**settings))
        try:
            self.said = process.stdout.readline()
            told = []
            reader = threading.Thread(target=lambda: told.extend(process.stderr))
            reader.start()
            for number in range(times):
                self.ask(process, told, number + 1)
            again = 0
            while shown and len(shown[1].findall(b''.join(told).decode())) < shown[0] and again < 50:
                told.clear()
                self.ask(process, told, 1)
                again += 1
            self.still_runs = process.poll() is None
            process.stdin.close()
            if how[0] not in ('sit', 'stay'):  # these end when their input ends
                process.send_signal(signal.SIGTERM)
            self.status = process.wait(timeout=120)
            reader.join()
            self.text = b''.join(told).decode()
        finally:
            process.kill()

    @staticmethod
    def ask(process, told, answers):
        """Waits for `answers` answers and for the end of the listing thread: a signal before that would not be a new question."""
        tasks = pathlib.Path(f'/proc/{process.pid}/task')
        threads = len(list(tasks.iterdir()))
        process.send_signal(signal.SIGQUIT)
        until = time.monotonic() + 120
        while process.poll() is None and time.monotonic() < until and (
                sum(line.startswith(b'janus: SIGQUIT') for line in list(told)) < answers or len(list(tasks.iterdir())) > threads):
            time.sleep(0.005)

    def __repr__(self):
        return f'{self.said!r}, status {self.status}\n{self.text}'


def lists():
    for settings in ({'JANUS_WORKERS': 1}, {'JANUS_WORKERS': 4}, {'JANUS_SEED': 1}):
        asked = Asked('wait', **settings)
        tap.check(f'SIGQUIT lists the tasks, and the program goes on {settings}', asked.still_runs and asked.status == 143 and re.match(
            r"janus: SIGQUIT: 1 tasks, \d workers\n(janus:   worker \d .*\n)+", asked.text), repr(asked))
    asked = Asked('sit', '3', JANUS_WORKERS=2)
    for claim, pattern in (('each waiting task is listed with its name, function and nursery, and what it waits for',
                            r"(janus:   task \d+ 'sitter' <sit> waits at a channel 0x[0-9a-f]+ \(0 of 0\); nursery -/hall\n.*\n){3}"),
                           ('and the place in the code where it waits', r'waits at a channel .*\njanus:   at 0x[0-9a-f]+ <sit(\+0x[0-9a-f]+)?>'),
                           ('a nursery within a nursery',
                            r"'reader' .* waits for (tasks|nursery cellar) to end; nursery -/hall\n(.*\n)*.*nursery -/hall/cellar\n")):
        tap.check(claim, re.search(pattern, asked.text), repr(asked))
    tap.check('the program then ends as without SIGQUIT', asked.status == 7, repr(asked))
    asked = Asked('sit', '3', JANUS_WORKERS=70)
    tap.check('of many workers the list has the first 64', re.findall(r'(?m)^janus:   worker (\d+) ', asked.text) ==
              [str(number) for number in range(64)] and asked.status == 7, repr(asked))
    asked = Asked('sit', '5000', JANUS_WORKERS=2)
    listed = len(re.findall(r'(?m)^janus:   task ', asked.text))
    like = re.findall(r'\njanus:   and (\d+) more like task (\d+)(?=\n)', asked.text)
    more = re.search(r'\njanus:   and (\d+) that run, are new, or left out\n', asked.text)
    tap.check('of many similar tasks the list shows some and counts the others', 64 <= listed < 90 and
              listed + sum(int(count) for count, _ in like) + (int(more[1]) if more else 0) == 5003 and asked.status == 7 and
              any(re.search(rf"task {task} 'sitter' <sit> waits at .*nursery -/hall\n", asked.text) for _, task in like),
              f'{listed} of them; {asked.text[-600:]}')
    places = re.compile(r'runs task \d+ <\w+>\njanus:   at .*<(?:descend|read_input)')
    asked = Asked('spins', shown=(3, places), JANUS_WORKERS=4, JANUS_GRACE=100)
    for claim, pattern in (
            ('a running task that never yields is listed with its place in the code',
             r'runs task \d+ <spin_deep>\njanus:   at 0x[0-9a-f]+ <descend'),
            ('and so is a task whose system call blocks', r'runs task \d+ <read_input>\njanus:   at .*<read_input\+')):
        tap.check(claim, re.search(pattern, asked.text), repr(asked))
    tap.check('and the blocked read was restarted', asked.status == 143 and 'interrupted' not in asked.text, repr(asked))
    # so that the listing thread is there before the handler that starts it has returned
    if strace := shutil.which('strace'):
        late = [strace, '-D', '-f', '-qq', '-o', '/dev/null', '-e', 'trace=clone3', '-e', 'inject=clone3:delay_exit=30000']
        asked = Asked('spins', below=late, shown=(3, places), JANUS_WORKERS=4, JANUS_GRACE=100)
        tap.check('the list shows the place of the task, not of the handler that interrupted it',
                  len(places.findall(asked.text)) == 3, repr(asked))
    else:
        tap.skip('the list shows the place of the task, not of the handler that interrupted it', 'strace is not installed')
    asked = Asked('spins', times=20, JANUS_WORKERS=4, JANUS_GRACE=100)
    tap.check('tasks whose places were requested twenty times continue', asked.text.count(' <descend') >= 30 and asked.status == 143, repr(asked))
    asked = Asked('trap', JANUS_WORKERS=2)
    tap.check('a SIGTRAP from outside is not taken for a request, and ends the program', asked.status == -signal.SIGTRAP, repr(asked))
    asked = Asked('ignore', JANUS_WORKERS=1, JANUS_GRACE=100)
    tap.check('the list is also written if no worker ever checks for requests', 'worker 0 runs task 1' in asked.text and
              asked.text.startswith('janus: SIGQUIT: 1 tasks, 1 workers\n') and asked.status == 143, repr(asked))
    asked = Asked('sit', '3', times=20, JANUS_WORKERS=4)
    tap.check('twenty requests get twenty lists', asked.text.count('SIGQUIT') == 20 and asked.status == 7, repr(asked))
    stripped = work / 'stripped'
    for how, made in (('strip', ['strip', '-o', stripped, ends]),
                      ('janus-cc -s', [janus_cc, '-O2', '-s', here / 'ends.c', '-o', stripped])):
        done = subprocess.run(made, capture_output=True, text=True, env=environment(), timeout=60)
        asked = Asked('sit', '3', program=stripped, JANUS_WORKERS=2)
        tap.check(f'after {how} only names that the program itself gave are shown', done.returncode == 0 and asked.status == 7 and
                  "'sitter' waits at a channel" in asked.text and '<' not in asked.text, f'{done.stderr}{asked}')
    movable = work / 'movable'
    done = subprocess.run([janus_cc, '-O2', '-static-pie', here / 'ends.c', '-o', movable], capture_output=True, text=True,
                          env=environment(), timeout=60)
    asked = Asked('sit', '3', program=movable, JANUS_WORKERS=2)
    tap.check('with -static-pie the names are the same', done.returncode == 0 and asked.text.count("'sitter' <sit> waits") == 3, repr(asked))
    done = run([ends, 'crash'], env=environment(), timeout=30)
    address = re.search(r'at (0x[0-9a-f]+) <main', done.stderr.decode())
    line = subprocess.run(['addr2line', '-fe', ends, address[1]], capture_output=True, text=True, timeout=60).stdout if address else ''
    tap.check('addr2line finds the function at the reported address', line.startswith('main\n'), f'{line}{done}')


def places_after_a_handover():
    """A wait that began with a direct hand-over returns through a function without a frame; the list must still show the waiter."""
    program = work / 'handover'
    for options in (['-O0', '-g'], ['-O2'], ['-O2', '-fno-omit-frame-pointer']):
        made = subprocess.run([janus_cc, *options, here / 'handover.c', '-o', program], capture_output=True, text=True, env=environment(), timeout=60)
        name = ' '.join(options)
        wait = r'<%s> waits at a channel 0x[0-9a-f]+ \(0 of 0\); nursery -/-\njanus:   at 0x[0-9a-f]+ <%s\+0x[0-9a-f]+>%s\n'
        # Without frame pointers the walk ends after the program's first frame.
        server, client = ('[^\n]*',) * 2 if name == '-O2' else ('', r' 0x[0-9a-f]+ <client\+0x[0-9a-f]+>')
        for workers in (1, 2):
            dead = run([program], env=environment(JANUS_WORKERS=workers), timeout=60)
            asked = Asked('stay', program=program, JANUS_WORKERS=workers)
            for when, text, status in (('at a deadlock', dead.stderr.decode(), dead.returncode == 3), ('by SIGQUIT', asked.text, asked.status == 0)):
                tap.check(f'after a direct hand-over the list shows the functions that wait, and none of the runtime, {when}, {name}, {workers} workers',
                          made.returncode == 0 and status and re.search(wait % ('server', 'server', server), text) and
                          re.search(wait % ('client', 'ask', client), text), made.stderr + text)


def stopped():
    """A process that does not run holds no worker: its tasks may be stopped within a turn for longer than that may last."""
    for workers in (1, 2):
        process = subprocess.Popen([ends, 'turns'], env=environment(JANUS_WORKERS=workers), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        begun = process.stdout.readline()
        stops = 0
        while begun == b'turns\n' and process.poll() is None and stops < 8:
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.1)
            process.send_signal(signal.SIGCONT)
            time.sleep(0.03)
            stops += 1
        _, complaint = process.communicate(timeout=120)
        tap.check(f'a turn within which the process is stopped is no longer for that, {workers} workers', stops > 1 and process.returncode == 0,
                  f'{stops} stops, status {process.returncode}\n{complaint.decode()}')


def with_closed_pipe(how, descriptor, way, **settings):
    reader, writer = os.pipe()
    os.close(reader)
    os.set_inheritable(writer, True)
    try:
        plain = {'stdin': subprocess.DEVNULL, 'stdout': subprocess.DEVNULL, 'stderr': subprocess.PIPE}
        if descriptor <= 2:
            plain['stdout' if descriptor == 1 else 'stderr'] = writer
            return subprocess.run([ends, how, str(descriptor), way], env=environment(**settings), timeout=30, **plain)
        return subprocess.run([ends, how, str(writer), way], pass_fds=[writer], env=environment(**settings), timeout=30, **plain)
    finally:
        os.close(writer)


def closed_pipes():
    for way in ('janus_write', 'janus_print', 'long_print', 'write', 'printf'):
        for descriptor in (1, 2):
            for how in ('closed-pipe', 'closed-pipe-task'):
                done = with_closed_pipe(how, descriptor, way)
                tap.check(f'{way} to a closed pipe on descriptor {descriptor} ends the program as SIGPIPE would ({how})',
                          done.returncode == -signal.SIGPIPE and not done.stderr, done)
            done = with_closed_pipe('closed-pipe-cage', descriptor, way)
            tap.check(f'in a cage, {way} on descriptor {descriptor} is -EPIPE, and the others go on', done.returncode == 9, done)
            done = with_closed_pipe('closed-pipe', descriptor, way, JANUS_SIGPIPE='ignore')
            tap.check(f'JANUS_SIGPIPE=ignore: {way} on descriptor {descriptor} is -EPIPE', done.returncode == 9, done)
        if way != 'printf':
            done = with_closed_pipe('closed-pipe', 7, way)
            tap.check(f'{way} to a closed pipe on another descriptor is -EPIPE', done.returncode == 9, done)
    for settings in ({'JANUS_WORKERS': 1}, {'JANUS_WORKERS': 4}, {'JANUS_SEED': 1}, {'JANUS_SIGPIPE': 'default'}):
        done = run(['bash', '-c', '"$0" lines | head -1; echo "${PIPESTATUS[@]}"', ends], env=environment(**settings), timeout=30)
        tap.check(f'`prog | head -1` ends, and the shell sees 141 {settings}', done.stdout == b'line 0\n141 0\n' and not done.stderr, done)
    done = run(['bash', '-c', 'trap "" PIPE; "$0" lines | head -1; echo "${PIPESTATUS[@]}"', ends], env=environment(), timeout=30)
    tap.check('also if the shell ignores SIGPIPE', done.stdout == b'line 0\n141 0\n', done)
    done = run(['bash', '-c', '"$0" lines | head -1; echo "${PIPESTATUS[@]}"', ends], env=environment(JANUS_SIGPIPE='ignore'), timeout=30)
    tap.check('with JANUS_SIGPIPE=ignore the program sees the error, and chooses its own status', done.stdout == b'line 0\n1 0\n', done)


def says_all():
    """Output written before the end of the program arrives in order, however the program ends."""
    endings = {'return 5': 5, 'exit 6': 6, 'c-exit 7': 7, 'c-_exit 8': 8, 'unread 0': 1, 'c-abort': -signal.SIGABRT, 'panic': -signal.SIGABRT,
               'crash': -signal.SIGABRT, 'overflow': -signal.SIGABRT, 'free-twice': -signal.SIGABRT, 'deadlock': 3,
               f'kill {signal.SIGUSR1:d}': -signal.SIGUSR1, f'kill {signal.SIGSEGV:d}': -signal.SIGSEGV, 'tidy': 9}
    for how, status in endings.items():
        for settings in ({'JANUS_WORKERS': 1}, {'JANUS_WORKERS': 2}, {'JANUS_SEED': 1}):
            with subprocess.Popen([ends, 'say', *how.split()], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  env=environment(**settings)) as process:
                said = process.stdout.read(len(SAID))
                if how == 'tidy':
                    process.send_signal(signal.SIGTERM)
                said += process.stdout.read()
                ended = process.wait(timeout=60)
            tap.check(f'all of stdout arrives in order before the end: {how} {settings}', said.startswith(SAID) and ended == status,
                      f'{said!r}, status {ended}')


class SlowReader:
    """A program whose descriptor 1 is a full pipe; what it writes to descriptor 5 is read."""

    def __init__(self, *how, below=(), **settings):
        self.reader, writer = os.pipe()
        self.other, low = os.pipe()
        other = fcntl.fcntl(low, fcntl.F_DUPFD, 10)
        os.close(low)
        program = ['bash', '-c', f'exec "$@" 5>&{other} {other}>&-', 'bash', *below, work / 'slow_reader', *how]
        self.process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=writer, stderr=subprocess.PIPE, pass_fds=[other],
                                        env=environment(**settings))
        os.close(writer)
        os.close(other)

    def threads(self):
        names = []
        for task in pathlib.Path(f'/proc/{self.process.pid}/task').iterdir():
            try:
                names.append((task / 'comm').read_text().strip())
            except OSError:  # the thread has just ended
                pass
        return names

    def has_helper_soon(self, wanted):
        until = time.monotonic() + 20
        while ('janus/room' in self.threads()) != wanted and time.monotonic() < until:
            time.sleep(0.005)
        return ('janus/room' in self.threads()) == wanted

    def descriptors(self):
        return len(os.listdir(f'/proc/{self.process.pid}/fd'))

    @staticmethod
    def drain(descriptor, count):
        got = 0
        while got < count and (text := os.read(descriptor, min(65536, count - got))):
            got += len(text)
        return got

    def end(self):
        self.process.stdin.close()
        said = self.process.stderr.read().decode()
        status = self.process.wait(timeout=60)
        os.close(self.reader)
        os.close(self.other)
        return status, said


def threads_named(pid, name):
    count = 0
    for task in pathlib.Path(f'/proc/{pid}/task').iterdir():
        try:
            count += (task / 'comm').read_text().strip() == name
        except OSError:  # the thread has just ended
            pass
    return count


def helper_threads():
    """Helper threads are there while functions run on them, and a second longer, and keep no process from its end."""
    done = build(janus_cc, here / 'helpers.c', work / 'helpers')
    if not tap.check('helpers.c compiles', done.returncode == 0, done.stderr):
        return

    def start(how):
        return subprocess.Popen([work / 'helpers', how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=environment(JANUS_WORKERS=1))

    def are_soon(process, wanted):
        until = time.monotonic() + 30
        while (count := threads_named(process.pid, 'janus/helper')) != wanted and time.monotonic() < until:
            time.sleep(0.005)
        return count

    process = start('read')
    during = are_soon(process, 20)
    process.stdin.write(b'x' * 20)
    process.stdin.flush()
    said = process.stdout.readline()
    after = are_soon(process, 0)
    process.stdin.close()
    status = process.wait(timeout=60)
    tap.check('a helper thread for each function that waits, on one worker, and none when all have ended',
              (during, said, after, status) == (20, b'all have read\n', 0, 0), f'{during} {said} {after} {status} {process.stderr.read()}')
    process = start('exit')
    tap.check('a function that waits for ever keeps no process from its end', process.wait(timeout=60) == 5, process.returncode)
    process.stdin.close()


def slow_readers():
    """A task that waits for a reader holds up no other task, and its wait leaves nothing behind."""
    done = build(janus_cc, here / 'slow_reader.c', work / 'slow_reader')
    if not tap.check('slow_reader.c compiles', done.returncode == 0, done.stderr):
        return
    size = 1 << 20
    for settings in ({'JANUS_WORKERS': 1}, {'JANUS_WORKERS': 2}, {'JANUS_SEED': 1}):
        program = SlowReader('write', str(size), **settings)
        waits = program.has_helper_soon(True)
        during = program.descriptors()
        got = program.drain(program.reader, size)
        said = program.process.stderr.readline()
        gone = program.has_helper_soon(False)
        after = program.descriptors()
        tap.check(f'one thread waits for the reader; the thread and its descriptor are gone when everything is written {settings}',
                  waits and gone and (got, said, during - after) == (size, b'written\n', 1) and program.end() == (0, ''), (waits, gone, got, said, during, after))
    program = SlowReader('two', str(size), JANUS_WORKERS=1)
    waits = program.has_helper_soon(True)
    other, first = program.drain(program.other, size), program.drain(program.reader, size)
    ended = program.end()
    tap.check('a task that waits for one reader delays no task that writes to another', waits and (other, first, *ended) == (size, size, 0, 'written\n'), (waits, other, first, ended))
    for workers in (1, 2, 4):
        program = SlowReader('cancel', JANUS_WORKERS=workers)
        said = program.process.stderr.readline()
        gone = program.has_helper_soon(False)
        ended = program.end()
        tap.check(f'a cancel ends a wait for a reader that never reads, and one for a lock behind it, {workers} workers',
                  said == b'cancelled\n' and gone and ended == (0, ''), (said, gone, ended))
        program = SlowReader('write', str(size), JANUS_WORKERS=workers)
        waits = program.has_helper_soon(True)
        program.process.send_signal(signal.SIGTERM)
        ended = program.end()
        tap.check(f'SIGTERM also ends a wait for a reader, {workers} workers', waits and ended[0] == 1 and not ended[1], (waits, ended))
    if not (strace := shutil.which('strace')):
        return tap.skip('nobody polls', 'strace is not installed')
    log = work / 'ppoll'
    for settings in ({'JANUS_WORKERS': 1}, {'JANUS_WORKERS': 2}, {'JANUS_SEED': 1}):
        log.write_text('')
        program = SlowReader('write', str(size), below=[strace, '-f', '-qq', '-o', log, '-e', 'trace=ppoll'], **settings)
        until = time.monotonic() + 20
        while 'ppoll(' not in log.read_text() and time.monotonic() < until:
            time.sleep(0.005)
        time.sleep(1)  # measures how often it looks while the reader does nothing
        calls = log.read_text().count('ppoll(')
        got = program.drain(program.reader, size)
        ended = program.end()
        tap.check(f'in a second without a reader a writer makes at most 8 calls of ppoll {settings}', 1 <= calls <= 8 and got == size and ended == (0, 'written\n'),
                  (calls, got, ended))
        log.write_text('')
        program = SlowReader('write', str(size), below=[strace, '-f', '-qq', '-o', log, '-e', 'trace=eventfd2', '-e', 'inject=eventfd2:error=EPERM'], **settings)
        until = time.monotonic() + 20
        while 'eventfd2(' not in log.read_text() and time.monotonic() < until:
            time.sleep(0.005)
        got = program.drain(program.reader, size)
        ended = program.end()
        tap.check(f'if the kernel refuses what the helper thread needs, the writing thread itself waits {settings}', got == size and ended == (0, 'written\n') and
                  'eventfd2(' in log.read_text(), (got, ended))


def quota_of_groups():
    """The least quota, in whole CPUs, of this process's control group and those above it; infinity if there is none."""
    mounts = [(line.split()[3], pathlib.Path(line.split()[4]), *line.split(' - ')[1].split()[::2])
              for line in pathlib.Path('/proc/self/mountinfo').read_text().splitlines()]
    quotas = [float('inf')]
    for line in pathlib.Path('/proc/self/cgroup').read_text().splitlines():
        _, controllers, path = line.split(':', 2)
        for root, mounted_at, kind, options in mounts:
            if kind == 'cgroup2' and not controllers or kind == 'cgroup' and 'cpu' in controllers.split(',') and 'cpu' in options.split(','):
                group = mounted_at / os.path.relpath(path, root)
                quotas += [quota for folder in (group, *group.parents) if folder.is_relative_to(mounted_at) for quota in quota_of(folder)]
    return min(quotas)


def quota_of(group):
    try:
        if (group / 'cpu.max').exists():
            quota, period = (group / 'cpu.max').read_text().split()
        else:
            quota, period = ((group / f'cpu.cfs_{name}_us').read_text().strip() for name in ('quota', 'period'))
    except OSError:
        return []
    return [max(1, int(quota) // int(period))] if quota not in ('max', '-1') else []


def workers_by_default():
    everywhere = os.sched_getaffinity(0)
    for cpus in ({min(everywhere)}, everywhere):
        done = run([ends, 'return', '0'], env=environment(JANUS_STATS=1), preexec_fn=lambda cpus=cpus: os.sched_setaffinity(0, cpus))
        found = re.search(rb'workers +(\d+)\n', done.stderr)
        wanted = min(len(cpus), quota_of_groups())
        tap.check(f'as many workers as CPUs that it may use: {len(cpus)}', found and int(found[1]) == wanted, f'{wanted} wanted\n{done.stderr}')


def report_functions():
    """A report function is told instead of stderr, in a stripped program, too."""
    told = {
        'panic': (0, rb"0 3 24 -2 'one' -/work\n"),
        'unread': (1, rb"2 1 0 -7 '' -/work\n3 1 0 -7 '' work\n2 1 0 -7 'main' -\n"),
        'deadlock': (3, rb"4 5 31 -4107 '' \n"),
        'main': (-signal.SIGABRT, rb"0 3 24 -2 'main' -\n"),
    }
    lines = {'panic': rb"janus: task \d+ 'one' panicked: for the report; nursery -/work,.*\n(janus:   at .*\n)?",
             'deadlock': rb"janus: deadlock: every task waits for another\n(janus:   .*\n)+"}
    for options in ((), ('-s',)):
        program = work / 'reports'
        done = subprocess.run([janus_cc, '-O2', *options, here / 'reports.c', '-o', program], capture_output=True, text=True, timeout=120)
        if not tap.check(f'reports.c compiles {options}', done.returncode == 0, done.stderr):
            continue
        for settings in ({'JANUS_WORKERS': 1}, {'JANUS_WORKERS': 4}, {'JANUS_SEED': 3}):
            for how, (status, said) in told.items():
                done = run([program, how], env=environment(**settings), timeout=60)
                tap.check(f'a report function is told, and stderr is not: {how} {options} {settings}',
                          done.returncode == status and re.fullmatch(said, done.stdout) and done.stderr == b'',
                          f'{done.returncode}\n{done.stdout!r}\n{done.stderr!r}')
            for how, line in lines.items():
                done = run([program, how + '-both'], env=environment(**settings), timeout=60)
                tap.check(f'stderr is told, too, if the function says so: {how} {options} {settings}',
                          done.returncode == told[how][0] and re.fullmatch(line, done.stderr), f'{done.returncode}\n{done.stderr!r}')
                done = run([program, how + '-left'], env=environment(**settings), timeout=60)
                tap.check(f'... and if the function faults: {how} {options} {settings}',
                          done.returncode == told[how][0] and re.fullmatch(rb'janus: the report function panicked\n' + line, done.stderr),
                          f'{done.returncode}\n{done.stderr!r}')


def alone():
    ends_with('the program needs no environment', 3, 'return', '3', settings={})
    done = subprocess.run([ends, 'return', '3'], env={}, timeout=30)
    tap.check('the program starts with an empty environment', done.returncode == 3, done)
    if os.getuid() != 0:
        return
    empty = work / 'empty'
    empty.mkdir()
    shutil.copy(ends, empty / 'ends')
    done = subprocess.run(['/ends', 'contain'], preexec_fn=lambda: os.chroot(empty), cwd='/', env={}, capture_output=True,
                          timeout=30)
    tap.check('in an empty chroot without /proc tasks are contained as elsewhere',
              done.returncode == 0 and done.stdout == b'-2 2 100\n', done)


janus_cc = install(sys.argv[1], work)
done = build(janus_cc, here / 'ends.c', ends)
if tap.check('ends.c compiles', done.returncode == 0, done.stderr):
    headers = subprocess.run(['readelf', '-lW', ends], capture_output=True, text=True, timeout=60).stdout
    tap.check('the program is one static file: no interpreter, no needed library, nothing both writable and executable',
              'INTERP' not in headers and 'RWE' not in headers and 'LOAD' in headers, headers)
    for group in (statuses, says_all, contained, unread, forged, bounded, settings, workers_by_default, refused,
                  short_of_memory, filtered, signals, closed_pipes, lists, places_after_a_handover, helper_threads, stopped, slow_readers,
                  report_functions, alone):
        group()
tap.end()
