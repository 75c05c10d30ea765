// SPDX-License-Identifier: Apache-2.0
// rt/abi/start/boot.cpp — runs a program that janus-cc linked, from _start to its exit status. main is the root task.
// docs/decisions/0261
#include "rt/abi/entry/global_runtime.h"
#include "rt/abi/entry/runtime_table.h"
#include "rt/abi/inspect/late_tasks.h"
#include "rt/abi/inspect/task_list.h"
#include "rt/abi/reports/reporting.h"
#include "rt/abi/reports/stats.h"
#include "rt/abi/start/config.h"
#include "rt/abi/start/runtime_options.h"
#include "rt/base/format.h"
#include "rt/optional.h"
#include "rt/task/record/panic.h"
#include "rt/task/report/log.h"
#include "rt/task/report/reporting.h"
#include "rt/task/run/await.h"
#include "rt/task/run/run.h"
#include "rt/task/run/runtime_life.h"

extern "C" {

// Optional symbols of the program (rt/optional.h).
[[JANUS_OF_PROGRAM]] extern const janus_rt_config janus_config;
[[JANUS_OF_PROGRAM]] std::int64_t janus_run_main(int argc, char** argv, char** envp);
[[JANUS_OF_PROGRAM]] void janus_run_fini(void);

[[JANUS_OPTIONAL]] const char* janus_strerror(int64_t value);

}  // extern "C"

namespace janus {

namespace {

constexpr int kBadSettings = 2, kUnread = 1;
constexpr std::uint32_t kDefaultGraceMs = 5000;
constexpr char kNothingToRunOn[] = "janus: the machine gives no memory or threads for the runtime";
constexpr char kNoHandlers[] =
    "janus: the kernel refuses rt_sigaction or sigaltstack, and without them stacks cannot grow and no fault is "
    "contained";

constexpr char kNoCore[] = "janus: JANUS_CORE: the limit of a core's size is 0 here (ulimit -Hc)\n";

struct Program {
  int argc;
  char** argv;
  char** envp;
  std::int64_t value;  // the return value of main
  bool returned;
  TaskList tasks;
};

constinit Program program{};
std::uint32_t grace_ms = kDefaultGraceMs;

[[noreturn]] void refuse(const char* line) noexcept {
  Text<320> text;
  text.append("%s\n", line);
  (void)!platform::write(2, text.data(), text.size());
  platform::exit(kBadSettings);
}

// Called in a signal handler when the grace is over.
void say_last_words() noexcept {
  say_who_is_late(*process_runtime(), grace_ms);
}

// Called in a signal handler, so it does only what platform::TerminateHandler allows.
void terminate(int signal) noexcept {
  Runtime* const runtime = process_runtime();
  if (signal == platform::kQuitSignal && runtime != nullptr) return program.tasks.print();
  if (runtime == nullptr || runtime->terminate_signal.exchange(signal, std::memory_order_acq_rel) != 0)
    platform::exit(128 + signal);
  const bool says_why = &say_who_is_late != nullptr;
  if (says_why) note_progress(*runtime);
  platform::exit_later(std::uint64_t{grace_ms} * 1'000'000, 128 + signal, says_why ? say_last_words : nullptr);
  request_attention(*runtime);
}

// Adds the name of a JANUS_E_* value. Adds no name for -1 to -4: a program that returns one of these need not mean
// JANUS_CANCELLED and the like.
void append_error(TextWriter& line, std::int64_t value) noexcept {
  const bool is_error = value <= JANUS_E_CLOSED && value >= JANUS_E_UNSUPPORTED;
  if (is_error && &janus_strerror != nullptr) line.append(" (%s)", janus_strerror(value));
}

const char* what_became_of(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::kPanic:
      return "panicked";
    case Outcome::kBudget:
      return "exhausted its budget";
    default:
      return "failed";
  }
}

[[gnu::noinline, gnu::cold]] void say_unread(const UnreadFailure& unread) noexcept {
  Text<256> line;
  line.append("janus: main left the nursery '");
  line.append_escaped(unread.nursery[0] != 0 ? unread.nursery : "-", sizeof unread.nursery);
  line.append("' open, and nobody read how it ended: task %lu %s with %ld",
              static_cast<unsigned long>(unread.report.task_id), what_became_of(unread.report.outcome),
              static_cast<long>(unread.report.code));
  append_error(line, unread.report.code);
  line.end_line();
  const Reporting* const reporting = process_runtime()->reporting;
  if (reporting == nullptr || !reporting->tell_unread(unread, line)) say(line.data(), line.size());
}

std::int64_t run_main(void*) noexcept {
  program.value = janus_run_main(program.argc, program.argv, program.envp);
  // Ends main's nurseries before the destructors of globals; a failure in them that was not read becomes its result.
  Task& self = *calling_task();
  UnreadFailure unread;
  const std::int64_t result = end_left_open(self, program.value, program.value < 0, &unread);
  if (unread.is_there) say_unread(unread);
  if (janus_run_fini != nullptr) janus_run_fini();
  program.returned = true;
  return result;
}

// Reports main's negative result: the exit status has only 8 bits of it.
void say_what_is_left(std::int64_t value) noexcept {
  Text<160> line;
  line.append("janus: main returned %ld", value);
  append_error(line, value);
  line.append(": exit status %ld\n", value & 255);
  say(line.data(), line.size());
}

int status_of(Runtime& runtime, std::int64_t result) noexcept {
  const int signal = runtime.terminate_signal.load(std::memory_order_acquire);
  if (signal != 0 && result < 0) return 128 + signal;
  if (program.value < 0) say_what_is_left(program.value);
  return result != program.value ? kUnread : static_cast<int>(program.value & 255);
}

}  // namespace

}  // namespace janus

