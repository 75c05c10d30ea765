// SPDX-License-Identifier: Apache-2.0
#include "ll_aliases.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "ll_signature.h"
#include "types.h"

namespace janus::lower {
namespace {

bool have_same_types(const Signature& a, const Signature& b) {
  return a.result == b.result && a.is_variadic == b.is_variadic &&
         std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(), b.parameters.end(),
                    [](const Parameter& x, const Parameter& y) { return x.type == y.type; });
}

}  // namespace

std::size_t Aliases::add(std::size_t name, std::size_t at) {
  const bool is_alias = tokens_.is_word(at, "alias");
  const auto parsed = parse_type(tokens_, ++at);
  if (!parsed || !parsed->result) return at;
  aliases_.push_back({static_cast<std::uint32_t>(name), static_cast<std::uint32_t>(at), is_alias});
  if (const auto target = is_alias ? behind_casts(parsed->end + 1) : std::nullopt)
    target_of_[tokens_.name(name)] = tokens_.name(*target);
  return parsed->end;
}

void Aliases::resolve(Module& module) {
  for (const Alias& alias : aliases_) resolve(alias, module);
}

// An alias has the signature of its function. The type in the alias's definition does not tell the calling convention,
// so it is not enough for an alias whose function is not known. It is enough for an ifunc, and for an alias of
// something that is not a function.
void Aliases::resolve(const Alias& alias, Module& module) {
  const std::string_view name = tokens_.name(alias.name);
  const auto target = module.callables.find(function_of(name));
  Callable callable{std::string(tokens_.text(alias.name)), nullptr, false};
  auto written = std::make_shared<Signature>(signature_of_type(tokens_, alias.type));
  if (target != module.callables.end() && have_same_types(*written, *target->second.signature)) {
    callable.signature = target->second.signature;
  } else {
    callable.signature = std::move(written);
    callable.is_unknown_alias = alias.is_alias;
  }
  module.callables.insert_or_assign(name, std::move(callable));
  module.definitions.insert(name);
}

// The end of the chain of aliases that begins at `name`. All aliases of the chain are then changed to lead directly to
// its end, so no chain is followed twice.
std::string_view Aliases::function_of(std::string_view name) {
  std::vector<std::string_view> path;
  while (true) {
    const auto next = target_of_.find(name);
    if (next == target_of_.end() || next->second == name || path.size() > aliases_.size()) break;
    path.push_back(name);
    name = next->second;
  }
  for (const std::string_view alias : path) target_of_[alias] = name;
  return name;
}

// The global at token `i`, after its type; bitcast (...) and addrspacecast (...) around it are skipped.
std::optional<std::size_t> Aliases::behind_casts(std::size_t i) const {
  while (true) {
    if (const auto type = parse_type(tokens_, i)) i = type->end;
    if (tokens_.kind(i) == TokenKind::kGlobal) return i;
    const bool is_cast = tokens_.is_word(i, "bitcast") || tokens_.is_word(i, "addrspacecast");
    if (!is_cast || !tokens_.is_punctuation(i + 1, '(')) return std::nullopt;
    i += 2;
  }
}

}  // namespace janus::lower
