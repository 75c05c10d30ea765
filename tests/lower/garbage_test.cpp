// SPDX-License-Identifier: Apache-2.0
// garbage_test.cpp COUNT FILE... — janus-lower takes any bytes: damaged copies of the files, in this process and under its
// sanitizers. Reports in TAP; what it complains of goes to /dev/null. With -DJANUS_LIBFUZZER it is a target of libFuzzer.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "ll_lower.h"
#include "qtjir.h"

namespace {

using janus::lower::Options;
using janus::lower::Source;

// Lowers the text by both front ends and for both kinds of pointers.
void lower(const std::string& text, std::uint64_t choice) {
  Options options;
  options.llvm_version = (choice & 1) != 0 ? 14 : 19;
  options.has_yield_checks = (choice & 6) != 0;
  Source source("garbage", text);
  if ((choice & 8) != 0)
    (void)janus::lower::lower_qtjir(source, options);
  else
    (void)janus::lower::lower_ll(source, options);
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
  for (int i = 2; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  const unsigned long count = argc > 2 ? std::strtoul(argv[1], nullptr, 10) : 0;
  if (count == 0 || std::freopen("/dev/null", "w", stderr) == nullptr) return 2;
  for (unsigned long seed = 1; seed <= count; ++seed) {
    Damage damage(seed);
    std::string text = files[damage.below(files.size())];
    damage.damage(text, files);
    lower(text, damage.next());
  }
  std::printf("ok 1 - janus-lower takes %lu damaged files\n1..1\n", count);
}
#endif
