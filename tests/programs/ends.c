// SPDX-License-Identifier: Apache-2.0
// ends HOW: a program that ends in the way that HOW names. process_test.py checks what can be seen of each end.
#include <errno.h>
#include <janus/rt.h>
#include <janus/supervise.h>
#include <janus/sync.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int yes = 1;  // volatile, so that the compiler does not know which loops never end

static int64_t fail(void* arg) {
  (void)arg;
  return -7;
}

static int64_t write_to_nowhere(void* arg) {
  volatile int* volatile nowhere = arg;
  *nowhere = 1;
  return 0;
}

static int64_t recurse(void* arg) {
  volatile char frame[512];
  frame[0] = 1;
  return yes ? recurse(arg) + frame[0] : 0;
}

static int64_t do_nothing(void* arg) {
  (void)arg;
  return 0;
}

static int64_t count(void* counter) {
  __atomic_fetch_add((int*)counter, 1, __ATOMIC_RELAXED);
  return 0;
}

static int64_t spin_for_ever(void* started) {
  __atomic_store_n((int*)started, 1, __ATOMIC_RELEASE);
  while (yes) {
  }
  return 0;
}

// Spawns up to a million blocking tasks, until memory is exhausted. All of them must end, and there must be memory
// again.
static struct {
  janus_channel* gate;
  int blocked;
} crowd;

static int64_t join_crowd(void* arg) {
  (void)arg;
  char nothing;
  __atomic_fetch_add(&crowd.blocked, 1, __ATOMIC_RELAXED);
  const int status = janus_channel_recv(crowd.gate, &nothing);
  return status == JANUS_E_CLOSED || status == JANUS_E_NO_MEMORY ? 0 : -1;
}

static int overcrowd(int size) {
  const janus_spawn_options detached = {.flags = JANUS_SPAWN_DETACHED};
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  crowd.gate = janus_channel_create(1, 0);
  for (int n = 0; n < size && janus_nursery_spawn_in(nursery, join_crowd, NULL, &detached).raw; n++)
    if (n % 1000 == 0) janus_yield();
  if (janus_last_error() != JANUS_E_BUDGET) return 10;
  janus_print(1, "%d\n", __atomic_load_n(&crowd.blocked, __ATOMIC_RELAXED));
  if (janus_channel_close(crowd.gate) != 0 || janus_nursery_await(nursery, NULL) != 0) return 11;
  void* block = janus_alloc(16 << 20);
  if (!block) return 12;
  janus_free(block);
  return janus_nursery_destroy(nursery) == 0 ? 0 : 13;
}

// Each task frees something that must not be freed; main goes on and returns 7.
static int64_t free_twice(void* arg) {
  (void)arg;
  void* volatile block = janus_alloc(100);
  janus_free(block);
  janus_free(block);
  return 0;
}
static int64_t resize_freed(void* arg) {
  (void)arg;
  void* volatile block = janus_alloc(100);
  janus_free(block);
  return janus_realloc(block, 50) != NULL;
}
static int64_t free_nothing(void* arg) {
  janus_free(arg);
  return 0;
}
static int misfree(void) {
  static int in_data[8];
  const janus_nursery_options options = {.on_error = JANUS_ON_ERROR_COLLECT, .name = "sandbox"};
  janus_nursery* nursery = janus_nursery_open(NULL, &options);
  janus_nursery_spawn_in(nursery, free_twice, NULL, NULL);
  janus_nursery_spawn_in(nursery, resize_freed, NULL, NULL);
  janus_nursery_spawn_in(nursery, free_nothing, &in_data[4], NULL);
  janus_nursery_spawn_in(nursery, free_nothing, (void*)8, NULL);
  janus_result result;
  if (janus_nursery_await(nursery, &result) != JANUS_PANIC || result.errors != 4) return 1;
  if (janus_nursery_destroy(nursery) != 0) return 2;
  void* block = janus_alloc(100);
  janus_free(block);
  return block != NULL ? 7 : 3;
}

