// SPDX-License-Identifier: Apache-2.0
// stream.h: what a FILE is. Output goes out at once, by janus_write, so only what was read ahead is kept here, and only
// those who read, seek or do both with one stream take its lock.
#pragma once

#include <stdint.h>
#include <stdio.h>

enum { kReads = 1, kWrites = 2 };  // struct __janus_file::mode
enum { kPushBack = 8 };            // bytes that ungetc() has room for, whatever was read

struct __janus_file {
  int fd;
  unsigned mode;
  int error, eof;
  uint32_t lock;     // only its address counts: a task reads or seeks
  uint32_t at, end;  // what was read ahead: bytes[at] to bytes[end]
  unsigned char bytes[kPushBack + BUFSIZ];
};

#define JANUS_C_INTERNAL __attribute__((__visibility__("hidden")))

// The task's until it unlocks or ends, also in the middle of a read that its budget does not reach for. 0 if it was
// cancelled while another one had it, or has no memory to hold it; the stream then has an error.
JANUS_C_INTERNAL int janus_stream_lock(FILE* file);
JANUS_C_INTERNAL void janus_stream_unlock(FILE* file);

// Under the lock: the kernel's position becomes the stream's, if it has one. 0, or -1.
JANUS_C_INTERNAL int janus_stream_forget_ahead(FILE* file);

// Marks the stream and sets errno; EOF, so that callers can give that back.
JANUS_C_INTERNAL int janus_stream_fail(FILE* file, int error);
