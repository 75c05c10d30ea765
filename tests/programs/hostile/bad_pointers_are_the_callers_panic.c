// SPDX-License-Identifier: Apache-2.0
// Each pointer of each call, bad in every way: unmapped, half mapped, read-only, non-canonical. The caller panics or
// gets an error, and nothing else happens: no lock stays held, no budget, nursery, task or byte is lost.
#include "calls.h"

static char* edge;  // the byte at this address is the first unmapped one
static const char unwritable[4096] = "a constant";

typedef struct attempt {
  void (*make)(belongings* mine, void* bad);
  const char* name;
  int writes;  // the runtime writes there, so read-only memory is bad, too
} attempt;

static void open_options(belongings* mine, void* bad) {
  (void)mine;
  janus_nursery_open(NULL, (const janus_nursery_options*)bad);
}

static void open_name(belongings* mine, void* bad) {
  (void)mine;
  const janus_nursery_options options = {.name = (const char*)bad, .budget = {1000, 1 << 20, 10, 10, 0}};
  janus_nursery_open(NULL, &options);
}

static void spawn_options(belongings* mine, void* bad) {
  janus_nursery_spawn_in(mine->nursery, return_nothing, NULL, (const janus_spawn_options*)bad);
}

static void spawn_name(belongings* mine, void* bad) {
  const janus_spawn_options options = {.name = (const char*)bad, .budget = {100, 64 << 10, 10, 10, 0}};
  janus_nursery_spawn_in(mine->nursery, return_nothing, NULL, &options);
}

static void spawn_fn(belongings* mine, void* bad) {
  spawn(mine->nursery, (janus_task_fn)(uintptr_t)bad, NULL);
  janus_nursery_await(mine->nursery, NULL);
}

static int64_t return_minus_seven(void* unused) {
  (void)unused;
  return -7;
}

static void fork_results(belongings* mine, void* bad) {
  (void)mine;
  janus_fork_join(return_minus_seven, NULL, return_nothing, NULL, (janus_result*)bad);
}

static void fork_own(belongings* mine, void* bad) {
  (void)mine;
  janus_result results[2];
  janus_fork_join((janus_task_fn)(uintptr_t)bad, NULL, return_nothing, NULL, results);
}

static void fork_other(belongings* mine, void* bad) {
  (void)mine;
  janus_result results[2];
  janus_fork_join(return_nothing, NULL, (janus_task_fn)(uintptr_t)bad, NULL, results);
}

static void shield_fn(belongings* mine, void* bad) {
  (void)mine;
  janus_shield((janus_task_fn)(uintptr_t)bad, NULL);
}

static janus_nursery* open_tenant(void) {
  const janus_nursery_options options = {.budget = {1000, 64 << 10, 2, 0, 0}};
  return janus_nursery_open(NULL, &options);
}

static void usage_out(belongings* mine, void* bad) {
  (void)mine;
  janus_nursery_usage(open_tenant(), (janus_usage*)bad);
}

static void withdraw_amount(belongings* mine, void* bad) {
  (void)mine;
  janus_nursery_withdraw(open_tenant(), (janus_budget*)bad);
}

static void keep_low(belongings* mine, void* bad) {
  (void)mine;
  janus_nursery_keep(open_tenant(), NULL, (const janus_budget*)bad);
}

static void next_result(belongings* mine, void* bad) {
  spawn(mine->nursery, return_nothing, NULL);
  janus_nursery_next(mine->nursery, (janus_result*)bad, 0);
}

static void try_result(belongings* mine, void* bad) {
  janus_nursery_close(mine->nursery);
  janus_nursery_try_result(mine->nursery, (janus_result*)bad);
}

static void await_result(belongings* mine, void* bad) {
  janus_nursery_await(mine->nursery, (janus_result*)bad);
}

static void join_result(belongings* mine, void* bad) {
  janus_task_join(mine->ended, (int64_t*)bad);
}

