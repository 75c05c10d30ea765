#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# debugger_test.py BUILD — the commands `janus tasks`, task, nurseries, budgets and channels in the real gdb. The
# program is linked by janus-cc; gdb looks at the running program and at its core, with the script inside the program
# and with the installed one. Speaks TAP.
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent / 'programs'))
from installed import Tap, environment, install, run, work_directory  # noqa: E402

tap = Tap()
work = work_directory()


def gdb(program, *commands, trusted=True, arguments=(), **settings):
    trust = ['-iex', f'add-auto-load-safe-path {work}'] if trusted else []
    options = [option for command in commands for option in ('-ex', command)]
    done = run(['gdb', '-nx', '-batch', '-iex', 'set debuginfod enabled off', *trust, *options, '--args', program, *arguments],
               env=environment(**settings), timeout=120, cwd=work)
    return (done.stdout + done.stderr).decode(errors='replace')


def shows(said, claims, how):
    for claim, pattern in claims.items():
        tap.check(f'{claim} ({how})', re.search(pattern, said, re.M), said[-3000:])


STANDING = {
    'one that waits at a channel is there, with the channel and its nursery':
        r"^task \d+ 'sitter' <sit> waits at channel 0x[0-9a-f]+ \(0 of 0\); nursery -/hall$",
    'one that cannot send': r"^task \d+ 'sender' <send_too_much> waits at channel 0x[0-9a-f]+ \(3 of 3\); nursery -/cage$",
    'one that is parked': r"^task \d+ 'rester' <rest> is parked; nursery -/hall$",
    'a join is told from an await, and names the task': r"^task \d+ 'joiner' <wait_for> waits for task \d+ 'sitter' to end; nursery -/hall$",
    'an await names the nursery, or the task that runs in its place':
        r"^task \d+ 'leader' <lead> (waits for nursery cellar to end|runs task \d+ in place of waiting for it); nursery -/hall$",
    'one that runs, and where': r"^task \d+ 'spinner' <spin> runs on worker \d; nursery -/hall$",
}
TREE = {'nurseries are a tree, with owners and children':
        r"^-: open, 1 live\n(  .*\n)*  hall: open, 5 live, opened by task 1 'main'\n    cellar: (open|closed)(, awaited)?, 1 live, opened by task \d+ 'leader'$"}
BUDGETS = {'the root has what the machine gives': r'^account 1: ops unlimited, memory \d+, spawns unlimited, channel_ops unlimited, syscalls unlimited$',
           'the cage has what is left of its own, and says what it was not granted':
               r'^account 2, below account 1: ops 12345\d\d\d, memory \d+, spawns 76, channel_ops 499\d, syscalls not granted\n'
               r'  memory held: [1-9]\d*\n  nursery -/cage$'}
CHANNELS = {'a full channel, and who would send': r"^channel 0x[0-9a-f]+: 3 of 3 elements of 1 bytes\n  task \d+ 'sender' sends$",
            'an empty one, and who would receive':
                r"^channel 0x[0-9a-f]+: 0 of 0 elements of 4 bytes\n  task \d+ 'sitter' receives\n  task \d+ 'sitter' receives$"}
LOOK = ('janus tasks', 'janus nurseries', 'janus budgets', 'janus channels')


def number_of(name, said):
    found = re.search(rf"^task (\d+) '{name}'", said, re.M)
    return found[1] if found else '0'


