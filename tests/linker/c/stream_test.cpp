// SPDX-License-Identifier: Apache-2.0
// stream_test.cpp: streams compared with glibc's on files of equal content, and their errors when the file fails.
#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "rt/include/janus/rt.h"
#include "tests/harness/test.h"
#include "tests/linker/c/runtime.h"

struct Stream;  // the FILE of the library under test

extern "C" {
extern Stream *jc_stdin, *jc_stdout, *jc_stderr;
int* jc___errno_location();
Stream* jc_fopen(const char*, const char*);
Stream* jc_fdopen(int, const char*);
int jc_fclose(Stream*);
int jc_fflush(Stream*);
int jc_fileno(Stream*);
int jc_feof(Stream*);
int jc_ferror(Stream*);
void jc_clearerr(Stream*);
int jc_setvbuf(Stream*, char*, int, std::size_t);
std::size_t jc_fread(void*, std::size_t, std::size_t, Stream*);
char* jc_fgets(char*, int, Stream*);
int jc_fgetc(Stream*);
int jc_ungetc(int, Stream*);
std::size_t jc_fwrite(const void*, std::size_t, std::size_t, Stream*);
int jc_fputs(const char*, Stream*);
int jc_fputc(int, Stream*);
int jc_fprintf(Stream*, const char*, ...);
int jc_fseek(Stream*, long, int);
long jc_ftell(Stream*);
void jc_rewind(Stream*);
int jc_fgetpos(Stream*, long*);
int jc_fsetpos(Stream*, const long*);
int jc_remove(const char*);
int jc_rename(const char*, const char*);
int jc___fprintf_chk(Stream*, int, const char*, ...);
char* jc___fgets_chk(char*, std::size_t, int, Stream*);
}

namespace {

int& our_errno() {
  return *jc___errno_location();
}

// Two files of equal content, one for each library.
class Pair {
 public:
  explicit Pair(const std::string& text) {
    for (std::string& path : path_) {
      char name[] = "/tmp/janus-stream-XXXXXX";
      const int fd = mkstemp(name);
      path = name;
      if (write(fd, text.data(), text.size()) < 0) abort();
      close(fd);
    }
  }
  ~Pair() {
    for (const std::string& path : path_) unlink(path.c_str());
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  const char* ours() const { return path_[0].c_str(); }
  const char* theirs() const { return path_[1].c_str(); }

  static std::string text_of(const char* path) {
    std::string text;
    std::FILE* file = std::fopen(path, "r");
    for (int c; (c = std::fgetc(file)) != EOF;) text += static_cast<char>(c);
    std::fclose(file);
    return text;
  }

 private:
  std::string path_[2];
};

std::string lines(int count) {
  std::string text;
  for (int i = 0; i < count; i++)
    text.append(static_cast<std::size_t>(i * 37 % 90), static_cast<char>('a' + i % 26)) += '\n';
  return text;
}

// A random sequence of the same steps in both libraries. A read may follow a write only after a seek.
class Walk {
 public:
  Walk(const Pair& pair, unsigned seed)
      : state_(seed), ours_(jc_fopen(pair.ours(), "r+")), theirs_(std::fopen(pair.theirs(), "r+")) {}
  ~Walk() {
    jc_fclose(ours_);
    std::fclose(theirs_);
  }
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  // Does one step; returns what differed, or nullptr.
  const char* step() {
    switch (next(8)) {
      case 0:
        return seek();
      case 1:
        return jc_fgetc(ours_) == std::fgetc(theirs_) ? nullptr : "fgetc";
      case 2:
        return read(1 + next(4), next(50));
      case 3:
        return read(1, 900 + next(3000));
      case 4:
        return line(static_cast<int>(1 + next(200)));
      case 5:
        return unget();
      case 6:
        return put();
      default:
        return state();
    }
  }

 private:
  unsigned next(unsigned below) {
    state_ = state_ * 1664525 + 1013904223;
    return (state_ >> 8) % below;
  }

