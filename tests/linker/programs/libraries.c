// SPDX-License-Identifier: Apache-2.0
// libraries.c: Debian's zlib, lz4, zstd and BearSSL in tasks: compressed data must be restored, and a digest must be
// right. Exit status 0, or one bit for each library that failed.
#include <bearssl.h>
#include <janus/rt.h>
#include <lz4.h>
#include <lz4frame.h>
#include <lz4hc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum { SIZE = 200000, ROOM = 2 * SIZE };

struct work {
  char *plain, *packed, *unpacked;
};

static struct work prepare(void) {
  struct work w = {malloc(SIZE), malloc(ROOM), calloc(1, SIZE)};
  if (w.plain == NULL || w.packed == NULL || w.unpacked == NULL) janus_task_panic("no memory to work with");
  uint32_t x = (uint32_t)janus_task_id();
  for (int i = 0; i < SIZE; i++) {
    x = x * 1664525u + 1013904223u;
    w.plain[i] = (char)(i % 1000 < 500 ? i / 7 % 61 : (int)(x >> 28));
  }
  return w;
}

static int64_t finish(struct work w, int ok, int64_t bit) {
  const int same = memcmp(w.plain, w.unpacked, SIZE) == 0;
  free(w.plain);
  free(w.packed);
  free(w.unpacked);
  return ok && same ? 0 : -1000 - bit;
}

static int64_t zlib_task(void* arg) {
  (void)arg;
  struct work w = prepare();
  uLongf packed = ROOM, unpacked = SIZE;
  const int ok = compress2((Bytef*)w.packed, &packed, (Bytef*)w.plain, SIZE, 9) == Z_OK &&
                 uncompress((Bytef*)w.unpacked, &unpacked, (Bytef*)w.packed, packed) == Z_OK && unpacked == SIZE;
  return finish(w, ok, 1);
}

static int64_t lz4_task(void* arg) {
  (void)arg;
  struct work w = prepare();
  const int packed = LZ4_compress_default(w.plain, w.packed, SIZE, ROOM);
  return finish(w, packed > 0 && LZ4_decompress_safe(w.packed, w.unpacked, packed, SIZE) == SIZE, 2);
}

static int64_t lz4hc_task(void* arg) {
  (void)arg;
  struct work w = prepare();
  const int packed = LZ4_compress_HC(w.plain, w.packed, SIZE, ROOM, 9);
  return finish(w, packed > 0 && LZ4_decompress_safe(w.packed, w.unpacked, packed, SIZE) == SIZE, 2);
}

static int64_t lz4frame_task(void* arg) {
  (void)arg;
  struct work w = prepare();
  const size_t packed = LZ4F_compressFrame(w.packed, ROOM, w.plain, SIZE, NULL);
  size_t in = packed, out = SIZE;
  LZ4F_dctx* context = NULL;
  LZ4F_createDecompressionContext(&context, LZ4F_VERSION);
  const int ok =
      !LZ4F_isError(packed) && LZ4F_decompress(context, w.unpacked, &out, w.packed, &in, NULL) == 0 && out == SIZE;
  LZ4F_freeDecompressionContext(context);
  return finish(w, ok, 2);
}

static int64_t zstd_task(void* arg) {
  struct work w = prepare();
  const size_t packed = ZSTD_compress(w.packed, ROOM, w.plain, SIZE, *(const int*)arg);
  return finish(w, !ZSTD_isError(packed) && ZSTD_decompress(w.unpacked, SIZE, w.packed, packed) == SIZE, 4);
}

static int64_t sha256_task(void* arg) {
  (void)arg;
  static const char million_as[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
  br_sha256_context context;
  br_sha256_init(&context);
  for (int i = 0; i < 100000; i++) br_sha256_update(&context, "aaaaaaaaaa", 10);
  unsigned char digest[br_sha256_SIZE];
  br_sha256_out(&context, digest);
  char text[2 * sizeof digest + 1];
  for (size_t i = 0; i < sizeof digest; i++) snprintf(text + 2 * i, 3, "%02x", digest[i]);
  return strcmp(text, million_as) == 0 ? 0 : -1000 - 8;
}

// Writes and reads a gzip file with zlib's own calls of open, write, read and lseek.
static int64_t gzip_file_task(void* arg) {
  struct work w = prepare();
  gzFile file = gzopen(arg, "wb");
  int ok = file != NULL && gzwrite(file, w.plain, SIZE) == SIZE;
  ok = file != NULL && gzclose(file) == Z_OK && ok;
  file = gzopen(arg, "rb");
  ok = ok && file != NULL && gzread(file, w.unpacked, SIZE) == SIZE;
  ok = file != NULL && gzclose(file) == Z_OK && ok;
  ok = ok && gzopen("/nowhere/at/all", "rb") == NULL;
  return finish(w, ok, 1);
}

int main(int argc, char** argv) {
  static int levels[] = {1, 3, 19};
  const struct {
    janus_task_fn fn;
    void* arg;
  } jobs[] = {{zlib_task, NULL},
              {lz4_task, NULL},
              {lz4hc_task, NULL},
              {lz4frame_task, NULL},
              {zstd_task, &levels[0]},
              {zstd_task, &levels[1]},
              {zstd_task, &levels[2]},
              {sha256_task, NULL},
              {gzip_file_task, argc > 1 ? argv[1] : "/tmp/janus-libraries.gz"}};
  enum { JOBS = sizeof jobs / sizeof *jobs };
  const janus_spawn_options options = {.stack_size = 1 << 18};
  const janus_nursery_options collect = {.on_error = JANUS_ON_ERROR_COLLECT};
  janus_nursery* nursery = janus_nursery_open(NULL, &collect);
  janus_task tasks[JOBS];
  for (int i = 0; i < JOBS; i++) tasks[i] = janus_nursery_spawn_in(nursery, jobs[i].fn, jobs[i].arg, &options);
  int failed = 0;
  for (int i = 0; i < JOBS; i++) {
    int64_t result = -1;
    if (janus_task_join(tasks[i], &result) != 0 || result != 0) {
      janus_print(2, "job %d: %lld\n", i, (long long)result);
      failed |= result <= -1000 ? (int)(-1000 - result) : 16;
    }
  }
  janus_nursery_await(nursery, NULL);
  janus_nursery_destroy(nursery);
  return failed;
}