// Called by _start, before any part of the runtime exists.
extern "C" [[noreturn]] void janus_boot(int argc, char** argv, char** envp) {
  using namespace janus;
  // If so, the program has started, and the caller is a task.
  if (every_thread_is_worker) panic(*calling_task(), Cause::kMisuse, "janus_boot is for the start code");
  program.argc = argc;
  program.argv = argv;
  program.envp = envp;
  Settings settings{};
  Complaint complaint;
  if (!parse_settings(envp, settings, complaint)) refuse(complaint.data());
  const janus_rt_config config = merge(settings, &janus_config);
  if (check_config(config, complaint) != 0) refuse(complaint.data());
  say_misspelt(envp, settings);
  if (config.grace_ms != 0) grace_ms = config.grace_ms;
  RuntimeOptions options = options_of(config);
  options.with_caller = true;
  options.is_program = true;
  options.ends_by_closed_pipe = (config.flags & (JANUS_RT_NO_SIGNALS | JANUS_RT_IGNORE_SIGPIPE)) == 0;
  options.ends_by_panic = settings.core;
  if (settings.core && !platform::allow_core()) say(kNoCore, sizeof kNoCore - 1);
  const OrError<Runtime*> created = create_registered(options);
  if (!created) refuse(created.error == JANUS_E_NO_CAP ? kNoHandlers : kNothingToRunOn);
  Runtime* const runtime = created.value;
  if (&begin_reporting_in_program != nullptr) begin_reporting_in_program(*runtime, config);
  mark_as_program();
  set_process_runtime(runtime);
  if ((config.flags & JANUS_RT_NO_SIGNALS) == 0) platform::on_terminate(terminate);
  std::int64_t result = 0;
  if (!run_root_here(*runtime, run_main, nullptr, kRootStackClass, result)) refuse(kNothingToRunOn);
  if (!program.returned && result == JANUS_CANCELLED) {  // janus_end_as_cancelled()
    program.value = result;
    program.returned = true;
  }
  const int status = status_of(*runtime, result);
  if (options.prints_stats) print_statistics(*runtime);
  if (!program.returned) platform::abort();
  platform::exit(status);
}
