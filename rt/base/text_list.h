// SPDX-License-Identifier: Apache-2.0
// rt/base/text_list.h — a list of texts in one array of characters, each text ended by its '\0'. An array of pointers
// would need a relocation for each text.
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