  const char* state() {
    if (jc_ftell(ours_) != std::ftell(theirs_)) return "ftell";
    if ((jc_feof(ours_) != 0) != (std::feof(theirs_) != 0)) return "feof";
    return (jc_ferror(ours_) != 0) == (std::ferror(theirs_) != 0) ? nullptr : "ferror";
  }
  const char* seek() {
    const int whence = static_cast<int>(next(3));
    const long offset = static_cast<long>(next(3000)) - 1500;
    return jc_fseek(ours_, offset, whence) == std::fseek(theirs_, offset, whence) ? state() : "fseek";
  }
  const char* read(std::size_t size, std::size_t count) {
    char left[5000] = {}, right[5000] = {};
    if (jc_fread(left, size, count, ours_) != std::fread(right, size, count, theirs_)) return "items of fread";
    return memcmp(left, right, sizeof left) == 0 ? nullptr : "bytes of fread";
  }
  const char* line(int size) {
    char left[200] = {}, right[200] = {};
    if ((jc_fgets(left, size, ours_) == nullptr) != (std::fgets(right, size, theirs_) == nullptr)) return "fgets";
    return memcmp(left, right, sizeof left) == 0 ? nullptr : "bytes of fgets";
  }
  const char* unget() {
    const int left = jc_fgetc(ours_), right = std::fgetc(theirs_);
    if (left != right) return "fgetc before ungetc";
    return jc_ungetc(left, ours_) == std::ungetc(right, theirs_) ? nullptr : "ungetc";
  }
  const char* put() {
    const long to = static_cast<long>(next(4000));
    if (jc_fseek(ours_, to, SEEK_SET) != std::fseek(theirs_, to, SEEK_SET)) return "fseek before a write";
    const unsigned value = next(100000);
    if (jc_fprintf(ours_, "<%*u>", 500, value) != std::fprintf(theirs_, "<%*u>", 500, value)) return "fprintf";
    if (jc_fputs("put", ours_) < 0 || std::fputs("put", theirs_) < 0 ||
        jc_fputc('\n', ours_) != std::fputc('\n', theirs_))
      return "fputs";
    return seek();
  }

