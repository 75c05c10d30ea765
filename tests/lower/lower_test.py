#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# lower_test.py BUILD [outputs] — janus-lower: each example prints what its comments say, and errors are refused with
# their place. With `outputs` only: LLVM's verifiers accept each output, and it can be linked in other ways.
import os
import pathlib
import re
import shutil
import subprocess
import sys

from errors import errors
from lowered import Tap, compile_by, environment, here, install, llvms, lower, prints_what_is_expected, run, skip_all, verify, work_directory

if not llvms:
    skip_all('neither LLVM 14 nor 19 is installed')
tap = Tap()
work = work_directory()
janus_cc = install(sys.argv[1], work)
examples = sorted((here / 'examples').glob('*.qtjir')) + sorted((here / 'examples').glob('*.ll'))


def processor_has(feature):
    return feature in pathlib.Path('/proc/cpuinfo').read_text().split()


def examples_run():
    for i, example in enumerate(examples):
        missing = [feature for feature in re.findall(r'^; needs: (.*)$', example.read_text(), re.M) if not processor_has(feature)]
        if missing:
            tap.skip(f'{example.name} runs', f'the processor has no {missing[0]}')
            continue
        # The objects are the same for both linkers, so each example is linked by one of them, alternately.
        compiler = llvms[-1][1] if example.name.endswith('_typed.ll') else ('gcc', llvms[0][1])[i % 2]
        program = work / example.stem
        done = compile_by(janus_cc, [example], program, compiler=compiler)
        if not tap.check(f'janus-cc with {compiler} compiles {example.name} without a word', done.returncode == 0 and not done.stderr, done.stderr):
            continue
        for workers in (1, 4):
            ran = run([program], env=environment(JANUS_WORKERS=workers))
            tap.check(f'{example.name} prints what it says with {workers} workers',
                      ran.returncode == 0 and not ran.stderr and prints_what_is_expected(example, ran.stdout.decode()), ran.stdout + ran.stderr)


def other_ways_to_link_work():
    for way, options, compiler in (('lld', ['-fuse-ld=lld'], llvms[0][1]), ('the host\'s C library', ['--hosted'], 'gcc')):
        if way == 'lld' and not shutil.which('ld.lld'):
            continue
        for name in ('names.ll', 'tasks.qtjir'):
            example, program = here / 'examples' / name, work / 'linked'
            done = compile_by(janus_cc, [example], program, *options, compiler=compiler)
            ran = run([program]) if done.returncode == 0 else done
            tap.check(f'{name} prints what it says when it is linked with {way}',
                      ran.returncode == 0 and not done.stderr and prints_what_is_expected(example, ran.stdout.decode()), f'{done.stderr}{ran.stderr}')


def an_exception_ends_the_nursery():
    shown = lower(janus_cc, here / 'examples/invoke.ll').stdout.decode()
    before = shown.split('  resume ')[0].splitlines()[-1]
    tap.check('the nursery of fork ends before a resume', re.search(r'call i64 @janus\.nursery_end\(ptr %janus\.scope', before), shown)


def outputs_are_verified():
    for number, _, verifier in llvms:
        for example in examples:
            done = lower(janus_cc, example, f'--llvm={number}')
            said = done.stderr.decode() or verify(done.stdout, verifier)
            tap.check(f'LLVM {number} verifies what comes of {example.name}', done.returncode == 0 and not said, said)


MUSTTAIL = """declare i64 @f(i64)
define i64 @g(i64 %x) {
loop:
  %c = icmp eq i64 %x, 0
  br i1 %c, label %loop, label %end
end:
  %r = musttail call i64 @f(i64 %x)
    #dbg_value(i64 %r, !0, !DIExpression(), !1)
    #dbg_value(i64 %r, !2, !DIExpression(), !1)
    #dbg_value(i64 %r, !3, !DIExpression(), !1)
  ret i64 %r
}
"""


def musttail_calls_stay_before_their_returns():
    source = work / 'musttail.ll'
    source.write_text(MUSTTAIL)
    shown = lower(janus_cc, source).stdout.decode()
    tap.check('what loops have counted is charged before a musttail call, not between it and its return', 0 < shown.find('@janus.loop_end(') < shown.find('musttail'), shown)


