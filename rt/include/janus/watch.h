// SPDX-License-Identifier: Apache-2.0
// janus/watch.h: watch channels: one value that is set again and again, and readers that want the latest, not each. C99 and
// C++11; may be included alone.
//
// A broadcast channel that keeps one element; what janus/broadcast.h says of memory, of tasks that end and of errors holds
// here, too, but if a task ends in the middle of setting a value, there is none until the next is set, and readers wait.
#ifndef JANUS_WATCH_H
#define JANUS_WATCH_H

#include <janus/broadcast.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct janus_watch {
  janus_broadcast values;
} janus_watch;

// Sets up a watch of the value of `size` bytes at `value`: what stands there is the first one [any].
static inline int janus_watch_init(janus_watch* watch, void* value, size_t size) {
  const int answer = watch ? janus_broadcast_init(&watch->values, value, size, 1) : JANUS_E_INVALID;
  if (answer == 0) watch->values.sent = 1;
  return answer;
}
// Sets the value. 0, JANUS_E_CLOSED or JANUS_CANCELLED. Costs as janus_broadcast_send [task].
static inline int janus_watch_set(janus_watch* watch, const void* value) {
  return watch ? janus_broadcast_send(&watch->values, value) : JANUS_E_INVALID;
}
// Reads the present value, also after the close. 0 or JANUS_CANCELLED [task].
static inline int janus_watch_get(janus_watch* watch, void* value) {
  janus_broadcast_reader first = {0};
  return watch ? janus_broadcast_recv_until(&watch->values, &first, value, NULL, 0) : JANUS_E_INVALID;
}
// Waits until the value is another one than `reader` has read, and reads it; values in between are passed over. A reader
// of zero bytes gets the present value. JANUS_E_CLOSED once the watch is closed and the reader has the last; JANUS_E_TIMEOUT
// at `deadline_ns` (0: for ever); JANUS_CANCELLED [task].
static inline int janus_watch_next_until(janus_watch* watch, janus_broadcast_reader* reader, void* value,
                                         uint64_t deadline_ns) {
  return watch ? janus_broadcast_recv_until(&watch->values, reader, value, NULL, deadline_ns) : JANUS_E_INVALID;
}
static inline int janus_watch_next(janus_watch* watch, janus_broadcast_reader* reader, void* value) {
  return janus_watch_next_until(watch, reader, value, 0);
}
// Closes the watch, as janus_broadcast_close [task].
static inline int janus_watch_close(janus_watch* watch) {
  return watch ? janus_broadcast_close(&watch->values) : JANUS_E_INVALID;
}

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // JANUS_WATCH_H