static int leave_unread(int value) {
  janus_nursery_create();
  janus_nursery_spawn(fail, NULL);
  return value;
}

static int64_t sleep_for_ever(void* arg) {
  (void)arg;
  return janus_park(-1);
}

static int64_t park_for_an_hour(void* arg) {
  (void)arg;
  return janus_park(3600 * INT64_C(1000000000));
}

static int deadlock(void) {
  janus_channel* channel = janus_channel_create(1, 0);
  char byte;
  return janus_channel_recv(channel, &byte);
}

// While main sleeps nothing else can happen, which is no deadlock; afterwards it is one, although a timer was armed for an
// hour and is not needed any more.
static int deadlock_after_sleep(void) {
  if (janus_sleep_ns(20000000) != 0) return 1;
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  janus_task sleeper = janus_nursery_spawn_in(nursery, park_for_an_hour, NULL, NULL);
  while (janus_task_state(sleeper) != JANUS_TASK_BLOCKED) janus_yield();
  if (janus_unpark(sleeper) != 0 || janus_nursery_await(nursery, NULL) != 0) return 2;
  return janus_park(-1);
}

// Holds its worker for 20 ms at a time, by the clock, of 30 that its cage allows.
static int64_t come_back_in_time(void* unused) {
  (void)unused;
  for (int turn = 0; turn < 30; ++turn) {
    for (const uint64_t end = janus_now_ns() + 20000000; janus_now_ns() < end;) {
    }
    janus_yield();
  }
  return 0;
}

static int take_turns(void) {
  const janus_nursery_options options = {
      .size = sizeof options, .budget = {1000000, 1 << 20, 10, 0, 0}, .turn_ns = 30000000};
  janus_nursery* cage = janus_nursery_open(NULL, &options);
  janus_nursery_spawn_in(cage, come_back_in_time, NULL, NULL);
  janus_print(1, "turns\n");
  return (int)janus_nursery_await(cage, NULL);
}

static int64_t join_other(void* task) {
  int64_t result;
  return janus_task_join(*(janus_task*)task, &result);
}

static int deadlock_of_priorities(void) {
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  janus_nursery_spawn_in(nursery, sleep_for_ever, NULL, &(janus_spawn_options){.priority = JANUS_PRIORITY_HIGH});
  janus_nursery_spawn_in(nursery, sleep_for_ever, NULL, &(janus_spawn_options){.priority = JANUS_PRIORITY_LOW});
  return (int)janus_nursery_await(nursery, NULL);
}

// One task waits for nothing that can happen, a second one joins the first, and main awaits both.
static int deadlock_by_join(void) {
  const janus_spawn_options joiner = {.name = "joiner"};
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  janus_task sleeper = janus_nursery_spawn_in(nursery, sleep_for_ever, NULL, NULL);
  janus_nursery_spawn_in(nursery, join_other, &sleeper, &joiner);
  return (int)janus_nursery_await(nursery, NULL);
}

static int wants_none(const void* message, void* arg) {
  return message == arg;
}

static int64_t receive_wanted(void* mailbox) {
  char message;
  return janus_mailbox_recv_match((janus_mailbox*)mailbox, wants_none, NULL, &message);
}

static int wants_none_either(const void* message, void* arg) {
  return message == NULL && arg == NULL;
}

// Main waits for room in a mailbox that is full of what its receiver does not want, if it has one. Main has waited for a
// message, too, and has given up.
static int deadlock_by_mailbox(int has_receiver) {
  janus_mailbox* const mailbox = janus_mailbox_create(1, 2);
  janus_nursery* const nursery = janus_nursery_open(NULL, NULL);
  if (has_receiver) janus_nursery_spawn_in(nursery, receive_wanted, mailbox, NULL);
  while (janus_mailbox_try_send(mailbox, "x") == 0) janus_yield();
  char message;
  janus_mailbox_recv_match_until(mailbox, wants_none_either, NULL, &message, janus_now_ns() + 1000000);
  janus_mailbox_send(mailbox, "x");
  return (int)janus_nursery_await(nursery, NULL);
}

