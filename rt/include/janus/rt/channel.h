// SPDX-License-Identifier: Apache-2.0
// janus/rt/channel.h: channels, and waiting for one of several. A part of janus/rt.h.
#ifndef JANUS_RT_CHANNEL_H
#define JANUS_RT_CHANNEL_H

#include <janus/rt/handles.h>

#ifdef __cplusplus
extern "C" {
#endif

#define JANUS_SEND 0u
#define JANUS_RECV 1u

typedef struct janus_select_case {
  janus_channel* channel;  // NULL: never ready
  void* data;              // the element to send, or the buffer to receive into
  uint32_t op;             // JANUS_SEND or JANUS_RECV
  int32_t status;          // out, of the case taken: 0 or JANUS_E_CLOSED
} janus_select_case;

// Elements are copied in and out; tasks that wait are served in order. A send or receive costs 1 op, 1 more for each
// whole 4 KiB of the element, and 1 channel_op. If `channel` is NULL, a call's error is JANUS_E_INVALID.

// Creates a channel. An element has 0 bytes to 1 MiB. Capacity 0: a send waits for its receiver. The caller holds the
// only reference; the last release closes the channel and frees it [any].
janus_channel* janus_channel_create(size_t element_size, size_t capacity);
// Adds a reference. If that fails, returns NULL: JANUS_E_STALE, or JANUS_E_STATE beyond 2^31 references [any].
janus_channel* janus_channel_retain(janus_channel* channel);
// Drops a reference. For a channel that has ended it does nothing, and janus_last_error gives JANUS_E_STALE [any].
void janus_channel_release(janus_channel* channel);
// Sends an element. 0, JANUS_E_CLOSED or JANUS_CANCELLED; on failure the element was not taken [task].
int janus_channel_send(janus_channel* channel, const void* element);
// Receives an element. 0, JANUS_E_CLOSED once closed and drained, or JANUS_CANCELLED [task].
int janus_channel_recv(janus_channel* channel, void* element);
// The same until janus_now_ns() is `deadline_ns` (0: for ever): then JANUS_E_TIMEOUT, and no element has moved. A
// deadline that has passed does not wait [task].
int janus_channel_send_until(janus_channel* channel, const void* element, uint64_t deadline_ns);
int janus_channel_recv_until(janus_channel* channel, void* element, uint64_t deadline_ns);
// Sends up to `n` elements that lie one after the other: waits as janus_channel_send while it has sent none, then sends what
// can be sent at once. Returns how many, or JANUS_E_CLOSED, JANUS_CANCELLED or another error if none; an error after the
// first element is the next call's. Others get their turn after every 64 KiB, or 256 waiting tasks served. `n` 0 sends
// nothing; above INT_MAX: JANUS_E_INVALID. Costs 1 op, 1 more for each whole 4 KiB, 1 for each waiting task that it serves
// but the first, and 1 channel_op for each element; those that the budget does not pay are not sent [task].
int janus_channel_send_many(janus_channel* channel, const void* elements, size_t n);
// Receives up to `n` elements: as janus_channel_send_many, but JANUS_E_CLOSED comes once the channel is drained [task].
int janus_channel_recv_many(janus_channel* channel, void* elements, size_t n);
// As janus_channel_send, but returns JANUS_E_WOULD_BLOCK instead of waiting; a cancelled task can send, too [any].
int janus_channel_try_send(janus_channel* channel, const void* element);
// As janus_channel_recv, but returns JANUS_E_WOULD_BLOCK instead of waiting; a cancelled task can receive, too [any].
int janus_channel_try_recv(janus_channel* channel, void* element);
// Closes the channel: senders get JANUS_E_CLOSED from now on, receivers once the channel is drained. A second close
// returns JANUS_E_CLOSED [any].
int janus_channel_close(janus_channel* channel);
// Waits until one of `count` cases (0 to 1,024) is ready, and takes it: sends or receives its element, or finds its channel
// closed. Returns its index, and sets its status; if several are ready, each is as likely as the others. A case whose
// channel is NULL is never ready; two cases may have the same channel. Timeout 0 polls, below 0 waits for ever. No case
// taken: JANUS_E_TIMEOUT; JANUS_CANCELLED, but not from a poll; JANUS_E_INVALID, JANUS_E_STALE: a case that cannot be;
// JANUS_E_NO_MEMORY or JANUS_E_BUDGET: the memory for more than 8 cases. Costs 1 op, 1 more for every 8 cases, what the
// element taken costs, and 1 channel_op [task].
int janus_select(janus_select_case* cases, size_t count, int64_t timeout_ns);
// The same until janus_now_ns() is `deadline_ns` (0: for ever) [task].
int janus_select_until(janus_select_case* cases, size_t count, uint64_t deadline_ns);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // JANUS_RT_CHANNEL_H
