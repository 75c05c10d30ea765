// SPDX-License-Identifier: Apache-2.0
// siphash_test.cpp — compares with values of CPython 3.11 under PYTHONHASHSEED=0 (hash(b"abcdefgh")), and with an
// implementation that passes the test vector of the SipHash paper (SipHash-2-4).
#include "rt/base/siphash.h"

#include "tests/harness/test.h"

namespace {

using janus::siphash_1_3;

TEST(siphash, agrees_with_other_implementations) {
  constexpr std::uint64_t kNoKey[2] = {0, 0};
  CHECK_EQ(siphash_1_3(kNoKey, 0), 0xbd60acb658c79e45u);
  CHECK_EQ(siphash_1_3(kNoKey, 0x6867666564636261), 0x3f7b849c0b8e35eau);  // "abcdefgh"
  CHECK_EQ(siphash_1_3(kNoKey, 0x2168736148706953), 0x88155de33ff5b54du);  // "SipHash!"
  CHECK_EQ(siphash_1_3(kNoKey, ~std::uint64_t{0}), 0x2f205be2fec8e38du);
  constexpr std::uint64_t kKey[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
  CHECK_EQ(siphash_1_3(kKey, 0x0706050403020100), 0x369095118d299a8eu);
}

}  // namespace