static int64_t acquire_it(void* semaphore) {
  return janus_semaphore_acquire((janus_semaphore*)semaphore);
}

static int64_t lock_it(void* mutex) {
  return janus_mutex_lock((janus_mutex*)mutex);
}

// A child wants the lock of main, which awaits it; another waits for a permit that nobody gives.
static int deadlock_by_lock(void) {
  static janus_mutex mutex;
  static janus_semaphore semaphore;
  const janus_spawn_options locker = {.name = "locker"}, acquirer = {.name = "acquirer"};
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  if (janus_mutex_lock(&mutex) != 0) return 1;
  janus_nursery_spawn_in(nursery, lock_it, &mutex, &locker);
  janus_nursery_spawn_in(nursery, acquire_it, &semaphore, &acquirer);
  return (int)janus_nursery_await(nursery, NULL);
}

static int64_t await_and_join(void* sleeper) {
  const janus_nursery_options finished = {.name = "finished"};
  janus_nursery* nursery = janus_nursery_open(NULL, &finished);
  (void)janus_nursery_spawn_in(nursery, do_nothing, NULL, NULL);
  (void)janus_nursery_await(nursery, NULL);
  return janus_task_join(*(janus_task*)sleeper, NULL);
}

// The joining task has awaited a nursery before, which is not destroyed.
static int deadlock_after_await(void) {
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  janus_task sleeper = janus_nursery_spawn_in(nursery, sleep_for_ever, NULL, NULL);
  janus_nursery_spawn_in(nursery, await_and_join, &sleeper, NULL);
  return (int)janus_nursery_await(nursery, NULL);
}

static int64_t crash_with_another(void* arrived) {
  __atomic_fetch_add((int*)arrived, 1, __ATOMIC_ACQ_REL);
  while (__atomic_load_n((int*)arrived, __ATOMIC_ACQUIRE) < 2) janus_yield_check(1);
  return write_to_nowhere((void*)16);
}

// Two tasks crash at the same moment.
static int crash_together(void) {
  int arrived = 0;
  const janus_nursery_options options = {.on_error = JANUS_ON_ERROR_COLLECT};
  janus_nursery* nursery = janus_nursery_open(NULL, &options);
  for (int i = 0; i < 2; i++) (void)janus_nursery_spawn_in(nursery, crash_with_another, &arrived, NULL);
  return (int)janus_nursery_await(nursery, NULL) == JANUS_PANIC ? 0 : 1;
}

// Other tasks go on while one overflows its stack and another writes to unmapped memory.
static int contain(void) {
  int counter = 0;
  const janus_nursery_options collect = {.on_error = JANUS_ON_ERROR_COLLECT, .name = "sandbox"};
  const janus_spawn_options deep = {.name = "deep one"}, wild = {.name = "wild one"};
  janus_nursery* nursery = janus_nursery_open(NULL, &collect);
  janus_nursery_spawn_in(nursery, recurse, NULL, &deep);
  janus_nursery_spawn_in(nursery, write_to_nowhere, (void*)0x123450, &wild);
  for (int i = 0; i < 100; ++i) janus_nursery_spawn_in(nursery, count, &counter, NULL);
  janus_result result;
  const long status = janus_nursery_await(nursery, &result);
  janus_print(1, "%ld %u %d\n", status, result.errors, counter);
  return 0;
}

// One task occupies its worker for ever; the tasks that this worker had queued must run nevertheless.
static int outlive_a_spinner(void) {
  int counter = 0, started = 0;
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  janus_nursery_spawn_in(nursery, spin_for_ever, &started, NULL);
  for (int i = 0; i < 1000; ++i) janus_nursery_spawn_in(nursery, count, &counter, NULL);
  while (!__atomic_load_n(&started, __ATOMIC_ACQUIRE) || __atomic_load_n(&counter, __ATOMIC_RELAXED) < 1000)
    janus_yield();
  janus_print(1, "all others are done\n");
  janus_exit(0);
}

