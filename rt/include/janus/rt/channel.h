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
  void* data;              // what to send, or where to receive
  uint32_t op;             // JANUS_SEND or JANUS_RECV
  int32_t status;          // out, of the case taken: 0 or JANUS_E_CLOSED
} janus_select_case;

// Elements are copied in and out. First come, first served. Sends and receives cost 1 op and 1 channel_op; NULL
// channels are JANUS_E_INVALID.

// A new channel. Capacity 0: sender and receiver meet. The caller holds the one reference; the last release closes and
// frees [any].
janus_channel* janus_channel_create(size_t element_size, size_t capacity);
// One reference more. NULL: JANUS_E_STALE, or JANUS_E_STATE beyond 2^31 references [any].
janus_channel* janus_channel_retain(janus_channel* channel);
// One reference less. Of a channel that is gone: nothing, and JANUS_E_STALE behind janus_last_error [any].
void janus_channel_release(janus_channel* channel);
// Sends an element. 0, JANUS_E_CLOSED or JANUS_CANCELLED; what was not sent was not taken [task].
int janus_channel_send(janus_channel* channel, const void* element);
// Receives an element. 0, JANUS_E_CLOSED once closed and drained, or JANUS_CANCELLED [task].
int janus_channel_recv(janus_channel* channel, void* element);
// As janus_channel_send, but JANUS_E_WOULD_BLOCK in place of waiting [any].
int janus_channel_try_send(janus_channel* channel, const void* element);
// As janus_channel_recv, but JANUS_E_WOULD_BLOCK in place of waiting [any].
int janus_channel_try_recv(janus_channel* channel, void* element);
// Senders get JANUS_E_CLOSED from now on, receivers when they have drained it; so does a second close [any].
int janus_channel_close(janus_channel* channel);
// The index of the case taken, one at random among several that are ready. Timeout 0 polls, below 0 waits for ever.
// Nothing taken: JANUS_E_TIMEOUT or JANUS_CANCELLED. Not in this release: JANUS_E_UNSUPPORTED [task].
int janus_select(janus_select_case* cases, size_t count, int64_t timeout_ns);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // JANUS_RT_CHANNEL_H
