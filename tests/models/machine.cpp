// SPDX-License-Identifier: Apache-2.0
#include "tests/models/machine.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstring>

#include "rt/base/assert.h"
#include "tests/models/state.h"

namespace janus::model {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kWorldBytes = 16 * kPage, kStackBytes = 16 * kPage;
constexpr unsigned kMaps = 16;
// Each mapping ends at an inaccessible page, so that no thread accesses memory that is not saved.
constexpr std::size_t kMapStride = 2 * kPage;
// Bytes cleared below a live stack: the remains of earlier calls are not part of the state, and must not become part of
// it.
constexpr std::size_t kCleared = 2048;

struct Memory {
  alignas(kPage) std::byte world[kWorldBytes];
  alignas(kPage) std::byte maps[kMaps * kMapStride];
  alignas(kPage) std::byte stacks[kFibers][kStackBytes];
};
Memory memory;
// The threads that write a word of `world` or `maps`, and those that read or write it, a bit each; the same for each
// state.
struct Users {
  std::uint8_t writers, all;
};
Users users[(sizeof memory.world + sizeof memory.maps) / 8];

std::byte* map_at(unsigned number) {
  return memory.maps + number * kMapStride + kPage - kMappedBytes;
}
std::byte* stack_top(unsigned fiber) {
  return memory.stacks[fiber] + kStackBytes;
}

// The bytes up to the last word that is not zero.
std::size_t used_of(const std::byte* mapped) {
  std::size_t used = kMappedBytes;
  for (std::uint64_t word = 0; used != 0; used -= sizeof word) {
    std::memcpy(&word, mapped + used - sizeof word, sizeof word);
    if (word != 0) break;
  }
  return used;
}

template <class T>
void put(std::vector<std::byte>& out, const T* from, std::size_t bytes) {
  const auto* const first = reinterpret_cast<const std::byte*>(from);
  out.insert(out.end(), first, first + bytes);
}
template <class T>
const std::byte* take(T* to, const std::byte* from, std::size_t bytes) {
  std::memcpy(static_cast<void*>(to), from, bytes);
  return from + bytes;
}

}  // namespace

Machine& the_machine() {
  static Machine machine;
  return machine;
}

std::byte* world_begin() {
  return memory.world;
}

// --- Fibers ----------------------------------------------------------------------------------------------------------

void Machine::reset(const Actors& of) {
  static const bool is_guarded = [] {
    for (unsigned i = 0; i < kMaps; ++i)
      if (mprotect(memory.maps + i * kMapStride + kPage, kPage, PROT_NONE) != 0) return false;
    return true;
  }();
  if (!is_guarded) wrong = "mprotect failed";
  actors = &of;
  std::memset(static_cast<void*>(threads), 0, sizeof threads);
  for (Thread& thread : threads) thread.status = Status::kDone;
  for (unsigned i = 0; i < maps_used; ++i) std::memset(map_at(i), 0, kMappedBytes);
  maps_used = 0;
  if (of.bytes > kWorldBytes || of.threads > kMaxThreads) wrong = "the world is too large";
}

void Machine::forget() {
  std::memset(users, 0, sizeof users);
  heavy_fencers_ = 0;
  wrong = nullptr;
}

void Machine::start(unsigned fiber, std::int64_t (*entry)(void*), void* arg) {
  Thread& thread = threads[fiber];
  std::memset(static_cast<void*>(&thread), 0, sizeof thread);
  std::memset(memory.stacks[fiber], 0, kStackBytes);
  arch::make_context(thread.context, stack_top(fiber), entry, arg, fiber_has_finished);
}

void Machine::resume(unsigned fiber, unsigned choice) {
  running_ = fiber;
  choice_ = choice;
  choices = 1;
  auto* const live = reinterpret_cast<std::byte*>(threads[fiber].context.sp);
  std::memset(live - kCleared, 0, kCleared);
  janus_context_switch(&explorer_, &threads[fiber].context);
}

