// SPDX-License-Identifier: Apache-2.0
// arch/linux/signals/sample_thread.cpp — calls a function on another thread, at any point of its execution. Only one
// request is active at a time, and each has a number: a signal that arrives late finds another number, and is ignored.
// An archive member that janus-cc links unless it strips the program.
//     kIdle --sample_thread--> kAsked --answer--> kBusy --answer--> kIdle, of the next number
//                              kAsked --(no answer in time)--> kIdle, of the next number
#include "arch/linux/signals/sample_thread.h"

#include "arch/linux/kernel_call.h"
#include "rt/optional.h"
#include "rt/platform.h"

JANUS_ANCHOR(janus_thread_sampling);

namespace janus::kernel {
namespace {

enum : std::uint32_t { kIdle, kAsked, kBusy, kPhases };

std::atomic<std::uint32_t> g_word{kIdle};  // number * kPhases + phase
platform::Look g_look;                     // written while kIdle
void* g_argument;

// A whole siginfo, as the kernel expects.
struct Question {
  SignalInfo info;
  std::uint64_t rest[12];
};
static_assert(sizeof(Question) == 128);

}  // namespace

bool answer(const SignalInfo& info, const SignalFrame& frame) noexcept {
  if (info.code != kFromQueue || info.value >> 32 != reinterpret_cast<std::uintptr_t>(&g_word) << 32 >> 32)
    return false;
  auto asked = static_cast<std::uint32_t>(info.value);
  // Pairs with the store in sample_thread().
  if (!g_word.compare_exchange_strong(asked, asked - kAsked + kBusy, std::memory_order_acquire)) return true;
  g_look({frame.machine.rip, frame.machine.rsp, frame.machine.rbp}, g_argument);
  g_word.store(asked - kAsked + kPhases, std::memory_order_release);  // pairs with the loads in sample_thread()
  platform::wake(g_word, 1);
  return true;
}

}  // namespace janus::kernel

namespace janus::platform {

using namespace janus::kernel;

bool sample_thread(int thread, Look look, void* argument, std::uint64_t until_ns) noexcept {
  const std::uint32_t idle = g_word.load(std::memory_order_relaxed);
  std::uint32_t asked = idle + kAsked;
  g_look = look;
  g_argument = argument;
  g_word.store(asked, std::memory_order_release);  // pairs with answer()
  Question question{};
  question.info.signal = kInterrogation;
  question.info.code = kFromQueue;
  question.info.value = std::uint64_t{reinterpret_cast<std::uintptr_t>(&g_word)} << 32 | asked;
  const bool is_sent = call(kRtTgsigqueueinfo, call(kGetpid), thread, kInterrogation, &question) == 0;
  while (is_sent && g_word.load(std::memory_order_acquire) == asked && now_ns() < until_ns)
    wait(g_word, asked, until_ns);
  if (g_word.compare_exchange_strong(asked, idle + kPhases, std::memory_order_relaxed)) return false;
  while (g_word.load(std::memory_order_acquire) == idle + kBusy) wait(g_word, idle + kBusy, kForever);
  return true;
}

}  // namespace janus::platform
