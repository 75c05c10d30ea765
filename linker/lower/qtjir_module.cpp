// SPDX-License-Identifier: Apache-2.0
// qtjir_module.cpp — types, symbols, declarations and constant texts of the output.
#include "qtjir_module.h"

#include <algorithm>

#include "types.h"

namespace janus::lower::qtjir {
namespace {

bool is_plain(std::string_view name) {
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '$';
  });
}

// A byte of a text in quotes, as LLVM reads it.
void append_escaped(std::string& text, char c, bool keeps_utf8) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  if ((byte >= ' ' && byte < 0x7f && c != '"' && c != '\\') || (keeps_utf8 && byte >= 0x80))
    text += c;
  else
    text += {'\\', kDigits[byte >> 4], kDigits[byte & 15]};
}

}  // namespace

std::string symbol(const std::string& name) {
  if (is_plain(name)) return "@" + name;
  std::string text = "@\"";
  for (const char c : name) append_escaped(text, c, true);
  return text + '"';
}

std::string unescaped(std::string_view quoted) {
  const std::string_view text = quoted.size() >= 2 ? quoted.substr(1, quoted.size() - 2) : std::string_view();
  const auto digit = [&](std::size_t i) {
    const char c = i < text.size() ? text[i] : ' ';
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
  };
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      result += text[i];
    } else if (digit(i + 1) >= 0 && digit(i + 2) >= 0) {
      result += static_cast<char>(digit(i + 1) * 16 + digit(i + 2));
      i += 2;
    } else {
      ++i;
      result += text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i];
    }
  }
  return result;
}

std::string body_result(const std::string& result) {
  return result == "void" ? "i1" : "{ " + result + ", i1 }";
}

std::string Module::llvm(const std::string& type) const {
  if (integer_width(type) != 0 || type == "void") return type;
  if (type.substr(0, 5) == "task " || type.substr(0, 6) == "async ") return "i64";
  return helpers_.pointer();
}

Signature Module::signature(const FunctionHead& function) const {
  Signature signature;
  signature.result = llvm(function.result);
  for (const std::string& parameter : function.parameters) signature.parameters.push_back({llvm(parameter), "", ""});
  return signature;
}

std::string Module::string(const std::string& contents) {
  const std::string type = "[" + std::to_string(contents.size() + 1) + " x i8]";
  auto [entry, is_new] = strings_.try_emplace(contents, "");
  if (is_new) entry->second = "@" + helpers_.prefix() + "text." + std::to_string(strings_.size());
  if (helpers_.pointer() == "ptr") return entry->second;
  return "getelementptr (" + type + ", " + type + "* " + entry->second + ", i64 0, i64 0)";
}

void Module::declare(const FunctionHead& function) {
  std::string list;
  for (const std::string& parameter : function.parameters) list += (list.empty() ? "" : ", ") + llvm(parameter);
  if (function.is_variadic) list += list.empty() ? "..." : ", ...";
  text_ += "declare " + llvm(function.result) + " " + symbol(name_of(function)) + "(" + list + ")\n";
}

void Module::finish(const TakePiece& take) {
  write_strings();
  hand_on(take);
  helpers_.finish(take);
}

void Module::hand_on(const TakePiece& take) {
  take(text_);
  text_.clear();
}

void Module::write_strings() {
  for (const auto& [contents, name] : strings_) {
    text_ += name + " = private unnamed_addr constant [" + std::to_string(contents.size() + 1) + " x i8] c\"";
    for (const char c : contents) append_escaped(text_, c, false);
    text_ += "\\00\"\n";
  }
}

}  // namespace janus::lower::qtjir
