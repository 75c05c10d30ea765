// SPDX-License-Identifier: Apache-2.0
// qtjir_emit.cpp — a checked .qtjir file to LLVM IR. Each function becomes two: its body, which also tells whether a cancel
// ended it early, and one of the function's name with C's calling convention, for other languages. docs/decisions/0310
#include <algorithm>
#include <map>

#include "back_edges.h"
#include "options.h"
#include "qtjir.h"
#include "qtjir_ast.h"
#include "types.h"

namespace janus::lower {
namespace qtjir {
namespace {

constexpr std::string_view kCancelled = "-1";  // JANUS_CANCELLED
constexpr std::size_t kPieceBytes = 1 << 18;   // of the output that is handed on at a time

bool is_plain(std::string_view name) {
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '$';
  });
}
std::string symbol(const std::string& name) {
  return is_plain(name) ? "@" + name : "@\"" + name + "\"";
}

struct Emission {
  const Tokens& tokens;
  const File& file;
  Helpers& helpers;
  bool has_yield_checks;
  std::string text;
  std::map<std::string, std::string> strings;  // symbols by contents
  std::string head, body;                      // of the function at hand, kept for the memory that they have

  // The LLVM type of a value of the type.
  std::string llvm(const std::string& type) const {
    if (integer_width(type) != 0 || type == "void") return type;
    if (type.substr(0, 5) == "task " || type.substr(0, 6) == "async ") return "i64";
    return helpers.pointer();
  }
  std::string name_of(const Function& function) const { return std::string(tokens.name(function.name)); }
  std::string body_symbol(const Function& function) const {
    return symbol(helpers.prefix() + "body." + name_of(function));
  }
  static std::string both(const std::string& result) { return result == "void" ? "i1" : "{ " + result + ", i1 }"; }

  Signature signature(const Function& function) const {
    Signature signature;
    signature.symbol = function.is_external ? symbol(name_of(function)) : body_symbol(function);
    signature.result = llvm(function.result);
    for (const std::string& parameter : function.parameters) signature.parameters.push_back({llvm(parameter), "", ""});
    return signature;
  }

  // The address of a constant text, as an operand of pointer type.
  std::string string(const std::string& contents) {
    const std::string type = "[" + std::to_string(contents.size() + 1) + " x i8]";
    auto [entry, is_new] = strings.try_emplace(contents, "");
    if (is_new) entry->second = "@" + helpers.prefix() + "text." + std::to_string(strings.size());
    if (helpers.pointer() == "ptr") return entry->second;
    return "getelementptr (" + type + ", " + type + "* " + entry->second + ", i64 0, i64 0)";
  }
  void write_strings() {
    for (const auto& [contents, name] : strings) {
      static constexpr char kDigits[] = "0123456789ABCDEF";
      text += name + " = private unnamed_addr constant [" + std::to_string(contents.size() + 1) + " x i8] c\"";
      for (const char c : contents) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte >= ' ' && byte < 0x7f && c != '"' && c != '\\')
          text += c;
        else
          text += {'\\', kDigits[byte >> 4], kDigits[byte & 15]};
      }
      text += "\\00\"\n";
    }
  }
};

// The bytes of a text in quotes: \n, \t, \\ and \XX stand for one each.
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

class FunctionEmission {
 public:
  FunctionEmission(Emission& module, const Function& function)
      : module_(module),
        tokens_(module.tokens),
        helpers_(module.helpers),
        function_(function),
        result_(module.llvm(function.result)),
        head_(module.head),
        body_(module.body) {
    head_.clear();
    body_.clear();
  }

  void run() {
    read_sites();
    write_blocks();
    write_unwinding();
    write_exit();
    write_head();
    write_wrapper();
  }

 private:
  struct Site {
    std::string nursery;  // a local of pointer type
    std::string list, outcome;
    bool is_opened = false;
  };
  struct Deferred {
    std::string is_armed;
    std::vector<std::string> arguments;  // locals
    const Instruction* instruction;
  };

  // ---- Text ---------------------------------------------------------------------------------------------------------------

