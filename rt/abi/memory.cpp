// SPDX-License-Identifier: Apache-2.0
// rt/abi/memory.cpp — blocks.
#include "rt/task/memory.h"
#include "rt/abi/door.h"

namespace janus {

namespace {

constexpr std::size_t kMaxAlign = std::size_t{1} << 20;

// What `make` gives in the runtime of the caller. nullptr: there is none, or *error says why.
template <typename Make>
void* block_or_error(Make make) noexcept {
  const Caller me = enter();
  int error = JANUS_E_STATE;
  Runtime* const runtime = runtime_or_own(nullptr, me);
  void* const block = runtime != nullptr ? make(*runtime, worker_in(*runtime, me), me.task, &error) : nullptr;
  if (block == nullptr) set_error(enter_free(), error);
  return block;
}

}  // namespace

}  // namespace janus

using namespace janus;

extern "C" {

void* janus_alloc_aligned(size_t align, size_t size) {
  return block_or_error([=](Runtime& runtime, Worker* worker, Task* task, int* error) noexcept -> void* {
    *error = JANUS_E_INVALID;
    if (align == 0 || (align & (align - 1)) != 0 || align > kMaxAlign) return nullptr;
    return allocate(runtime, worker, task, size, align, error);
  });
}

void* janus_alloc(size_t size) {
  return block_or_error([=](Runtime& runtime, Worker* worker, Task* task, int* error) noexcept {
    return allocate(runtime, worker, task, size, 16, error);
  });
}

void* janus_realloc(void* block, size_t size) {
  return block_or_error([=](Runtime& runtime, Worker* worker, Task* task, int* error) noexcept {
    return reallocate(runtime, worker, task, block, size, error);
  });
}

void janus_free(void* block) {
  if (block == nullptr) return;
  const Caller me = enter_free();
  if (Runtime* const runtime = runtime_or_own(nullptr, me)) release(*runtime, worker_in(*runtime, me), me.task, block);
}

}  // extern "C"
