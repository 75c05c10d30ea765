// SPDX-License-Identifier: Apache-2.0
// types.h — types of LLVM IR as text in one spelling (tokens joined by spaces), so that two are the same if their texts are.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lexer.h"

namespace janus::lower {

struct ParsedType {
  std::string text;
  std::size_t end;                    // the token behind it
  std::optional<std::string> result;  // of a function type: the type of its result
  std::size_t parameters = 0;         // of a function type: the ( of its parameters
};

// Whether a type may begin at the token. It may begin with a local name (%x), which may be that of a named type.
bool begins_type(const Tokens& tokens, std::size_t i);
// Finds the aliases of a module. Each has to be defined before it is used, as LLVM wants it.
void read_type_aliases(Tokens& tokens);
// Parses the type at token `i`, if there is one. Aliases are replaced by the types that they stand for.
std::optional<ParsedType> parse_type(const Tokens& tokens, std::size_t i);

// N of iN, 0 for any other type.
unsigned integer_width(std::string_view type);
constexpr unsigned kMaxFitWidth = 128;
// Whether the decimal number fits into `width` bits, signed or unsigned. `width`: 1 to kMaxFitWidth.
bool fits(std::string_view digits, unsigned width);
bool is_pointer(std::string_view type);
// Whether values of the type can be in a record: not void, label, metadata, token, a function, a vector without a known
// length, or x86_mmx, of which clang has no zero.
bool is_storable(std::string_view type);
// Whether the target features of a function decide how the function takes or returns a value of the type: true for a
// vector, and for a type that may contain one. A helper and its callers may have different features, so such a value is
// passed in memory.
bool depends_on_features(std::string_view type);
// Whether a load of the type from a block that is aligned to 16 bytes must state an alignment that is smaller than the
// natural one.
bool may_be_overaligned(std::string_view type);

}  // namespace janus::lower