  template <class... Parts>
  void line(const Parts&... parts) {
    body_ += "  ";
    (body_.append(std::string_view(parts)), ...);
    body_ += '\n';
  }
  void begin(const std::string& label) { body_ += label + ":\n"; }
  std::string fresh(std::string_view what) { return "%" + std::string(what) + "." + std::to_string(names_++); }
  std::string fresh_label() { return "go." + std::to_string(names_++); }
  std::string pointer() const { return helpers_.pointer(); }
  std::string to(const std::string& type) const { return helpers_.pointer_to(type); }

  std::string local(const std::string& type, std::string_view what) {
    std::string name = fresh(what);
    head_ += "  " + name + " = alloca " + type + "\n  store " + type + " " + (is_pointer(type) ? "null" : "0") + ", " +
             to(type) + " " + name + "\n";
    return name;
  }
  std::string block_label(std::size_t block) const { return "block." + std::to_string(block); }

  std::string register_at(std::uint32_t number) const { return "%r." + std::to_string(number); }

  // The operand's value, as `value` of its LLVM type.
  std::string value(const Operand& operand) {
    if (operand.kind == Operand::Kind::kInteger) {
      const std::string_view digits = tokens_.text(operand.token);
      return operand.type == "i1" ? (digits.find_first_not_of("0-") == std::string_view::npos ? "false" : "true")
                                  : std::string(digits);
    }
    if (operand.kind == Operand::Kind::kString) return module_.string(unescaped(tokens_.text(operand.token)));
    const std::string type = module_.llvm(operand.type);
    std::string name = fresh("v");
    line(name, " = load ", type, ", ", to(type), " ", register_at(operand.register_number));
    return name;
  }
  std::string typed_value(const Operand& operand) {
    const std::string text = value(operand);
    return module_.llvm(operand.type) + " " + text;
  }
  void store_result(const Instruction& one, const std::string& type, const std::string& text) {
    if (one.result_number == kNoIndex) return;
    const std::string llvm = module_.llvm(type);
    line("store ", llvm, " ", text, ", ", to(llvm), " ", register_at(one.result_number));
  }

  // ---- Yield points -------------------------------------------------------------------------------------------------------

  bool unwinds() const { return !function_.is_cleanup; }

  // The block that ends the function from where the instruction stands.
  std::string unwind_label(const Instruction& one) {
    const std::uint32_t stack = one.event->stack;
    is_unwound_[stack] = true;
    return "unwind." + std::to_string(stack);
  }
  void leave_if(const Instruction& one, const std::string& condition) {
    const std::string next = fresh_label();
    line("br i1 ", condition, ", label %", unwind_label(one), ", label %", next);
    begin(next);
  }
  // The i32 `status` of a yield point: below 0 the task was told to end.
  void leave_if_negative(const Instruction& one, const std::string& status) {
    if (!unwinds()) return;
    const std::string told = fresh("told");
    line(told, " = icmp slt i32 ", status, ", 0");
    leave_if(one, told);
  }
  void leave_if_cancelled(const Instruction& one) {
    if (!unwinds()) return;
    const std::string status = fresh("status"), told = fresh("told");
    line(status, " = call i32 ", helpers_.runtime("janus_cancelled", "i32", ""), "()");
    line(told, " = icmp ne i32 ", status, ", 0");
    leave_if(one, told);
  }
  // The cost is a constant of the compiler's.
  void check(const Instruction& one, std::string_view cost) { charge(one, helpers_.check(), cost); }
  void charge(const Instruction& one, std::string_view helper, std::string_view cost) {
    const std::string status = fresh("status");
    line(status, " = call i32 ", helper, "(i64 ", cost, ")");
    leave_if_negative(one, status);
  }
  void check_loop(const Instruction& one) {
    if (counter_.empty()) counter_ = local("i32", "counter");
    const std::string status = fresh("status");
    line(status, " = call i32 ", helpers_.loop_check(), "(", to("i32"), " ", counter_, ")");
    leave_if_negative(one, status);
  }

  // ---- Instructions -------------------------------------------------------------------------------------------------------