static int64_t panic_at_once(void* why) {
  janus_task_panic(why);
}

// `count` panics, whether anybody reads the reports or not, and then one more.
static int panic_in_crowds(int count) {
  const janus_nursery_options collect = {.on_error = JANUS_ON_ERROR_COLLECT};
  janus_nursery* nursery = janus_nursery_open(NULL, &collect);
  for (int i = 0; i < count; i++) janus_nursery_spawn_in(nursery, panic_at_once, (void*)"one of many", NULL);
  janus_nursery_await(nursery, NULL);
  janus_print(1, "done\n");
  char byte;
  while (janus_syscall(0, 0L, &byte, 1L) == 1) {  // until the test has made room in the pipe
  }
  janus_nursery* last = janus_nursery_open(NULL, &collect);
  janus_nursery_spawn_in(last, panic_at_once, (void*)"the last one", NULL);
  janus_nursery_await(last, NULL);
  return 0;
}

// A task's name and its reason for a panic may contain anything.
static int64_t forge(void* arg) {
  (void)arg;
  janus_task_set_name("x\njanus: \x1b[2J");
  janus_task_panic("y\njanus: task 1 'main' panicked: \x9b 'z'\r");
}

static int forge_lines(void) {
  const janus_nursery_options collect = {.on_error = JANUS_ON_ERROR_COLLECT, .name = "n\tn"};
  janus_nursery* nursery = janus_nursery_open(NULL, &collect);
  janus_nursery_spawn_in(nursery, forge, NULL, NULL);
  janus_nursery_await(nursery, NULL);
  return 0;
}

// Writes once to `fd` in the way that is named. Returns 9 if the write failed with EPIPE and the program goes on.
static int write_to_closed(int fd, const char* way) {
  int64_t answer = 0;
  if (!strcmp(way, "janus_write")) answer = janus_write(fd, "unread\n", 7);
  if (!strcmp(way, "janus_print")) answer = janus_print(fd, "unread %d\n", 1);
  if (!strcmp(way, "long_print")) answer = janus_print(fd, "%0600d\n", 1);
  if (!strcmp(way, "write")) answer = write(fd, "unread\n", 7) < 0 ? -errno : 0;
  if (!strcmp(way, "printf")) answer = fprintf(fd == 1 ? stdout : stderr, "unread\n") < 0 ? -errno : 0;
  return answer == -32 ? 9 : 1;
}

static struct {
  int fd;
  const char* way;
} caged;
static int64_t write_caged(void* arg) {
  (void)arg;
  return write_to_closed(caged.fd, caged.way);
}

// The write is done by a task in a cage, which may not end the process, or by one that may.
static int write_in_nursery(int fd, const char* way, const janus_budget* budget) {
  janus_nursery_options options = {.on_error = JANUS_ON_ERROR_COLLECT};
  if (budget != NULL) options.budget = *budget;
  janus_nursery* nursery = janus_nursery_open(NULL, &options);
  caged.fd = fd, caged.way = way;
  const janus_task task = janus_nursery_spawn_in(nursery, write_caged, NULL, NULL);
  int64_t result = 0;
  if (janus_nursery_await(nursery, NULL) != 0 || janus_task_join(task, &result) != 0) return 2;
  return (int)result;
}

// Prints lines until nobody reads them.
static int print_for_ever(void) {
  for (long i = 0;; i++)
    if (janus_print(1, "line %ld\n", i) != 0) return 1;
}

