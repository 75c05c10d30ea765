// SPDX-License-Identifier: Apache-2.0
// rt/task/report/group_similar.cpp — groups similar tasks in a report: after the first 64 tasks it shows a few of each
// kind, and counts the others. Tasks are similar if they have the same function, name (without digits), path of
// nurseries, wait and place; the channel may differ, since each may have its own. An archive member that janus-cc links
// unless it strips the program. docs/decisions/0291
#include "rt/optional.h"
#include "rt/task/record/nursery.h"
#include "rt/task/report/describe.h"

JANUS_ANCHOR(janus_task_grouping);

namespace janus {

namespace {

struct Kind {
  std::uint64_t key;    // 0: none yet
  std::uint64_t first;  // the id of the first task
  std::uint64_t shown;
  std::uint64_t grouped;
};

constexpr unsigned kMaxKinds = kPagesBehindReport / sizeof(Kind) - 1;
constexpr unsigned kShownBefore = 64;  // of any kind: so few need no groups
constexpr unsigned kShownOfKind = 4;
// A hash of what makes tasks similar. It need not resist deliberate collisions: a report then only counts tasks as
// similar that are not.
class Key {
 public:
  void add(std::uint64_t word) noexcept {
    constexpr std::uint64_t kOdd = 0x9e37'79b9'7f4a'7c15;
    value_ = (value_ ^ word) * kOdd;
    value_ ^= value_ >> 32;
  }
  void add(const char* name) noexcept {
    for (; *name != '\0'; ++name)
      if (*name < '0' || *name > '9') add(static_cast<std::uint64_t>(*name));
    add(std::uint64_t{0});
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return value_ | 1; }

 private:
  std::uint64_t value_ = 0;
};

// As far up as append_path() goes.
void add_path(Key& key, const Task& task) noexcept {
  constexpr unsigned kMaxNurseries = 8;
  const Nursery* nursery = task.nursery;
  for (unsigned depth = 0; nursery != nullptr && depth < kMaxNurseries; ++depth) {
    key.add(nursery->name);
    const Task* const owner = nursery->owner.load(std::memory_order_relaxed);
    nursery = owner != nullptr ? owner->nursery : nullptr;
  }
}

std::uint64_t key_of(const RunDetails& member) noexcept {
  const Task& task = *member.task;
  const char* const why = what_for(task.state.load(std::memory_order_relaxed));
  Key key;
  key.add(reinterpret_cast<std::uint64_t>(task.fn));
  key.add(reinterpret_cast<std::uint64_t>(why));
  if (task.extra != nullptr) key.add(task.extra->name);
  add_path(key, task);
  Place place;
  if (why == nullptr || !find_place(task, place)) return key.value();
  unsigned frames = 0;
  do key.add(place.ip);
  while (++frames < kFramesOfEach && place.step());
  return key.value();
}

struct Kinds {
  std::uint64_t shown;
  Kind at[kMaxKinds];
};
static_assert(sizeof(Kinds) <= kPagesBehindReport);

Kinds& kinds_of(TaskReport& report) noexcept {
  return *reinterpret_cast<Kinds*>(reinterpret_cast<std::byte*>(&report) + sizeof(TaskReport));
}

void append_grouped(TaskReport& report) noexcept {
  std::uint64_t tasks = kinds_of(report).shown;
  for (const Kind& kind : kinds_of(report).at) {
    if (kind.grouped != 0) report.append("janus:   and %lu more like task %lu\n", kind.grouped, kind.first);
    tasks += kind.grouped;
  }
  if (tasks == kMaxTasks) report.append("janus:   these are the first %lu\n", tasks);
}

}  // namespace

bool group_similar(TaskReport& report, const RunDetails* member) noexcept {
  if (member == nullptr) {
    append_grouped(report);
    return true;
  }
  Kinds& kinds = kinds_of(report);
  const std::uint64_t key = key_of(*member);
  unsigned i = static_cast<unsigned>(key >> 1) % kMaxKinds;
  unsigned tries = 0;
  for (; kinds.at[i].key != key && kinds.at[i].key != 0; i = (i + 1) % kMaxKinds)
    if (++tries == kMaxKinds) return false;
  Kind& kind = kinds.at[i];
  if (kind.shown >= kShownOfKind && kinds.shown >= kShownBefore) {
    ++kind.grouped;
    return true;
  }
  ++kinds.shown;
  if (kind.shown++ == 0) {
    kind.key = key;
    kind.first = member->task->id;
  }
  return false;
}

}  // namespace janus
