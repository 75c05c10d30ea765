// SPDX-License-Identifier: Apache-2.0
// fiber_hooks_address.cpp — rt/sched/fiber_hooks.h for AddressSanitizer. Built without instrumentation: between
// start_switch and the switch no instrumented frame may open.
#define JANUS_FIBERS_ARE_WATCHED 1  // this file is not instrumented, its callers are
#include "rt/sched/fiber_hooks.h"

#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>

#include <mutex>
#include <vector>

#include "tests/hosted_platform/own_stack.h"

namespace janus::fiber_hooks {
namespace {

struct Record {
  const std::byte* limit;
  std::size_t bytes;
  void* fake_stack;  // frames that AddressSanitizer keeps elsewhere while nobody stands here
};

// Every record there is, reachable from here, so that the leak checker (which does not read our stacks) finds them.
class Records {
 public:
  Record* take(const std::byte* limit, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      all_.push_back(new Record);
      free_.push_back(all_.back());
    }
    Record* record = free_.back();
    free_.pop_back();
    *record = {limit, bytes, nullptr};
    return record;
  }
  void give(Record* record) {
    const std::lock_guard lock(mutex_);
    free_.push_back(record);
  }

 private:
  std::mutex mutex_;
  std::vector<Record*> all_, free_;
};

Records& records() {
  static Records* const the_records = new Records;  // never destroyed: threads may outlive main
  return *the_records;
}

}  // namespace

Fiber create(const std::byte* limit, const std::byte* top) noexcept {
  forget_frames(limit, top);  // whoever stood there before
  return records().take(limit, static_cast<std::size_t>(top - limit));
}

void destroy(Fiber fiber) noexcept {
  if (fiber == nullptr) return;
  auto* record = static_cast<Record*>(fiber);
  forget_frames(record->limit, record->limit + record->bytes);
  records().give(record);
}

Fiber enter(Fiber fiber, const std::byte* limit, const std::byte* top) noexcept {
  destroy(fiber);
  return create(limit, top);
}

Fiber adopt_thread() noexcept {
  const hosted::Bounds stack = hosted::own_stack();
  return records().take(stack.limit, stack.bytes);
}

void before_switch(Fiber from, Fiber to) noexcept {
  const auto* target = static_cast<Record*>(to);
  void** const keep = from != nullptr ? &static_cast<Record*>(from)->fake_stack : nullptr;
  __sanitizer_start_switch_fiber(keep, target->limit, target->bytes);
}

void after_switch(Fiber self) noexcept {
  auto* record = static_cast<Record*>(self);
  __sanitizer_finish_switch_fiber(record->fake_stack, nullptr, nullptr);
  record->fake_stack = nullptr;
}

void forget_frames(const std::byte* low, const std::byte* high) noexcept {
  if (low < high) __asan_unpoison_memory_region(low, static_cast<std::size_t>(high - low));
}

}  // namespace janus::fiber_hooks