static void task_result(belongings* mine, void* bad) {
  janus_task_result(mine->ended, (janus_result*)bad);
}

static void set_name(belongings* mine, void* bad) {
  (void)mine;
  janus_task_set_name((const char*)bad);
}

static void panic_why(belongings* mine, void* bad) {
  (void)mine;
  janus_task_panic((const char*)bad);
}

static void local_new(belongings* mine, void* bad) {
  (void)mine;
  janus_local_new((janus_local_key*)bad, NULL);
}

static void local_new_inherited(belongings* mine, void* bad) {
  (void)mine;
  janus_local_new_inherited((janus_local_key*)bad, NULL);
}

static void send_element(belongings* mine, void* bad) {
  janus_channel_send(mine->room, bad);
}

static void try_send_element(belongings* mine, void* bad) {
  janus_channel_try_send(mine->room, bad);
}

static void fill(belongings* mine) {
  char element[64];
  memset(element, 0, sizeof element);
  janus_channel_send(mine->room, element);
}

static void recv_element(belongings* mine, void* bad) {
  fill(mine);
  janus_channel_recv(mine->room, bad);
}

static void try_recv_element(belongings* mine, void* bad) {
  fill(mine);
  janus_channel_try_recv(mine->room, bad);
}

static void send_many_elements(belongings* mine, void* bad) {
  janus_channel_send_many(mine->room, bad, 3);
}

static void recv_many_elements(belongings* mine, void* bad) {
  fill(mine);
  janus_channel_recv_many(mine->room, bad, 3);
}

static void select_cases(belongings* mine, void* bad) {
  (void)mine;
  janus_select((janus_select_case*)bad, 2, 0);
}

static void select_data(belongings* mine, void* bad) {
  janus_select_case cases[2] = {{mine->room, bad, JANUS_SEND, 0}, {mine->closed, bad, JANUS_RECV, 0}};
  janus_select(cases, 2, 0);
}

static void print_format(belongings* mine, void* bad) {
  const char* volatile format = (const char*)bad;
  int (*const print)(int, const char*, ...) = janus_print;
  print(mine->null_file, format);
}

static void print_text(belongings* mine, void* bad) {
  janus_print(mine->null_file, "[%s]", (const char*)bad);
}

static void print_length(belongings* mine, void* bad) {
  janus_print(mine->null_file, "[%.64s]", (const char*)bad);
}

static void write_bytes(belongings* mine, void* bad) {
  (void)mine;
  int ends[2];
  if (janus_syscall(SYS_pipe2, ends, 0) != 0) return;
  janus_write(ends[1], bad, 64);
  janus_syscall(SYS_close, ends[0]);
  janus_syscall(SYS_close, ends[1]);
}

static void entropy_bytes(belongings* mine, void* bad) {
  (void)mine;
  janus_entropy(bad, 64);
}

static void stats_out(belongings* mine, void* bad) {
  (void)mine;
  janus_rt_stats(NULL, (janus_stats*)bad);
}

static void worker_stats_out(belongings* mine, void* bad) {
  (void)mine;
  janus_rt_worker_stats(NULL, 0, (janus_worker_stats*)bad);
}

static void try_init(belongings* mine, void* bad) {
  (void)mine;
  janus_rt_try_init((const janus_rt_config*)bad);
}

static void create_config(belongings* mine, void* bad) {
  (void)mine;
  janus_rt_create((const janus_rt_config*)bad);
}

// Functions that compilers and the C library call; not in rt.h.
int __cxa_guard_acquire(uint8_t* guard);
void __cxa_guard_release(uint8_t* guard);
void __cxa_guard_abort(uint8_t* guard);
int janus_hold_try(const void* object);
void janus_hold_end(const void* object);
size_t janus_write_floating(char* text, uint64_t bits, char letter, int precision, _Bool keeps_point, size_t* zeros_at,
                            size_t* zeros);