DEOPTIMIZE = """declare i32 @llvm.experimental.deoptimize.i32(...)
define i32 @test(i32 %n) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %j, %loop ]
  %j = add i32 %i, 1
  %c = icmp ult i32 %j, %n
  br i1 %c, label %loop, label %end
end:
  %r = call i32 (...) @llvm.experimental.deoptimize.i32(i32 1) [ "deopt"() ]
  ret i32 %r
}
"""


def deoptimizations_stay_before_their_returns():
    source = work / 'deoptimize.ll'
    source.write_text(DEOPTIMIZE)
    for number, _, verifier in llvms:
        shown = lower(janus_cc, source, f'--llvm={number}').stdout
        said = verify(shown, verifier)
        tap.check(f'LLVM {number} verifies a deoptimization behind a loop', b'@janus.loop_end(' in shown and not said, said)


def tasks_carry_their_tenancy():
    shown = lower(janus_cc, here / 'examples/basic.qtjir').stdout.decode()
    tasks = [line for line in shown.splitlines() if re.match(r'define internal i64 @janus\.(task|spawn)\.', line)]
    tap.check('the tasks in the output carry the tenancy CPU_Parallel', tasks and all('"janus-tenancy"="CPU_Parallel"' in line for line in tasks), shown)


def helpers_probe_their_frames():
    for name in ('values.ll', 'values_typed.ll', 'joins.qtjir'):
        shown = lower(janus_cc, here / 'examples' / name).stdout.decode()
        helpers = [line for line in shown.splitlines() if re.match(r'define internal .*@janus\.(task|spawn|join|join_record|await)\.', line)]
        tap.check(f'the helpers for {name} that hold arguments and results probe their frames', helpers and all('"probe-stack"="inline-asm"' in line for line in helpers), shown)


def parameters_are_passed_as_written():
    shown = lower(janus_cc, here / 'examples/conventions.ll').stdout.decode()
    tap.check('a nest parameter is passed as one', '@nested(ptr nest %a0)' in shown and '@nested_with(i64 %a0, ptr nest %a1)' in shown, shown)


def errors_are_told():
    for name, (suffix, text, wanted) in errors.items():
        source = work / f'wrong.{suffix}'
        source.write_text(text)
        done = lower(janus_cc, source)
        said = done.stderr.decode().replace(f'{source}:', '')
        tap.check(f'{suffix}: {name}', done.returncode == 1 and said.splitlines() == [wanted] and not done.stdout, said)


OF_LLVM = """declare i64 @f(i64)
define i64 @test(i64 %x) {
  %n = Nursery_Begin
  %a = Spawn @f(i64 1),
       tenancy CPU_Parallel
  %r = Task_Join %a
  %s = Nursery_End %n
  %y = add i64 %r, %nothing
  ret i64 %y
}
"""


def what_llvm_finds_is_told_with_its_place():
    source = work / 'of_llvm.ll'
    source.write_text(OF_LLVM)
    for _, clang, _ in llvms:
        done = compile_by(janus_cc, [source], work / 'of_llvm', compiler=clang)
        tap.check(f'what {clang} finds in the output is told with its place in the input',
                  done.returncode != 0 and done.stderr.startswith(f"{source}:8:20: error: use of undefined value '%nothing'"), done.stderr)


CALLS = """declare void @janus_other()
declare i32 @janus_yield()
declare void @janus_free(ptr)
declare i64 @llvm.ctpop.i64(i64)
@janus_alias = alias void (), ptr @janus_own
define void @janus_own() {
  ret void
}
define void @test(ptr %f) {
"""
calls = {
    'call void @janus_own()': True,
    'call void @janus_alias()': True,
    'call void @janus_other()': True,
    'call void @"janus\\5Fown"()': True,
    'call void %f(ptr @janus_yield)': True,
    'call i32 (ptr, ...) %f(ptr @janus_yield)': True,
    'call fastcc void %f(ptr @llvm.ctpop.i64)': True,
    'call i32 @janus_yield()': False,
    'call i32 @"\\01janus_yield"()': False,
    'tail call void @janus_free(ptr @test)': False,
    'call i64 @llvm.ctpop.i64(i64 1)': False,
    'call void asm sideeffect "", ""()': False,
}


