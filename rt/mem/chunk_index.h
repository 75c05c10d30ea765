// SPDX-License-Identifier: Apache-2.0
// rt/mem/chunk_index.h — finds a chunk (4 MiB of the heap) by its properties without looking at all others: a tree of
// three levels. It keeps a few numbers of each chunk, one in each *column*, and for each column the largest number of
// every 64 and of every 64 * 64 chunks. So a search reads at most three times 64 numbers, and so does a change. It
// belongs to a page heap, and is guarded by that heap's lock. docs/decisions/0210
#pragma once

#include <cstddef>
#include <cstdint>

namespace janus {

class ChunkIndex {
  static constexpr unsigned kFanOut = 64;

 public:
  static constexpr std::size_t kChunks = std::size_t{kFanOut} * kFanOut * kFanOut;
  static constexpr unsigned kColumns = 10;
  static constexpr std::size_t kNone = kChunks;

  // `zeroes` are kBytes bytes of the caller, all zero, which the index uses until destroy().
  static constexpr std::size_t kBytes = 4096;
  void init(std::byte* zeroes) noexcept { top_ = reinterpret_cast<Top*>(zeroes); }
  void destroy() noexcept;

  // Makes room for this chunk and all before it; called before any other function with them. False: the machine has no
  // memory.
  [[nodiscard]] bool cover(std::size_t chunk) noexcept;
  [[nodiscard]] std::size_t bytes_mapped() const noexcept;

  [[nodiscard]] unsigned at(std::size_t chunk, unsigned column) const noexcept {
    return static_cast<unsigned>(node_of(chunk).values[column][chunk % kFanOut]);
  }
  void set(std::size_t chunk, unsigned column, unsigned value) noexcept;
  // Raises the chunk's number in each column to at least `least`.
  void raise(std::size_t chunk, const unsigned (&least)[kColumns]) noexcept {
    const Node& node = node_of(chunk);
    for (unsigned column = 0; column < kColumns; column++)
      if (node.values[column][chunk % kFanOut] < static_cast<int>(least[column])) set(chunk, column, least[column]);
  }
  // The first or last chunk whose number in `column` is at least `least`, which is not 0; kNone: there is none.
  [[nodiscard]] std::size_t first(unsigned column, unsigned least) const noexcept;
  [[nodiscard]] std::size_t last(unsigned column, unsigned least) const noexcept;

 private:
  // Signed, since the vector instructions that we compile for compare signed numbers.
  struct Node {
    std::int16_t values[kColumns][kFanOut];
  };
  // The numbers of 4,096 chunks, which are 16 GiB. Only the nodes of chunks that there are get pages.
  struct Part {
    Node of_chunks[kFanOut];
    Node of_nodes;
  };
  struct Top {
    Node of_parts;
    Part* parts[kFanOut];  // the first `count` are mapped
    unsigned count;
  };
  static_assert(sizeof(Top) <= kBytes);

  [[nodiscard]] const Node& node_of(std::size_t chunk) const noexcept {
    return top_->parts[chunk / kFanOut / kFanOut]->of_chunks[chunk / kFanOut % kFanOut];
  }
  // Goes from the top down to a chunk. place_in(node) returns the place to go on with; ~0 if there is none, which can
  // happen at the top only.
  template <class F>
  [[nodiscard]] std::size_t descend(F place_in) const noexcept {
    const unsigned part = place_in(top_->of_parts);
    if (part == ~0u) return kNone;
    const unsigned node = place_in(top_->parts[part]->of_nodes);
    const unsigned chunk = place_in(top_->parts[part]->of_chunks[node]);
    return (std::size_t{part} * kFanOut + node) * kFanOut + chunk;
  }

  Top* top_ = nullptr;
};

}  // namespace janus