static void guard_acquire(belongings* mine, void* bad) {
  (void)mine;
  __cxa_guard_acquire((uint8_t*)bad);
}

static void guard_release(belongings* mine, void* bad) {
  (void)mine;
  __cxa_guard_release((uint8_t*)bad);
}

static void guard_abort(belongings* mine, void* bad) {
  (void)mine;
  __cxa_guard_abort((uint8_t*)bad);
}

static void hold(belongings* mine, void* bad) {
  (void)mine;
  if (janus_hold_try(bad) == 1) janus_hold_end(bad);
}

static void floating_text(belongings* mine, void* bad) {
  (void)mine;
  size_t zeros_at, zeros;
  janus_write_floating((char*)bad, 0x4005bf0a8b145769u, 'f', 6, 0, &zeros_at, &zeros);
}

static void floating_zeros(belongings* mine, void* bad) {
  (void)mine;
  char text[1096];
  size_t zeros;
  janus_write_floating(text, 0x4005bf0a8b145769u, 'f', 6, 0, (size_t*)bad, &zeros);
  janus_write_floating(text, 0x4005bf0a8b145769u, 'f', 6, 0, &zeros, (size_t*)bad);
}

static void mutex_lock(belongings* mine, void* bad) {
  (void)mine;
  janus_mutex_lock_until((janus_mutex*)bad, 1);  // the last 8 bytes that are mapped may be a mutex
}

static void mutex_unlock(belongings* mine, void* bad) {
  (void)mine;
  janus_mutex_unlock((janus_mutex*)bad);
}

static void cond_wait(belongings* mine, void* bad) {
  (void)mine;
  janus_mutex mutex = {0};
  janus_mutex_lock(&mutex);
  janus_cond_wait_until((janus_cond*)bad, &mutex, 1);
}

static void cond_mutex(belongings* mine, void* bad) {
  (void)mine;
  janus_cond cond = {0};
  janus_cond_wait(&cond, (janus_mutex*)bad);
}

static void rwlock_read(belongings* mine, void* bad) {
  (void)mine;
  janus_rwlock_read_lock_until((janus_rwlock*)bad, 1);
}

static void rwlock_write(belongings* mine, void* bad) {
  (void)mine;
  janus_rwlock_write_lock_until((janus_rwlock*)bad, 1);
}

static void semaphore_init(belongings* mine, void* bad) {
  (void)mine;
  janus_semaphore_init((janus_semaphore*)bad, 1);
}

static void semaphore_release(belongings* mine, void* bad) {
  (void)mine;
  janus_semaphore_release((janus_semaphore*)bad, 1);
}

static void barrier_init(belongings* mine, void* bad) {
  (void)mine;
  janus_barrier_init((janus_barrier*)bad, 1);
}

static void event_set(belongings* mine, void* bad) {
  (void)mine;
  janus_event_set((janus_event*)bad);
}

static int wants_any(const void* message, void* arg) {
  return message != arg;
}

static void mailbox_send(belongings* mine, void* bad) {
  janus_mailbox_send(mine->mailbox, bad);
}

static void mailbox_recv(belongings* mine, void* bad) {
  char message[64] = {0};
  janus_mailbox_try_send(mine->mailbox, message);
  janus_mailbox_recv(mine->mailbox, bad);
}

static void mailbox_recv_match(belongings* mine, void* bad) {
  char message[64] = {0};
  janus_mailbox_try_send(mine->mailbox, message);
  janus_mailbox_recv_match(mine->mailbox, wants_any, NULL, bad);
}

static void mailbox_filter(belongings* mine, void* bad) {
  char message[64] = {0};
  janus_mailbox_try_send(mine->mailbox, message);
  janus_mailbox_recv_match(mine->mailbox, (int (*)(const void*, void*))(uintptr_t)bad, NULL, message);
}

static void supervisor_options(belongings* mine, void* bad) {
  (void)mine;
  janus_supervisor_open(NULL, (const janus_supervisor_options*)bad);
}