void Machine::leave() {
  janus_context_switch(&me().context, &explorer_);
}

void Machine::fiber_has_finished(std::int64_t) {
  Machine& machine = the_machine();
  machine.me().status = Status::kDone;
  machine.leave();
}

// Called before each step; other threads may run first.
void Machine::step(Op op, const void* at) {
  if (is_direct) return;
  leave();
  done.op = op;
  done.at = at;
}

// --- States ----------------------------------------------------------------------------------------------------------

std::vector<std::byte> Machine::save() const {
  std::vector<std::byte> out;
  out.reserve(actors->bytes + maps_used * kMappedBytes + actors->threads * (sizeof(Thread) + 512) + 16);
  const std::uint64_t maps = maps_used;
  put(out, &maps, sizeof maps);
  put(out, memory.world, (actors->bytes + 7) & ~std::size_t{7});
  for (unsigned i = 0; i < maps_used; ++i) {
    const std::uint64_t used = used_of(map_at(i));
    put(out, &used, sizeof used);
    put(out, map_at(i), used);
  }
  for (unsigned i = 0; i < actors->threads; ++i) {
    put(out, &threads[i], sizeof(Thread));
    if (threads[i].status == Status::kDone) continue;
    const auto* const live = reinterpret_cast<const std::byte*>(threads[i].context.sp);
    put(out, live, static_cast<std::size_t>(stack_top(i) - live));
  }
  return out;
}

void Machine::restore(const std::vector<std::byte>& state) {
  std::uint64_t maps = 0;
  const std::byte* at = take(&maps, state.data(), sizeof maps);
  at = take(memory.world, at, (actors->bytes + 7) & ~std::size_t{7});
  for (unsigned i = static_cast<unsigned>(maps); i < maps_used; ++i) std::memset(map_at(i), 0, kMappedBytes);
  maps_used = static_cast<unsigned>(maps);
  for (unsigned i = 0; i < maps_used; ++i) {
    std::uint64_t used = 0;
    at = take(&used, at, sizeof used);
    at = take(map_at(i), at, used);
    std::memset(map_at(i) + used, 0, kMappedBytes - used);
  }
  for (unsigned i = 0; i < actors->threads; ++i) {
    at = take(&threads[i], at, sizeof(Thread));
    if (threads[i].status == Status::kDone) continue;
    auto* const live = reinterpret_cast<std::byte*>(threads[i].context.sp);
    at = take(live, at, static_cast<std::size_t>(stack_top(i) - live));
  }
}

std::string Machine::describe(const Done& what) const {
  static constexpr const char* kNames[] = {"goes on",     "load",  "store", "locked", "fence",
                                           "heavy fence", "pause", "sleep", "wake"};
  const auto* const at = static_cast<const std::byte*>(what.at);
  char where[32] = "";
  if (at >= memory.world && at < memory.world + kWorldBytes)
    std::snprintf(where, sizeof where, " world+%zu", static_cast<std::size_t>(at - memory.world));
  else if (at != nullptr)
    std::snprintf(where, sizeof where, " map+%zu", static_cast<std::size_t>(at - map_at(0)));
  char text[128];
  std::snprintf(text, sizeof text, "thread %u: %s%s = %llu", what.thread,
                what.is_drain ? "its store reaches" : kNames[static_cast<unsigned>(what.op)], where,
                static_cast<unsigned long long>(what.value));
  return text;
}

// --- Memory ----------------------------------------------------------------------------------------------------------

static Users& users_of(const void* at) {
  static Users everybody;
  const auto* const byte = static_cast<const std::byte*>(at);
  if (byte >= memory.world && byte < memory.world + kWorldBytes)
    return users[static_cast<std::size_t>(byte - memory.world) / 8];
  if (byte >= memory.maps && byte < memory.maps + sizeof memory.maps)
    return users[(sizeof memory.world + static_cast<std::size_t>(byte - memory.maps)) / 8];
  return everybody = {0xff, 0xff};  // on a thread's stack
}

