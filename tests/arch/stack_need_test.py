#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# stack_need_test.py ROOT BUILD COMPILER... — no call of the runtime needs more of a task's stack than is kept free for
# it. So a task overflows at the entry of a call, where it holds no lock, or not at all. Speaks TAP.
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True  # leaves no files in the source tree
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'harness'))
from stack_need import Needs, Program  # noqa: E402
from tap import Tap  # noqa: E402

# The functions at which a walk ends, and why.
ENDS = '|'.join([
    r'^janus::look_at_stack\(',  # the check at the entry: touches the guard page if too little stack is left
    r'assertion_failed|end_for_runtime_fault|end_for_damage|bare::die|platform::(exit|abort)\(',  # the process ends
    r'handle_deadlock',  # the process ends, or a worker without a task runs it
    # never called in a task
    r'^janus::\(anonymous namespace\)::begin\(|process_runtime_or_new|create_registered|destroy_registered|make_root',
    # has checked that there is room for a child, for which counting begins anew (has_room_for_children)
    r'run_children|run_nested',
    r'end_left_open',  # runs on a spare stack, or on this one if there is no memory for another
    # The runtime's own lines print no floating-point numbers, and janus_print holds no lock while it converts one.
    r'print_floating|janus_write_floating',
])
# The functions that call through a pointer, and their targets. No target: runs on another stack, or is the user's code,
# which enters the runtime by its own calls.
POINTERS = [
    (r'^janus::charge_waiting\(', ['janus::(anonymous namespace)::is_for_pause', 'janus::(anonymous namespace)::tell_of_wait',
                                     'janus::(anonymous namespace)::wait_for_recharge']),
    (r'::serve_unserved\(', ['janus::(anonymous namespace)::tell_fallen']),
    (r'::is_hopeless\(', ['janus::(anonymous namespace)::is_living']),
    (r'^janus::hooks::on_attention\(', ['janus::(anonymous namespace)::serve_unserved']),
    (r'^janus::UnservedAccounts::list\(', ['janus::request_attention']),
    (r'^janus::DeterministicScheduler::(wait_for_somebody|take_in_sent)\(', ['janus::IdleWorkers::wake_one']),
    (r'^janus::PoolCharge::reclaim\(', ['janus::StackReserve::trim']),
    (r'take_over_tagged\(', ['janus::Accounts::flows_into']),
    (r'::block_in_call\(', ['janus::Deadline::has_passed_of']),
    (r'KeyedQueue::find<bool', []),  # looks at two words of a waiter
    (r'^janus::Deadline::fire\(', ['janus::push_if_pinned']),
    (r'^janus::Safepoints::await\(', ['janus::(anonymous namespace)::has_given_up']),
    (r'^janus::TurnMeter::ask\(', ['janus::(anonymous namespace)::begin_watch']),
    (r'^janus::open_account\(', ['janus::(anonymous namespace)::limit_group']),
    (r'visit_one\(', []),  # a visitor, a user's
    (r'list_and_visit\(|walk_world\(', ['janus::(anonymous namespace)::visit_one']),
    (r'^janus::new_key\(', ['janus::new_inherited', 'janus::(anonymous namespace)::new_own']),
    (r'^janus::receive_matching\(', ['janus::wait_for_message', 'janus::(anonymous namespace)::wait_until']),  # and a filter, a user's
    (r'await_slow\(', ['long janus::await_current<(janus::Path)0>', 'long janus::await_current<(janus::Path)1>']),
    # in a task's calls: after a half that was ended by force, on a spare stack (leave_abandoned_frames)
    (r'Scheduler::run_pending_action\(', ['janus::(anonymous namespace)::give_spare']),
    (r'janus::StackReserve::forget_records\(', []),  # used under a sanitizer only
    (r'^janus::call_once\(', []),
    (r'::finish\(', []),  # destroys what a C++ task left
    (r'^janus::tell_panic\(', ['janus::(anonymous namespace)::keep']),
    (r'^janus::tell_end\(', ['janus::(anonymous namespace)::tell_end_of']),
    (r'^janus_panic_because', []),  # leaves the report function, which has a stack of its own
    (r'^janus_(task_call|half_call|run_on_stack|fiber_entry|fiber_cleanup|jump_back|thread_main)$', []),
    (r'cause_of\(|what_for\(|end_own_half\(', []),  # a jump table in a function without a frame
    (r'janus::kernel::Once::run<', ['janus::kernel::read_mask']),
    (r'kernel::.*\bhandle\(', []),  # a signal handler, on a stack of its own
    (r'platform::.*\bread_ns\(', 256),  # the kernel's clock in the vDSO
]
# Functions that a function never reaches: on_attention() reports a cancel at once (Pace::kAtOnce), and lets no other
# task run meanwhile. tell_watches() and tell_fallen(), which on_attention() calls, too, send for no task: they do not wait, and
# blame nobody.
BELOW = [(r'^janus::hooks::on_attention\(', 'let_others_run|janus::wait_at\(|blame_for_own'),
         (r'^janus::tell_watches\(|::tell_fallen\(', 'janus::wait_at\(|blame_for_own')]
NEVER_RETURN = ['janus_task_abandon']  # continues in the frame that called the task
# Not called by tasks, or run on stacks of their own.
NO_TASKS = re.compile(r'^janus_(boot|start_process|start_cpu|trap_|fault|thread|main_|fiber_|run_on_stack|call_)')

