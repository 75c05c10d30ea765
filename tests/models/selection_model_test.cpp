// SPDX-License-Identifier: Apache-2.0
// selection_model_test.cpp — every interleaving of selects with each other, with plain sends and receives and with a
// cancel, at channels without buffers, on rt/task/channels/selection.h: each takes one case (taken-once), none sleeps
// beside a partner (no-two-sleep), and nobody touches a select that has left its queues. The steps are those of select.cpp
// and transfer.cpp; a queue is an array under its channel's lock.
#include "rt/task/channels/selection.h"

#include "tests/harness/test.h"
#include "tests/models/explorer.h"

namespace {

using janus::Claim;
using janus::LockGuard;
using janus::Selection;
using janus::SpinLock;
using janus::model::Fences;
using janus::model::require;

constexpr unsigned kMaxThreads = 3, kMaxCases = 2;

struct Case {
  unsigned channel;
  bool sends;
};
// What a thread does, so many times: a plain transfer, or a select of two cases.
struct Role {
  unsigned cases;
  Case of[kMaxCases];
  unsigned times = 1;
  bool selects() const { return cases > 1; }
};
constexpr Role sends(unsigned channel) {
  return {1, {{channel, true}}};
}
constexpr Role receives(unsigned channel) {
  return {1, {{channel, false}}};
}
constexpr Role selects(Case one, Case other) {
  return {2, {one, other}};
}
constexpr Role twice(Role role) {
  role.times = 2;
  return role;
}

struct SelectWorld {
  enum : std::uint32_t { kRuns, kWaits, kReady };
  unsigned count;
  Role roles[kMaxThreads];
  bool cancels;  // the last thread cancels thread 0, and does its transfer for it if it gave up
  struct Wait {
    unsigned thread, place;
  };
  struct Channel {
    SpinLock lock;
    Wait queue[kMaxThreads * kMaxCases];
    unsigned length;
  };
  struct Thread {
    Selection selection;
    janus::Atomic<std::uint32_t> state, told, has_left;
    bool waits_at[kMaxCases];  // under the channel's lock
    // Accesses to these are no steps.
    unsigned transfers;
    bool is_gone, gave_up;
  };
  janus::Atomic<std::uint32_t> element{0};
  Channel channels[2]{};
  Thread each[kMaxThreads]{};

  unsigned threads() const { return count; }
  void begin() {}

  void run(unsigned thread) {
    if (cancels && thread == count - 1) return cancel_first(thread);
    go(thread, roles[thread]);
  }

  void go(unsigned thread, const Role& role) {
    Thread& me = each[thread];
    for (unsigned done = 1; done <= role.times; ++done) {
      if (role.selects())
        select(thread, role);
      else
        transfer(thread, role.of[0]);
      require(me.transfers == (me.gave_up ? 0u : done), "it has taken one case, or given up");
    }
    me.is_gone = true;
    me.has_left.store(1, std::memory_order_release);
  }
  void cancel_first(unsigned thread) {
    each[0].told.store(1, std::memory_order_seq_cst);
    (void)wake(0);
    while (each[0].has_left.load(std::memory_order_acquire) == 0) janus::pause();
    if (each[0].gave_up) go(thread, roles[thread]);
  }

  bool wake(unsigned thread) {
    std::uint32_t waits = kWaits;
    return each[thread].state.compare_exchange_strong(waits, kReady, std::memory_order_acq_rel);
  }
  void block(unsigned thread, auto publish) {
    Thread& me = each[thread];
    me.state.store(kWaits, std::memory_order_release);
    janus::full_fence();  // the partner of a cancel's
    if (me.told.load(std::memory_order_seq_cst) != 0) (void)wake(thread);
    publish();
    while (me.state.load(std::memory_order_acquire) != kReady) janus::pause();
    me.state.store(kRuns, std::memory_order_relaxed);
  }

  static void drop(Channel& channel, unsigned at) {
    for (--channel.length; at < channel.length; ++at) channel.queue[at] = channel.queue[at + 1];
  }
  // As meet() in transfer.cpp, under the channel's lock. `mine`: the caller's selection; nullptr: it is no select, or in no
  // queue. True: the transfer is done, or another case is taken.
  bool meet(unsigned thread, const Case& own, Selection* mine, unsigned place) {
    Channel& channel = channels[own.channel];
    for (unsigned at = 0; at < channel.length;) {
      const Wait wait = channel.queue[at];
      const Role& role = roles[wait.thread];
      if (role.of[wait.place].sends == own.sends || (wait.thread == thread && mine != nullptr)) {
        ++at;
        continue;
      }
      Thread& other = each[wait.thread];
      require(!other.is_gone, "whoever is in a queue is still there");
      Claim claim(mine, role.selects() ? &other.selection : nullptr);
      if (!claim.is_mine_open()) return true;
      const bool is_served = claim.is_theirs_open();
      if (is_served) {
        (void)element.load(std::memory_order_relaxed);  // others may run while it is copied
        claim.take_theirs(static_cast<std::int32_t>(wait.place));
        claim.take_mine(static_cast<std::int32_t>(place));
        ++other.transfers;
        ++each[thread].transfers;
      }
      claim.release();
      drop(channel, at);
      other.waits_at[wait.place] = false;
      if (!is_served) continue;
      (void)wake(wait.thread);
      require(!other.is_gone, "it is still there after it was woken");
      return true;
    }
    return false;
  }

