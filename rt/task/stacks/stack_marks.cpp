// SPDX-License-Identifier: Apache-2.0
// rt/task/stacks/stack_marks.cpp — see stack_marks.h. An archive member that janus-cc links unless it strips the
// program.
#include "rt/task/stacks/stack_marks.h"

#include "rt/base/format.h"
#include "rt/optional.h"
#include "rt/task/account/name.h"
#include "rt/task/report/backtrace.h"

JANUS_ANCHOR(janus_stack_marks);

namespace janus {

namespace {

using Mark = StackMarks::Mark;
constexpr std::size_t kShownOfName = 80;

bool are_of_one(const Mark& one, const Mark& other) noexcept {
  return one.fn == other.fn && __builtin_memcmp(one.name, other.name, sizeof one.name) == 0;
}

Mark mark_of(const Runtime& runtime, const Task& task, std::size_t bytes) noexcept {
  Mark mark{{}, nullptr, bytes};
  if (task.extra != nullptr)
    copy_name(mark.name, task.extra->name);
  else if (runtime.terminable.load(std::memory_order_relaxed) == &task)
    copy_name(mark.name, "main");
  else
    mark.fn = task.fn;
  return mark;
}

void print(const Mark& mark) noexcept {
  Text<256> line;
  line.append("janus: %-20s %20lu of ", "stack_peak", mark.bytes);
  if (mark.fn == nullptr)
    line.append("'").append_escaped(mark.name, kShownOfName).append("'");
  else
    line.append("%#lx", reinterpret_cast<std::uint64_t>(mark.fn));
  if (mark.fn != nullptr) append_function(line, reinterpret_cast<std::uint64_t>(mark.fn));
  line.end_line();
  (void)!platform::write(2, line.data(), line.size());
}

}  // namespace

void note_depth(Runtime& runtime, const Task& task, std::size_t bytes) noexcept {
  const Mark fresh = mark_of(runtime, task, bytes);
  StackMarks& known = runtime.stack_marks;
  LockGuard guard(known.lock);
  Mark* place = &known.marks[0];
  for (Mark& mark : known.marks) {
    if (mark.bytes != 0 && are_of_one(mark, fresh)) {
      place = &mark;
      break;
    }
    if (mark.bytes < place->bytes) place = &mark;
  }
  if (place->bytes < bytes) *place = fresh;
}

// Needs no lock: no task runs any more.
void print_depths(Runtime& runtime) noexcept {
  for (;;) {
    Mark* deepest = &runtime.stack_marks.marks[0];
    for (Mark& mark : runtime.stack_marks.marks)
      if (mark.bytes > deepest->bytes) deepest = &mark;
    if (deepest->bytes == 0) return;
    print(*deepest);
    deepest->bytes = 0;
  }
}

}  // namespace janus