MADE_UP = '''
void outside(char*);
void janus_end(void) { for (;;) outside(0); }
void __attribute__((noinline)) deep(void) { char room[3000]; outside(room); }
void __attribute__((noinline)) by_tail(void) { outside(0); deep(); }
void janus_shallow(int n) { if (n == 7) { char room[100]; outside(room); } by_tail(); }
void janus_table(int n) {
  char room[200];
  switch (n) {
    case 0: outside(room); break;
    case 1: outside(room + 1); outside(room); break;
    case 2: deep(); break;
    case 3: outside(room + 3); break;
    case 4: outside(room + 4); outside(room + 5); break;
    case 5: outside(room + 7); break;
  }
  outside(room);
}
void janus_pointer(void (*called)(void)) { called(); outside(0); }
void janus_masked(void) {
  __asm__ volatile("subq $512, %rsp\\n\\ttestb $0, (%rsp)\\n\\taddq $512, %rsp\\n\\tcli");
  deep();
  __asm__ volatile("sti");
  deep();
  outside(0);
}
'''


def link(archive, program):
    subprocess.run(['ld', '-o', program, '-e', '0', '--unresolved-symbols=ignore-all', '--whole-archive', archive], check=True)
    return program


def check_made_up(tap, compiler, folder):
    (folder / 'made_up.c').write_text(MADE_UP)
    subprocess.run([*compiler, '-x', 'c', '-O2', '-fomit-frame-pointer', '-fcf-protection=none', '-c', folder / 'made_up.c',
                    '-o', folder / 'made_up.o'], check=True)
    subprocess.run(['ld', '-o', folder / 'made_up', '-e', '0', '--unresolved-symbols=ignore-all', folder / 'made_up.o'], check=True)
    program = Program(folder / 'made_up')
    needs = Needs(program, '^$')
    of = {name: needs.of(name)[0] for name in program.functions}
    tap.check('a deep frame below a shallow one is found', 3000 < of['deep'] < 3200, of)
    tap.check('a tail call leaves its caller\'s frame first', of['deep'] <= of['janus_shallow'] <= of['deep'] + 140, of)
    tap.check('a deep frame after a jump table is found', of['janus_table'] > of['deep'] + 200, of)
    tap.check('a function that never returns is recognised', not program.functions['janus_end'].returns)
    tap.check('a call through a pointer with unknown targets is reported', needs.untold == {'janus_pointer'}, needs.untold)
    masked = [call.section for call in program.functions['janus_masked'].calls if call.name == 'deep']
    tap.check('calls with interrupts off are distinguished from other calls', len(masked) == 2 and masked[0] > 512 and masked[1] == 0, masked)


def check_calls(tap, where, program, reserve):
    needs = Needs(program, ENDS, POINTERS, below=BELOW)
    too_deep = []
    for name in sorted(program.functions):
        if not name.startswith('janus_') or NO_TASKS.match(name):
            continue
        calls = {call.name for call in program.functions[name].calls}
        is_other_name = len(calls) == 1 and next(iter(calls)) in program.functions and next(iter(calls)).startswith('janus_')
        below_door, path = max((needs.of(callee) for callee in sorted(filter(None, calls))), default=(0, []))
        if below_door > reserve and not is_other_name:
            too_deep.append(f'{below_door} bytes: {program.short(name)} > {needs.path(path)}')
    tap.none(f'{where}: no call needs more stack than is reserved for it', sorted(too_deep, reverse=True))
    tap.none(f'{where}: the targets of each call through a pointer are listed', sorted(needs.untold))
    told = {name for _, names in POINTERS if isinstance(names, list) for name in names}
    tap.none(f'{where}: and each listed target exists', [name for name in told if 'kernel' not in name and not any(
        there.startswith(name + '(') for there in program.plain_names.values())])


def check_sections(tap, program):
    needs = Needs(program, ENDS, counts_touches=False)
    too_deep, count = [], 0
    for name, function in program.functions.items():
        for call in function.calls:
            if call.section == 0 or call.name is None:
                continue
            count += 1
            bytes_below, path = needs.of(call.name)
            if call.depth + bytes_below > call.section:
                too_deep.append(f'{call.depth + bytes_below} of {call.section} bytes: {program.short(name)} > {needs.path(path)}')
    tap.none('kernel-free: code that runs with interrupts off needs no more stack than was touched', too_deep)
    tap.check('kernel-free: there is code that runs with interrupts off', count > 20, count)


def main():
    root, build, *compiler = sys.argv[1:]
    tap = Tap('stack need')
    reserve = int(re.search(r'kStackReserve = (\d+)', (Path(root) / 'rt/sched/scheduler.h').read_text())[1])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check_made_up(tap, compiler, folder)
        check_calls(tap, 'on Linux', Program(link(f'{build}/rt/libjanus_rt.a', folder / 'linux'), NEVER_RETURN), reserve)
        bare = Program(link(f'{build}/rt/libjanus_rt_bare.a', folder / 'bare'), NEVER_RETURN)
        check_calls(tap, 'with no kernel below', bare, reserve)
        check_sections(tap, bare)
    tap.end()


main()
