// SPDX-License-Identifier: Apache-2.0
#include "helpers.h"

#include <algorithm>
#include <charconv>

#include "helper_text.h"
#include "types.h"

namespace janus::lower {

namespace {

constexpr std::string_view kPrefix = "janus.";

// 0 if the text does not contain the prefix. Otherwise 1 more than the highest number that follows it, and at least 1.
unsigned free_number(std::string_view text) {
  constexpr unsigned kMaxNumber = 999999999;
  unsigned number = 0;
  for (std::size_t at = text.find(kPrefix); at != std::string_view::npos; at = text.find(kPrefix, at + 1)) {
    const std::string_view rest = text.substr(at + kPrefix.size(), 10);
    unsigned taken = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), taken);
    const bool is_numbered = error == std::errc() && end != rest.data() + rest.size() && *end == '.';
    number = std::max(number, is_numbered && taken <= kMaxNumber ? taken + 1 : 1);
  }
  return number;
}

}  // namespace

std::string Helpers::free_prefix(const Tokens& tokens) {
  unsigned number = free_number(tokens.source().text());
  for (const auto& [token, name] : tokens.escaped_names()) number = std::max(number, free_number(name));
  return number == 0 ? std::string(kPrefix) : text_of(kPrefix, std::to_string(number), ".");
}

std::string Helpers::once(const std::string& key, const std::function<std::string(const std::string&)>& generate) {
  if (const auto known = names_.find(key); known != names_.end()) return known->second;
  const bool is_plain = key.find(' ') == std::string::npos;
  std::string symbol =
      text_of("@", settings_.prefix,
              is_plain ? key : text_of(key.substr(0, key.find(' ')), ".", std::to_string(names_.size())));
  names_.emplace(key, symbol);
  const std::string definition = generate(symbol);
  (definitions_ += '\n') += definition;
  return symbol;
}

std::string Helpers::runtime(std::string_view name, std::string_view result, std::string_view parameters) {
  if (const auto known = declared_.find(name); known != declared_.end()) return known->second.symbol;
  // A module that declares the function itself may use other types. LLVM takes the escaped name for a different
  // function; the linker takes it for the same one.
  const bool is_taken = settings_.is_declared && settings_.is_declared(name);
  std::string symbol = is_taken ? text_of("@\"\\01", name, "\"") : text_of("@", name);
  declared_.emplace(name, Declared{symbol, text_of("declare ", result, " ", symbol, "(", parameters, ")\n")});
  return symbol;
}

void Helpers::hand_on(const TakePiece& take) {
  take(definitions_);
  definitions_.clear();
}

void Helpers::finish(const TakePiece& take) {
  if (!declared_.empty()) definitions_ += '\n';
  for (const auto& [name, declared] : declared_) definitions_ += declared.text;
  hand_on(take);
}

std::string Helpers::size_of(const std::string& type) const {
  const std::string address = pointer_to(type);
  return text_of("ptrtoint (", address, " getelementptr (", type, ", ", address, " null, i32 1) to i64)");
}

std::string Helpers::cast(std::string& body, const std::string& value, const std::string& type,
                          std::string_view name) const {
  if (!settings_.has_typed_pointers) return value;
  line(body, name, " = bitcast i8* ", value, " to ", type, "*");
  return std::string(name);
}

std::string Helpers::field(std::string& body, const std::string& base, const std::string& type, std::size_t index,
                           std::string_view name) const {
  line(body, name, " = getelementptr ", type, ", ", pointer_to(type), " ", base, ", i32 0, i32 ",
       std::to_string(index));
  return std::string(name);
}

void Helpers::store_budget(std::string& body, const std::string& type, std::size_t index) const {
  for (std::size_t i = 0; i < kBudgetFields.size(); ++i) {
    const auto& [width, name] = kBudgetFields[i];
    line(body, name, "_at = getelementptr ", type, ", ", pointer_to(type), " %options, i32 0, i32 ",
         std::to_string(index), ", i32 ", std::to_string(i));
    line(body, "store ", width, " ", name, ", ", pointer_to(width), " ", name, "_at");
  }
}

// Blocks of the runtime are aligned to 16 bytes; the natural alignment of a type may be larger.
std::string Helpers::load(const std::string& type, const std::string& address) const {
  return text_of("load ", type, ", ", pointer_to(type), " ", address, may_be_overaligned(type) ? ", align 1" : "");
}
std::string Helpers::store(const std::string& type, const std::string& value, const std::string& address) const {
  return text_of("store ", type, " ", value, ", ", pointer_to(type), " ", address,
                 may_be_overaligned(type) ? ", align 1" : "");
}

}  // namespace janus::lower
