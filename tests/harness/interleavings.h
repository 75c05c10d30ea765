// SPDX-License-Identifier: Apache-2.0
// tests/harness/interleavings.h — every order in which a few small programs can go on, on a machine with store buffers
// (x86-TSO): a load sees the thread's own latest store or memory, a store waits in a buffer, a locked instruction and a
// full fence drain the thread's own, a heavy fence everybody's. Hosted tests only.
//
// A protocol is a struct with
//   kWords, kThreads            how many words the threads share, and how many threads there are
//   void begin(Memory&)         what the words hold at first; what is not set is 0
//   bool step(Cpu&)             one step of the thread cpu.thread() at cpu.at(): at most one access to memory. False:
//   it
//                               cannot go on now (it waits), or it is done
//   bool is_done(at)            a thread that stands there has come to its end
//   bool is_good(const Memory&, bool all_done)      the invariant, in every state
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <unordered_set>
#include <vector>

namespace janus::test {

template <class Protocol>
class Interleavings {
  static constexpr unsigned kBuffer = 8;  // stores that one thread can have under way
  static constexpr unsigned kRegisters = 6;

  struct Thread {
    std::int8_t at;
    std::int8_t registers[kRegisters];
    std::uint8_t stores;
    struct {
      std::uint8_t word;
      std::int8_t value;
    } buffer[kBuffer];
  };

 public:
  struct Memory {
    std::int8_t words[Protocol::kWords];
    Thread threads[Protocol::kThreads];
  };

  // One thread as its step sees it.
  class Cpu {
   public:
    Cpu(Memory& memory, unsigned thread) : memory_(memory), thread_(thread) {}
    unsigned thread() const { return thread_; }
    int at() const { return me().at; }
    bool go(int at) {
      me().at = static_cast<std::int8_t>(at);
      return true;
    }
    std::int8_t& reg(unsigned number) { return me().registers[number]; }

    int load(int word) const {
      for (unsigned k = me().stores; k-- > 0;)
        if (me().buffer[k].word == word) return me().buffer[k].value;
      return memory_.words[word];
    }
    void store(int word, int value) {
      if (me().stores == kBuffer) drain_one(me());
      me().buffer[me().stores++] = {static_cast<std::uint8_t>(word), static_cast<std::int8_t>(value)};
    }
    void fence() {
      while (me().stores != 0) drain_one(me());
    }
    void heavy_fence() {
      for (Thread& thread : memory_.threads)
        while (thread.stores != 0) drain_one(thread);
    }
    // Locked: what was there before.
    int add(int word, int amount) {
      fence();
      const int before = memory_.words[word];
      memory_.words[word] = static_cast<std::int8_t>(before + amount);
      return before;
    }
    bool compare_exchange(int word, int expected, int desired) {
      fence();
      if (memory_.words[word] != expected) return false;
      memory_.words[word] = static_cast<std::int8_t>(desired);
      return true;
    }
    // What the test itself keeps in a word, at once and seen by all.
    std::int8_t& ghost(int word) { return memory_.words[word]; }

   private:
    friend class Interleavings;
    Thread& me() const { return memory_.threads[thread_]; }
    void drain_one(Thread& thread) {
      memory_.words[thread.buffer[0].word] = thread.buffer[0].value;
      --thread.stores;
      std::memmove(thread.buffer, thread.buffer + 1, sizeof thread.buffer - sizeof thread.buffer[0]);
      std::memset(thread.buffer + kBuffer - 1, 0, sizeof thread.buffer[0]);
    }
    Memory& memory_;
    unsigned thread_;
  };

  explicit Interleavings(Protocol protocol) : protocol_(protocol) {}

  // Whether the invariant holds in every state, and no state that is not the end has nowhere to go on to.
  bool all_good() {
    Memory first;
    std::memset(&first, 0, sizeof first);
    protocol_.begin(first);
    visit(first);
    while (good_ && !left_.empty()) {
      const Memory state = left_.back();
      left_.pop_back();
      go_on(state);
    }
    return good_;
  }
  std::size_t states() const { return known_.size(); }

 private:
  void visit(const Memory& state) {
    if (known_.emplace(reinterpret_cast<const char*>(&state), sizeof state).second) left_.push_back(state);
  }

  void go_on(const Memory& state) {
    bool has_moved = false, all_done = true;
    for (unsigned i = 0; i < Protocol::kThreads; ++i) {
      all_done &= protocol_.is_done(state.threads[i].at) && state.threads[i].stores == 0;
      Memory next = state;
      Cpu cpu(next, i);
      if (state.threads[i].stores != 0) {
        cpu.drain_one(next.threads[i]);
        visit(next);
        has_moved = true;
        next = state;
      }
      if (protocol_.step(cpu)) {
        visit(next);
        has_moved = true;
      }
    }
    good_ &= (has_moved || all_done) && protocol_.is_good(state, all_done);
  }

  Protocol protocol_;
  std::unordered_set<std::string> known_;
  std::vector<Memory> left_;
  bool good_ = true;
};

}  // namespace janus::test
