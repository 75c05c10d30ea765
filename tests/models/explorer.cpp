// SPDX-License-Identifier: Apache-2.0
// explorer.cpp — a depth-first search of all states, each restored in place: every address is the same each time, so
// that equal bytes are equal states.
#include "tests/models/explorer.h"

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <arch/context.h>
#include "tests/harness/test.h"
#include "tests/models/known.h"
#include "tests/models/state.h"

namespace janus::model {
namespace {

Machine& machine = the_machine();

// An action that can happen next in a state. A step is the work of a thread up to its next access that others could
// notice.
struct Action {
  unsigned thread;
  bool is_drain;
  unsigned choice;
};

struct Visited {
  std::vector<std::byte> state;
  Action next{0, true, 0};
  Done done{};  // the action that led to the next state
};

class Explorer {
 public:
  explicit Explorer(const Actors& actors) : actors_(actors) {}

  bool run(const char* name) {
    scout();
    do {
      machine.has_learnt = false;
      known_.clear();
      explore_all();
    } while (!is_stopped() && machine.has_learnt);
    if (is_stopped()) return tell(name);
    test::note(name, known_.size());
    return true;
  }

 private:
  static constexpr std::size_t kMaxStates = 20'000'000;
  static constexpr unsigned kScouts = 300, kStepsShown = 200;

  bool is_stopped() const { return machine.wrong != nullptr; }

  // --- Runs of the threads ---

  static std::int64_t run_thread(void* number) {
    machine.actors->run(machine.actors->world, static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(number)));
    return 0;
  }
  static std::int64_t run_begin(void*) {
    machine.actors->begin(machine.actors->world);
    return 0;
  }
  static std::int64_t run_end(void*) {
    machine.actors->end(machine.actors->world);
    return 0;
  }

  // Runs begin() or end(), in which accesses are no steps.
  void run_directly(std::int64_t (*entry)(void*)) {
    machine.start(kMaxThreads, entry, nullptr);
    machine.is_direct = true;
    machine.resume(kMaxThreads);
    machine.is_direct = false;
  }

  std::vector<std::byte> first_state() {
    static std::vector<std::byte> pristine;
    if (!has_begun_) {
      pristine.assign(world_begin(), world_begin() + actors_.bytes);
      has_begun_ = true;
    }
    machine.reset(actors_);
    std::memcpy(world_begin(), pristine.data(), pristine.size());
    run_directly(run_begin);
    for (unsigned i = 0; i < actors_.threads && !is_stopped(); ++i) {
      machine.start(i, run_thread, reinterpret_cast<void*>(std::uintptr_t{i}));
      machine.resume(i);  // up to its first access
    }
    return machine.save();
  }

  static bool can_go(const Action& action) {
    return action.is_drain ? machine.threads[action.thread].stores != 0 : machine.can_go(action.thread);
  }
  static void act(const Action& action) {
    if (action.is_drain)
      machine.drain_one(action.thread);
    else
      machine.resume(action.thread, action.choice);
  }

  // Called when all threads have ended.
  void finish() { run_directly(run_end); }

  // --- Paths ---

  // Learns from a few random orders which words have one writer, so that explore_all() rarely has to begin again.
  void scout() {
    std::minstd_rand random(1);
    for (unsigned i = 0; i < kScouts && !is_stopped(); ++i) {
      (void)first_state();
      for (;;) {
        Action possible[2 * kMaxThreads];
        unsigned count = 0;
        for (unsigned t = 0; t < actors_.threads; ++t)
          for (const bool is_drain : {false, true})
            if (const Action action{t, is_drain, 0}; can_go(action)) possible[count++] = action;
        if (count == 0 || is_stopped()) break;
        act(possible[random() % count]);
      }
    }
    machine.wrong = nullptr;  // found again, with its order
  }

  void explore_all() {
    path_.clear();
    visit(first_state());
    while (!path_.empty() && !is_stopped()) {
      if (!go_on()) path_.pop_back();
    }
  }

  void visit(std::vector<std::byte> state) {
    if (!is_stopped() && known_.add(state.data(), state.size())) path_.push_back({std::move(state)});
    if (known_.size() > kMaxStates) machine.wrong = "there is no end of states";
  }

  // Tries one more action in the last state of the path. False: there was no other.
  bool go_on() {
    Visited& here = path_.back();
    bool is_new = here.next.thread == 0 && here.next.is_drain && here.next.choice == 0;
    machine.restore(here.state);
    if (is_new && !look_for_end()) return false;
    while (here.next.thread < actors_.threads) {
      const Action action = here.next;
      if (can_go(action)) {
        machine.done = {};
        act(action);
        here.done = machine.done;
        here.done.thread = action.thread;
        here.done.is_drain = action.is_drain;
        here.next = after(action);
        visit(machine.save());
        return true;
      }
      here.next = after_all_of(action);
    }
    return false;
  }

  // False: no action is possible in this state, by right or by mistake.
  bool look_for_end() {
    bool all_done = true, some_can_go = false;
    for (unsigned t = 0; t < actors_.threads; ++t) {
      all_done &= machine.threads[t].status == Status::kDone && machine.threads[t].stores == 0;
      some_can_go |= machine.can_go(t) || machine.threads[t].stores != 0;
    }
    if (all_done) finish();
    if (!all_done && !some_can_go) machine.wrong = "nobody can go on";
    return !all_done && some_can_go;
  }

  static Action after(const Action& action) {
    if (action.choice + 1 < machine.choices) return {action.thread, false, action.choice + 1};
    return after_all_of(action);
  }
  static Action after_all_of(const Action& action) {
    return action.is_drain ? Action{action.thread, false, 0} : Action{action.thread + 1, true, 0};
  }

  bool tell(const char* name) {
    test::note(name, machine.wrong);
    const std::size_t from = path_.size() > kStepsShown ? path_.size() - kStepsShown : 0;
    for (std::size_t i = from; i < path_.size(); ++i) test::note("  ", machine.describe(path_[i].done).c_str());
    return false;
  }

  const Actors& actors_;
  bool has_begun_ = false;
  KnownStates known_;
  std::vector<Visited> path_;
};

}  // namespace

void* world_memory(std::size_t bytes) {
  std::memset(world_begin(), 0, bytes);
  return world_begin();
}

bool explore(const char* name, const Actors& actors, Fences fences) {
  machine.has_heavy = fences == Fences::kHeavy;
  machine.is_sequential = fences == Fences::kNoneNeeded;
  machine.forget();
  return Explorer(actors).run(name);
}

}  // namespace janus::model
