// SPDX-License-Identifier: Apache-2.0
// garbage_test.cpp FIRST COUNT FILE... — janus-lower must survive any input: damaged copies of the files, one for each
// of COUNT seeds from FIRST on, in this process and under its sanitizers. It fails if an input takes kMaxSeconds of
// processor time, or more memory than ASAN_OPTIONS=hard_rss_limit_mb allows. COUNT may be a time: `3600s`. Reports in
// TAP, failures with their seed; the messages of janus-lower go to /dev/null. With -DJANUS_LIBFUZZER it is a libFuzzer
// target.
#include <sanitizer/common_interface_defs.h>
#include <sys/time.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "ll_lower.h"
#include "qtjir.h"

namespace {

using janus::lower::Options;
using janus::lower::Source;

// Lowers the text with both front ends and for both kinds of pointers.
void lower(const std::string& text, std::uint64_t choice) {
  Options options;
  options.llvm_version = (choice & 1) != 0 ? 14 : 19;
  options.has_yield_checks = (choice & 6) != 0;
  Source source("garbage", text);
  const auto take = [](std::string_view) {};
  if ((choice & 8) != 0)
    (void)janus::lower::lower_qtjir(source, options, take);
  else
    (void)janus::lower::lower_ll(source, options, take);
}

#ifndef JANUS_LIBFUZZER

class Damage {
 public:
  explicit Damage(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}

  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  std::size_t below(std::size_t n) { return n == 0 ? 0 : next() % n; }

  void damage(std::string& text, const std::vector<std::string>& files) {
    for (std::size_t count = 1 + below(8); count != 0; --count) {
      const std::size_t at = below(text.size() + 1), length = std::min(below(40), text.size() - at);
      switch (below(8)) {
        case 0:
          text.erase(at, length);
          break;
        case 1:
          text.insert(at, 1, static_cast<char>(next()));
          break;
        case 2:
          text.insert(at, text.substr(at, length));
          break;
        case 3:
          text.insert(at, piece());
          break;
        case 4:
          text.resize(at);
          break;
        case 5:
          if (at < text.size()) text[at] = static_cast<char>(next());
          break;
        case 6: {
          const std::string& other = files[below(files.size())];
          text.insert(at, other.substr(below(other.size() + 1), below(200)));
          break;
        }
        default:
          text.replace(at, length, piece());
          break;
      }
    }
  }

 private:
  std::string piece() {
    static const char* const kPieces[] = {"%",           "@",         "!",
                                          "\"",          "{",         "}",
                                          "(",           ")",         "[",
                                          "]",           "<",         ">",
                                          ",",           "=",         ":",
                                          ";",           "define ",   "func ",
                                          "i64 ",        "ptr ",      "i128 ",
                                          "-1",          "label ",    "br ",
                                          "Spawn ",      "Await",     "fork",
                                          "Nursery_End", "Task_Join", "budget(",
                                          "all",         "ret ",      "musttail call ",
                                          "\0",          "phi ",      "switch "};
    return kPieces[below(std::size(kPieces))];
  }

  std::uint64_t state_;
};

constexpr unsigned kMaxSeconds = 20;
unsigned long current_seed;

void report_death() {
  std::printf("not ok 1 - seed %lu\n1..1\n", current_seed);
  std::fflush(stdout);
}

void report_hang(int) {
  report_death();
  std::_Exit(1);
}

// Allows `seconds` of processor time from now on; 0 means no limit.
void allow(unsigned seconds) {
  const itimerval limit{{0, 0}, {static_cast<time_t>(seconds), 0}};
  setitimer(ITIMER_VIRTUAL, &limit, nullptr);
}

// How many seeds to try: a count, or as many as a number of seconds allows.
class Limit {
 public:
  explicit Limit(const char* text) {
    char* end;
    const unsigned long number = std::strtoul(text, &end, 10);
    if (*end == 's')
      deadline_ = std::time(nullptr) + static_cast<std::time_t>(number);
    else
      count_ = number;
  }
  bool is_reached(unsigned long done) const {
    return deadline_ != 0 ? std::time(nullptr) >= deadline_ : done >= count_;
  }

 private:
  unsigned long count_ = 0;
  std::time_t deadline_ = 0;
};

#endif

}  // namespace

#ifdef JANUS_LIBFUZZER
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  lower(std::string(reinterpret_cast<const char*>(data) + 1, size - 1), data[0]);
  return 0;
}
#else
int main(int argc, char** argv) {
  std::vector<std::string> files;
  for (int i = 3; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  if (files.empty() || std::freopen("/dev/null", "w", stderr) == nullptr) return 2;
  __sanitizer_set_death_callback(report_death);
  std::signal(SIGVTALRM, report_hang);
  const unsigned long first = std::strtoul(argv[1], nullptr, 10);
  const Limit limit(argv[2]);
  for (current_seed = first; !limit.is_reached(current_seed - first); ++current_seed) {
    allow(kMaxSeconds);
    Damage damage(current_seed);
    std::string text = files[damage.below(files.size())];
    damage.damage(text, files);
    lower(text, damage.next());
  }
  allow(0);
  std::printf("ok 1 - janus-lower takes %lu damaged files\n1..1\n", current_seed - first);
}
#endif
