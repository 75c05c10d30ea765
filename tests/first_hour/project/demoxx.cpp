// SPDX-License-Identifier: Apache-2.0
#include <janus/rt.hpp>
#include <map>
#include <string>

#include "greet.h"

int main() {
  const std::map<int, std::string> names = {{17, "C++17"}, {20, "C++20"}};
  janus::Nursery nursery;
  auto task = nursery.spawn([&] { return greet(names.at(20).c_str()); });
  return task.join().value();
}