def live():
    for how, settings in (('3 workers', {'JANUS_WORKERS': 3}), ('8 workers', {'JANUS_WORKERS': 8})):
        said = gdb('./standing', 'break here', 'run', *LOOK, **settings)
        shows(said, STANDING | TREE | BUDGETS | CHANNELS, how)
        sitter, joiner, spinner = (number_of(name, said) for name in ('sitter', 'joiner', 'spinner'))
        said = gdb('./standing', 'break here', 'run', f'janus task {sitter}', f'janus task {sitter} bt', 'bt', 'echo next\\n',
                   f'janus task {joiner} bt', f'janus task {spinner} bt', f'janus task {sitter} frame function receive_for_ever',
                   'info registers rip', 'continue', **settings)
        shows(said, {
            'a task that waits has its frames, with arguments': r'^#\d+ .* in receive_for_ever \(channel=.*\) at .*standing\.c:\d+\n#\d+ .* in sit \(',
            'and says what it calls': r"^  calls sit\(0x[0-9a-f]+\)$",
            'frame 0, the thread\'s, is no part of them': r'^(?!#0 )#1 .*janus',
            'the thread has its own frames again': r'^#0  (0x[0-9a-f]+ in )?here \(\)(.*\n)#1 .* in main \(',
            'a task that joins has its frames': r'next\n(#.*\n)*#\d+ .* in wait_for \(',
            'a task that runs has those of its thread': r'(turn_round|spin) \((.*\n)*?#\d+ .* janus_task_call',
            'gdb\'s other commands stand where the task does': r'^#\d+ .*receive_for_ever \(',
            'nothing was changed: the program goes on, and ends well': r'exited normally'}, how)
    said = gdb('./standing', 'break here', 'run', "janus tasks ' <sit>", 'janus task 99999', 'janus task', 'janus task x bt', JANUS_WORKERS=3)
    shows(said, {'with a word, the tasks whose lines contain the word': r"^(task \d+ 'sitter'.*\n){2}", 'an unknown task number is reported': r'there is no task 99999',
                 'an invalid argument prints the usage': r'usage: janus task ID'}, 'words')
    tap.check('and no other tasks', 'joiner' not in said, said[-1500:])
    said = gdb('./standing', 'break here', 'run', 'janus tasks', 'continue', arguments=['young'], JANUS_WORKERS=1)
    shows(said, {'tasks that have not started are there': r'^(task \d+ <begin> has not started; nursery -/hall\n){3}',
                 'and the program ends well': r'exited normally'}, 'young')
    said = gdb('./standing', 'janus tasks')
    shows(said, {'before the program runs, one line says that there is nothing to show': r'^janus: no (runtime|memory)'}, 'not started')


def kinds():
    """The script works in each kind of program, or says why it cannot."""
    for how, options in (('-static-pie', ['-static-pie', '-O2', '-g']), ('without -g', ['-O2']), ('-O0', ['-O0', '-g'])):
        done = run([janus_cc, *options, here / 'standing.c', '-o', work / 'other'], env=environment(), timeout=60)
        said = gdb('./other', 'break here', 'run', *LOOK, JANUS_WORKERS=3)
        shows(said + done.stderr.decode(), STANDING | TREE | CHANNELS, how)
    run(['strip', '-o', work / 'stripped', work / 'standing'], timeout=60)
    script = janus_cc.parent.parent / 'share/janus-rt/gdb/janus.py'
    said = gdb('./stripped', f'source {script}', 'run', 'janus tasks', JANUS_WORKERS=3)
    shows(said, {'of a stripped program one line says what is missing': r'^janus: .*stripped'}, 'strip')
    sections = subprocess.run(['readelf', '-SW', work / 'stripped'], capture_output=True, text=True, timeout=60).stdout
    tap.check('strip removes the script', 'gdb' not in sections, sections)
    said = gdb('./standing', f'source {script}', 'break here', 'run', 'janus tasks', trusted=False, JANUS_WORKERS=3)
    shows(said, {'where gdb may load nothing by itself, it says what to do': 'auto-load safe-path',
                 'and `source` loads the installed script': STANDING['one that is parked']}, 'source')


def core_of(*how, limits=(0, resource.RLIM_INFINITY), **settings):
    """The finished program, and the core that it left, if any."""
    place = work / 'cores'
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    done = run([work / 'standing', *how], env=environment(**settings), timeout=60, cwd=place,
               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, limits))
    return done, next(iter(place.iterdir()), None)