def calls_are_checked():
    for call, is_checked in calls.items():
        source = work / 'call.ll'
        source.write_text(f'{CALLS}  {call}\n  ret void\n}}\n')
        done = lower(janus_cc, source)
        body = done.stdout.decode().partition('@test(ptr %f)')[2].partition('\n}')[0]
        tap.check(f'a check is before `{call}`' if is_checked else f'no check is before `{call}`', done.returncode == 0 and ('@janus.check' in body) == is_checked, body)
    source = work / 'call.qtjir'
    source.write_text('extern func @janus_other()\nextern func @janus_yield() -> i32\nfunc @f() {\n  call @janus_other\n  call @janus_yield\n  return\n}\n')
    shown = lower(janus_cc, source).stdout.decode()
    tap.check('in .qtjir a check is before an external function that is not the runtime\'s', shown.count('= call i32 @janus.check(i64 1)') == 1, shown)
    source.write_text('extern func @llvm.ctpop.i64(i64) -> i64\nfunc @f(%x: i64) -> i64 {\n  %y = call @llvm.ctpop.i64(%x)\n  return %y\n}\n')
    shown = lower(janus_cc, source).stdout.decode()
    tap.check('in .qtjir no check is before an intrinsic', '@llvm.ctpop.i64(i64 ' in shown and '@janus.check' not in shown, shown)


def the_runtime_s_functions_are_known():
    """The list has the functions of the headers that are in the library, and no others."""
    root = here.parent.parent
    listed = re.findall(r'"(janus_\w+)"', (root / 'linker/lower/runtime_names.h').read_text())
    headers = [*(root / 'rt/include/janus').rglob('*.h')]
    declared = {name for header in headers for name in re.findall(r'\b(janus_\w+) ?\(', header.read_text())}
    symbols = subprocess.run(['nm', '-g', '--defined-only', janus_cc.parent.parent / 'lib/libjanus_rt.a'], capture_output=True, text=True, timeout=60).stdout
    in_library = set(re.findall(r'^\w+ T (janus_\w+)$', symbols, re.M))
    tap.check('runtime_names.h lists the functions of the runtime\'s headers', listed == sorted(declared & in_library),
              f'{sorted(set(listed) ^ (declared & in_library))}')


def an_error_leaves_no_output():
    """Even if the error is behind so many functions that a part of the output was written before."""
    source, output = work / 'late.qtjir', work / 'late.ll'
    right = ''.join(f'func @f{i}(%x: i64) -> i64 {{\n  %y = add %x, {i}\n  return %y\n}}\n' for i in range(2000))
    source.write_text(right)
    done = lower(janus_cc, source, '-o', output)
    is_same = done.returncode == 0 and output.read_bytes() == lower(janus_cc, source).stdout
    tap.check('a large module is the same in a file and on stdout', is_same, done.stderr)
    source.write_text(right + 'func @g() {\n  call @h()\n  return\n}\n')
    done = lower(janus_cc, source, '-o', output)
    tap.check('a file with an error leaves no output', done.returncode == 1 and b'unknown function @h' in done.stderr and not output.exists(), done.stderr)


def an_output_that_cannot_be_written_is_told():
    source = work / 'same.ll'
    text = 'define void @f() {\n  Yield\n  ret void\n}\n'
    source.write_text(text)
    done = lower(janus_cc, source, '-o', source)
    tap.check('an output that is the input is refused', done.returncode == 1 and b'is the input' in done.stderr and source.read_text() == text, done.stderr)
    tool = janus_cc.parent.parent / 'lib/janus-rt/janus-lower'
    with open('/dev/full', 'wb') as full:
        done = subprocess.run([tool, source], stdout=full, stderr=subprocess.PIPE, timeout=60)
    tap.check('a full disk behind stdout is told', done.returncode == 1 and done.stderr == b'janus-lower: error: stdout: cannot be written: No space left on device\n', done.stderr)


def block_of_sends(count):
    """A block of `count` instructions, each of which has a label."""
    return 'qtjir', 'func @f(%c: channel i64) {\n' + '  Send %c, 1, closed\n' * count + 'closed:\n  return\n}\n'


def chain_of_joins(count):
    """A handle that goes through `count` phi nodes. Each is joined, the last one first; what kind of handle it is is not known."""
    blocks = ''.join(f'b{i}:\n  %h{i} = phi i64 [ %h{i - 1}, %b{i - 1} ]\n  br label %b{i + 1}\n' for i in range(1, count))
    joins = ''.join(f'  %j{i} = Task_Join i64, %h{i}\n' for i in reversed(range(count)))
    return 'll', f'define void @f(ptr %p) {{\nb0:\n  %h0 = load i64, ptr %p\n  br label %b1\n{blocks}b{count}:\n{joins}  ret void\n}}\n'