  void read_sites() {
    sites_.resize(function_.flow->sites());
    std::uint32_t site = 0;
    for (const Block& block : function_.blocks)
      for (const Instruction& one : block.instructions) {
        if (one.kind != Kind::kOpcode || one.opcode != Opcode::kNurseryBegin) continue;
        site_of_[&one] = site;
        sites_[site].nursery = local(pointer(), "nursery");
        sites_[site].is_opened = one.nursery.has_budget || one.nursery.on_error != 0 || one.nursery.on_exhaustion != 0;
        ++site;
      }
    if (function_.flow->needs_scope()) scope_.nursery = local(pointer(), "scope");
  }

  void write_blocks() {
    const auto back = blocks_with_back_edges(static_cast<std::uint32_t>(function_.blocks.size()),
                                             [this](std::uint32_t block) -> const std::vector<std::uint32_t>& {
                                               return function_.blocks[block].successors;
                                             });
    for (std::size_t b = 0; b < function_.blocks.size(); ++b) {
      const Block& block = function_.blocks[b];
      begin(block_label(b));
      for (const Instruction& one : block.instructions) {
        if (&one == &block.instructions.back() && back[b] && module_.has_yield_checks) check_loop(one);
        write(one, block);
      }
    }
  }

  void write(const Instruction& one, const Block& block) {
    switch (one.kind) {
      case Kind::kCopy:
        return store_result(one, one.type, value(one.operands[0]));
      case Kind::kArithmetic:
        return arithmetic(one);
      case Kind::kComparison: {
        const std::string left = typed_value(one.operands[0]), right = value(one.operands[1]), name = fresh("v");
        line(name, " = icmp ", one.word, " ", left, ", ", right);
        return store_result(one, "i1", name);
      }
      case Kind::kConversion: {
        const std::string from = typed_value(one.operands[0]), name = fresh("v");
        line(name, " = ", one.word, " ", from, " to ", one.type);
        return store_result(one, one.type, name);
      }
      case Kind::kCall:
        return call(one);
      case Kind::kPrint:
        return print(one);
      case Kind::kBranch: {
        const std::string condition = value(one.operands[0]);
        const std::uint32_t first = one.first_successor;
        line("br i1 ", condition, ", label %", block_label(block.successors[first]), ", label %",
             block_label(block.successors[first + 1]));
        return;
      }
      case Kind::kJump:
        return line("br label %", block_label(block.successors.back()));
      case Kind::kReturn:
        if (!one.operands.empty()) {
          const std::string result = typed_value(one.operands[0]);
          line("store ", result, ", ", to(result_), " %result");
        }
        return line("br label %exit");
      case Kind::kDefer:
        return defer(one);
      case Kind::kChannelCreate:
        return channel_create(one);
      case Kind::kSend:
      case Kind::kRecv:
        return transfer(one, block);
      case Kind::kClose: {
        const std::string channel = value(one.operands[0]);
        line(fresh("unused"), " = call i32 ", helpers_.runtime("janus_channel_close", "i32", pointer()), "(", pointer(),
             " ", channel, ")");
        return;
      }
      case Kind::kOpcode:
        return opcode(one);
    }
  }

  void arithmetic(const Instruction& one) {
    const std::string left = value(one.operands[0]), right = value(one.operands[1]), name = fresh("v");
    const std::string& word = one.word;
    if (word == "sdiv" || word == "udiv" || word == "srem" || word == "urem") {
      line(name, " = call ", one.type, " ", division(word, one.type), "(", one.type, " ", left, ", ", one.type, " ",
           right, ")");
    } else if (word == "shl" || word == "lshr" || word == "ashr") {
      // The amount counts modulo the width.
      const std::string amount = fresh("v");
      line(amount, " = urem ", one.type, " ", right, ", ", shift_limit(one.type));
      line(name, " = ", word, " ", one.type, " ", left, ", ", amount);
    } else {
      line(name, " = ", word, " ", one.type, " ", left, ", ", right);
    }
    store_result(one, one.type, name);
  }
  // The width, as a constant of the type. (That of i1 does not fit: it is shifted by nothing.)
  static std::string shift_limit(const std::string& type) {
    return type == "i1" ? "true" : type == "i2" ? "2" : std::to_string(integer_width(type));
  }

