// SPDX-License-Identifier: Apache-2.0
// rt/mem/chunk_index.h — finds a chunk that has what is wanted without a look at the others. Of each chunk it keeps a
// few numbers, a *column* each, and over each column the largest of 64 and of 64 times 64 chunks: so that a search
// looks at three times 64 numbers at most, and so does a change. The chunks are those of a page heap, under its lock.
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

  // What an index is made of to begin with, zeroes; the caller keeps it until destroy().
  static constexpr std::size_t kBytes = 4096;
  void init(std::byte* zeroes) noexcept { top_ = reinterpret_cast<Top*>(zeroes); }
  void destroy() noexcept;

  // Before anything is said of a chunk, and of all before it. False: the machine has no memory for that.
  [[nodiscard]] bool cover(std::size_t chunk) noexcept;
  [[nodiscard]] std::size_t bytes_mapped() const noexcept;

  [[nodiscard]] unsigned at(std::size_t chunk, unsigned column) const noexcept {
    return static_cast<unsigned>(node_of(chunk).values[column][chunk % kFanOut]);
  }
  void set(std::size_t chunk, unsigned column, unsigned value) noexcept;
  // Each column to at least that.
  void raise(std::size_t chunk, const unsigned (&least)[kColumns]) noexcept {
    const Node& node = node_of(chunk);
    for (unsigned column = 0; column < kColumns; column++)
      if (node.values[column][chunk % kFanOut] < static_cast<int>(least[column])) set(chunk, column, least[column]);
  }
  // The first or last chunk whose number is at least `least`, which is not 0; kNone.
  [[nodiscard]] std::size_t first(unsigned column, unsigned least) const noexcept;
  [[nodiscard]] std::size_t last(unsigned column, unsigned least) const noexcept;

 private:
  // Signed, as the vector unit that we compile for compares them.
  struct Node {
    std::int16_t values[kColumns][kFanOut];
  };
  // 4,096 chunks, which are 16 GiB. Only what chunks with small numbers need is ever touched.
  struct Part {
    Node of_chunks[kFanOut];
    Node of_nodes;
  };
  struct Top {
    Node of_parts;
    Part* parts[kFanOut];  // those that are covered, from the first on
    unsigned count;
  };
  static_assert(sizeof(Top) <= kBytes);

  [[nodiscard]] const Node& node_of(std::size_t chunk) const noexcept {
    return top_->parts[chunk / kFanOut / kFanOut]->of_chunks[chunk / kFanOut % kFanOut];
  }
  // From the top to a chunk: place_in(node) says where to go on; ~0: nowhere, which only the top may say.
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