void Machine::learn(std::uint8_t& who) {
  has_learnt |= (who & my_bit()) == 0;
  who |= my_bit();
}

// Writes to memory, and wakes the threads that wait for a change.
void Machine::write(unsigned thread, void* at, unsigned bytes, std::uint64_t value) {
  if (std::memcmp(at, &value, bytes) == 0) return;
  std::memcpy(at, &value, bytes);
  for (unsigned i = 0; i < kMaxThreads; ++i) {
    if (i == thread || threads[i].status == Status::kDone) continue;
    const bool waits = threads[i].status == Status::kUntilChange || threads[i].status == Status::kNapping;
    if (waits) threads[i].status = Status::kReady;
    threads[i].sees_news = !waits;
  }
}

void Machine::drain_one(unsigned thread) {
  Thread& of = threads[thread];
  const Thread::Store first = of.buffer[0];
  --of.stores;
  std::memmove(of.buffer, of.buffer + 1, of.stores * sizeof first);
  of.buffer[of.stores] = {};
  done.at = first.at;
  done.value = first.value;
  write(thread, first.at, static_cast<unsigned>(first.bytes), first.value);
}

// The value in memory, overlaid with the thread's delayed stores from the oldest on. A load of memory that no other
// thread writes is no step, since it cannot change meanwhile.
std::uint64_t Machine::load(const void* at, unsigned bytes) {
  if (is_sequential && !is_direct) learn(users_of(at).all);
  if ((users_of(at).writers & ~my_bit()) != 0) step(Op::kLoad, at);
  std::byte seen[8] = {};
  std::memcpy(seen, at, bytes);
  const auto* const first = static_cast<const std::byte*>(at);
  for (unsigned i = 0; i < me().stores; ++i) {
    const Thread::Store& store = me().buffer[i];
    for (unsigned k = 0; k < store.bytes; ++k) {
      const std::byte* const byte = static_cast<const std::byte*>(store.at) + k;
      if (byte < first || byte >= first + bytes) continue;
      std::memcpy(seen + (byte - first), reinterpret_cast<const std::byte*>(&store.value) + k, 1);
    }
  }
  std::uint64_t value = 0;
  std::memcpy(&value, seen, sizeof value);
  done.value = value;
  return value;
}

// Puts a store into the buffer, which no other thread notices until it drains the buffer with a heavy fence.
void Machine::store(void* at, unsigned bytes, std::uint64_t value) {
  if (is_direct) {
    std::memcpy(at, &value, bytes);
    return;
  }
  learn(users_of(at).writers);
  if (is_sequential) {
    learn(users_of(at).all);
    if ((users_of(at).all & ~my_bit()) != 0) step(Op::kStore, at);
    write(running_, at, bytes, value);
    done.value = value;
    return;
  }
  if ((heavy_fencers_ & ~my_bit()) != 0 || me().stores == kMaxStores) step(Op::kStore, at);
  if (me().stores == kMaxStores) drain_one(running_);
  me().buffer[me().stores++] = {at, value, bytes};
  done.value = value;
}

std::uint64_t Machine::begin_change(void* at, unsigned bytes) {
  if (!is_direct) learn(users_of(at).writers);
  if (is_sequential && !is_direct) learn(users_of(at).all);
  // Without delayed stores, a change of memory that no other thread uses is no step.
  if (!is_sequential || (users_of(at).all & ~my_bit()) != 0) step(Op::kChange, at);
  while (me().stores != 0) drain_one(running_);
  std::uint64_t value = 0;
  std::memcpy(&value, at, bytes);
  return value;
}

void Machine::end_change(void* at, unsigned bytes, std::uint64_t value) {
  write(running_, at, bytes, value);
  done.at = at;
  done.value = value;
}

