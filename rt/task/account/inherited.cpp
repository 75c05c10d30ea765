// SPDX-License-Identifier: Apache-2.0
// rt/task/account/inherited.cpp — see inherited.h.
#include "rt/task/account/inherited.h"

#include "rt/task/account/memory.h"

namespace janus {

struct InheritedValues {
  struct Value {
    std::uint32_t key;
    bool was_set;  // by the maker; else it has inherited it, too
    void* value;
  };

  std::atomic<std::uint32_t> users;
  std::uint32_t count;
  const Task* maker;
  // `count` values follow.
  Value* values() noexcept { return reinterpret_cast<Value*>(this + 1); }

  Value* find(std::uint32_t key) noexcept {
    for (std::uint32_t i = 0; i < count; ++i)
      if (values()[i].key == key) return &values()[i];
    return nullptr;
  }
};

namespace {

void drop(Runtime& runtime, InheritedValues* values) noexcept {
  if (values != nullptr && values->users.fetch_sub(1, std::memory_order_acq_rel) == 1)
    release_own(runtime, &current_worker(), values);
}

InheritedValues* values_of(const Task& self) noexcept {
  return has_inherited(self) ? self.frame->details.inherited : nullptr;
}

bool is_made_by(const InheritedValues* values, const Task& self) noexcept {
  return values != nullptr && values->maker == &self;
}

// Lets the spawns into a nursery of the running task pass its values on.
void let_pass(Nursery* nursery) noexcept {
  nursery->word.fetch_or(NurseryWord::kPassing, std::memory_order_release);  // pairs with spawn()
  nursery->alive.store(Nursery::kDrawing, std::memory_order_release);
}
void let_all_pass(Task& self) noexcept {
  RunFrame& frame = *self.frame;
  for (Nursery* nursery = frame.current; nursery != nullptr; nursery = nursery->previous_current) let_pass(nursery);
  for (Nursery* nursery = frame.open; nursery != nullptr; nursery = nursery->outer) let_pass(nursery);
  if (frame.details.published == nullptr) return;
  LockGuard guard(self.nursery->lock);
  for (Nursery* nursery = frame.details.published; nursery != nullptr; nursery = nursery->outer) let_pass(nursery);
}

void begin_with(Task& self, InheritedValues* values) noexcept {
  self.mark(TaskMarks::kHasContext);
  self.frame->details.context |= RunDetails::kInherits;
  self.frame->details.inherited = values;
}

// What a child that has not started begins with.
struct Birth {
  TaskFn fn;
  void* arg;
  InheritedValues* values;
};

// Gives the task back what it was spawned with.
InheritedValues* end_birth(Task& task, void* arg) noexcept {
  auto* const birth = static_cast<Birth*>(arg);
  InheritedValues* const values = birth->values;
  task.fn = birth->fn;
  task.arg = birth->arg;
  release_own(*task.nursery->runtime, &current_worker(), birth);
  return values;
}

std::int64_t start_with_inherited(void* arg) noexcept {
  Task& self = *current_task(current_worker());
  InheritedValues* const values = end_birth(self, arg);
  begin_with(self, values);
  return self.fn(self.arg);
}

}  // namespace

OrError<std::uint32_t> new_inherited(Task* task, void (*destroy)(void*)) noexcept {
  return new_local(task, destroy, true);
}

void* get_inherited(const Task& self, std::uint32_t key) noexcept {
  InheritedValues* const values = values_of(self);
  const InheritedValues::Value* const found = values != nullptr ? values->find(key) : nullptr;
  return found != nullptr ? found->value : nullptr;
}

int set_inherited(Task& self, std::uint32_t key, void* value) noexcept {
  InheritedValues* const old = values_of(self);
  // Nobody takes a further reference to a block that only this task uses, but from this task.
  if (is_made_by(old, self)) {
    LockGuard guard(self.lock);
    InheritedValues::Value* const own = old->users.load(std::memory_order_acquire) == 1 ? old->find(key) : nullptr;
    if (own != nullptr) {
      *own = {key, true, value};
      return 0;
    }
  }
  std::uint32_t count = 1;
  if (old != nullptr)
    for (std::uint32_t i = 0; i < old->count; ++i)
      count += old->values()[i].key != key && is_local(old->values()[i].key) ? 1 : 0;
  if (count > kMaxInherited) return kErrorNoMemory;
  Runtime& runtime = *self.nursery->runtime;
  const std::size_t bytes = sizeof(InheritedValues) + count * sizeof(InheritedValues::Value);
  const OrError<void*> block = allocate_own(runtime, &current_worker(), &self, bytes);
  if (!block) return block.error;
  auto* const fresh = static_cast<InheritedValues*>(block.value);
  fresh->users.store(1, std::memory_order_relaxed);
  fresh->maker = &self;
  fresh->values()[0] = {key, true, value};
  fresh->count = 1;
  // A key may have been deleted meanwhile, but none was made that is in the block.
  for (std::uint32_t i = 0; old != nullptr && i < old->count; ++i) {
    const InheritedValues::Value& each = old->values()[i];
    if (each.key == key || !is_local(each.key)) continue;
    fresh->values()[fresh->count++] = {each.key, each.was_set && is_made_by(old, self), each.value};
  }
  {
    LockGuard guard(self.lock);
    begin_with(self, fresh);
  }
  if (old == nullptr) let_all_pass(self);
  drop(runtime, old);
  return 0;
}

bool has_set_inherited(const Task& self) noexcept {
  return is_made_by(values_of(self), self);
}

bool destroy_inherited(Task& self) noexcept {
  bool was_any = false;
  // Read again each time: a destructor may set values.
  for (std::uint32_t i = 0; has_set_inherited(self) && i < values_of(self)->count; ++i) {
    const InheritedValues::Value each = values_of(self)->values()[i];
    if (!each.was_set || each.value == nullptr) continue;
    const LocalKey::Destroy destroy = destructor_of(each.key);
    if (set_inherited(self, each.key, nullptr) != 0 || destroy == nullptr) continue;
    destroy(each.value);
    was_any = true;
  }
  return was_any;
}

void end_inherited(Task& self) noexcept {
  drop(*self.nursery->runtime, values_of(self));
  self.frame->details.context &= static_cast<std::uint8_t>(~RunDetails::kInherits);
  self.frame->details.inherited = nullptr;
  look_at_context(self);
}

bool pass_inherited(Worker* worker, Nursery& nursery, Account* account, TaskFn& fn, void*& arg) noexcept {
  auto* const birth = static_cast<Birth*>(try_allocate_own(*nursery.runtime, worker, account, sizeof(Birth)));
  if (birth == nullptr) return false;
  Task& owner = *nursery.owner.load(std::memory_order_relaxed);
  {
    LockGuard guard(owner.lock);
    birth->values = owner.frame->details.inherited;
    birth->values->users.fetch_add(1, std::memory_order_relaxed);
  }
  birth->fn = fn;
  birth->arg = arg;
  fn = start_with_inherited;
  arg = birth;
  return true;
}

void drop_inherited(Task& task) noexcept {
  if (task.fn == start_with_inherited) drop(*task.nursery->runtime, end_birth(task, task.arg));
}

}  // namespace janus
