// SPDX-License-Identifier: Apache-2.0
// tests/models/state.h — the internals of machine.h's machine: its threads, their saved and restored state, and the
// explorer's controls. The process has one machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <arch/context.h>
#include "tests/models/explorer.h"

namespace janus::model {

enum class Op : std::uint8_t { kNone, kLoad, kStore, kChange, kFence, kHeavyFence, kPause, kSleep, kWake };

// The description of an executed action.
struct Done {
  unsigned thread;
  bool is_drain;
  Op op;
  const void* at;
  std::uint64_t value;
};

enum class Status : std::uint8_t {
  kReady,
  kAsleep,       // until it is woken
  kNapping,      // until it is woken, or something has changed
  kUntilChange,  // until memory has changed
  kDone,
};

inline constexpr unsigned kMaxStores = 8;  // delayed stores of one thread

struct Thread {
  arch::Context context;
  const void* waits_at;
  Status status;
  std::uint8_t stores;
  bool sees_news;  // another thread has changed memory since it last waited for that
  struct Store {
    void* at;
    std::uint64_t value;
    std::uint64_t bytes;
  } buffer[kMaxStores];
};

// One more than threads, to run begin() and end().
inline constexpr unsigned kFibers = kMaxThreads + 1;

std::byte* world_begin();

class Machine {
 public:
  // --- For the explorer ---

  void reset(const Actors& actors);
  // Forgets which threads use the words of another world.
  void forget();
  void start(unsigned fiber, std::int64_t (*entry)(void*), void* arg);
  // Lets the fiber execute its pending step, and run up to its next access. `choice`: the outcome, if several are
  // possible.
  void resume(unsigned fiber, unsigned choice = 0);
  bool can_go(unsigned thread) const { return threads[thread].status == Status::kReady; }
  void drain_one(unsigned thread);

  std::vector<std::byte> save() const;
  void restore(const std::vector<std::byte>& state);
  std::string describe(const Done& done) const;

  // --- For machine.h ---

  std::uint64_t load(const void* at, unsigned bytes);
  void store(void* at, unsigned bytes, std::uint64_t value);
  std::uint64_t begin_change(void* at, unsigned bytes);
  void end_change(void* at, unsigned bytes, std::uint64_t value);
  void fence();
  void heavy_fence();
  void wait_for_change();
  void sleep(const void* word, std::uint32_t seen, bool is_forever);
  void wake(const void* word, std::uint32_t count);
  std::byte* map(std::size_t bytes);
  void unmap(std::byte* pages);
  void require(bool holds, const char* what);

  const Actors* actors = nullptr;
  Thread threads[kFibers];
  unsigned maps_used = 0;
  bool is_direct = false;  // accesses are no steps
  bool has_heavy = true;
  bool is_sequential = false;  // no store is delayed
  const char* wrong = nullptr;
  unsigned choices = 1;  // possible outcomes of the last step
  Done done{};
  // A word had a writer that was not known: the orders that were left out because of that have to be explored again.
  bool has_learnt = false;

 private:
  Thread& me() { return threads[running_]; }
  std::uint8_t my_bit() const { return static_cast<std::uint8_t>(1u << running_); }
  void step(Op op, const void* at);
  void leave();
  void write(unsigned thread, void* at, unsigned bytes, std::uint64_t value);
  void learn(std::uint8_t& who);
  static void fiber_has_finished(std::int64_t);

  unsigned running_ = 0;
  unsigned choice_ = 0;
  arch::Context explorer_{};
  std::uint8_t heavy_fencers_ = 0;  // a bit each
};

Machine& the_machine();

}  // namespace janus::model
