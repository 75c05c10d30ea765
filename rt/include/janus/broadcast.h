// SPDX-License-Identifier: Apache-2.0
// janus/broadcast.h: broadcast channels: every reader gets every element, but the sender never waits for one. Of the last
// elements as many are kept as the channel has room for; a reader that falls further behind is told how many it missed.
// C99 and C++11; may be included alone.
//
// Channel and readers are plain memory, and nothing has to be freed. They are for the tasks of one runtime. The channel
// stands in memory that outlives them, such as the stack of who awaits their nursery. A task that ends in the middle of a
// call leaves the channel whole; an element that it was sending is not sent. A task whose budget has nothing left waits for
// a recharge also within a call (JANUS_ON_EXHAUSTION_SUSPEND), and so do all who call meanwhile. NULL is JANUS_E_INVALID; any other bad pointer
// is the caller's panic. A call that may wait returns JANUS_CANCELLED in a cancelled task.
#ifndef JANUS_BROADCAST_H
#define JANUS_BROADCAST_H

#include <janus/rt/result.h>
#include <janus/rt/yield.h>
#include <janus/sync.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct janus_broadcast {
  janus_mutex mutex;
  janus_cond changed;
  uint64_t sent;    // elements so far: the number of the next one
  uint64_t oldest;  // the number of the oldest that is kept
  size_t element_size, capacity;
  unsigned char* elements;
  uint64_t is_closed;
} janus_broadcast;

// A reader's place. All bytes zero: at the oldest element that is kept.
typedef struct janus_broadcast_reader {
  uint64_t next;  // the number of the element that it reads next
} janus_broadcast_reader;

// Sets up a channel that keeps up to `capacity` elements, at `elements`. JANUS_E_INVALID: a capacity of 0 [any].
static inline int janus_broadcast_init(janus_broadcast* channel, void* elements, size_t element_size, size_t capacity) {
  if (!channel || capacity == 0 || (!elements && element_size != 0)) return JANUS_E_INVALID;
  __builtin_memset(channel, 0, sizeof *channel);
  channel->element_size = element_size;
  channel->capacity = capacity;
  __builtin_memcpy(&channel->elements, &elements, sizeof elements);
  return 0;
}

// Sets up a reader of what is sent from now on [any].
static inline int janus_broadcast_subscribe(janus_broadcast* channel, janus_broadcast_reader* reader) {
  if (!channel || !reader) return JANUS_E_INVALID;
  reader->next = __atomic_load_n(&channel->sent, __ATOMIC_ACQUIRE);
  return 0;
}

// A helper of the calls below: the answer to who has locked the mutex, or waited, by a call that answered `answer`. What the
// mutex guards is whole at all times, so a holder that ended without unlocking it has done no harm.
static inline int janus_broadcast_held_(janus_broadcast* channel, int answer) {
  return answer == JANUS_E_STATE ? janus_mutex_heal(&channel->mutex) : answer;
}

// Sends an element to all readers; it takes the place of the oldest if there is no room. 0, JANUS_E_CLOSED or
// JANUS_CANCELLED. Costs 2 ops, and 1 for each reader that waits but the first [task].
static inline int janus_broadcast_send(janus_broadcast* channel, const void* element) {
  int answer = JANUS_E_INVALID;
  if (!channel || (!element && channel->element_size != 0)) return answer;
  answer = janus_broadcast_held_(channel, janus_mutex_lock(&channel->mutex));
  if (answer != 0) return answer;
  if (channel->is_closed) {
    answer = JANUS_E_CLOSED;
  } else {
    // Who waits goes on when the mutex is free, also if this task ends before it has unlocked it.
    (void)janus_cond_broadcast(&channel->changed);
    if (channel->sent >= channel->capacity) channel->oldest = channel->sent - channel->capacity + 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);  // a task may end between any two instructions
    if (element && channel->element_size != 0)
      __builtin_memcpy(channel->elements + channel->sent % channel->capacity * channel->element_size, element,
                       channel->element_size);
    __atomic_store_n(&channel->sent, channel->sent + 1, __ATOMIC_RELEASE);
  }
  (void)janus_mutex_unlock(&channel->mutex);
  return answer;
}

// Receives the reader's next element: waits for it until janus_now_ns() is `deadline_ns` (0: for ever). `*missed`, if given:
// how many elements before this one the reader has missed. JANUS_E_TIMEOUT; JANUS_CANCELLED; JANUS_E_CLOSED once the
// channel is closed and the reader has read all [task].
static inline int janus_broadcast_recv_until(janus_broadcast* channel, janus_broadcast_reader* reader, void* element,
                                             uint64_t* missed, uint64_t deadline_ns) {
  uint64_t at = 0;
  int answer = JANUS_E_INVALID;
  if (!channel || !reader || (!element && channel->element_size != 0)) return answer;
  answer = janus_broadcast_held_(channel, janus_mutex_lock_until(&channel->mutex, deadline_ns));
  if (answer != 0) return answer;
  for (;;) {
    at = reader->next < channel->oldest ? channel->oldest : reader->next;
    if (at < channel->sent) break;
    if (channel->is_closed) answer = JANUS_E_CLOSED;
    if (answer != 0) {
      (void)janus_mutex_unlock(&channel->mutex);
      return answer;
    }
    answer = janus_broadcast_held_(channel, janus_cond_wait_until(&channel->changed, &channel->mutex, deadline_ns));
  }
  if (element && channel->element_size != 0)
    __builtin_memcpy(element, channel->elements + at % channel->capacity * channel->element_size,
                     channel->element_size);
  if (missed) *missed = at - reader->next;
  reader->next = at + 1;
  (void)janus_mutex_unlock(&channel->mutex);
  return 0;
}
static inline int janus_broadcast_recv(janus_broadcast* channel, janus_broadcast_reader* reader, void* element,
                                       uint64_t* missed) {
  return janus_broadcast_recv_until(channel, reader, element, missed, 0);
}

// Of the call below, in a shield.
struct janus_broadcast_closing {
  janus_broadcast* channel;
  int answer;
};
static inline int64_t janus_broadcast_close_in_shield_(void* arg) {
  struct janus_broadcast_closing* closing = NULL;
  janus_broadcast* channel = NULL;
  __builtin_memcpy(&closing, &arg, sizeof arg);
  channel = closing->channel;
  closing->answer = janus_broadcast_held_(channel, janus_mutex_lock(&channel->mutex));
  if (closing->answer != 0) return 0;
  (void)janus_cond_broadcast(&channel->changed);
  if (channel->is_closed) closing->answer = JANUS_E_CLOSED;
  channel->is_closed = 1;
  (void)janus_mutex_unlock(&channel->mutex);
  return 0;
}
// Closes the channel: no element is sent any more, and readers get JANUS_E_CLOSED once they have read what is kept. A second
// close returns JANUS_E_CLOSED. Works in a cancelled task, too [task].
static inline int janus_broadcast_close(janus_broadcast* channel) {
  struct janus_broadcast_closing closing = {channel, JANUS_E_INVALID};
  if (channel && janus_shield(janus_broadcast_close_in_shield_, &closing) != 0) closing.answer = JANUS_E_NO_TASK;
  return closing.answer;
}

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // JANUS_BROADCAST_H