// Many tasks wait at a channel in the nursery `hall`; one of them awaits another waiting task in the nursery `cellar`.
// main closes the channel when its input ends.
enum { kMaxSeats = 5000, kReader = kMaxSeats, kBelow };
static janus_channel* seats;
static janus_task guests[kMaxSeats + 2];
static int seated;
__attribute__((noinline)) static int64_t sit(void* arg) {
  char nothing;
  __atomic_fetch_add(&seated, 1, __ATOMIC_RELAXED);
  const int status = janus_channel_recv(seats, &nothing);
  return status == JANUS_E_CLOSED ? 0 : -1 - (arg != NULL);
}
static int64_t read_to_end(void* arg) {
  (void)arg;
  const janus_nursery_options options = {.name = "cellar"};
  janus_nursery* nursery = janus_nursery_open(NULL, &options);
  guests[kBelow] = janus_nursery_spawn_in(nursery, sit, NULL, NULL);
  return janus_nursery_await(nursery, NULL);
}
static void until_blocked(janus_task task) {
  while (janus_task_state(task) != JANUS_TASK_BLOCKED) janus_yield();
}
static int sit_in_crowds(int count) {
  const janus_nursery_options hall = {.on_error = JANUS_ON_ERROR_COLLECT, .name = "hall"};
  const janus_spawn_options sitter = {.name = "sitter"}, reader = {.name = "reader"};
  if (count > kMaxSeats) return 3;
  seats = janus_channel_create(1, 0);
  janus_nursery* nursery = janus_nursery_open(NULL, &hall);
  guests[kReader] = janus_nursery_spawn_in(nursery, read_to_end, NULL, &reader);
  for (int i = 0; i < count; i++) guests[i] = janus_nursery_spawn_in(nursery, sit, NULL, &sitter);
  while (__atomic_load_n(&seated, __ATOMIC_RELAXED) < count + 1) janus_yield();
  for (int i = 0; i < count; i++) until_blocked(guests[i]);
  until_blocked(guests[kReader]);  // so it has stored the other task's handle
  until_blocked(guests[kBelow]);
  janus_print(1, "here\n");
  char byte;
  int64_t got;
  do got = janus_syscall(0, 0L, &byte, 1L);
  while (got > 0 || got == -EINTR);
  if (janus_channel_close(seats) != 0 || janus_nursery_await(nursery, NULL) != 0) return 1;
  return got == 0 ? 7 : 2;
}

// Prints a line, and yields until it is cancelled.
static int wait_for_the_end(void) {
  janus_print(1, "here\n");
  while (janus_yield() == 0) {
  }
  return JANUS_CANCELLED;
}

// The same, with a status of its own; 1 if main does not learn that a signal has cancelled it.
static int end_tidily(void) {
  wait_for_the_end();
  janus_result result;
  const int known = janus_task_result(janus_task_self(), &result);
  return known == JANUS_PENDING && result.was_cancelled && result.cause == JANUS_CAUSE_SIGNAL ? 9 : 1;
}

static int64_t give_way(void* unused) {
  (void)unused;
  while (janus_yield() == 0) {
  }
  return 0;
}

static janus_channel* ways[2];
static int64_t answer(void* unused) {
  int64_t value = 0;
  (void)unused;
  while (janus_channel_recv(ways[0], &value) == 0 && janus_channel_send(ways[1], &value) == 0) {
  }
  return 0;
}

// No task ever uses up its slice, and no worker ever rests.
static int be_busy(const char* how) {
  const int talk = !strcmp(how, "talking"), below = !strcmp(how, "caged");
  janus_nursery_options options = {.on_error = JANUS_ON_ERROR_COLLECT};
  if (below) options.budget = (janus_budget){4000000000U, 1 << 20, 10, 10, 10};
  janus_nursery* nursery = janus_nursery_open(NULL, &options);
  for (int i = 0; i < 2; i++) ways[i] = janus_channel_create(sizeof(int64_t), 0);
  for (int i = 0; i < 3; i++) (void)janus_nursery_spawn_in(nursery, talk ? answer : give_way, NULL, NULL);
  janus_print(1, "here\n");
  int64_t value = 1;
  while (talk && janus_channel_send(ways[0], &value) == 0 && janus_channel_recv(ways[1], &value) == 0) {
  }
  (void)janus_nursery_await(nursery, NULL);
  return janus_cancelled() ? 9 : 1;
}

static int ignore_the_end(void) {
  janus_print(1, "here\n");
  while (yes) {
  }
  return 0;
}

