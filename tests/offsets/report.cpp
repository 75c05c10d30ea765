// SPDX-License-Identifier: Apache-2.0
// report.cpp — prints the claims as TAP.
#include "tests/offsets/report.h"

#include <cstdio>

namespace witness {

void Report::claim(const std::string& what, bool holds, const std::string& seen) {
  ++claims_;
  refused_ += !holds;
  std::printf("%s %d - %s\n", holds ? "ok" : "not ok", claims_, what.c_str());
  if (!holds && !seen.empty()) std::printf("# seen: %s\n", seen.c_str());
}

void Report::equal(const std::string& what, const std::string& seen, const std::string& wanted) {
  claim(what, seen == wanted, seen + "\n# not:  " + wanted);
}

int Report::finish() {
  std::printf("1..%d\n", claims_);
  return refused_ == 0 ? 0 : 1;
}

std::string text(const std::map<Value, Word>& stores) {
  std::string all;
  for (const auto& [address, word] : stores)
    all += (all.empty() ? "" : " ") + address.text() + ":" + std::to_string(word.bytes) + "=" + word.value.text();
  return all;
}

std::vector<Event> events(const Path& path, const std::string& what) {
  std::vector<Event> found;
  for (const auto& event : path.events)
    if (event.what == what) found.push_back(event);
  return found;
}

}  // namespace witness