static void supervisor_name(belongings* mine, void* bad) {
  (void)mine;
  const janus_supervisor_options options = {.name = (const char*)bad};
  janus_supervisor_close(janus_supervisor_open(NULL, &options));
}

static void supervisor_spec(belongings* mine, void* bad) {
  janus_supervisor_add(mine->supervisor, (const janus_child_spec*)bad);
}

static void supervisor_child_name(belongings* mine, void* bad) {
  const janus_child_spec spec = {.start = return_nothing, .name = (const char*)bad};
  janus_supervisor_add(mine->supervisor, &spec);
}

static void supervisor_start(belongings* mine, void* bad) {
  const janus_child_spec spec = {.start = (janus_task_fn)(uintptr_t)bad};
  if (janus_supervisor_add(mine->supervisor, &spec) > 0) janus_supervisor_run(mine->supervisor);
}

static void supervisor_children(belongings* mine, void* bad) {
  const janus_child_spec spec = {.start = return_nothing};
  janus_supervisor_add(mine->supervisor, &spec);
  janus_supervisor_children(mine->supervisor, (janus_child*)bad, 1);
}

static void once_object(belongings* mine, void* bad) {
  (void)mine;
  janus_once_call_until((janus_once*)bad, call_nothing, NULL, 1);
}

static void once_function(belongings* mine, void* bad) {
  (void)mine;
  janus_once once = {0};
  janus_once_call(&once, (void (*)(void*))(uintptr_t)bad, NULL);
}

static const attempt attempts[] = {
    {open_options, "open: options", 0},
    {open_name, "open: name", 0},
    {spawn_options, "spawn: options", 0},
    {spawn_name, "spawn: name", 0},
    {spawn_fn, "spawn: function", 1},
    {fork_results, "fork_join: results", 1},
    {fork_own, "fork_join: own function", 1},
    {fork_other, "fork_join: other function", 1},
    {shield_fn, "shield: function", 1},
    {usage_out, "usage", 1},
    {withdraw_amount, "withdraw", 1},
    {keep_low, "keep", 0},
    {next_result, "next", 1},
    {try_result, "try_result", 1},
    {await_result, "await", 1},
    {join_result, "join", 1},
    {task_result, "task_result", 1},
    {set_name, "set_name", 0},
    {panic_why, "panic", 0},
    {local_new, "local_new", 1},
    {local_new_inherited, "local_new_inherited", 1},
    {send_element, "send", 0},
    {try_send_element, "try_send", 0},
    {recv_element, "recv", 1},
    {try_recv_element, "try_recv", 1},
    {send_many_elements, "send_many", 0},
    {recv_many_elements, "recv_many", 1},
    {select_cases, "select: cases", 0},
    {select_data, "select: data", 0},
    {print_format, "print: format", 0},
    {print_text, "print: %s", 0},
    {print_length, "print: %.64s", 0},
    {write_bytes, "write", 0},
    {entropy_bytes, "entropy", 1},
    {stats_out, "stats", 1},
    {worker_stats_out, "worker_stats", 1},
    {try_init, "try_init", 0},
    {create_config, "rt_create", 0},
    {guard_acquire, "guard_acquire", 0},
    {guard_release, "guard_release", 1},
    {guard_abort, "guard_abort", 0},
    {hold, "hold", 0},
    {floating_text, "write_floating: text", 1},
    {floating_zeros, "write_floating: zeros", 1},
    {mailbox_send, "mailbox_send", 0},
    {mailbox_recv, "mailbox_recv", 1},
    {mailbox_recv_match, "mailbox_recv_match", 1},
    {mailbox_filter, "mailbox_recv_match: filter", 1},
    {supervisor_options, "supervisor_open: options", 0},
    {supervisor_name, "supervisor_open: name", 0},
    {supervisor_spec, "supervisor_add: spec", 0},
    {supervisor_child_name, "supervisor_add: name", 0},
    {supervisor_start, "supervisor_add: start", 1},
    {supervisor_children, "supervisor_children", 1},
    {mutex_lock, "mutex_lock", 1},
    {mutex_unlock, "mutex_unlock", 1},
    {cond_wait, "cond_wait", 1},
    {cond_mutex, "cond_wait: mutex", 0},
    {rwlock_read, "rwlock_read_lock", 1},
    {rwlock_write, "rwlock_write_lock", 1},
    {semaphore_init, "semaphore_init", 1},
    {semaphore_release, "semaphore_release", 1},
    {barrier_init, "barrier_init", 1},
    {event_set, "event_set", 1},
    {once_object, "once_call", 1},
    {once_function, "once_call: function", 1},
};
enum { kAttempts = sizeof attempts / sizeof *attempts };