def joins_of_one_register(count):
    """One register for a task in each of `count` nurseries, and as many joins of it after them."""
    ended = ''.join(f'  %n{i} = Nursery_Begin\n  %t = Spawn @f()\n  Nursery_End\n' for i in range(count))
    return 'qtjir', (f'func @f() -> i64 {{\n  return 1\n}}\nfunc @g() {{\n{ended}  %n = Nursery_Begin\n  %t = Spawn @f()\n' + '  %r = Await %t\n' * count +
                     '  Nursery_End\n  return\n}\n')


def cancels_of_the_outermost(count):
    """`count` nested nurseries, and cancels and joins of what is outside them."""
    return 'll', ('define i64 @f() {\n  ret i64 1\n}\ndefine void @g() {\n  %a = Nursery_Begin\n  %t = Spawn @f()\n' +
                  ''.join(f'  %n{i} = Nursery_Begin\n' for i in range(count)) + '  Nursery_Cancel %a\n  Task_Join %t\n' * count + '  Nursery_End\n' * (count + 1) +
                  '  ret void\n}\n')


def chain_of_aliases(count):
    """A chain of aliases, the last one first."""
    return 'll', 'define void @a0() {\n  ret void\n}\n' + ''.join(f'@a{i} = alias void (), ptr @a{i - 1}\n' for i in range(count, 0, -1))


def brackets_without_end(count):
    return 'll', 'define void @f(ptr %p) {\n  ret void\n}\n' + '@g = alias void (), bitcast (< ptr @f)\n' * count


def chain_of_type_names(count):
    """`count` names of types. Each stands for the one before, twice, so that the text that it stands for doubles."""
    return 'll', '%a0 = type i64\n' + ''.join(f'%a{i} = type [1 x {{ %a{i - 1}, %a{i - 1} }}]\n' for i in range(1, count))


def instructions_for(kind, count):
    """How many instructions janus-lower executes for such a module."""
    suffix, text = kind(count)
    source = work / f'long.{suffix}'
    source.write_text(text)
    done = lower(janus_cc, source, '-o', work / 'long.out', under=('valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null'))
    tap.check(f'{kind.__name__}: a module of {count} is lowered', done.returncode == 0, done.stderr)
    return int(re.search(rb'Collected : (\d+)', done.stderr)[1])


def work_grows_as_the_file():
    for kind, count, what in ((block_of_sends, 5000, 'instructions in a block'), (chain_of_joins, 1250, 'joins of one handle behind phi nodes'),
                              (joins_of_one_register, 1250, 'joins of one register for the tasks of many nurseries'),
                              (cancels_of_the_outermost, 1250, 'cancels and joins of what is outside of deep nurseries'),
                              (chain_of_aliases, 5000, 'aliases of aliases'),
                              (chain_of_type_names, 2500, 'names of types that name others twice'), (brackets_without_end, 1250, 'brackets that are not closed')):
        few, many = instructions_for(kind, count), instructions_for(kind, 4 * count)
        tap.check(f'four times as many {what} take four times as many instructions, not sixteen times', many < 6 * few, f'{few}, {many}')
        print(f'# {what}: {few} instructions, {many / few:.1f} times as many', flush=True)


def block_of(page, name):
    """The code behind a mark in a page."""
    code = re.search(rf'<!-- {name} -->\n\n((?:    .*\n|\n)+)', page)[1]
    return re.sub('^    ', '', code, flags=re.M)


def the_front_end_of_the_book_works():
    page = (here.parent.parent / 'docs/lowering.md').read_text()
    front_end, source, program = work / 'both.py', work / 'both.ll', work / 'both'
    front_end.write_text(block_of(page, 'front end'))
    made = subprocess.run([sys.executable, front_end], input=block_of(page, 'program').encode(), capture_output=True, timeout=60)
    source.write_bytes(made.stdout)
    done = compile_by(janus_cc, [source], program)
    ran = run([program]) if done.returncode == 0 else done
    tap.check('the front end of lowering.md compiles its program', ran.returncode == 0 and ran.stdout == b'6765\n', f'{made.stderr}{done.stderr}')
    tap.check('it has no more than 100 lines', len(front_end.read_text().splitlines()) <= 100)
    sample = work / 'sample.qtjir'
    sample.write_text(re.sub('^    ', '', re.search(r'^## .qtjir\n\n((?:    .*\n|\n)+)', page, re.M)[1], flags=re.M))
    done = compile_by(janus_cc, [sample], program)
    ran = run([program]) if done.returncode == 0 else done
    tap.check('the .qtjir program of lowering.md prints its sum', ran.stdout == b'the sum is 499500\n', done.stderr)


