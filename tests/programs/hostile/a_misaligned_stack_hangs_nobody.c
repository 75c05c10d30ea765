// SPDX-License-Identifier: Apache-2.0
// Bare: no, it runs itself as processes
// Init: no, the runtime as PID 1 reaps what it waits for
// Makes each call with a stack pointer that is misaligned by 8, as by a compiler's bug. The runtime's own code may
// fault because of that, anywhere and with any lock held. So the call works, or the task panics, or the process ends
// with a report; but nothing ever hangs. One process for each call, since a call may end it.
#include "calls.h"

extern char** environ;

// Calls fn(a, b, c, d) with a stack that is misaligned by 8.
static long call_beside(const void* fn, const void* a, const void* b, const void* c, const void* d) {
  long result;
  __asm__ volatile(
      "mov %%rsp, %%r12\n\t"
      "and $-16, %%rsp\n\t"
      "sub $136, %%rsp\n\t"  // below the red zone, and misaligned by 8
      "xor %%eax, %%eax\n\t"
      "call *%[fn]\n\t"
      "mov %%r12, %%rsp"
      : "=&a"(result), "+D"(a), "+S"(b), "+d"(c), "+c"(d)
      : [fn] "r"(fn)
      : "r8", "r9", "r10", "r11", "r12", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
        "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
  return result;
}

#define NUMBER(n) ((const void*)(uintptr_t)(n))
#define CALL(fn, a, b, c, d) call_beside(NUMBER(fn), NUMBER(a), NUMBER(b), NUMBER(c), NUMBER(d))

static char words[64];

static void call_number(int number, belongings* mine) {
  char element[64] = {0};
  int64_t value = 0;
  janus_result result;
  janus_stats stats = {.size = sizeof stats};
  const janus_spawn_options detached = {.name = "beside", .flags = JANUS_SPAWN_DETACHED};
  switch (number) {
    case 0:
      janus_free((void*)CALL(janus_alloc, 64, 0, 0, 0));
      break;
    case 1:
      janus_free((void*)CALL(janus_alloc, 100000, 0, 0, 0));
      break;
    case 2:
      mine->block = (void*)CALL(janus_realloc, mine->block, 3000, 0, 0);
      break;
    case 3:
      CALL(janus_free, janus_alloc(64), 0, 0, 0);
      break;
    case 4:
      CALL(janus_channel_send, mine->room, element, 0, 0);
      janus_channel_try_recv(mine->room, element);  // the next send finds room, too
      break;
    case 5:
      janus_channel_send(mine->room, element);
      CALL(janus_channel_recv, mine->room, element, 0, 0);
      break;
    case 6:
      CALL(janus_channel_try_send, mine->room, element, 0, 0);
      break;
    case 7:
      CALL(janus_channel_try_recv, mine->room, element, 0, 0);
      break;
    case 8:
      CALL(janus_channel_close, mine->room, 0, 0, 0);
      break;
    case 9:
      janus_channel_release((janus_channel*)CALL(janus_channel_create, 8, 2, 0, 0));
      break;
    case 10:
      CALL(janus_nursery_spawn_in, mine->nursery, return_nothing, 0, &detached);
      break;
    case 11: {
      janus_nursery* nursery = (janus_nursery*)CALL(janus_nursery_open, 0, 0, 0, 0);
      spawn(nursery, return_nothing, NULL);
      CALL(janus_nursery_await, nursery, &result, 0, 0);
      CALL(janus_nursery_destroy, nursery, 0, 0, 0);
      break;
    }
    case 12:
      CALL(janus_nursery_create, 0, 0, 0, 0);
      CALL(janus_nursery_spawn, return_nothing, 0, 0, 0);
      CALL(janus_nursery_await_all, 0, 0, 0, 0);
      break;
    case 13:
      CALL(janus_nursery_cancel, mine->nursery, 0, 0, 0);
      break;
    case 14:
      CALL(janus_task_join, mine->ended.raw, &value, 0, 0);
      break;
    case 15:
      CALL(janus_task_cancel, mine->ended.raw, 0, 0, 0);
      break;
    case 16:
      CALL(janus_task_set_name, "beside", 0, 0, 0);
      break;
    case 17:
      CALL(janus_yield, 0, 0, 0, 0);
      break;
    case 18:
      CALL(janus_yield_slow, 0, 0, 0, 0);
      break;
    case 19:
      janus_unpark(janus_task_self());
      CALL(janus_park, -1, 0, 0, 0);
      break;
    case 20:
      CALL(janus_print, mine->null_file, "%d %s\n", 4711, words);
      break;
    case 21:
      CALL(janus_write, mine->null_file, words, sizeof words, 0);
      break;
    case 22:
      CALL(janus_syscall, SYS_getpid, 0, 0, 0);
      break;
    case 23:
      CALL(janus_entropy, element, sizeof element, 0, 0);
      break;
    case 24:
      CALL(janus_rt_stats, 0, &stats, 0, 0);
      break;
    case 25:
      CALL(janus_local_set, mine->key.raw, mine, 0, 0);
      break;
    case 26:
      CALL(janus_nursery_recharge, mine->nursery, 0, 0, 0);
      break;
    case 27:
      CALL(janus_task_panic, "beside", 0, 0, 0);
      break;
    default:
      break;
  }
}

enum { kCalls = 28, kTimes = 8, kRounds = 5 };

static int64_t call_all_ways(void* number) {
  belongings mine;
  if (prepare(&mine) < 0) return -77;
  for (int i = 0; i < kTimes; ++i) call_number((int)(uintptr_t)number, &mine);
  release(&mine);
  return 0;
}

// The same for a task that waits at a channel, and is served or panics.
static int64_t wait_beside(void* channel) {
  uint64_t word = 0;
  return CALL(janus_channel_recv, channel, &word, 0, 0) == 0 && word == 4711 ? 0 : -1;
}

static int64_t serve_one_beside(void) {
  janus_channel* channel = janus_channel_create(8, 0);
  janus_nursery* nursery = open_plain();
  const janus_task waits = spawn_roomy(nursery, wait_beside, channel);
  for (int i = 0; i < 1000 && janus_task_state(waits) != JANUS_TASK_BLOCKED; ++i) janus_yield();
  uint64_t word = 4711;
  if (janus_task_state(waits) == JANUS_TASK_BLOCKED) CHECK_EQ(janus_channel_send(channel, &word), 0);
  const long status = close_cage(nursery);
  CHECK_THAT(status, status == 0 || status == JANUS_PANIC);
  janus_channel_release(channel);
  return 0;
}

// Repeats the call, each time in a cage of its own.
static int64_t try_call(void* number) {
  if ((uintptr_t)number == kCalls) return serve_one_beside();
  for (int round = 0; round < kRounds; ++round) {
    const long status = run_in_cage(roomy(), call_all_ways, number);
    CHECK_THAT(status, status == 0 || status == JANUS_PANIC);
  }
  return 0;
}

static int try_beside_a_neighbour(uintptr_t number) {
  const accounts before = read_accounts();
  CHECK_EQ(beside_a_neighbour(200, try_call, (void*)number), 0);
  CHECK_NOTHING_LOST(before, 64 * kRounds);  // each task that panics leaves its objects, at most 2 KiB
  return end();
}

// ---- Processes, without a word to the runtime between fork and exec -------------------------------------------------

static long call_kernel(long number, long a, long b, long c, long d) {
  long result;
  register long r10 __asm__("r10") = d;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
  return result;
}

static void become(char* number, const int* ends) {
  char* const arguments[] = {"again", number, NULL};
  call_kernel(SYS_dup2, ends[1], 2, 0, 0);
  call_kernel(SYS_close, ends[0], 0, 0, 0);
  call_kernel(SYS_close, ends[1], 0, 0, 0);
  call_kernel(SYS_alarm, 30, 0, 0, 0);
  call_kernel(SYS_execve, (long)"/proc/self/exe", (long)arguments, (long)environ, 0);
  call_kernel(SYS_exit_group, 127, 0, 0, 0);
}

static char said[65536];

// Returns the process's wait status, with its output in `said`.
static int run_again(int number) {
  char digits[] = {(char)('0' + number / 10), (char)('0' + number % 10), 0};
  int ends[2], status = -1;
  size_t count = 0;
  if (!CHECK_EQ(call_kernel(SYS_pipe2, (long)ends, 0, 0, 0), 0)) return -1;
  const long child = call_kernel(SYS_fork, 0, 0, 0, 0);
  if (child == 0) become(digits, ends);
  call_kernel(SYS_close, ends[1], 0, 0, 0);
  for (long n = 1; n > 0; count += n > 0 ? (size_t)n : 0)
    n = call_kernel(SYS_read, ends[0], (long)(said + count), (long)(sizeof said - 1 - count), 0);
  said[count] = 0;
  call_kernel(SYS_close, ends[0], 0, 0, 0);
  CHECK_EQ(call_kernel(SYS_wait4, child, (long)&status, 0, 0), child);
  return status;
}

int main(int argc, char** argv) {
  open_null_file();
  if (argc == 2) return try_beside_a_neighbour((uintptr_t)atoi(argv[1]));
  enum { kEnded = 0, kAborted = 6 };
  int ended = 0, dumped = 0;
  for (int number = 0; number <= kCalls; ++number) {
    const int status = run_again(number);
    ended += status == kEnded;
    dumped += (status & 127) == kAborted && strstr(said, "janus: the runtime panicked: ") != NULL;
    if (!CHECK_EQ(ended + dumped, number + 1)) {
      janus_print(1, "call %d: wait status %d\n%s\n", number, status, said);
      break;
    }
  }
  janus_print(1, "figure: calls from a misaligned stack: %d worked or panicked, %d dumps\n", ended, dumped);
  return end();
}