typedef struct call {
  const attempt* attempt;
  void* bad;
} call;

static int64_t make_call(void* arg) {
  const call* what = (const call*)arg;
  belongings mine;
  if (prepare(&mine) < 0) return -77;
  what->attempt->make(&mine, what->bad);
  release(&mine);
  return 0;
}

static long panics;

// Runs in a cage of its own: objects of a panicked task are freed with the cage, as far as the runtime knows them.
static int64_t one_call(void* arg) {
  const call* what = (const call*)arg;
  janus_budget budget = roomy();
  budget.syscalls = 60000;
  const long status = run_in_cage(budget, make_call, arg);
  if (status != 0 && status != JANUS_PANIC) {
    janus_print(1, "%s at %p: ", what->attempt->name, what->bad);
    CHECK_EQ(status, JANUS_PANIC);
  }
  panics += status == JANUS_PANIC;
  return 0;
}

// Without a kernel there are no calls that map pages, but nothing is mapped behind the program's last page.
static void find_an_edge(void) {
  extern char _end[];
  const int64_t pages = janus_syscall(SYS_mmap, NULL, 8192, 3, 0x22, -1, 0);
  if (pages < 0) {
    edge = (char*)(((uintptr_t)_end + 4095) & ~(uintptr_t)4095);
    return;
  }
  edge = (char*)(uintptr_t)pages + 4096;
  CHECK_EQ(janus_syscall(SYS_munmap, edge, 4096), 0);
  memset(edge - 4096, 'x', 4096);
}

static int64_t attack(void* unused) {
  (void)unused;
  void* const bad[] = {UNMAPPED,
                       (void*)8,
                       edge - 1,
                       edge - 8,
                       (void*)(uintptr_t)0x8000000000000000u,
                       (void*)(uintptr_t)0xffffffffff600000u,
                       (void*)UINTPTR_MAX,
                       (void*)(UINTPTR_MAX - 15)};
  for (int i = 0; i < kAttempts; ++i) {
    for (unsigned k = 0; k < sizeof bad / sizeof *bad; ++k) {
      call what = {&attempts[i], bad[k]};
      one_call(&what);
    }
    call read_only = {&attempts[i], (void*)(uintptr_t)unwritable};
    if (attempts[i].writes) one_call(&read_only);
  }
  return 0;
}

int main(void) {
  open_null_file();
  const int stderr_before = (int)janus_syscall(SYS_dup, 2);
  if (!getenv("LOUD")) janus_syscall(SYS_dup2, null_file, 2);
  find_an_edge();
  attack(NULL);
  CHECK_THAT(panics, panics > 100);
  const accounts before = read_accounts();
  for (int i = 0; i < 8; ++i) CHECK_EQ(beside_a_neighbour(200, attack, NULL), 0);
  // What a panicked task has made stays, but for its nursery: some 3,000 bytes each, in 8 * 200 calls.
  CHECK_NOTHING_LOST(before, 8L * 125 * 8 * kAttempts);
  janus_syscall(SYS_dup2, stderr_before, 2);
  return end();
}
