// SPDX-License-Identifier: Apache-2.0
// ll_signature.h — how a function is called: its convention, result, parameters, and their attributes.
#pragma once

#include <cstddef>

#include "ll_module.h"

namespace janus::lower {

// Reads the head of a function, from behind `define` or `declare` to behind the ) of its parameters, where `at` stands
// then. False: there is no result type, name or list of parameters.
bool parse_head(const Tokens& tokens, std::size_t& at, Function& function);
// What the function type at token `i` tells: neither a convention nor attributes.
Signature signature_of_type(const Tokens& tokens, std::size_t i);

// The token behind an attribute with its argument, if any.
std::size_t behind_attribute(const Tokens& tokens, std::size_t i);
// Behind !dbg !5, !dbg !DIKind(...) or !name !{...}.
std::size_t behind_attachment(const Tokens& tokens, std::size_t i);

}  // namespace janus::lower
