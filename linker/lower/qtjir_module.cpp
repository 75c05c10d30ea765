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

std::string_view extension_of(std::string_view type) {
  const unsigned width = integer_width(type);
  return width == 1 ? "zeroext" : width != 0 && width < 32 ? "signext" : "";
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
  for (const std::string& parameter : function.parameters)
    signature.parameters.push_back(
        {llvm(parameter), std::string(function.is_external ? extension_of(parameter) : ""), ""});
  return signature;
}

std::string Module::string(const std::string& contents) {
  const std::string type = "[" + std::to_string(contents.size() + 1) + " x i8]";
  auto [entry, is_new] = strings_.try_emplace(contents, "");
  if (is_new) entry->second = "@" + helpers_.prefix() + "text." + std::to_string(strings_.size());
  if (helpers_.pointer() == "ptr") return entry->second;
  return "getelementptr (" + type + ", " + type + "* " + entry->second + ", i64 0, i64 0)";
}

std::string Module::external_result(const FunctionHead& function) const {
  const std::string extension(extension_of(function.result));
  return extension + (extension.empty() ? "" : " ") + llvm(function.result);
}

void Module::declare(const FunctionHead& function) {
  std::string list;
  for (const std::string& parameter : function.parameters) {
    list.append(list.empty() ? "" : ", ").append(llvm(parameter));
    if (const std::string_view extension = extension_of(parameter); !extension.empty())
      list.append(" ").append(extension);
  }
  if (function.is_variadic) list += list.empty() ? "..." : ", ...";
  text_ += "declare " + external_result(function) + " " + symbol(name_of(function)) + "(" + list + ")\n";
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