  unsigned state_;
  Stream* ours_;
  std::FILE* theirs_;
};

}  // namespace

TEST(stream, walks_over_a_file_are_as_with_glibc) {
  for (unsigned seed = 1; seed <= 40; seed++) {
    const Pair pair(lines(200));
    {
      Walk walk(pair, seed);
      for (int i = 0; i < 300; i++) {
        const char* differs = walk.step();
        if (differs != nullptr) CHECK_STREQ(differs, "");
        REQUIRE(differs == nullptr);
      }
    }
    CHECK(Pair::text_of(pair.ours()) == Pair::text_of(pair.theirs()));
  }
}

TEST(stream, reading_ahead_does_not_move_the_position_of_writes) {
  const Pair pair("0123456789");
  Stream* file = jc_fopen(pair.ours(), "r+");
  CHECK_EQ(jc_fgetc(file), '0');
  CHECK_EQ(jc_fputc('x', file), 'x');
  CHECK_EQ(jc_fgetc(file), '2');
  CHECK_EQ(jc_fclose(file), 0);
  CHECK(Pair::text_of(pair.ours()) == "0x23456789");
}

TEST(stream, modes_open_as_they_say) {
  const Pair pair("old");
  Stream* file = jc_fopen(pair.ours(), "a");
  CHECK_EQ(jc_fwrite(" new", 2, 2, file), 2u);
  CHECK_EQ(jc_fgetc(file), EOF);
  CHECK_EQ(our_errno(), EBADF);
  CHECK(jc_ferror(file) != 0);
  jc_fclose(file);
  CHECK(Pair::text_of(pair.ours()) == "old new");
  CHECK(jc_fopen(pair.ours(), "wx") == nullptr);
  CHECK_EQ(our_errno(), EEXIST);
  file = jc_fopen(pair.ours(), "rb");
  CHECK_EQ(jc_fputc('x', file), EOF);
  CHECK_EQ(our_errno(), EBADF);
  jc_clearerr(file);
  CHECK_EQ(jc_ferror(file), 0);
  CHECK_EQ(jc_fgetc(file), 'o');
  jc_fclose(file);
  jc_fclose(jc_fopen(pair.ours(), "w+"));
  CHECK(Pair::text_of(pair.ours()).empty());
  CHECK(jc_fopen(pair.ours(), "z") == nullptr);
  CHECK_EQ(our_errno(), EINVAL);
  CHECK(jc_fopen("/nowhere/at/all", "r") == nullptr);
  CHECK_EQ(our_errno(), ENOENT);
}

TEST(stream, without_memory_there_is_no_stream_and_no_descriptor_left_open) {
  const Pair pair("x");
  const int before = dup(0);
  close(before);
  our_errno() = 0;
  runtime::blocks_left = 0;
  Stream* file = jc_fopen(pair.ours(), "r");
  runtime::blocks_left = -1;
  CHECK(file == nullptr);
  CHECK_EQ(our_errno(), ENOMEM);
  const int after = dup(0);
  close(after);
  CHECK_EQ(before, after);
}

TEST(stream, a_text_longer_than_a_line_needs_memory_and_says_when_there_is_none) {
  const Pair pair("");
  Stream* file = jc_fopen(pair.ours(), "w");
  CHECK_EQ(jc_fprintf(file, "%300d", 7), 300);
  runtime::blocks_left = 0;
  CHECK_EQ(jc_fprintf(file, "%300d", 7), -1);
  CHECK_EQ(our_errno(), ENOMEM);
  CHECK_EQ(jc_fprintf(file, "%200d", 7), 200);
  runtime::blocks_left = -1;
  jc_fclose(file);
  CHECK_EQ(Pair::text_of(pair.ours()).size(), 500u);
}

TEST(stream, a_failed_write_is_an_error_that_stays_until_cleared) {
  Stream* full = jc_fopen("/dev/full", "w");
  CHECK_EQ(jc_fputs("text", full), EOF);
  CHECK_EQ(our_errno(), ENOSPC);
  CHECK(jc_ferror(full) != 0);
  CHECK_EQ(jc_fwrite("text", 1, 4, full), 0u);
  CHECK_EQ(jc_fprintf(full, "text"), -1);
  jc_clearerr(full);
  CHECK_EQ(jc_ferror(full), 0);
  CHECK_EQ(jc_fclose(full), 0);
}

TEST(stream, a_failed_read_is_no_end_of_file) {
  const Pair pair("text");
  Stream* file = jc_fopen(pair.ours(), "r");
  char line[8];
  runtime::scripted_answer = -EIO;
  CHECK_EQ(jc_fgetc(file), EOF);
  CHECK(jc_fgets(line, sizeof line, file) == nullptr);
  runtime::scripted_answer = 0;
  CHECK_EQ(jc_feof(file), 0);
  CHECK(jc_ferror(file) != 0);
  CHECK(jc_fgets(line, sizeof line, file) == line);
  CHECK_STREQ(line, "text");
  CHECK_EQ(jc_fgetc(file), EOF);
  CHECK(jc_feof(file) != 0);
  jc_rewind(file);
  CHECK_EQ(jc_feof(file) + jc_ferror(file), 0);
  CHECK_EQ(jc_fgetc(file), 't');
  jc_fclose(file);
}

TEST(stream, a_pipe_is_read_to_its_end_and_keeps_what_was_read_ahead) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  REQUIRE(write(ends[1], "ab\ncd", 5) == 5);
  close(ends[1]);
  Stream* file = jc_fdopen(ends[0], "r");
  CHECK_EQ(jc_fgetc(file), 'a');
  CHECK_EQ(jc_fflush(file), 0);  // the read-ahead bytes cannot be put back, so fflush must not drop them
  CHECK_EQ(jc_ftell(file), -1L);
  CHECK_EQ(our_errno(), ESPIPE);
  char line[8];
  CHECK(jc_fgets(line, sizeof line, file) == line);
  CHECK_STREQ(line, "b\n");
  CHECK(jc_fgets(line, sizeof line, file) == line);
  CHECK_STREQ(line, "cd");
  CHECK(jc_fgets(line, sizeof line, file) == nullptr);
  jc_fclose(file);
}

TEST(stream, a_descriptor_must_be_open_and_allow_what_is_asked_of_it) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  CHECK(jc_fdopen(ends[0], "w") == nullptr);
  CHECK_EQ(our_errno(), EINVAL);
  CHECK(jc_fdopen(ends[1], "r") == nullptr);
  CHECK_EQ(our_errno(), EINVAL);
  CHECK(jc_fdopen(ends[1], "w+") == nullptr);
  CHECK_EQ(our_errno(), EINVAL);
  Stream* file = jc_fdopen(ends[1], "a");
  REQUIRE(file != nullptr);
  jc_fclose(file);
  close(ends[0]);
  CHECK(jc_fdopen(ends[0], "r") == nullptr);
  CHECK_EQ(our_errno(), EBADF);
  CHECK(jc_fdopen(-1, "r") == nullptr);
  CHECK_EQ(our_errno(), EBADF);
}

