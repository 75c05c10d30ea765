// SPDX-License-Identifier: Apache-2.0
// runner.cpp — selects, runs and reports the registered tests as TAP 13. Needs nothing but emit().
#include <atomic>
#include <initializer_list>

#include "tests/harness/test.h"

// The linker names both ends of the section that TEST fills.
extern "C" const janus::test::Case* __start_janus_tests[] __attribute__((visibility("hidden")));
extern "C" const janus::test::Case* __stop_janus_tests[] __attribute__((visibility("hidden")));

namespace janus::test {
namespace {

// One line, composed here and emitted in one piece, so that lines of several threads do not mix.
class Line {
 public:
  Line& text(const char* s) {
    while (*s != '\0') put(*s++);
    return *this;
  }
  Line& number(std::uint64_t value, unsigned base = 10) {
    char digits[24];
    unsigned count = 0;
    do digits[count++] = "0123456789abcdef"[value % base];
    while ((value /= base) != 0);
    while (count != 0) put(digits[--count]);
    return *this;
  }
  Line& value(Shown shown) {
    switch (shown.kind) {
      case Shown::kBool:
        return text(shown.bits != 0 ? "true" : "false");
      case Shown::kPointer:
        return text("0x").number(shown.bits, 16);
      case Shown::kUnsigned:
        return number(shown.bits);
      case Shown::kSigned:
        return static_cast<std::int64_t>(shown.bits) < 0 ? text("-").number(~shown.bits + 1) : number(shown.bits);
      case Shown::kOther:
        break;
    }
    return text("(something)");
  }
  void end() {
    bytes_[length_++] = '\n';
    emit(bytes_, length_);
  }

 private:
  void put(char c) {
    if (length_ < sizeof bytes_ - 1) bytes_[length_++] = c == '\n' ? ' ' : c;
  }
  std::size_t length_ = 0;
  char bytes_[1024];
};

std::atomic<unsigned> failures{0};  // of the running test; relaxed: read after the test joined its threads
const char* skipped = nullptr;      // why the running test is skipped
char** environment_ = nullptr;

bool is_text(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

bool starts_with(const char* text, const char* start) {
  while (*start != '\0' && *text == *start) ++text, ++start;
  return *start == '\0';
}

// Whether `part` is in "suite.name", of which the three pieces are searched as one text.
bool is_selected_by(const Case& test, const char* part) {
  char whole[512];
  std::size_t length = 0;
  for (const char* piece : {test.suite, ".", test.name})
    while (*piece != '\0' && length < sizeof whole - 1) whole[length++] = *piece++;
  whole[length] = '\0';
  for (const char* at = whole; *at != '\0'; ++at)
    if (starts_with(at, part)) return true;
  return false;
}

bool comes_before(const Case& a, const Case& b) {
  if (is_text(a.file, b.file)) return a.line < b.line;
  const char *left = a.file, *right = b.file;
  while (*left == *right) ++left, ++right;
  return *left < *right;
}

// Restores the order of the sources, since compilers differ in the order within a section.
void sort_tests() {
  for (auto end = __start_janus_tests; end != __stop_janus_tests; ++end) {
    const Case* moving = *end;
    auto place = end;
    for (; place != __start_janus_tests && comes_before(*moving, *place[-1]); --place) *place = place[-1];
    *place = moving;
  }
}

struct Selection {
  int argc;
  char** argv;
  bool has(const Case& test) const {
    bool any = false;
    for (int i = 1; i < argc; ++i) {
      if (argv[i][0] == '-') continue;
      if (is_selected_by(test, argv[i])) return true;
      any = true;
    }
    return !any;
  }
  bool asks(const char* option) const {
    for (int i = 1; i < argc; ++i)
      if (is_text(argv[i], option)) return true;
    return false;
  }
};

unsigned count(const Selection& selection) {
  unsigned selected = 0;
  for (auto at = __start_janus_tests; at != __stop_janus_tests; ++at) selected += selection.has(**at);
  return selected;
}

void list(const Selection& selection) {
  for (auto at = __start_janus_tests; at != __stop_janus_tests; ++at)
    if (selection.has(**at)) Line{}.text((*at)->suite).text(".").text((*at)->name).end();
}

// True if it passed or was skipped.
bool run_one(const Case& test, unsigned index) {
  failures.store(0, std::memory_order_relaxed);
  skipped = nullptr;
  Line{}.text("# ").text(test.suite).text(".").text(test.name).end();  // names the test if it crashes or hangs
  test.run();
  const bool passed = failures.load(std::memory_order_relaxed) == 0;
  Line line;
  line.text(passed ? "ok " : "not ok ").number(index).text(" - ").text(test.suite).text(".").text(test.name);
  if (passed && skipped != nullptr) line.text(" # SKIP ").text(skipped);
  line.end();
  return passed;
}

bool failed_at(const char* file, int line, const char* claim, const char* detail, Line& out) {
  failures.fetch_add(1, std::memory_order_relaxed);
  out.text("# ").text(file).text(":").number(static_cast<std::uint64_t>(line)).text(": does not hold: ").text(claim);
  out.text(detail);
  return false;
}

}  // namespace

bool check(bool held, const char* file, int line, const char* claim) {
  if (held) return true;
  Line out;
  failed_at(file, line, claim, "", out);
  out.end();
  return false;
}

bool check_values(bool held, const char* file, int line, const char* claim, Shown left, Shown right) {
  if (held) return true;
  Line out;
  failed_at(file, line, claim, "; left ", out);
  out.value(left).text(", right ").value(right).end();
  return false;
}

bool check_text(const char* left, const char* right, const char* file, int line, const char* claim) {
  if (left != nullptr && right != nullptr && is_text(left, right)) return true;
  Line out;
  failed_at(file, line, claim, "; left ", out);
  out.text(left != nullptr ? left : "(null)").text(", right ").text(right != nullptr ? right : "(null)").end();
  return false;
}

void skip(const char* why) {
  skipped = why;
}

void note(const char* what, std::uint64_t value) {
  Line{}.text("# ").text(what).text(": ").number(value).end();
}

void note(const char* what, const char* value) {
  Line{}.text("# ").text(what).text(": ").text(value).end();
}

const char* environment(const char* name) {
  for (char** at = environment_; at != nullptr && *at != nullptr; ++at) {
    if (!starts_with(*at, name)) continue;
    const char* rest = *at;
    for (const char* n = name; *n != '\0'; ++n) ++rest;
    if (*rest == '=') return rest + 1;
  }
  return nullptr;
}

std::uint64_t environment_number(const char* name, std::uint64_t otherwise) {
  const char* text = environment(name);
  if (text == nullptr || *text < '0' || *text > '9') return otherwise;
  std::uint64_t value = 0;
  for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + static_cast<std::uint64_t>(*text - '0');
  return value;
}

int run_all(int argc, char** argv, char** envp) {
  environment_ = envp;
  sort_tests();
  const Selection selection{argc, argv};
  const unsigned selected = count(selection);
  if (selection.asks("--list")) {
    list(selection);
    return selected != 0 ? 0 : 2;
  }
  if (selected == 0) {
    Line{}.text("Bail out! no test has that name").end();
    return 2;
  }
  Line{}.text("TAP version 13").end();
  Line{}.text("1..").number(selected).end();
  unsigned index = 0, failed = 0;
  for (auto at = __start_janus_tests; at != __stop_janus_tests; ++at)
    if (selection.has(**at)) failed += !run_one(**at, ++index);
  return failed != 0 ? 1 : 0;
}

}  // namespace janus::test