  void transfer(unsigned thread, const Case& own) {
    Channel& channel = channels[own.channel];
    channel.lock.lock();
    if (meet(thread, own, nullptr, 0)) return channel.lock.unlock();
    enter(thread, 0, channel);
    block(thread, [&] { channel.lock.unlock(); });
    LockGuard guard(channel.lock);
  }
  void enter(unsigned thread, unsigned place, Channel& channel) {
    channel.queue[channel.length++] = {thread, place};
    each[thread].waits_at[place] = true;
  }

  void select(unsigned thread, const Role& role) {
    Thread& me = each[thread];
    for (unsigned place = 0; place < role.cases; ++place) {
      LockGuard guard(channels[role.of[place].channel].lock);
      if (meet(thread, role.of[place], nullptr, place)) return;
    }
    me.selection.open();
    bool all_wait = true;
    unsigned entered = 0;
    for (; entered < role.cases && all_wait; ++entered) {
      Channel& channel = channels[role.of[entered].channel];
      LockGuard guard(channel.lock);
      all_wait = !meet(thread, role.of[entered], &me.selection, entered);
      if (all_wait) enter(thread, entered, channel);
    }
    me.selection.lock();
    while (all_wait && me.selection.is_open() && me.told.load(std::memory_order_seq_cst) == 0) {
      block(thread, [&] { me.selection.unlock(); });
      me.selection.lock();
    }
    if (me.selection.is_open()) {
      me.selection.take(Selection::kGivenUp);
      me.gave_up = true;
    }
    me.selection.unlock();
    for (unsigned place = 0; place < entered; ++place) {
      Channel& channel = channels[role.of[place].channel];
      LockGuard guard(channel.lock);
      if (!me.waits_at[place]) continue;
      for (unsigned at = 0; at < channel.length; ++at)
        if (channel.queue[at].thread == thread && channel.queue[at].place == place) drop(channel, at--);
      me.waits_at[place] = false;
    }
  }

  void end() {
    for (const Channel& channel : channels) require(channel.length == 0, "no wait is left in a queue");
  }
};

bool goes_well(const char* name, std::initializer_list<Role> roles, bool cancels = false) {
  SelectWorld world{};
  for (const Role& role : roles) world.roles[world.count++] = role;
  world.cancels = cancels;
  return janus::model::goes_well<SelectWorld>(name, Fences::kNoneNeeded, world.count, world.roles[0], world.roles[1],
                                              world.roles[2], cancels);
}

constexpr Case kSendX{0, true}, kReceiveX{0, false}, kSendY{1, true}, kReceiveY{1, false};

TEST(selection_model, selects_meet_plain_partners) {
  REQUIRE(goes_well("a sender", {selects(kReceiveX, kReceiveY), sends(1)}));
  REQUIRE(goes_well("a sender at each channel", {twice(selects(kReceiveX, kReceiveY)), sends(0), sends(1)}));
}

TEST(selection_model, selects_meet_each_other) {
  REQUIRE(goes_well("mirrored", {selects(kSendX, kReceiveY), selects(kReceiveX, kSendY)}));
  REQUIRE(goes_well("mirrored, in the other order", {selects(kSendX, kReceiveY), selects(kSendY, kReceiveX)}));
  REQUIRE(goes_well("send or receive at one channel", {selects(kSendX, kReceiveX), selects(kReceiveX, kSendX)}));
  REQUIRE(goes_well("the same case twice", {selects(kReceiveX, kReceiveX), selects(kSendX, kReceiveY)}));
  REQUIRE(goes_well("twice", {twice(selects(kSendX, kReceiveY)), twice(selects(kReceiveX, kSendY))}));
}

TEST(selection_model, a_select_is_cancelled) {
  REQUIRE(goes_well("beside a sender", {selects(kReceiveX, kReceiveY), sends(0), receives(0)}, true));
  REQUIRE(goes_well("beside a select", {selects(kReceiveX, kReceiveY), selects(kSendX, kSendY), receives(0)}, true));
}

}  // namespace
