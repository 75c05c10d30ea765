// SPDX-License-Identifier: Apache-2.0
// rt/task/locals.cpp — task-local values.
#include "rt/task/locals.h"

#include "rt/task/runtime.h"

namespace janus {

namespace {

constexpr unsigned kRounds = 4;  // as POSIX asks at least for thread-specific data

std::atomic<std::uint32_t> keys_taken{0};
std::atomic<void (*)(void*)> destructors[kLocalKeys] = {};

}  // namespace

unsigned new_local(void (*destroy)(void*)) noexcept {
  std::uint32_t key = keys_taken.load(std::memory_order_relaxed);
  do {
    if (key == kLocalKeys) return kLocalKeys;
  } while (!keys_taken.compare_exchange_weak(key, key + 1, std::memory_order_relaxed));
  destructors[key].store(destroy, std::memory_order_release);
  return key;
}

bool is_local(unsigned key) noexcept {
  return key < keys_taken.load(std::memory_order_relaxed);
}

void* get_local(const Task& task, unsigned key) noexcept {
  return task.is_marked(TaskMarks::kHasLocals) ? task.frame->details.locals[key] : nullptr;
}

bool set_local(Task& task, unsigned key, void* value) noexcept {
  if (!task.is_marked(TaskMarks::kHasLocals)) {
    Worker& worker = current_worker();
    void* const table = runtime_of(worker).heap.allocate(&worker.heap, kLocalKeys * sizeof(void*), 16, kRuntimeTag);
    if (table == nullptr) return false;
    task.mark(TaskMarks::kHasLocals);
    task.frame->details.locals = static_cast<void**>(table);
    for (unsigned i = 0; i < kLocalKeys; ++i) task.frame->details.locals[i] = nullptr;
  }
  task.frame->details.locals[key] = value;
  return true;
}

void destroy_locals(Task& task) noexcept {
  bool again = true;
  for (unsigned round = 0; round < kRounds && again; ++round) {
    again = false;
    for (unsigned key = 0; key < kLocalKeys; ++key) {
      void* const value = task.frame->details.locals[key];
      task.frame->details.locals[key] = nullptr;
      auto* const destroy = destructors[key].load(std::memory_order_acquire);
      if (value == nullptr || destroy == nullptr) continue;
      destroy(value);
      again = true;
    }
  }
}

void free_locals(Task& task) noexcept {
  Worker& worker = current_worker();
  runtime_of(worker).heap.free_own(&worker.heap, task.frame->details.locals);
  task.frame->details.locals = nullptr;
}

}  // namespace janus
