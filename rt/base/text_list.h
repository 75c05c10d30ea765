// SPDX-License-Identifier: Apache-2.0
// rt/base/text_list.h — texts that stand one behind the other, each with its terminator: pointers to them would have to be
// relocated.
#pragma once

namespace janus {

// The text number `n`, from 0.
constexpr const char* nth_text(const char* texts, long n) noexcept {
  for (; n > 0; --n) {
    while (*texts != '\0') ++texts;
    ++texts;
  }
  return texts;
}

}  // namespace janus