LEAK = """declare i64 @seen()
declare void @janus_free(ptr)
define void @narrow(i64 %a, i64 %b) {
  ret void
}
define double @wide(i64 %a) {
  ret double 1.0
}
define void @many(i1 %cancels) {
  %nursery = Nursery_Begin
  br label %again
again:
  %i = phi i64 [ 0, %0 ], [ %next, %again ]
  Spawn @narrow(i64 %i, i64 2)
  %t = Spawn @narrow(i64 %i, i64 2)
  %w = Spawn @wide(i64 %i)
  %c = Async_Call @wide(i64 %i)
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, 100
  br i1 %done, label %end, label %again
end:
  br i1 %cancels, label %cancel, label %close
cancel:
  Nursery_Cancel %nursery
  br label %close
close:
  %s = Nursery_End %nursery
  ret void
}
define i32 @main() {
  call void @many(i1 true)
  %a = call i64 @seen()
  call void @many(i1 true)
  call void @many(i1 false)
  call void @many(i1 true)
  %b = call i64 @seen()
  %grown = icmp ne i64 %a, %b
  %status = zext i1 %grown to i32
  ret i32 %status
}
"""
SEEN = """#include <janus/rt.h>
int64_t seen(void) { janus_stats stats; stats.size = sizeof stats; janus_rt_stats(0, &stats); return (int64_t)janus_budget_get_current().memory; }
const janus_rt_config janus_config = {.root_budget = {4000000000u, (size_t)1 << 30, 65000, 65000, 65000}};
"""


ITERATIONS = """declare i64 @ops()
declare i32 @printf(ptr, ...)
@format = constant [9 x i8] c"%s %lld\\0A\\00"
"""
# Functions of a number of iterations and of a value that decides where each of them goes.
LOOPS = {
    'passed': ('continue', 0),
    'continued': ('continue', 1),
    'passed2': ('continue2', 1),
    'continued2': ('continue2', 0),
    'default': ('switch', 0),
    'case': ('switch', 1),
    'negative': ('switch', -2),
    'bottom': ('bottom', 1),
    'bottom2': ('bottom', 0),
}
FUNCTIONS = """
define i64 @NAME(i64 %n, i8 %x) noinline {
entry:
  %c = icmp ne i8 %x, 0
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ], ANOTHER[ %next, %rest ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %body, label %end
body:
  %next = add i64 %i, 1
  BRANCH
rest:
  br label %head
end:
  ret i64 %i
}
"""
BOTTOM = """
define i64 @bottom(i64 %n, i8 %x) noinline {
entry:
  %c = icmp ne i8 %x, 0
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %head ], [ %next, %rest ]
  %next = add i64 %i, 1
  %early = icmp ult i64 %next, %n
  %both = and i1 %early, %c
  br i1 %both, label %head, label %rest
rest:
  %more = icmp ult i64 %next, %n
  br i1 %more, label %head, label %end
end:
  ret i64 %i
}
define i32 @main() {
"""
C_OPS = """#include <janus/rt.h>
int64_t ops(void) { return janus_budget_get_current().ops; }
const janus_rt_config janus_config = {.root_budget = {4000000000u, (size_t)1 << 30, 65000, 65000, 65000}};
"""
QTJIR_LOOP = """extern func @ops() -> i64
func @loop(%n: i64, %x: i1) -> i64 {
  %i = copy 0
head:
  %done = uge %i, %n
  branch %done, end, body
body:
  %i = add %i, 1
  branch %x, head, rest
rest:
  %not = xor %x, 1
  branch %not, head, late
late:
  jump head
end:
  return %i
}
func @main() -> i64 {
"""