// Prints before it spins: in deterministic mode no other task can run then.
static int64_t say_and_spin(void* started) {
  janus_print(1, "here\n");
  return spin_for_ever(started);
}

// Something does not end within the grace: main or a task that main awaits does not yield, or ("nobody") main yields
// but goes on.
static int be_late(const char* who) {
  int started = 0;
  if (!strcmp(who, "main")) return ignore_the_end();
  janus_nursery* const nursery = janus_nursery_open(NULL, 0);
  if (!strcmp(who, "task"))
    janus_nursery_spawn_in(nursery, say_and_spin, &started, NULL);
  else
    janus_print(1, "here\n");
  while (yes && !strcmp(who, "nobody")) {
    const uint64_t until = janus_now_ns() + 1000000;
    while (janus_now_ns() < until) {
    }
    janus_yield();
  }
  return janus_nursery_await(nursery, NULL) == 0 ? 0 : -1;
}

__attribute__((noinline)) static int64_t descend(int depth, int* arrived) {
  if (depth > 0) return descend(depth - 1, arrived) + 1;
  __atomic_fetch_add(arrived, 1, __ATOMIC_RELEASE);
  while (yes) {
  }
  return 0;
}

static int64_t spin_deep(void* started) {
  return descend(3, started) + 1;
}

static int64_t read_input(void* started) {
  char byte;
  __atomic_fetch_add((int*)started, 1, __ATOMIC_RELEASE);
  const int64_t got = janus_syscall(0, 0L, &byte, 1L);
  if (got != 0) janus_print(2, "interrupted: %ld\n", got);
  return 0;
}

// Two tasks that never yield, and one in a blocking system call. The fourth worker is main's.
static int keep_three_busy(void) {
  int started = 0;
  janus_nursery* nursery = janus_nursery_open(NULL, NULL);
  janus_nursery_spawn_in(nursery, spin_deep, &started, NULL);
  janus_nursery_spawn_in(nursery, spin_deep, &started, NULL);
  janus_nursery_spawn_in(nursery, read_input, &started, NULL);
  while (__atomic_load_n(&started, __ATOMIC_ACQUIRE) < 3) janus_yield();
  janus_print(1, "here\n");
  return (int)janus_nursery_await(nursery, NULL);
}

// A SIGTERM is blocked until a system call waits, which it then interrupts. Returns 0 if main is cancelled after that.
static int be_interrupted(void) {
  enum { kSigprocmask = 14, kSigsuspend = 130, kGettid = 186, kTkill = 200, kBlock = 0, kSigterm = 15 };
  const unsigned long none = 0, terminate = 1ul << (kSigterm - 1);
  if (janus_syscall(kSigprocmask, kBlock, &terminate, NULL, sizeof terminate) != 0) return 1;
  if (janus_syscall(kTkill, janus_syscall(kGettid), kSigterm) != 0 || janus_cancelled()) return 2;
  if (janus_syscall(kSigsuspend, &none, sizeof none) != -EINTR) return 3;
  return janus_cancelled() ? 0 : 4;
}

// Sends SIGTRAP by tgkill, as raise() would.
static int send_trap(void) {
  janus_print(1, "here\n");
  while (janus_yield() == 0)
    if (janus_syscall(234, janus_syscall(39), janus_syscall(186), 5L) != 0) return 1;
  return 2;
}

// Prints text in pieces, in every way to write, without a newline at the end. A task prints some of it.
static int64_t say_the_middle(void* arg) {
  (void)arg;
  return fputs("d", stdout) < 0 || printf("e%c", 'f') != 2 || puts("g") < 0 || janus_print(1, "h%d", 1) < 0 ? -1 : 0;
}
static int say_in_pieces(void) {
  if (putchar('a') != 'a' || fwrite("bc", 1, 2, stdout) != 2) return 1;
  janus_nursery_create();
  janus_nursery_spawn(say_the_middle, NULL);
  if (janus_nursery_await_all() != 0) return 2;
  return write(1, "i", 1) != 1 || fprintf(stdout, "%s", "j") != 1 || putc('k', stdout) != 'k' ? 3 : 0;
}