TEST(stream, eight_characters_can_be_put_back_before_anything_was_read) {
  const Pair pair("Z");
  Stream* file = jc_fopen(pair.ours(), "r");
  for (int i = 0; i < 8; i++) CHECK_EQ(jc_ungetc('0' + i, file), '0' + i);
  CHECK_EQ(jc_ungetc('8', file), EOF);
  CHECK_EQ(jc_ungetc(EOF, file), EOF);
  for (int i = 7; i >= 0; i--) CHECK_EQ(jc_fgetc(file), '0' + i);
  CHECK_EQ(jc_fgetc(file), 'Z');
  jc_fclose(file);
}

TEST(stream, positions_can_be_kept) {
  const Pair pair(lines(20));
  Stream* file = jc_fopen(pair.ours(), "r");
  char first[64], again[64];
  jc_fgets(first, 40, file);
  long position = 0;
  CHECK_EQ(jc_fgetpos(file, &position), 0);
  jc_fgets(first, 60, file);
  CHECK_EQ(jc_fsetpos(file, &position), 0);
  jc_fgets(again, 60, file);
  CHECK_STREQ(first, again);
  jc_fclose(file);
}

TEST(stream, the_three_standard_ones_are_there_and_unbuffered) {
  CHECK_EQ(jc_fileno(jc_stdin), 0);
  CHECK_EQ(jc_fileno(jc_stdout), 1);
  CHECK_EQ(jc_fileno(jc_stderr), 2);
  CHECK_EQ(jc_setvbuf(jc_stdout, nullptr, _IONBF, 0), 0);
  CHECK(jc_setvbuf(jc_stdout, nullptr, _IOFBF, 100) != 0);
  CHECK_EQ(jc_fflush(nullptr), 0);
  CHECK_EQ(jc_fflush(jc_stdout), 0);
}

TEST(stream, sizes_that_overflow_move_nothing) {
  const Pair pair("text");
  Stream* file = jc_fopen(pair.ours(), "r+");
  char byte = 'y';
  CHECK_EQ(jc_fread(&byte, SIZE_MAX / 2, 3, file), 0u);
  CHECK_EQ(jc_fwrite(&byte, SIZE_MAX / 2, 3, file), 0u);
  CHECK(jc_ferror(file) != 0);
  CHECK_EQ(jc_fread(&byte, 0, 3, file) + jc_fread(&byte, 3, 0, file), 0u);
  CHECK_EQ(byte, 'y');
  jc_fclose(file);
}

TEST(stream, files_and_empty_directories_are_removed_and_renamed) {
  char directory[] = "/tmp/janus-stream-XXXXXX";
  REQUIRE(mkdtemp(directory) != nullptr);
  const std::string inside = std::string(directory) + "/file", other = inside + "2";
  jc_fclose(jc_fopen(inside.c_str(), "w"));
  CHECK_EQ(jc_remove(directory), -1);
  CHECK_EQ(our_errno(), ENOTEMPTY);
  CHECK_EQ(jc_rename(inside.c_str(), other.c_str()), 0);
  CHECK_EQ(jc_remove(inside.c_str()), -1);
  CHECK_EQ(our_errno(), ENOENT);
  CHECK_EQ(jc_remove(other.c_str()), 0);
  CHECK_EQ(jc_remove(directory), 0);
  CHECK_EQ(access(directory, F_OK), -1);
}

TEST(stream, the_checked_forms_know_the_room) {
  const Pair pair("1234567\n");
  Stream* file = jc_fopen(pair.ours(), "r+");
  char line[8];
  CHECK(jc___fgets_chk(line, sizeof line, 8, file) == line);
  CHECK_STREQ(line, "1234567");
  static Stream* shared;
  shared = file;
  CHECK(!runtime::survives([] {
    char small[4];
    jc___fgets_chk(small, sizeof small, 5, shared);
  }));
  CHECK_STREQ(runtime::panic_text, "buffer overflow detected");
  CHECK_EQ(jc___fprintf_chk(file, 1, "%d", 42), 2);
  jc_fclose(file);
  CHECK(Pair::text_of(pair.ours()) == "123456742");
}