def iterations_cost_one_op_each():
    """Whichever way an iteration ends. A measurement costs 3 ops: the call of the loop, and two calls of ops()."""
    texts = ITERATIONS
    for name, another, branch in (('continue', '', 'br i1 %c, label %head, label %rest'), ('continue2', '', 'br i1 %c, label %rest, label %head'),
                                  ('switch', '[ %next, %body ], ', 'switch i8 %x, label %rest [ i8 1, label %head ; a comment\n    i8 -2, label %head\n    i8 3, label %end ]')):
        texts += FUNCTIONS.replace('NAME', name).replace('ANOTHER', another).replace('BRANCH', branch)
    texts += BOTTOM
    names = ''
    for i, (name, (function, x)) in enumerate(LOOPS.items()):
        names += f'@name{i} = constant [{len(name) + 1} x i8] c"{name}\\00"\n'
        texts += (f'  %a{i} = call i64 @ops()\n  %r{i} = call i64 @{function}(i64 10000, i8 {x})\n  %b{i} = call i64 @ops()\n  %d{i} = sub i64 %a{i}, %b{i}\n'
                  f'  %p{i} = call i32 (ptr, ...) @printf(ptr @format, ptr @name{i}, i64 %d{i})\n')
    ll, qtjir, other, program = work / 'iterations.ll', work / 'iterations.qtjir', work / 'c_ops.c', work / 'iterations'
    ll.write_text(texts + '  ret i32 0\n}\n' + names)
    qtjir.write_text(QTJIR_LOOP + ''.join(f'  %a = call @ops\n  call @loop(10000, {x})\n  %b = call @ops\n  %d = sub %a, %b\n  print "{x} {{}}", %d\n' for x in (0, 1)) + '  return 0\n}\n')
    other.write_text(C_OPS)
    for source, wanted in ((ll, LOOPS), (qtjir, (0, 1))):
        for _, clang, _ in llvms:
            done = compile_by(janus_cc, [source, other], program, compiler=clang)
            ran = run([program]) if done.returncode == 0 else done
            tap.check(f'{source.name}, compiled by {clang}: an iteration costs 1 op, whichever way it ends',
                      ran.returncode == 0 and ran.stdout.decode().splitlines() == [f'{name} 10003' for name in wanted], f'{done.stderr}{ran.stdout}{ran.stderr}')
    for number, _, verifier in llvms:
        said = verify(lower(janus_cc, ll, f'--llvm={number}').stdout, verifier)
        tap.check(f'LLVM {number} verifies the checks of loops', not said, said)


def records_are_freed():
    """Memory in use is the same afterwards, also for tasks that were cancelled before their start."""
    source, seen, program = work / 'leak.ll', work / 'seen.c', work / 'leak'
    source.write_text(LEAK)
    seen.write_text(SEEN)
    done = compile_by(janus_cc, [source, seen], program)
    for workers in (1, 2):
        ran = run([program], env=environment(JANUS_WORKERS=workers)) if done.returncode == 0 else done
        tap.check(f'no record stays, whether its task ran or was cancelled before, with {workers} workers', ran.returncode == 0, f'{done.stderr}{ran.stderr}')


NARROW = """extern func @narrow_bool(i1) -> i32
extern func @narrow_char(i8) -> i32
extern func @narrow_short(i16) -> i32
extern func @narrow_variadic(i32, ...) -> i32
extern func @narrow_results(i64) -> i32
func @is_odd(%x: i64) -> i1 {
  %odd = trunc %x to i1
  return %odd
}
func @low(%x: i64) -> i8 {
  %low = trunc %x to i8
  return %low
}
func @main() -> i64 {
  %x = copy 510
  Yield
  %odd = trunc %x to i1
  %char = trunc %x to i8
  %y = sub %x, 810
  %short = trunc %y to i16
  %a = call @narrow_bool(%odd)
  %n = Nursery_Begin
  %t = Spawn @narrow_char(%char)
  %b = Await %t
  Nursery_End %n
  %c = call @narrow_short(%short)
  %d = call @narrow_variadic(1, %char)
  %e = call @narrow_results(511)
  %f = call @narrow_char(%char)
  print "{} {} {} {} {} {}", %a, %b, %c, %d, %e, %f
  return 0
}
"""
C_NARROW = """#include <stdarg.h>
#include <stdbool.h>
bool is_odd(long);
signed char low(long);
int narrow_bool(bool b) { return b; }
int narrow_char(signed char c) { return c; }
int narrow_short(short s) { return s; }
int narrow_results(long x) { return is_odd(x) * 1000 + low(x); }
int narrow_variadic(int n, ...) {
  va_list list;
  va_start(list, n);
  const int x = va_arg(list, int);
  va_end(list);
  return x;
}
"""


