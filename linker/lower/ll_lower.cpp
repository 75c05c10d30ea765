// SPDX-License-Identifier: Apache-2.0
#include "ll_lower.h"

#include "ll_checks.h"
#include "ll_nurseries.h"
#include "ll_rewrite.h"
#include "ll_tasks.h"
#include "types.h"

namespace janus::lower {
namespace {

// Lowers one function: calls the parts in their order.
class FunctionLowering {
 public:
  FunctionLowering(ModuleRewrite& module, const Function& function)
      : module_(module),
        function_(function),
        rewrite_(module, function),
        nurseries_(rewrite_),
        tasks_(rewrite_, nurseries_),
        checks_(rewrite_) {}

  void run() {
    const std::string& prefix = module_.helpers.prefix();
    const bool has_own_code = module_.tokens.name(function_.name).substr(0, prefix.size()) != prefix;
    lower_opcodes();
    if (!uses_.empty() && !lower_in_nurseries()) return;
    if (module_.inserts_checks && has_own_code && !function_.is_naked) checks_.insert();
    if (!function_.is_naked && has_own_code)
      module_.edits.insert(module_.tokens.begin_of(function_.behind_parameters), "\"probe-stack\"=\"inline-asm\" ");
    nurseries_.write_ends();
    write_returns();
    write_entry();
  }

 private:
  // Lowers the opcodes that do not depend on the open nurseries, and keeps only the others in uses_, because a function
  // may have a million opcodes.
  void lower_opcodes() {
    for (std::uint32_t i = 0; i < function_.instructions.size(); ++i) {
      const Instruction& one = rewrite_.instruction(i);
      const std::string_view mnemonic = module_.tokens.text(one.mnemonic);
      if (!is_opcode(mnemonic)) {
        check_is_no_opcode(one.mnemonic);
        continue;
      }
      if (module_.profile == "core") {
        rewrite_.error(one.mnemonic, std::string(mnemonic) +
                                         ": profile :core has no scheduler; choose :service, :cluster or :sovereign");
        continue;
      }
      auto opcode = parse_opcode(module_.tokens, one);
      if (!opcode) {
        const auto kind = flow_kind_of(*opcode_of(mnemonic));
        is_flow_known_ = is_flow_known_ && kind != FlowEvent::Kind::kBegin && kind != FlowEvent::Kind::kEnd;
        continue;
      }
      OpcodeAt use{i, std::move(*opcode)};
      if (flow_kind_of(use.opcode.opcode))
        uses_.push_back(std::move(use));
      else
        lower(use);
    }
  }

  // Reports a misspelt opcode. LLVM would report it, too, but does not run if the nurseries are wrong because of it.
  void check_is_no_opcode(std::uint32_t mnemonic) {
    const std::string_view word = module_.tokens.text(mnemonic), meant = opcode_meant_by(word);
    if (meant.empty()) return;
    rewrite_.error(mnemonic, "unknown instruction '" + std::string(word) + "': the opcode is " + std::string(meant));
    is_flow_known_ = false;
  }

  bool lower_in_nurseries() {
    if (!is_flow_known_ || !nurseries_.follow(uses_)) return false;
    for (const OpcodeAt& use : uses_) lower(use);
    return true;
  }

  void lower(const OpcodeAt& use) {
    Helpers& helpers = module_.helpers;
    rewrite_.check_definitions(use);
    switch (use.opcode.opcode) {
      case Opcode::kBudgetCheck:
        return rewrite_.put(use, "call i32 " + helpers.check() + "(i64 0)");
      case Opcode::kBudgetDecrement:
        return rewrite_.put(use, "call i32 " + helpers.decrement() + "(i64 " + number_of(use) + ")");
      case Opcode::kYield:
        return rewrite_.put(use, "call i32 " + helpers.yield() + "()");
      case Opcode::kSleep:
        return rewrite_.put(use, "call i32 " + helpers.sleep() + "(i64 " + number_of(use) + ")");
      case Opcode::kTaskCreate:
      case Opcode::kSpawn:
      case Opcode::kFork:
      case Opcode::kAsyncCall:
        return tasks_.spawn(use);
      case Opcode::kTaskJoin:
        return tasks_.join(use);
      case Opcode::kAwait:
        return nurseries_.is_nursery(use.opcode.operands[0]) ? nurseries_.end(use) : tasks_.join(use);
      case Opcode::kNurseryBegin:
        return nurseries_.begin(use);
      case Opcode::kNurseryEnd:
        return nurseries_.end(use);
      case Opcode::kNurseryCancel:
        return nurseries_.cancel(use);
    }
  }

  // The only operand, which has to be an i64.
  const std::string& number_of(const OpcodeAt& use) {
    rewrite_.check_type(use.opcode.operands[0], "i64", "the operand");
    return use.opcode.operands[0].value;
  }

