// SPDX-License-Identifier: Apache-2.0
// ll_signature.h — how a function is called: its convention, result, parameters, and their attributes.
#pragma once

#include <cstddef>
#include <string_view>

#include "ll_module.h"

namespace janus::lower {

// Reads the head of a function, from after `define` or `declare` to after the ) of its parameters, and moves `at`
// there. Returns false if there is no result type, name or list of parameters.
bool parse_head(const Tokens& tokens, std::size_t& at, Function& function);
// The signature as far as the function type at token `i` tells it: without convention and attributes.
Signature signature_of_type(const Tokens& tokens, std::size_t i);

// Whether a parameter's attribute stands here, and whether it makes the argument more than a value: byval, sret, ...
bool is_parameter_attribute(const Tokens& tokens, std::size_t i);
bool is_refused_attribute(std::string_view word);

// The token after an attribute and its argument, if it has one.
std::size_t behind_attribute(const Tokens& tokens, std::size_t i);
// The token after !dbg !5, !dbg !DIKind(...) or !name !{...}.
std::size_t behind_attachment(const Tokens& tokens, std::size_t i);

}  // namespace janus::lower