  // A division by zero is the task's panic; the one quotient that does not fit wraps.
  std::string division(const std::string& word, const std::string& type) {
    return helpers_.once(word + "." + type, [&](const std::string& symbol) {
      const bool is_signed = word[0] == 's', is_quotient = word[1] == 'd';
      std::string text =
          "define internal " + type + " " + symbol + "(" + type + " %a, " + type + " %b) alwaysinline {\n";
      text += "  %is_zero = icmp eq " + type + " %b, 0\n  br i1 %is_zero, label %zero, label %nonzero\nzero:\n";
      text += "  call void " + helpers_.runtime("janus_task_panic", "void", pointer()) + "(" + pointer() + " " +
              module_.string("division by zero") + ") cold\n  unreachable\nnonzero:\n";
      if (is_signed) {
        text += "  %is_minus_one = icmp eq " + type +
                " %b, -1\n  br i1 %is_minus_one, label %minus_one, label %plain\nminus_one:\n";
        text += "  %negated = sub " + type + " 0, %a\n  ret " + type + " " + (is_quotient ? "%negated" : "0") +
                "\nplain:\n";
      }
      return text + "  %result = " + word + " " + type + " %a, %b\n  ret " + type + " %result\n}\n";
    });
  }

  const Function& callee(const Instruction& one) const {
    return module_.file.functions[module_.file.by_name.at(std::string(tokens_.name(one.callee)))];
  }
  std::string arguments(const Instruction& one) {
    std::string list;
    for (const Operand& operand : one.operands) {
      const std::string argument = typed_value(operand);
      list += (list.empty() ? "" : ", ") + argument;
    }
    return list;
  }
  std::string variadic_type(const Function& target) const {
    std::string list;
    for (const std::string& parameter : target.parameters) list += module_.llvm(parameter) + ", ";
    return "(" + list + "...) ";
  }

  void call(const Instruction& one) {
    const Function& target = callee(one);
    const std::string name = module_.name_of(target);
    // The runtime's own functions are checks themselves.
    if (module_.has_yield_checks && !(target.is_external && name.substr(0, 6) == "janus_")) check(one, "1");
    const std::string list = arguments(one);
    const std::string result = module_.llvm(target.result);
    if (target.is_external) {
      const std::string called =
          result + " " + (target.is_variadic ? variadic_type(target) : "") + symbol(name) + "(" + list + ")";
      if (result == "void") return line("call ", called);
      const std::string value = fresh("v");
      line(value, " = call ", called);
      return store_result(one, target.result, value);
    }
    finish_call(one, target, list, unwinds());
  }

  // A call of a body. With `may_unwind` a cancel that it saw ends this function, too.
  void finish_call(const Instruction& one, const Function& target, const std::string& list, bool may_unwind) {
    const std::string result = module_.llvm(target.result), both = Emission::both(result), name = fresh("v");
    line(name, " = call ", both, " ", module_.body_symbol(target), "(", list, ")");
    std::string told = name;
    if (result != "void") {
      const std::string value = fresh("v");
      told = fresh("told");
      line(value, " = extractvalue ", both, " ", name, ", 0");
      line(told, " = extractvalue ", both, " ", name, ", 1");
      if (one.kind == Kind::kCall) store_result(one, target.result, value);
    }
    if (may_unwind && !target.is_cleanup) leave_if(one, told);
  }