  // Writes the code before each return: it charges the counted loop iterations, and ends the function's own nursery.
  void write_returns() {
    if (!checks_.counts() && !nurseries_.needs_scope()) return;
    for (const Block& block : function_.blocks) {
      if (block.first == block.end || !rewrite_.leaves(rewrite_.instruction(block.end - 1))) continue;
      const std::uint32_t at = first_of_return(block);
      const std::string place = debug_location(module_.tokens, rewrite_.instruction(block.end - 1));
      std::string text;
      if (checks_.counts()) text += checks_.at_return(place);
      if (nurseries_.needs_scope()) {
        if (at != block.end - 1)
          rewrite_.error(
              rewrite_.instruction(at).first,
              "a musttail call or a deoptimization cannot follow the end of the nursery that SPAWN or fork needs");
        text += nurseries_.end_scope(place);
      }
      rewrite_.insert_before(at, text);
    }
  }
  // The first instruction of the block's return: a musttail call or a call of llvm.experimental.deoptimize, which must
  // stand directly before `ret`, or else `ret`. Between them are at most records for debuggers and a bitcast.
  std::uint32_t first_of_return(const Block& block) const {
    for (std::uint32_t i = block.end - 1; i > block.first; --i) {
      const std::uint32_t mnemonic = rewrite_.instruction(i - 1).mnemonic;
      if (module_.tokens.is_word(mnemonic - 1, "musttail") || is_deoptimization(rewrite_.instruction(i - 1)))
        return i - 1;
      if (module_.tokens.kind(mnemonic) != TokenKind::kAttribute && !module_.tokens.is_word(mnemonic, "bitcast")) break;
    }
    return block.end - 1;
  }

  bool is_deoptimization(const Instruction& one) const {
    if (!module_.tokens.is_word(one.mnemonic, "call")) return false;
    std::size_t i = one.mnemonic;
    while (i < one.end && module_.tokens.kind(i) != TokenKind::kGlobal) ++i;
    constexpr std::string_view kIntrinsic = "llvm.experimental.deoptimize.";
    return i < one.end && module_.tokens.name(i).substr(0, kIntrinsic.size()) == kIntrinsic;
  }

  void write_entry() {
    std::string text;
    if (nurseries_.needs_scope()) {
      const bool is_empty = function_.instructions.empty();
      text = nurseries_.begin_scope(
          is_empty ? "" : debug_location(module_.tokens, rewrite_.instruction(function_.blocks[0].first)));
    }
    rewrite_.write_entry(text);
  }

  ModuleRewrite& module_;
  const Function& function_;
  FunctionRewrite rewrite_;
  Nurseries nurseries_;
  Tasks tasks_;
  YieldChecks checks_;
  std::vector<OpcodeAt> uses_;  // those that depend on the open nurseries
  bool is_flow_known_ = true;   // every opcode that begins or ends a nursery could be parsed
};

// Whether the module has typed pointers (i8*), as LLVM IR up to version 14.
bool has_typed_pointers(const Tokens& tokens, const Options& options) {
  bool is_typed = false;
  for (std::size_t i = 0; !tokens.is_end(i); ++i) {
    if (tokens.is_word(i, "ptr")) return false;
    if (tokens.is_punctuation(i, '*')) is_typed = true;
  }
  return is_typed || (options.llvm_version != 0 && options.llvm_version < 15);
}

// The position of the function's `define`. Nothing before it is edited when this function is lowered.
std::size_t begin_of(const Tokens& tokens, const Function& function) {
  std::size_t i = function.name;
  while (i != 0 && !tokens.is_word(i, "define")) --i;
  return tokens.begin_of(i);
}

std::string profile_of(Source& source, const Tokens& tokens, const Module& module, const Options& options,
                       Edits& edits) {
  std::string profile = options.profile;
  for (const auto& [line, name_token] : module.profiles) {
    const std::string name(tokens.text(name_token));
    if (!is_profile(name))
      source.error(tokens.begin_of(line), "unknown profile: there are :core, :service, :cluster and :sovereign");
    if (options.profile.empty()) profile = name;
    edits.replace(tokens.begin_of(line), tokens.end_of(name_token), "");
  }
  return profile.empty() ? "service" : profile;
}

}  // namespace

bool lower_ll(Source& source, const Options& options, const TakePiece& take) {
  Tokens tokens(source);
  read_type_aliases(tokens);
  const Module module = parse_module(tokens);
  const bool is_typed = has_typed_pointers(tokens, options);
  Edits edits(source.text());
  const std::string profile = profile_of(source, tokens, module, options, edits);
  for (const auto& [first, end] : module.summaries) edits.replace(tokens.begin_of(first), tokens.end_of(end - 1), "");
  Helpers helpers({is_typed, interval_of(options, profile), Helpers::free_prefix(tokens),
                   [&module](std::string_view name) { return module.callables.contains(name); }});
  ModuleRewrite rewrite{
      source, tokens, module, helpers, std::move(edits), profile, options.has_yield_checks && profile != "core"};
  if (source.has_errors()) return false;
  LineMap lines(source.text());
  LineMap* const counted = options.shows_lines ? &lines : nullptr;
  const TakePiece take_edited = counted != nullptr ? TakePiece([](std::string_view) {}) : take;
  const TakePiece take_added =
      counted != nullptr ? TakePiece([&lines](std::string_view piece) { lines.added(piece); }) : take;
  take_added(helpers.header());
  for (const Function& function : module.functions) {
    if (rewrite.edits.is_piece() && !source.has_errors()) {
      rewrite.edits.hand_on(begin_of(tokens, function), take_edited, counted);
      helpers.hand_on(take_added);
    }
    FunctionLowering(rewrite, function).run();
  }
  if (source.has_errors()) return false;
  rewrite.edits.hand_on(std::string_view::npos, take_edited, counted);
  helpers.finish(take_added);
  if (counted != nullptr) take(lines.text());
  return true;
}

}  // namespace janus::lower
