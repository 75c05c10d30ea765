// SPDX-License-Identifier: Apache-2.0
#include "rt/mem/misuse.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "rt/platform.h"

namespace janus {

namespace {

constinit std::atomic<MisuseHandler> handler_in_force{nullptr};

// One line in one write, built by hand: the formatter lives above this layer's needs.
class Line {
 public:
  void add(const char* text) noexcept {
    while (*text != 0 && used_ < sizeof bytes_ - 1) bytes_[used_++] = *text++;
  }
  void add_hex(std::uintptr_t value) noexcept {
    add("0x");
    int shift = 60;
    while (shift > 0 && (value >> shift) == 0) shift -= 4;
    for (; shift >= 0 && used_ < sizeof bytes_ - 1; shift -= 4)
      bytes_[used_++] = "0123456789abcdef"[value >> shift & 15];
  }
  void write() noexcept {
    bytes_[used_++] = '\n';
    (void)platform::write(2, bytes_, used_);
  }

 private:
  std::size_t used_ = 0;
  char bytes_[160];
};

}  // namespace

void on_heap_misuse(MisuseHandler handler) noexcept {
  handler_in_force.store(handler, std::memory_order_release);
}

void heap_misuse(const char* what, const void* block) noexcept {
  if (MisuseHandler handler = handler_in_force.load(std::memory_order_acquire)) handler(what, block);
  Line line;
  line.add("janus: heap: ");
  line.add(what);
  line.add(" ");
  line.add_hex(reinterpret_cast<std::uintptr_t>(block));
  line.write();
  platform::abort();
}

}  // namespace janus