void Machine::fence() {
  if (me().stores == 0) return;
  step(Op::kFence, nullptr);
  while (me().stores != 0) drain_one(running_);
}

void Machine::heavy_fence() {
  if (is_direct) return;
  learn(heavy_fencers_);
  step(Op::kHeavyFence, nullptr);
  for (unsigned i = 0; i < kMaxThreads; ++i)
    while (threads[i].stores != 0) drain_one(i);
}

// --- Waiting ---------------------------------------------------------------------------------------------------------

void Machine::wait_for_change() {
  require(!is_direct, "waits where nobody else runs");
  if (me().sees_news) {  // the change may have come after it checked
    me().sees_news = false;
    return;
  }
  me().status = Status::kUntilChange;
  step(Op::kPause, nullptr);
}

void Machine::sleep(const void* word, std::uint32_t seen, bool is_forever) {
  require(!is_direct, "sleeps where nobody else runs");
  step(Op::kSleep, word);
  while (me().stores != 0) drain_one(running_);  // as the kernel's own locks do
  std::uint32_t value = 0;
  std::memcpy(&value, word, sizeof value);
  if (value != seen) return;
  if (!is_forever && me().sees_news) {
    me().sees_news = false;
    return;
  }
  me().waits_at = word;
  me().status = is_forever ? Status::kAsleep : Status::kNapping;
  step(Op::kSleep, word);
  me().waits_at = nullptr;
}

void Machine::wake(const void* word, std::uint32_t count) {
  step(Op::kWake, word);
  while (me().stores != 0) drain_one(running_);
  unsigned sleepers[kMaxThreads], found = 0;
  for (unsigned i = 0; i < kMaxThreads; ++i) {
    const Thread& thread = threads[i];
    const bool sleeps = thread.status == Status::kAsleep || thread.status == Status::kNapping;
    if (sleeps && thread.waits_at == word) sleepers[found++] = i;
  }
  if (found == 0) return;
  if (count >= found) {
    for (unsigned i = 0; i < found; ++i) threads[sleepers[i]].status = Status::kReady;
    return;
  }
  require(count == 1, "only one or all can be woken here");
  choices = found;
  threads[sleepers[choice_ % found]].status = Status::kReady;
}

// --- The rest --------------------------------------------------------------------------------------------------------

std::byte* Machine::map(std::size_t) {
  return maps_used == kMaps ? nullptr : map_at(maps_used++);
}

// Fills the pages with garbage, so that late reads are found.
void Machine::unmap(std::byte* pages) {
  std::memset(pages, 0xee, kMappedBytes);
}

void Machine::require(bool holds, const char* what) {
  if (holds) return;
  if (wrong == nullptr) wrong = what;
  for (;;) leave();
}

std::uint64_t load(const void* at, unsigned bytes) {
  return the_machine().load(at, bytes);
}
void store(void* at, unsigned bytes, std::uint64_t value) {
  the_machine().store(at, bytes, value);
}
Locked::Locked(void* at, unsigned bytes) : at_(at), bytes_(bytes), before_(the_machine().begin_change(at, bytes)) {}
void Locked::set(std::uint64_t value) const {
  the_machine().end_change(at_, bytes_, value);
}
void fence() {
  the_machine().fence();
}
void heavy_fence() {
  the_machine().heavy_fence();
}
bool has_heavy_fence() {
  return the_machine().has_heavy;
}
void wait_for_change() {
  the_machine().wait_for_change();
}
void sleep(const void* word, std::uint32_t seen, bool is_forever) {
  the_machine().sleep(word, seen, is_forever);
}
void wake(const void* word, std::uint32_t count) {
  the_machine().wake(word, count);
}
std::byte* map(std::size_t bytes) {
  return the_machine().map(bytes);
}
void require(bool holds, const char* what) {
  the_machine().require(holds, what);
}

}  // namespace janus::model