  void print(const Instruction& one) {
    const std::string text = unescaped(tokens_.text(one.operands[0].token));
    std::string format, list;
    std::size_t next = 1;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text.compare(i, 2, "{}") == 0) {
        const Operand& operand = one.operands[next++];
        std::string argument = value(operand);
        const unsigned width = integer_width(operand.type);
        if (width != 0 && width < 64) {
          const std::string wide = fresh("v");
          line(wide, " = ", width == 1 ? "zext" : "sext", " ", operand.type, " ", argument, " to i64");
          argument = wide;
        }
        format += width == 0 ? "%s" : "%lld";
        list += ", " + (width == 0 ? pointer() : std::string("i64")) + " " + argument;
        ++i;
      } else {
        format += text[i];
        if (text[i] == '%') format += '%';
      }
    }
    const std::string print = helpers_.runtime("janus_print", "i32", "i32, " + pointer() + ", ...");
    line(fresh("unused"), " = call i32 (i32, ", pointer(), ", ...) ", print, "(i32 1, ", pointer(), " ",
         module_.string(format + "\n"), list, ")");
  }

  void defer(const Instruction& one) {
    Deferred deferred{local("i1", "deferred"), {}, &one};
    for (const Operand& operand : one.operands) {
      const std::string type = module_.llvm(operand.type);
      deferred.arguments.push_back(local(type, "argument"));
      const std::string argument = typed_value(operand);
      line("store ", argument, ", ", to(type), " ", deferred.arguments.back());
    }
    line("store i1 true, ", to("i1"), " ", deferred.is_armed);
    deferred_.push_back(std::move(deferred));
  }

  void channel_create(const Instruction& one) {
    if (channels_.empty()) channels_ = local(pointer(), "channels");
    const std::string capacity = value(one.operands[0]), name = fresh("v");
    line(name, " = call ", pointer(), " ", helpers_.channel_create(), "(", to(pointer()), " ", channels_, ", i64 ",
         helpers_.size_of(module_.llvm(one.type)), ", i64 ", capacity, ")");
    store_result(one, "channel " + one.type, name);
  }

  void transfer(const Instruction& one, const Block& block) {
    const bool is_send = one.kind == Kind::kSend;
    const std::string type = module_.llvm(is_send ? one.operands[1].type : one.type);
    const std::string element = local(type, "element");
    const std::string channel = value(one.operands[0]);
    if (is_send) {
      const std::string sent = typed_value(one.operands[1]);
      line("store ", sent, ", ", to(type), " ", element);
    } else {
      line("store ", type, " ", is_pointer(type) ? "null" : "0", ", ", to(type), " ", element);
    }
    std::string address = element;
    if (pointer() != "ptr") {
      address = fresh("v");
      line(address, " = bitcast ", type, "* ", element, " to i8*");
    }
    const std::string status = fresh("status");
    const std::string function =
        helpers_.runtime(is_send ? "janus_channel_send" : "janus_channel_recv", "i32", pointer() + ", " + pointer());
    line(status, " = call i32 ", function, "(", pointer(), " ", channel, ", ", pointer(), " ", address, ")");
    if (!is_send) {
      const std::string received = fresh("v");
      line(received, " = load ", type, ", ", to(type), " ", element);
      store_result(one, one.type, received);
    }
    if (unwinds()) {
      const std::string told = fresh("told");
      line(told, " = icmp eq i32 ", status, ", ", kCancelled);
      leave_if(one, told);
    }
    if (one.labels.empty()) return;
    const std::string is_closed = fresh("closed"), next = fresh_label();
    line(is_closed, " = icmp slt i32 ", status, ", 0");
    line("br i1 ", is_closed, ", label %", block_label(block.successors[one.first_successor]), ", label %", next);
    begin(next);
  }

  // ---- Opcodes ------------------------------------------------------------------------------------------------------------

  void opcode(const Instruction& one) {
    switch (one.opcode) {
      case Opcode::kBudgetCheck:
        return check(one, "0");
      case Opcode::kBudgetDecrement: {
        const std::string cost = value(one.operands[0]);
        return charge(one, helpers_.decrement(), cost);
      }
      case Opcode::kYield: {
        const std::string status = fresh("status");
        line(status, " = call i32 ", helpers_.yield(), "()");
        return leave_if_negative(one, status);
      }
      case Opcode::kSleep: {
        const std::string time = value(one.operands[0]), status = fresh("status"), wide = fresh("v");
        line(status, " = call i32 ", helpers_.sleep(), "(i64 ", time, ")");
        line(wide, " = sext i32 ", status, " to i64");
        store_result(one, "i64", wide);
        return leave_if_cancelled(one);
      }
      case Opcode::kNurseryBegin: {
        const Site& site = sites_[site_of_.at(&one)];
        const std::string budget = budget_of(one), name = fresh("v");
        line(
            name, " = call ", pointer(), " ",
            site.is_opened ? helpers_.nursery_open(one.nursery) + "(" + budget + ")" : helpers_.nursery_begin() + "()");
        line("store ", pointer(), " ", name, ", ", to(pointer()), " ", site.nursery);
        return store_result(one, "nursery", name);
      }
      case Opcode::kNurseryEnd:
        return end(one);
      case Opcode::kNurseryCancel: {
        if (!one.event->is_reached) return;
        const Site& site = sites_[stack(function_.flow->target(*one.event)).site];
        const std::string nursery = load_nursery(site);
        return line(fresh("unused"), " = call i32 ", helpers_.nursery_cancel(), "(", pointer(), " ", nursery, ")");
      }
      case Opcode::kTaskCreate:
      case Opcode::kSpawn:
      case Opcode::kFork:
      case Opcode::kAsyncCall:
        return task(one);
      case Opcode::kTaskJoin:
      case Opcode::kAwait:
        if (one.type == "nursery") return await_nursery(one);
        return join(one);
    }
  }

  const NurseryFlow::Stack& stack(std::uint32_t i) const { return function_.flow->stacks()[i]; }
  std::string load_nursery(const Site& site) {
    std::string name = fresh("v");
    line(name, " = load ", pointer(), ", ", to(pointer()), " ", site.nursery);
    return name;
  }
  std::string budget_of(const Instruction& one) {
    std::string list;
    for (std::size_t i = 0; i < one.budget.size(); ++i) {
      const auto& part = one.budget[i];
      const std::string amount = one.has_all[i] ? "-1" : part ? value(*part) : "0";
      list += (i == 0 ? "" : ", ") + std::string(kBudgetParts[i].second) + " " + amount;
    }
    return list;
  }

  // Ends a nursery and frees the records of its tasks; its result.
  std::string end_nursery(Site& site) {
    const std::string nursery = load_nursery(site);
    std::string result = fresh("v");
    line(result, " = call i64 ", helpers_.nursery_end(site.is_opened), "(", pointer(), " ", nursery, ")");
    line("call void ", helpers_.free_records(), "(", to(pointer()), " ", list_of(site), ")");
    return result;
  }
  const std::string& list_of(Site& site) {
    if (site.list.empty()) site.list = local(pointer(), "records");
    return site.list;
  }
  const std::string& outcome_of(Site& site) {
    if (site.outcome.empty()) site.outcome = local("i64", "outcome");
    return site.outcome;
  }

  void end(const Instruction& one) {
    if (!one.event->is_reached) return;
    const NurseryFlow::Stack& open = stack(one.event->stack);
    Site& site = sites_[open.site];
    if (!open.is_awaited) return store_result(one, "i64", end_nursery(site));
    const std::string result = fresh("v");
    line(result, " = load i64, ", to("i64"), " ", outcome_of(site));
    store_result(one, "i64", result);
  }
  void await_nursery(const Instruction& one) {
    if (!one.event->is_reached) return;
    Site& site = sites_[stack(one.event->stack).site];
    const std::string result = end_nursery(site);
    line("store i64 ", result, ", ", to("i64"), " ", outcome_of(site));
    store_result(one, "i64", result);
  }

  void task(const Instruction& one) {
    if (!one.event->is_reached) return;
    const Function& target = callee(one);
    TaskShape shape{module_.signature(target), Handle::kNone, !one.budget.empty(), !target.is_external};
    if (one.opcode == Opcode::kAsyncCall)
      shape.handle = Handle::kChannel;
    else if (one.result != kNoIndex)
      shape.handle = handle_for(shape.signature.result);
    Site& site = one.event->stack == NurseryFlow::kEmpty ? scope_ : sites_[stack(one.event->stack).site];
    std::string list = pointer() + " " + load_nursery(site);
    if (shape.handle == Handle::kRecord || shape.handle == Handle::kChannel)
      list += ", " + to(pointer()) + " " + list_of(site);
    if (const std::string given = arguments(one); !given.empty()) list += ", " + given;
    if (const std::string budget = budget_of(one); !budget.empty()) list += ", " + budget;
    const std::string handle = fresh("v");
    line(handle, " = call i64 ", helpers_.spawn(shape), "(", list, ")");
    store_result(one, "task void", handle);
  }

  void join(const Instruction& one) {
    const std::string handle = value(one.operands[0]), type = module_.llvm(one.type), result = fresh("v");
    const Handle kind = one.operands[0].type.substr(0, 6) == "async " ? Handle::kChannel : handle_for(type);
    line(result, " = call ", joined_type(type), " ", helpers_.join(kind, type), "(i64 ", handle, ")");
    store_result(one, one.type == "void" ? "i64" : one.type, result);
    leave_if_cancelled(one);
  }

  // ---- The function's ends ------------------------------------------------------------------------------------------------

  // Ends the open nurseries, the innermost first.
  void write_unwinding() {
    // A stack has a higher number than the one around it.
    for (std::uint32_t i = static_cast<std::uint32_t>(function_.flow->stacks().size()); i-- > 1;) {
      if (!is_unwound_.contains(i)) continue;
      begin("unwind." + std::to_string(i));
      const NurseryFlow::Stack& open = stack(i);
      if (!open.is_awaited) {
        Site& site = sites_[open.site];
        const std::string nursery = load_nursery(site);
        line(fresh("unused"), " = call i32 ", helpers_.nursery_cancel(), "(", pointer(), " ", nursery, ")");
        end_nursery(site);
      }
      is_unwound_[open.outer] = true;
      line("br label %unwind.", std::to_string(open.outer));
    }
    if (!is_unwound_.contains(0)) return;
    begin("unwind.0");
    line("store i1 true, ", to("i1"), " %was_cancelled");
    if (!scope_.nursery.empty()) {
      const std::string nursery = load_nursery(scope_);
      line(fresh("unused"), " = call i32 ", helpers_.nursery_cancel(), "(", pointer(), " ", nursery, ")");
    }
    line("br label %exit");
  }

  void write_exit() {
    begin("exit");
    if (!scope_.nursery.empty()) end_nursery(scope_);
    for (auto deferred = deferred_.rbegin(); deferred != deferred_.rend(); ++deferred) run_deferred(*deferred);
    if (!channels_.empty()) line("call void ", helpers_.free_records(), "(", to(pointer()), " ", channels_, ")");
    if (!counter_.empty())
      line(fresh("unused"), " = call i32 ", helpers_.loop_end(), "(", to("i32"), " ", counter_, ")");
    line("%ended = load i1, ", to("i1"), " %was_cancelled");
    if (result_ == "void") {
      line("ret i1 %ended");
      return;
    }
    const std::string both = Emission::both(result_);
    line("%value = load ", result_, ", ", to(result_), " %result");
    line("%half = insertvalue ", both, " undef, ", result_, " %value, 0");
    line("%whole = insertvalue ", both, " %half, i1 %ended, 1");
    line("ret ", both, " %whole");
  }

  void run_deferred(const Deferred& deferred) {
    const std::string is_armed = fresh("v"), run = fresh_label(), next = fresh_label();
    line(is_armed, " = load i1, ", to("i1"), " ", deferred.is_armed);
    line("br i1 ", is_armed, ", label %", run, ", label %", next);
    begin(run);
    std::string list;
    for (std::size_t i = 0; i < deferred.arguments.size(); ++i) {
      const std::string type = module_.llvm(deferred.instruction->operands[i].type), argument = fresh("v");
      line(argument, " = load ", type, ", ", to(type), " ", deferred.arguments[i]);
      list.append(i == 0 ? "" : ", ").append(type).append(" ").append(argument);
    }
    const Function& target = callee(*deferred.instruction);
    const std::string result = module_.llvm(target.result);
    if (target.is_external)
      line(result == "void" ? "" : fresh("unused") + " = ", "call ", result, " ", symbol(module_.name_of(target)), "(",
           list, ")");
    else
      finish_call(*deferred.instruction, target, list, false);
    line("br label %", next);
    begin(next);
  }

  std::string parameter_list() const {
    std::string list;
    for (std::size_t i = 0; i < function_.parameters.size(); ++i)
      list += (i == 0 ? "" : ", ") + module_.llvm(function_.parameters[i]) + " %p." + std::to_string(i);
    return list;
  }

  void write_head() {
    std::string& text = module_.text;
    text += "\ndefine internal " + Emission::both(result_) + " " + module_.body_symbol(function_) + "(" +
            parameter_list() + ") \"probe-stack\"=\"inline-asm\" {\nentry:\n";
    text += "  %was_cancelled = alloca i1\n  store i1 false, " + to("i1") + " %was_cancelled\n";
    if (result_ != "void")
      text += "  %result = alloca " + result_ + "\n  store " + result_ + " " + (is_pointer(result_) ? "null" : "0") +
              ", " + to(result_) + " %result\n";
    for (std::uint32_t i = 0; i < function_.registers.size(); ++i) {
      const std::string type = module_.llvm(function_.registers[i].type);
      const std::string initial = i < function_.parameters.size() ? "%p." + std::to_string(i)
                                  : is_pointer(type)              ? "null"
                                                                  : "0";
      text.append("  ").append(register_at(i)).append(" = alloca ").append(type);
      text.append("  ; %").append(shown(function_.registers[i].name)).append("\n  store ").append(type).append(" ");
      text.append(initial).append(", ").append(to(type)).append(" ").append(register_at(i)).append("\n");
    }
    text += head_;
    if (!scope_.nursery.empty()) {
      text += "  %scope = call " + pointer() + " " + helpers_.nursery_begin() + "()\n";
      text += "  store " + pointer() + " %scope, " + to(pointer()) + " " + scope_.nursery + "\n";
    }
    text += "  br label %" + block_label(0) + "\n" + body_ + "}\n";
  }
  static std::string shown(std::string name) {
    for (char& c : name)
      if (static_cast<unsigned char>(c) < ' ') c = '?';
    return name;
  }

  // What other languages call. main returns an int.
  void write_wrapper() {
    std::string& text = module_.text;
    const std::string name = module_.name_of(function_), both = Emission::both(result_);
    const bool is_main = name == "main";
    text += "\ndefine " + (is_main ? "i32" : result_) + " " + symbol(name) + "(" + parameter_list() +
            ") \"probe-stack\"=\"inline-asm\" {\n";
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

  Emission& module_;
  const Tokens& tokens_;
  Helpers& helpers_;
  const Function& function_;
  const std::string result_;
  std::string& head_;  // the entry block's locals
  std::string& body_;
  std::size_t names_ = 0;
  std::vector<Site> sites_;
  std::unordered_map<const Instruction*, std::uint32_t> site_of_;
  Site scope_;  // the nursery of SPAWN and fork outside of all others
  std::vector<Deferred> deferred_;
  std::map<std::uint32_t, bool> is_unwound_;  // by the stack of nurseries
  std::string channels_, counter_;            // locals
};

