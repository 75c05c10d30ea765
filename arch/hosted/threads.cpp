// SPDX-License-Identifier: Apache-2.0
// threads.cpp — workers as pthreads, each with an alternate signal stack.
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "arch/hosted/hosted.h"

namespace janus::hosted {
namespace {

constexpr std::size_t kSignalStackBytes = 256 * 1024;  // a sanitizer also writes its report on this stack

struct Start {
  platform::ThreadEntry entry;
  void* arg;
  int cpu;
  char name[16];
};

// The target of exit_thread()'s jump: the thread's first function, from which the C library ends the thread as usual.
thread_local jmp_buf thread_end;

void name_and_pin(int cpu, const char* name) noexcept {
  if (name != nullptr) pthread_setname_np(pthread_self(), name);  // fails harmlessly if longer than 15
  if (cpu < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  sched_setaffinity(0, sizeof set, &set);
}

// The thread's alternate signal stack. Sanitizers install one of their own and remove it at the end of the thread, so
// theirs is put back before that.
class SignalStack {
 public:
  SignalStack() noexcept {
    void* pages = mmap(nullptr, kSignalStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return;
    const stack_t mine{pages, 0, kSignalStackBytes};
    if (sigaltstack(&mine, &before_) == 0) pages_ = pages;
  }
  [[nodiscard]] bool is_in_place() const noexcept { return pages_ != nullptr; }
  void put_back() noexcept {
    if (pages_ == nullptr) return;
    sigaltstack(&before_, nullptr);
    munmap(pages_, kSignalStackBytes);
  }

 private:
  void* pages_ = nullptr;
  stack_t before_{};
};

void* run(void* raw) noexcept {
  const Start start = *static_cast<Start*>(raw);
  std::free(raw);
  static thread_local SignalStack signal_stack;  // outlives the jump
  name_and_pin(start.cpu, start.name);
  if (setjmp(thread_end) == 0) start.entry(start.arg);
  signal_stack.put_back();
  return nullptr;
}

}  // namespace

bool start_thread(platform::ThreadEntry entry, void* arg, int cpu, const char* name) noexcept {
  auto* start = static_cast<Start*>(std::malloc(sizeof(Start)));
  if (start == nullptr) return false;
  *start = {entry, arg, cpu, {}};
  for (unsigned i = 0; name != nullptr && name[i] != '\0' && i < sizeof start->name - 1; ++i) start->name[i] = name[i];

  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, run, start) == 0;
  pthread_attr_destroy(&attributes);
  if (!started) std::free(start);
  return started;
}

void cpus(platform::Cpus& out) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  out = {};
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (unsigned cpu = 0; cpu < platform::kMaxCpus && cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) out.ids[out.allowed++] = static_cast<std::uint16_t>(cpu);
  if (out.allowed == 0) out.allowed = 1;
  out.quota = out.allowed;
}

}  // namespace janus::hosted

namespace janus::platform {

void exit_thread() noexcept {
  longjmp(hosted::thread_end, 1);
}

int thread_id() noexcept {
  return gettid();
}
void pin_thread(int thread, int cpu) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (cpu < 0 || i == cpu) CPU_SET(static_cast<unsigned>(i), &set);
  sched_setaffinity(thread, sizeof set, &set);
}

bool adopt_thread(int cpu, const char* name) noexcept {
  static thread_local hosted::SignalStack signal_stack;
  hosted::name_and_pin(cpu, name);
  return signal_stack.is_in_place();
}

}  // namespace janus::platform
