// SPDX-License-Identifier: Apache-2.0
// rt/optional.h — optional symbols: of parts of the runtime that are linked only if they are used or requested, so that
// a small program has no code for them, and of others that the runtime uses if they exist. All are weak references; the
// address of a missing symbol is nullptr, and the code compares with that before each call. This is the list of them
// all: tests/layers compares it with what the objects need, and holds rt, arch/linux and kernel-free to these macros.
// (arch/x86_64 does not see this header, so its symbols are only listed.)
//
// A part is one or more members of the archive. Its anchor is a symbol that a linker script names by EXTERN:
// linker/reports.ld and linker/reports-linux.ld, which janus-cc passes unless it strips the program; for a stripped one
// for Linux it requests janus_late_tasks alone. linker/settings.ld names one if the program defines janus_config. A part without an anchor is linked by a call of another function of the
// same member.
//
// PART   rt/task/report/awaited.cpp           janus_task_awaited     linker/reports.ld
//   janus::append_awaited                     reports do not say for which task or nursery a task waits, nor its priority
// PART   rt/task/report/group_similar.cpp     janus_task_grouping     linker/reports.ld
//   janus::group_similar                      reports list all tasks, also those that are alike
// PART   rt/abi/reports/program_reporting.cpp janus_reporting        linker/settings.ld
//   janus::begin_reporting_in_program         the program has no settings, and so no report function
// PART   rt/abi/reports/print_workers.cpp     janus_worker_lines     linker/reports.ld
//   janus::print_workers                      JANUS_STATS has sums alone, and no line for each worker
// PART   rt/abi/reports/error_text.cpp        janus_strerror         linker/reports.ld
//   janus_strerror                            an error that ends main is a number without a name
// PART   rt/abi/inspect/task_standing.cpp     janus_task_standing    linker/reports-linux.ld
//   janus::append_standing                    the list of tasks does not say where a running task stands
// PART   rt/abi/inspect/late_tasks.cpp        janus_late_tasks       linker/reports-linux.ld
//   janus::note_progress                      the progress of tasks is not recorded when a signal requests the end
//   janus::say_who_is_late                    the end of the grace does not say which task did not yield
// PART   rt/task/stacks/stack_marks.cpp       janus_stack_marks      linker/reports-linux.ld
//   janus::note_depth                         JANUS_STATS does not say how deep stacks have been
//   janus::print_depths                       the same
// PART   rt/abi/inspect/debugger.cpp          janus_debugger_layout  linker/reports-linux.ld
//   -                                         gdb cannot read the runtime's records; nothing calls this part
// PART   linker/gdb/script.S                  janus_debugger_script  linker/reports-linux.ld
//   -                                         gdb does not find its script in the program; nothing calls this part
// PART   arch/linux/symbols/symbols.cpp       janus_symbols          linker/reports-linux.ld
//   janus::platform::symbol_of                backtraces are addresses without names of functions
// PART   arch/linux/symbols/valgrind.cpp      janus_valgrind         linker/reports-linux.ld
//   janus::platform::announce_stack           Valgrind does not know where one stack ends and another begins
//   janus::platform::is_emulated              no check whether Valgrind runs the program
// PART   arch/linux/signals/sample_thread.cpp janus_thread_sampling  linker/reports-linux.ld
//   janus::platform::sample_thread            the position of a running thread cannot be found
//   janus::kernel::answer                     a signal that was sent is no request for a position
// PART   rt/sched/timers.cpp                  -                      janus::Timers::arm
//   janus::Timers::look_in_passing            no timer is ever armed (Timers::are_any)
// PART   rt/sched/firing.cpp                  -                      janus::IdleWorkers::see_to_cover
//   janus::IdleWorkers::fire_due              the same
//   janus::IdleWorkers::see_to_cover_all      the same
//   janus::IdleWorkers::sleep_until_timer     the same
// PART   rt/sched/safepoint.cpp               -                      janus::Safepoints::begin
//   janus::Safepoints::stand                  nobody stops the world (Safepoints::is_to_stop)
//   janus::Safepoints::tell                   the same
// PART   rt/task/run/stop_world.cpp           -                      janus::stop_world
//   janus::lose_world                         no task has stopped the world (RunDetails::kHoldsWorld)
//   janus::stand_with_world                   nobody stops the world
//   janus::refuse_stops                       the same
//   janus::end_stops                          the same
// PART   rt/sched/pinned.cpp                  -                      janus::Scheduler::add_pin
//   janus::Dispatcher::begin_pinned_turn      no runnable is pinned (WorkerPinned)
//   janus::DeterministicScheduler::queue_if_pinned    the same
// PART   rt/sched/priorities.cpp              -                      janus::GroupTable::make_priorities
//   janus::GroupTable::with_priority          no runnable has a priority (rt/sched/priority.h)
//   janus::GroupTable::forget_priorities      the same
//   janus::GroupTable::destroy_priorities     the same
//   janus::Groups::steal_high                 the same
//   janus::Scheduler::push_with_priority      the same
// PART   rt/task/wait/pinned.cpp              -                      janus::set_home
//   janus::push_if_pinned                     no task is pinned (TaskMarks::kHasContext)
//   janus::yield_if_pinned                    the same
// PART   rt/task/run/blocking.cpp             -                      janus::call_on_helper
//   janus::contain_on_helper                  there is no helper thread (Worker::helper)
//   janus::panic_on_helper                    the same
//   janus::refuse_on_helper                   the same
//   janus::syscall_on_helper                  the same
//   janus::errno_of_helper                    the same
// PART   rt/task/run/pin.cpp                  -                      janus::pin
//   janus::end_pins                           no task is pinned (TaskMarks::kHasContext)
//   janus::end_pins_of_half                   the same
// PART   rt/task/wait/deadline.cpp            -                      janus::Deadline::Deadline
//   janus::Deadline::end                      no task has a deadline (TaskMarks::kHasContext)
//   janus::Deadline::fire                     the same
// PART   rt/task/wait/nursery_deadline.cpp    -                      janus::set_deadline
//   janus::end_deadline                       no nursery has a deadline (NurseryTraits)
//   janus::fire_deadline                      the same
//   janus::go_on_cancelling                   the same
// PART   rt/task/wait/put_aside.cpp           -                      janus::enter_shield
//   janus::is_put_aside                       no task is in a shield (TaskMarks::kHasContext), nor below one
//   janus::is_put_aside_in                    the same
//   janus::look_for_shield                    the same
//   janus::shared_grace_of                    the same
// PART   rt/task/nurseries/priority.cpp       -                      janus::give_priority
//   janus::begin_turn_again                   no task has one
// PART   rt/task/nurseries/gate.cpp           -                      janus::gate_of
//   janus::launch_at_gate                     no nursery is gated (NurseryTraits)
//   janus::let_next_pass                      the same
//   janus::count_at_gate                      the same
// PART   rt/task/nurseries/cap.cpp            -                      janus::root_cap
//   janus::drop_cap                           there are no tokens: no nursery or task carries one
//   janus::drop_context                       the same
//   janus::end_caps                           the same
//   janus::find_cap                           the same
//   janus::give_context                       the same
//   janus::destroy_caps                       the same
// PART   rt/task/account/inherited.cpp        -                      janus::new_inherited
//   janus::get_inherited                      no key is inherited: no task has such values, and no nursery passes any on
//   janus::set_inherited                      the same
//   janus::has_set_inherited                  the same
//   janus::destroy_inherited                  the same
//   janus::end_inherited                      the same
//   janus::pass_inherited                     the same
//   janus::drop_inherited                     the same
// PART   rt/task/wait/confinement.cpp         -                      janus::is_cap_in_force
//   janus::is_in_force                        there are no tokens: who is confined has no right
//   janus::may_have_child                     the same
//   janus::was_given_cap_in_cage              the same
// PART   rt/task/sync/sync_queue.cpp          -                      janus::make_holder_bits
//   janus::end_holdings                       no task has locked anything of janus/sync.h
// PART   rt/task/supervise/supervisor.cpp     -                      janus::open_supervisor
//   janus_child_start                         no task is a child of a supervisor
// PART   rt/task/run/watch.cpp                -                      janus::make_watch
//   janus::take_watches                       no task is watched
//   janus::tell_watches                       the same
// PART   rt/mem/heap_cages.cpp                -                      janus::Heap::take_paid_in_cage
//   janus::Heap::claim_in_cage                no page is of a cage's span (kCageKind)
//   janus::Heap::hand_up                      no account pays for pages (Account::pays_for_pages)
// PART   rt/task/account/cage_pages.cpp       -                      janus::credit_pages
//   janus::allocate_in_pages                  no account pays for pages
//   janus::offer_idle_block                   the same
//   janus::take_idle_block                    the same
// PART   rt/task/account/reclaim.cpp          -                      janus::wants_reclaim
//   janus::reclaim_blocks                     no nursery was opened with JANUS_NURSERY_RECLAIM
// PART   rt/budget/account_recharge.cpp       -                      janus::Accounts::recharge
//   janus::Recharges::draw                    nothing was ever recharged, so there is nothing to draw
//   janus::Recharges::pass_on_drawn           the same
// PART   rt/sched/long_turns.cpp              -                      janus::GroupTable::longest_turn
//   janus::Groups::note_long_turn             nobody asks how long a turn was
// PART   rt/budget/account_aside.cpp          -                      janus::Accounts::begin_aside
//   janus::AccountWords::take_back            no amount is ever put aside
//   janus::AccountWords::take_aside           the same
//   janus::AccountWords::add_aside            the same
//   janus::AccountWords::take_with_aside      the same
//   janus::AccountWords::take_up_to_with_aside    the same
//   janus::Accounts::see_to_pause             the same
//   janus::Accounts::end_aside                the same
//   janus::Accounts::left_with_aside          the same
//   janus::Accounts::take_wherever            the same
// PART   rt/budget/keeping.cpp                -                      janus::Keeping::set
//   janus::Keeping::renew_kept                no budget has a keeper
// PART   rt/budget/account_pauses.cpp         -                      janus::Pauses::mark
//   janus::Pauses::see_to                     no budget was ever paused
//
// Two parts need no weak symbol: tasks that wait for budgets (rt/task/account/exhaustion.h), which are called through
// Runtime::budget_waits, set before the first budget is given; and keepers of budgets (rt/task/channels/keeper.cpp),
// through Runtime::keepers.
//
// Symbols that the program may define:
//
// PROGRAM  janus_config janus_run_main janus_run_fini    without them the program has an entry of its own
// PROGRAM  environ                                       without a C library nobody defines it
//
// Symbols that the linker may define:
//
// LINKER   __ehdr_start                                  the image's header is not loaded
// LINKER   etext                                         no task is ended for a turn that was too long
// LINKER   janus_memory_text janus_text janus_text_end janus_text_last    linked without linker/runtime-text.ld
// LINKER   __rela_iplt_start __rela_iplt_end _DYNAMIC    the image is for fixed addresses, or for any
// LINKER   __start_janus_fixups __stop_janus_fixups      nothing copies users' memory
#pragma once

// Attribute of a function in an optional part.
#define JANUS_OPTIONAL gnu::weak
// Attribute of a function or variable that the program may define.
#define JANUS_OF_PROGRAM gnu::weak
// Attribute of a variable that the linker may define. Hidden, so that its address is a constant of the image.
#define JANUS_OF_LINKER gnu::weak, gnu::visibility("hidden")

// Defines a part's anchor; once in each part, in no namespace.
#define JANUS_ANCHOR(name)           \
  extern "C" {                       \
  extern const char name;            \
  [[gnu::used]] const char name = 0; \
  }                                  \
  static_assert(true)
