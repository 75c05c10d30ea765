// SPDX-License-Identifier: Apache-2.0
#include "rt/mem/slab.h"

#include "tests/harness/test.h"

using namespace janus;

namespace {

struct Record {
  void* link;  // the slab's link while the record is free
  std::uint64_t generation;
  std::uint64_t rest[14];
};
static_assert(sizeof(Record) == 128);

struct Fixture {
  Slab slab;
  SlabCache one{}, two{};
  explicit Fixture(std::size_t bytes = sizeof(Record)) { CHECK(slab.init(bytes)); }
  ~Fixture() {
    slab.flush(one);
    slab.flush(two);
    CHECK_EQ(slab.count(), 0u);
    slab.destroy();
    CHECK_EQ(slab.bytes_mapped(), 0u);
  }
  Record* take(SlabCache* cache) { return static_cast<Record*>(slab.take(cache)); }
};

}  // namespace

TEST(slab, index_and_address_lead_to_each_other) {
  for (std::size_t bytes : {std::size_t{8}, std::size_t{48}, std::size_t{128}, std::size_t{200}, std::size_t{4096}}) {
    Fixture f(bytes);
    constexpr unsigned kCount = 5000;
    static void* objects[kCount];
    for (unsigned n = 0; n < kCount; n++) {
      objects[n] = f.slab.take(&f.one);
      REQUIRE(objects[n] != nullptr);
      if (f.slab.at(f.slab.index_of(objects[n])) != objects[n]) CHECK_EQ(n, bytes);
    }
    CHECK_EQ(f.slab.count(), kCount);
    for (unsigned n = 0; n < kCount; n++) f.slab.give(&f.one, objects[n]);
  }
}

TEST(slab, forged_indexes_belong_to_no_record) {
  Fixture f;
  Record* record = f.take(&f.one);
  for (std::uint32_t index : {Slab::kNoIndex, Slab::kNoIndex - 1, 0x80000000u, 2047u, 4096u})
    CHECK_EQ(f.slab.at(index), nullptr);
  f.slab.give(&f.one, record);
  CHECK_EQ(f.slab.at(f.slab.index_of(record)), record);  // type-stable: a freed record stays a record
}

TEST(slab, a_new_record_is_all_zeroes_and_an_old_one_keeps_its_generation) {
  Fixture f;
  Record* record = f.take(&f.one);
  CHECK_EQ(record->generation, 0u);
  for (std::uint64_t word : record->rest) CHECK_EQ(word, 0u);
  record->generation = 77;
  record->rest[13] = 78;
  const std::uint32_t index = f.slab.index_of(record);
  f.slab.give(&f.one, record);
  f.slab.flush(f.one);
  CHECK_EQ(static_cast<Record*>(f.slab.at(index))->generation, 77u);
  Record* others[100];
  bool seen = false;
  for (Record*& other : others) {
    other = f.take(&f.two);
    if (other == record) seen = other->generation == 77 && other->rest[13] == 78;
  }
  CHECK(seen);
  for (Record* other : others) f.slab.give(&f.two, other);
}

TEST(slab, hands_out_the_record_that_was_given_last) {
  Fixture f;
  Record* a = f.take(&f.one);
  Record* b = f.take(&f.one);
  f.slab.give(&f.one, a);
  f.slab.give(&f.one, b);
  CHECK_EQ(f.take(&f.one), b);
  CHECK_EQ(f.take(&f.one), a);
  f.slab.give(&f.one, a);
  f.slab.give(&f.one, b);
}

TEST(slab, records_that_another_worker_gives_come_back_round) {
  Fixture f;
  constexpr unsigned kCount = 10000;
  static Record* records[kCount];
  std::size_t mapped = 0;
  for (unsigned round = 0; round < 10; round++) {
    for (unsigned n = 0; n < kCount; n++) {
      records[n] = f.take(n % 97 == 0 ? nullptr : &f.one);
      REQUIRE(records[n] != nullptr);
      if (records[n]->rest[0] != 0) CHECK_EQ(n, round);  // a marked record is held already
      records[n]->rest[0] = 1;
    }
    CHECK_EQ(f.slab.count(), kCount);
    for (unsigned n = 0; n < kCount; n++) {
      records[n]->rest[0] = 0;
      f.slab.give(n % 89 == 0 ? nullptr : &f.two, records[n]);
    }
    CHECK_EQ(f.slab.count(), 0u);
    if (round == 0) mapped = f.slab.bytes_mapped();
  }
  CHECK_EQ(f.slab.bytes_mapped(), mapped);
}

TEST(slab, a_million_records_take_a_dozen_mappings) {
  Fixture f;
  Record* chain = nullptr;
  for (unsigned n = 0; n < 1000000; n++) {
    Record* record = f.take(&f.one);
    REQUIRE(record != nullptr);
    record->rest[0] = reinterpret_cast<std::uint64_t>(chain);
    chain = record;
  }
  CHECK_EQ(f.slab.count(), 1000000u);
  CHECK_LE(f.slab.mappings(), 13u);
  CHECK_LE(f.slab.bytes_mapped(), std::size_t{260} << 20);
  while (chain != nullptr) {
    Record* record = chain;
    chain = reinterpret_cast<Record*>(record->rest[0]);
    f.slab.give(&f.two, record);
  }
}

// The slab maps 1, 1, 2 and then 4 chunks of 256 KiB at once, of the last four only as many as its bound allows.
TEST(slab, is_full_at_its_bound_and_not_before) {
  for (const std::uint32_t most : {1u, 2u, 5u, 8u}) {
    Slab slab;
    SlabCache cache{};
    REQUIRE(slab.init(Slab::kMaxObjectBytes, most));
    std::size_t count = 0;
    while (count < 1000 && slab.take(&cache) != nullptr) ++count;
    CHECK_EQ(count, most * 63);  // each chunk has room for 63 records and its header
    CHECK_EQ(slab.take(nullptr), nullptr);
    CHECK_LE(slab.bytes_mapped(), (2 * most + 8) * (std::size_t{256} << 10));
    slab.give(&cache, slab.at(0));
    CHECK_EQ(slab.take(&cache), slab.at(0));
    slab.destroy();
  }
}

TEST(slab, refuses_senseless_sizes) {
  Slab slab;
  CHECK(!slab.init(128, Slab::kMaxChunks + 1));
  CHECK(!slab.init(0));
  CHECK(!slab.init(Slab::kMaxObjectBytes + 1));
}
