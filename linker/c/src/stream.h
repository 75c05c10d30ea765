// SPDX-License-Identifier: Apache-2.0
// stream.h: struct __janus_file, which is FILE. Output is written at once, by janus_write, so the buffer only holds
// bytes that were read ahead. The lock is taken to read or seek, and to write to a stream that can be read.
// docs/decisions/0196
#pragma once

#include <stdint.h>
#include <stdio.h>

enum { kReads = 1, kWrites = 2 };  // struct __janus_file::mode
enum { kPushBack = 8 };            // bytes that ungetc() always has room for

struct __janus_file {
  int fd;
  unsigned mode;
  int error, eof;
  uint32_t lock;     // only its address is used, to identify the lock
  uint32_t at, end;  // bytes[at] to bytes[end - 1] were read ahead
  unsigned char bytes[kPushBack + BUFSIZ];
};

#define JANUS_C_INTERNAL __attribute__((__visibility__("hidden")))

// Waits for the stream's lock. The task holds it until it unlocks or ends, even if it ends in the middle of a read
// because its budget is exhausted. Returns 0, with the stream's error set, if the task was cancelled while another task
// had the lock, or if there is no memory for the lock.
JANUS_C_INTERNAL int janus_stream_lock(FILE* file);
JANUS_C_INTERNAL void janus_stream_unlock(FILE* file);

// Call with the lock held. Drops the bytes that were read ahead and moves the kernel's position back to the stream's.
// Returns 0. -1: the kernel did not move its position (a pipe has none), and the bytes are still there.
JANUS_C_INTERNAL int janus_stream_forget_ahead(FILE* file);

// Sets the stream's error mark and errno. Returns EOF, for the caller to return.
JANUS_C_INTERNAL int janus_stream_fail(FILE* file, int error);
