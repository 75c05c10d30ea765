// SPDX-License-Identifier: Apache-2.0
#include "rt/mem/chunk_index.h"

#include "rt/mem/pages.h"
#include "rt/platform.h"

namespace janus {

namespace {

constexpr unsigned kNoPlace = ~0u;

}  // namespace

bool ChunkIndex::cover(std::size_t chunk) noexcept {
  while (top_->count <= chunk / kFanOut / kFanOut) {
    std::byte* const zeroes = platform::map(round_up(sizeof(Part), kPageBytes));
    if (zeroes == nullptr) return false;
    top_->parts[top_->count++] = reinterpret_cast<Part*>(zeroes);
  }
  return true;
}

std::size_t ChunkIndex::bytes_mapped() const noexcept {
  return top_->count * round_up(sizeof(Part), kPageBytes);
}

void ChunkIndex::destroy() noexcept {
  while (top_->count != 0)
    platform::unmap(reinterpret_cast<std::byte*>(top_->parts[--top_->count]), round_up(sizeof(Part), kPageBytes));
}

void ChunkIndex::set(std::size_t chunk, unsigned column, unsigned value) noexcept {
  // Stores `number` at its place in the node, and then sets `number` to the largest number of the node, to be stored in
  // the node above. False: the place had that number already, so the nodes above need no change.
  const auto store = [column](Node& node, std::size_t place, std::int16_t& number) {
    std::int16_t* const values = node.values[column];
    if (values[place] == number) return false;
    values[place] = number;
    for (unsigned n = 0; n < kFanOut; n++) number = values[n] > number ? values[n] : number;
    return true;
  };
  const std::size_t node = chunk / kFanOut % kFanOut, number_of_part = chunk / kFanOut / kFanOut;
  Part& part = *top_->parts[number_of_part];
  auto number = static_cast<std::int16_t>(value);
  if (store(part.of_chunks[node], chunk % kFanOut, number) && store(part.of_nodes, node, number))
    (void)store(top_->of_parts, number_of_part, number);
}

std::size_t ChunkIndex::first(unsigned column, unsigned least) const noexcept {
  const auto place_in = [column, least](const Node& node) {
    unsigned n = 0;
    while (n < kFanOut && node.values[column][n] < static_cast<int>(least)) n++;
    return n < kFanOut ? n : kNoPlace;
  };
  return descend(place_in);
}

std::size_t ChunkIndex::last(unsigned column, unsigned least) const noexcept {
  const auto place_in = [column, least](const Node& node) {
    unsigned n = kFanOut;
    while (n > 0 && node.values[column][n - 1] < static_cast<int>(least)) n--;
    return n > 0 ? n - 1 : kNoPlace;
  };
  return descend(place_in);
}

}  // namespace janus