int main(int argc, char** argv) {
  if (argc > 1 && !strcmp(argv[1], "say")) {  // prints first, and then ends as the other arguments say
    if (say_in_pieces() != 0) return 98;
    --argc, ++argv;
  }
  const char* how = argc > 1 ? argv[1] : "";
  if (!strcmp(how, "return")) return atoi(argv[2]);
  if (!strcmp(how, "exit")) janus_exit(atoi(argv[2]));
  if (!strcmp(how, "c-exit")) exit(atoi(argv[2]));
  if (!strcmp(how, "c-_exit")) _exit(atoi(argv[2]));
  if (!strcmp(how, "c-abort")) abort();
  if (!strcmp(how, "kill")) return (int)janus_syscall(62, janus_syscall(39), (long)atoi(argv[2]));  // kills itself
  if (!strcmp(how, "unread")) return leave_unread(atoi(argv[2]));
  if (!strcmp(how, "crowd")) return overcrowd(atoi(argv[2]));
  if (!strcmp(how, "deadlock")) return deadlock();
  if (!strcmp(how, "deadlock-after-sleep")) return deadlock_after_sleep();
  if (!strcmp(how, "turns")) return take_turns();
  if (!strcmp(how, "deadlock-join")) return deadlock_by_join();
  if (!strcmp(how, "deadlock-priorities")) return deadlock_of_priorities();
  if (!strcmp(how, "deadlock-mailbox")) return deadlock_by_mailbox(1);
  if (!strcmp(how, "deadlock-mailbox-alone")) return deadlock_by_mailbox(0);
  if (!strcmp(how, "deadlock-lock")) return deadlock_by_lock();
  if (!strcmp(how, "park")) return janus_park(-1);
  if (!strcmp(how, "panic")) janus_task_panic("main has had enough");
  if (!strcmp(how, "crash")) return (int)write_to_nowhere(NULL);
  if (!strcmp(how, "overflow")) return (int)recurse(NULL);
  if (!strcmp(how, "contain")) return contain();
  if (!strcmp(how, "deadlock-after-await")) return deadlock_after_await();
  if (!strcmp(how, "crash-together")) return crash_together();
  if (!strcmp(how, "misfree")) return misfree();
  if (!strcmp(how, "free-twice")) return (int)free_twice(NULL);
  if (!strcmp(how, "disown")) return janus_task_release(janus_task_self()) == 0 ? 9 : 1;
  if (!strcmp(how, "spinner")) return outlive_a_spinner();
  if (!strcmp(how, "panics")) return panic_in_crowds(atoi(argv[2]));
  if (!strcmp(how, "forge")) return forge_lines();
  if (!strcmp(how, "closed-pipe")) return write_to_closed(atoi(argv[2]), argv[3]);
  if (!strcmp(how, "closed-pipe-task")) return write_in_nursery(atoi(argv[2]), argv[3], NULL);
  const janus_budget cage = {1000000, 1 << 20, 10, 10, 10};
  if (!strcmp(how, "closed-pipe-cage")) return write_in_nursery(atoi(argv[2]), argv[3], &cage);
  if (!strcmp(how, "sit")) return sit_in_crowds(atoi(argv[2]));
  if (!strcmp(how, "lines")) return print_for_ever();
  if (!strcmp(how, "wait")) return wait_for_the_end();
  if (!strcmp(how, "tidy")) return end_tidily();
  if (!strcmp(how, "interrupted")) return be_interrupted();
  if (!strcmp(how, "spins")) return keep_three_busy();
  if (!strcmp(how, "trap")) return send_trap();
  if (!strcmp(how, "busy")) return be_busy(argv[2]);
  if (!strcmp(how, "ignore")) return ignore_the_end();
  if (!strcmp(how, "late")) return be_late(argv[2]);
  return 99;
}
