// SPDX-License-Identifier: Apache-2.0
// qtjir_emit.cpp — writes a checked .qtjir file as LLVM IR. Each function becomes two: its body, which also tells whether a
// cancel ended it early, and one of the function's name with C's calling convention, for other languages. docs/decisions/0310
#include <algorithm>
#include <optional>

#include "loops.h"
#include "options.h"
#include "qtjir.h"
#include "qtjir_ast.h"
#include "qtjir_calls.h"
#include "qtjir_channels.h"
#include "qtjir_module.h"
#include "qtjir_nurseries.h"
#include "qtjir_plain.h"
#include "qtjir_text.h"
#include "qtjir_yield_points.h"
#include "types.h"

namespace janus::lower {
namespace qtjir {
namespace {

// Emits one function: its blocks, then its exit, and last its head, whose variables are known only then.
class FunctionEmission {
 public:
  FunctionEmission(FunctionText& text, const Function& function)
      : module_(text.module()),
        text_(text),
        function_(function),
        result_(module_.llvm(function.result)),
        points_(text, function),
        nurseries_(text, points_, function),
        channels_(text, points_),
        calls_(text, points_) {}

  // Emits the function. The text of a large one is handed on without a copy of its body.
  void run(const TakePiece& take) {
    text_.restart();
    nurseries_.reserve_locals();
    write_blocks();
    nurseries_.write_unwinding();
    write_exit();
    write_head();
    if (text_.body().size() < kPieceBytes) {
      module_.text() += text_.body();
    } else {
      module_.hand_on(take);
      take(text_.body());
    }
    module_.text() += "}\n";
    write_wrapper();
  }

 private:
  void write_blocks() {
    std::optional<Loops> loops;
    if (module_.has_yield_checks())
      loops.emplace(
          static_cast<std::uint32_t>(function_.blocks.size()),
          [this](std::uint32_t block) -> const Loops::Targets& { return function_.blocks[block].successors; });
    for (std::uint32_t b = 0; b < function_.blocks.size(); ++b) {
      const Block& block = function_.blocks[b];
      text_.begin(FunctionText::block_label(b));
      for (const Instruction& one : block.instructions) {
        // The edge of a Send or Recv is checked where it leaves the block, the others before the block's last instruction.
        const bool is_transfer = one.kind == Kind::kSend || one.kind == Kind::kRecv;
        const bool goes_back =
            loops && is_transfer && !one.labels.empty() && loops->is_back_edge(b, one.first_successor);
        if (loops && !is_transfer && &one == &block.instructions.back())
          check_iteration(one, loops->iteration_ends(b, one.first_successor));
        write(one, block, goes_back);
      }
    }
  }

  void check_iteration(const Instruction& one, const std::vector<bool>& ends) {
    if (ends.empty()) return;
    if (std::find(ends.begin(), ends.end(), false) == ends.end()) return points_.check_loop(one, "1");
    const std::string condition = text_.value(one.operands[0]), iterations = text_.fresh("iterations");
    text_.line(iterations, " = select i1 ", condition, ends[0] ? ", i32 1, i32 0" : ", i32 0, i32 1");
    points_.check_loop(one, iterations);
  }

  void write(const Instruction& one, const Block& block, bool has_back_edge) {
    switch (one.kind) {
      case Kind::kCopy:
        return write_copy(text_, one);
      case Kind::kArithmetic:
        return write_arithmetic(text_, one);
      case Kind::kComparison:
        return write_comparison(text_, one);
      case Kind::kConversion:
        return write_conversion(text_, one);
      case Kind::kCall:
        return calls_.call(one);
      case Kind::kPrint:
        return write_print(text_, one);
      case Kind::kBranch: {
        const std::string condition = text_.value(one.operands[0]);
        const std::uint32_t first = one.first_successor;
        return text_.line("br i1 ", condition, ", label %", FunctionText::block_label(block.successors[first]),
                          ", label %", FunctionText::block_label(block.successors[first + 1]));
      }
      case Kind::kJump:
        return text_.line("br label %", FunctionText::block_label(block.successors.back()));
      case Kind::kReturn:
        if (!one.operands.empty()) {
          const std::string result = text_.typed_value(one.operands[0]);
          text_.line("store ", result, ", ", text_.to(result_), " %result");
        }
        return text_.line("br label %exit");
      case Kind::kDefer:
        return calls_.defer(one);
      case Kind::kChannelCreate:
        return channels_.create(one);
      case Kind::kSend:
      case Kind::kRecv:
        return channels_.transfer(one, block, has_back_edge);
      case Kind::kClose:
        return channels_.close(one);
      case Kind::kOpcode:
        return write_opcode(one);
    }
  }

  void write_opcode(const Instruction& one) {
    switch (one.opcode) {
      case Opcode::kBudgetCheck:
        return points_.check(one, "0");
      case Opcode::kBudgetDecrement:
        return points_.decrement(one);
      case Opcode::kYield:
        return points_.yield(one);
      case Opcode::kSleep:
        return points_.sleep(one);
      case Opcode::kNurseryBegin:
        return nurseries_.begin(one);
      case Opcode::kNurseryEnd:
        return nurseries_.end(one);
      case Opcode::kNurseryCancel:
        return nurseries_.cancel(one);
      case Opcode::kTaskCreate:
      case Opcode::kSpawn:
      case Opcode::kFork:
      case Opcode::kAsyncCall:
        return nurseries_.create_task(one);
      case Opcode::kTaskJoin:
      case Opcode::kAwait:
        return one.type == "nursery" ? nurseries_.await(one) : nurseries_.join_task(one);
    }
  }

