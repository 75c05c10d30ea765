// SPDX-License-Identifier: Apache-2.0
// bank: two tellers transfer money between accounts, and a clerk reads the journal. Status 1 if money was made or lost. A
// transfer reads a balance, writes into the journal, and stores the new balance. If the journal is full, the teller waits there, and
// what another one does to the account meanwhile is undone. In most orders the clerk is fast enough. With -DLOCKED a mutex mends it.
#include <janus/rt.h>
#include <janus/sync.h>

enum { kAccounts = 3, kTellers = 2, kTransfers = 1, kJournal = 6, kBegin = 100 };

static long accounts[kAccounts];
static janus_channel* journal;
static janus_mutex lock;

static void enter(void) {
#ifdef LOCKED
  janus_mutex_lock(&lock);
#endif
}

static void leave(void) {
#ifdef LOCKED
  janus_mutex_unlock(&lock);
#endif
}

static void transfer(int from, int to, long amount) {
  enter();
  const long left = accounts[from] - amount;
  janus_channel_send(journal, &amount);
  accounts[from] = left;
  accounts[to] += amount;
  leave();
}

static int64_t teller(void* arg) {
  const int own = (int)(intptr_t)arg;
  for (int i = 0; i < kTransfers; i++) transfer(own, (own + 1 + i % 2) % kAccounts, 1 + i);
  return 0;
}

static int64_t clerk(void* arg) {
  (void)arg;
  for (long amount, i = 0; i < kTellers * kTransfers; i++) janus_channel_recv(journal, &amount);
  return 0;
}

int main(void) {
  journal = janus_channel_create(sizeof(long), kJournal);
  for (int i = 0; i < kAccounts; i++) accounts[i] = kBegin;
  janus_nursery* bank = janus_nursery_open(NULL, NULL);
  janus_nursery_spawn_in(bank, clerk, NULL, NULL);
  for (int i = 0; i < kTellers; i++) janus_nursery_spawn_in(bank, teller, (void*)(intptr_t)i, NULL);
  janus_nursery_await(bank, NULL);
  janus_nursery_destroy(bank);
  janus_channel_release(journal);
  long sum = 0;
  for (int i = 0; i < kAccounts; i++) sum += accounts[i];
  if (sum == (long)kAccounts * kBegin) return 0;
  janus_print(2, "bank: money was %s\n", sum < (long)kAccounts * kBegin ? "lost" : "made");
  return 1;
}