def cores():
    pattern = pathlib.Path('/proc/sys/kernel/core_pattern').read_text().strip()
    if pattern.startswith('|') or '/' in pattern or resource.getrlimit(resource.RLIMIT_CORE)[1] != resource.RLIM_INFINITY:
        tap.skip('cores', f'the system leaves them elsewhere ({pattern}), or none of any size')
        return
    for how, workers, function in (('panic', 3, 'main'), ('null', 3, 'main'), ('task', 3, 'spoil'), ('alone-panic', 1, 'main'),
                                   ('alone-null', 1, 'main'), ('alone-task', 2, 'spoil')):
        done, core = core_of(how, JANUS_CORE=1, JANUS_WORKERS=workers)
        if not tap.check(f'JANUS_CORE=1: a panic leaves a core ({how})', done.returncode == -signal.SIGABRT and core and
                         b' panicked: ' in done.stderr, f'{done} {core}'):
            continue
        said = gdb('./standing', f'core-file {core}', *LOOK, 'bt')
        shows(said, {'of which gdb shows where it happened': rf'^#\d+ +(0x.* in )?{function} \('}, how)
        if how.startswith('alone'):
            continue
        shows(said, STANDING | BUDGETS | CHANNELS, f'core, {how}')
        sitter = number_of('sitter', said)
        said = gdb('./standing', f'core-file {core}', f'janus task {sitter} bt')
        shows(said, {'a task that waits has its frames': r'^#\d+ .* in receive_for_ever \(channel=.*\n#\d+ .* in sit \('}, f'core, {how}')
    done, core = core_of('panic', JANUS_CORE=1, JANUS_WORKERS=3)
    other = work / 'other version'
    text = (here / 'standing.c').read_text()
    (work / 'other.c').write_text(text + '\nint version = 2;\n')
    made = run([janus_cc, '-O1', '-g', work / 'other.c', '-o', other], env=environment(), timeout=60)
    said = gdb(other, f'core-file {core}', 'janus tasks', 'janus nurseries') + made.stderr.decode()
    tap.check('a core of another version is refused in one line, with both build ids', len(re.findall(
        r'(?m)^janus: the core, or the process, is of another build of this program \([0-9a-f]{40}\) than the file \([0-9a-f]{40}\); ', said)) == 2
        and 'sitter' not in said, said)
    run(['strip', '-o', work / 'stripped', work / 'standing'], timeout=60)
    said = gdb('./stripped', f'core-file {core}', f"source {janus_cc.parent.parent / 'share/janus-rt/gdb/janus.py'}", 'janus tasks')
    shows(said, {'of a stripped program one line says what is missing': r'^janus: .*stripped'}, 'core, strip')
    said = gdb('./stripped', f'core-file {core}', 'file ./standing', 'janus tasks')
    shows(said, {'and the file from before strip serves': STANDING['one that is parked']}, 'core, strip')
    done, core = core_of('alone-panic', limits=(resource.RLIM_INFINITY,) * 2, JANUS_WORKERS=2)
    tap.check('without JANUS_CORE a panic of main leaves a core, too, if the limits allow it', done.returncode == -signal.SIGABRT and core, done)
    done, core = core_of('alone-panic', JANUS_WORKERS=2)
    tap.check('and no core if the limits do not allow it', done.returncode == -signal.SIGABRT and not core, done)
    done, core = core_of('alone-task', limits=(resource.RLIM_INFINITY,) * 2, JANUS_WORKERS=2)
    tap.check('a panic of another task is contained', done.returncode == 0 and not core, done)
    done, core = core_of('alone-panic', limits=(0, 0), JANUS_CORE=1, JANUS_WORKERS=2)
    tap.check('if no core is possible, one line says so', done.returncode == -signal.SIGABRT and not core and
              done.stderr.startswith(b"janus: JANUS_CORE: the limit of a core's size is 0 here (ulimit -Hc)\n"), done)
    done, core = core_of('alone-run', limits=(0, 0), JANUS_CORE=0, JANUS_WORKERS=2)
    tap.check('JANUS_CORE=0 has the same effect as no JANUS_CORE', done.returncode == 0 and not done.stderr, done)


janus_cc = install(sys.argv[1], work)
done = run([janus_cc, '-O2', '-g', '-Wall', '-Wextra', '-Werror', here / 'standing.c', '-o', work / 'standing'],
           env=environment(), timeout=60)
if not shutil.which('gdb'):
    tap.skip('gdb shows tasks', 'gdb is not installed')
elif tap.check('standing.c compiles', done.returncode == 0, done.stderr.decode()):
    live()
    kinds()
    cores()
tap.end()