  void write_exit() {
    text_.begin("exit");
    nurseries_.write_exit();
    calls_.write_exit();
    channels_.write_exit();
    points_.write_exit();
    text_.line("%ended = load i1, ", text_.to("i1"), " %was_cancelled");
    if (result_ == "void") return text_.line("ret i1 %ended");
    const std::string both = body_result(result_);
    text_.line("%value = load ", result_, ", ", text_.to(result_), " %result");
    text_.line("%half = insertvalue ", both, " undef, ", result_, " %value, 0");
    text_.line("%whole = insertvalue ", both, " %half, i1 %ended, 1");
    text_.line("ret ", both, " %whole");
  }

  std::string parameter_list() const {
    std::string list;
    for (std::size_t i = 0; i < function_.parameters.size(); ++i)
      list += (i == 0 ? "" : ", ") + module_.llvm(function_.parameters[i]) + " %p." + std::to_string(i);
    return list;
  }

  void write_head() {
    std::string& text = module_.text();
    text += "\ndefine internal " + body_result(result_) + " " + module_.body_symbol(function_) + "(" +
            parameter_list() + ") \"probe-stack\"=\"inline-asm\" {\nentry:\n";
    text += "  %was_cancelled = alloca i1\n  store i1 false, " + text_.to("i1") + " %was_cancelled\n";
    if (result_ != "void")
      text += "  %result = alloca " + result_ + "\n  store " + result_ + " " + (is_pointer(result_) ? "null" : "0") +
              ", " + text_.to(result_) + " %result\n";
    for (std::uint32_t i = 0; i < function_.registers.size(); ++i) {
      const std::string type = module_.llvm(function_.registers[i].type), name = FunctionText::register_at(i);
      const std::string initial = i < function_.parameters.size() ? "%p." + std::to_string(i)
                                  : is_pointer(type)              ? "null"
                                                                  : "0";
      text.append("  ").append(name).append(" = alloca ").append(type);
      text.append("  ; %").append(shown(function_.registers[i].name)).append("\n  store ").append(type).append(" ");
      text.append(initial).append(", ").append(text_.to(type)).append(" ").append(name).append("\n");
    }
    text += text_.head();
    text += nurseries_.scope_begin();
    text.append("  br label %").append(FunctionText::block_label(0)).append("\n");
  }
  static std::string shown(std::string name) {
    for (char& c : name)
      if (static_cast<unsigned char>(c) < ' ') c = '?';
    return name;
  }

  // Writes what other languages call. main returns an int. Parameters have no extension here: callers need not extend them.
  void write_wrapper() {
    std::string& text = module_.text();
    const std::string name = module_.name_of(function_), both = body_result(result_);
    const bool is_main = name == "main";
    text += "\ndefine " + (is_main ? "i32" : module_.external_result(function_)) + " " + symbol(name) + "(" +
            parameter_list() + ") \"probe-stack\"=\"inline-asm\" {\n";
    text += "  %both = call " + both + " " + module_.body_symbol(function_) + "(" + parameter_list() + ")\n";
    if (result_ != "void") text += "  %value = extractvalue " + both + " %both, 0\n";
    if (is_main) {
      const unsigned width = integer_width(result_);
      std::string status = "%value";
      if (result_ == "void") {
        status = "0";
      } else if (width != 32) {
        text += std::string("  %status = ") + (width > 32 ? "trunc " : "sext ") + result_ + " %value to i32\n";
        status = "%status";
      }
      text += "  %told = " + (result_ == "void" ? "and i1 %both, true" : "extractvalue " + both + " %both, 1") + "\n";
      text +=
          "  %shown = select i1 %told, i32 " + std::string(kCancelled) + ", i32 " + status + "\n  ret i32 %shown\n}\n";
    } else {
      text += result_ == "void" ? "  ret void\n}\n" : "  ret " + result_ + " %value\n}\n";
    }
  }

  Module& module_;
  FunctionText& text_;
  const Function& function_;
  const std::string result_;
  YieldPoints points_;
  Nurseries nurseries_;
  Channels channels_;
  Calls calls_;
};

// Reads, checks and emits one function after another. What is emitted before the first error is not used.
void lower_functions(Module& module, const TakePiece& take) {
  const Tokens& tokens = module.tokens();
  Source& source = tokens.source();
  FunctionText text(module);
  const bool heads_are_right = !source.has_errors();
  for (const FunctionHead& head : module.file().functions) {
    Function function{head, {}, {}, {}, {}};
    const bool is_read = function.is_external || read_body(tokens, function);
    if (heads_are_right && is_read) check(tokens, module.file(), function);
    if (source.has_errors()) continue;
    if (module.text().size() >= kPieceBytes) module.hand_on(take);
    module.helpers().hand_on_piece(take);
    if (function.is_external)
      module.declare(function);
    else
      FunctionEmission(text, function).run(take);
  }
}

}  // namespace
}  // namespace qtjir

bool lower_qtjir(Source& source, const Options& options, const TakePiece& take) {
  const Tokens tokens(source);
  qtjir::File file = qtjir::read_heads(tokens);
  if (!options.profile.empty()) file.profile = options.profile;
  if (file.profile.empty()) file.profile = "service";
  const bool is_typed = options.llvm_version != 0 && options.llvm_version < 15;
  Helpers helpers({is_typed, interval_of(options, file.profile), Helpers::free_prefix(tokens),
                   [&file](std::string_view name) { return file.by_name.contains(std::string(name)); }});
  qtjir::Module module(tokens, file, helpers, options.has_yield_checks && file.profile != "core");
  qtjir::lower_functions(module, take);
  if (source.has_errors()) return false;
  module.finish(take);
  return true;
}

}  // namespace janus::lower