def narrow_integers_are_extended():
    source, other, program = work / 'narrow.qtjir', work / 'c_narrow.c', work / 'narrow'
    source.write_text(NARROW)
    other.write_text(C_NARROW)
    for compiler in ('gcc', *(clang for _, clang, _ in llvms)):
        done = compile_by(janus_cc, [source, other], program, compiler=compiler)
        ran = run([program]) if done.returncode == 0 else done
        tap.check(f'C code by {compiler} and .qtjir code give each other narrow integers', ran.returncode == 0 and ran.stdout == b'0 -2 -300 -2 999 -2\n',
                  f'{done.stderr}{ran.stdout}{ran.stderr}')


COROUTINE = """#include <coroutine>
alignas(64) char frame[1024];
extern "C" void forget(void);
struct coroutine {
  struct promise_type {
    void* operator new(decltype(sizeof 0)) { return frame; }
    void operator delete(void*, decltype(sizeof 0)) { forget(); }
    coroutine get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};
struct maybe {
  bool is_ready;
  bool await_ready() { return is_ready; }
  void await_suspend(std::coroutine_handle<>) {}
  void await_resume() {}
};
extern "C" bool is_ready();
extern "C" void count(int n) {
  [](int end) -> coroutine {
    for (int i = 0; i < end; ++i) co_await maybe{is_ready()};
  }(n);
}
"""
C_COROUTINE = """#include <janus/rt.h>
#include <string.h>
void count(int);
int is_ready(void) { return 1; }
extern char frame[1024];
void forget(void) { memset(frame, 0x77, sizeof frame); }
int main(void) {
  const janus_budget before = janus_budget_get_current();
  count(25);
  const janus_budget after = janus_budget_get_current();
  return before.ops - after.ops >= 50 && before.ops - after.ops < 500 ? 0 : 1;
}
const janus_rt_config janus_config = {.root_budget = {4000000000u, (size_t)1 << 30, 65000, 65000, 65000}};
"""


def coroutines_are_charged_as_they_count():
    """A coroutine that is not split yet. Its frame is gone where it returns, so that nothing may be read from it there."""
    source, other, ir, program = work / 'coroutine.cpp', work / 'c_coroutine.c', work / 'coroutine.ll', work / 'coroutine'
    source.write_text(COROUTINE)
    other.write_text(C_COROUTINE)
    for _, clang, _ in llvms:
        made = subprocess.run([clang, '-x', 'c++', '-std=c++20', '-O2', '-fno-exceptions', '-Xclang', '-disable-llvm-passes', '-S', '-emit-llvm', source, '-o', ir],
                              capture_output=True, text=True, timeout=60)
        done = compile_by(janus_cc, [ir, other], program, '-O0', compiler=clang) if made.returncode == 0 else made
        ran = run([program]) if done.returncode == 0 else done
        tap.check(f'a coroutine that {clang} has not split is charged for its iterations and calls, and for nothing else', ran.returncode == 0,
                  f'{done.stderr}{ran.stdout}{ran.stderr}')


def the_same_without_a_kernel():
    qemu = janus_cc.parent / 'janus-qemu'
    for name in ('tasks', 'error', 'nested_cancel'):
        example, image = here / f'examples/{name}.qtjir', work / f'{name}.elf'
        done = compile_by(janus_cc, [example], image, '--target=bare')
        ran = run([qemu, image], timeout=120) if done.returncode == 0 else done
        tap.check(f'{name}.qtjir prints the same with no kernel', ran.returncode == 0 and prints_what_is_expected(example, ran.stdout.decode().replace('\r', '')), f'{done.stderr}{ran.stdout}{ran.stderr}')


if sys.argv[2:] == ['outputs']:
    outputs_are_verified()
    other_ways_to_link_work()
    work_grows_as_the_file()
    tap.end()
examples_run()
an_exception_ends_the_nursery()
the_front_end_of_the_book_works()
records_are_freed()
narrow_integers_are_extended()
coroutines_are_charged_as_they_count()
iterations_cost_one_op_each()
if os.environ.get('JANUS_TEST_FULL'):
    the_same_without_a_kernel()
tasks_carry_their_tenancy()
helpers_probe_their_frames()
parameters_are_passed_as_written()
musttail_calls_stay_before_their_returns()
deoptimizations_stay_before_their_returns()
errors_are_told()
what_llvm_finds_is_told_with_its_place()
calls_are_checked()
the_runtime_s_functions_are_known()
an_error_leaves_no_output()
an_output_that_cannot_be_written_is_told()
tap.end()