void declare(Emission& module, const Function& function) {
  std::string list;
  for (const std::string& parameter : function.parameters) list += (list.empty() ? "" : ", ") + module.llvm(parameter);
  if (function.is_variadic) list += list.empty() ? "..." : ", ...";
  module.text +=
      "declare " + module.llvm(function.result) + " " + symbol(module.name_of(function)) + "(" + list + ")\n";
}

// Reads, checks and emits one function after another. What is emitted before the first error is not used.
void lower_functions(Emission& module, const TakePiece& take) {
  Source& source = module.tokens.source();
  const bool heads_are_right = !source.has_errors();
  for (const Function& head : module.file.functions) {
    Function function = head;
    const bool is_read = function.is_external || read_body(module.tokens, function);
    if (heads_are_right && is_read) check(module.tokens, module.file, function);
    if (source.has_errors()) continue;
    if (take && module.text.size() >= kPieceBytes) {
      take(module.text);
      module.text.clear();
    }
    if (function.is_external)
      declare(module, function);
    else
      FunctionEmission(module, function).run();
  }
}

}  // namespace
}  // namespace qtjir

std::optional<std::string> lower_qtjir(Source& source, const Options& options, const TakePiece& take) {
  const Tokens tokens(source);
  qtjir::File file = qtjir::read_heads(tokens);
  if (!options.profile.empty()) file.profile = options.profile;
  if (file.profile.empty()) file.profile = "service";
  const bool is_typed = options.llvm_version != 0 && options.llvm_version < 15;
  Helpers helpers({is_typed, interval_of(options, file.profile), "janus.",
                   [&file](std::string_view name) { return file.by_name.contains(std::string(name)); }});
  qtjir::Emission module{tokens,           file, helpers, options.has_yield_checks && file.profile != "core",
                         helpers.header(), {},   "",      ""};
  if (!take) module.text.reserve(source.text().size() * 16);
  qtjir::lower_functions(module, take);
  if (source.has_errors()) return std::nullopt;
  module.write_strings();
  helpers.append_to(module.text);
  return std::move(module.text);
}

}  // namespace janus::lower
