// SPDX-License-Identifier: Apache-2.0
// machine.cpp — one small function for each kind of instruction.
#include "tests/offsets/machine.h"

#include <array>
#include <optional>
#include <utility>

#include "tests/offsets/decode.h"

namespace witness {
namespace {

constexpr std::size_t kMaxInstructions = 500;  // the project's assembly functions have no loops
constexpr std::array kRegisters = {"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "r8",
                                   "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
constexpr std::array kLostInACall = {"rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11"};

Value operator+(Value value, std::int64_t more) {
  value.offset += more;
  return value;
}

class Machine {
 public:
  Machine(const Image& image, std::uint64_t address, Path start)
      : image_(image), ip_(address), path_(std::move(start)) {}

  // Runs to the end of this path. Where a conditional jump may go either way, the other path is added to `more`.
  Path finish(std::vector<Machine>& more) {
    for (std::size_t i = 0; i < kMaxInstructions && path_.end.empty() && path_.trouble.empty(); ++i) step(more);
    if (path_.end.empty() && path_.trouble.empty()) path_.trouble = "does not come to an end";
    return path_;
  }

 private:
  void step(std::vector<Machine>& more) {
    Instruction now;
    if (!decode(image_.code_at(ip_), ip_, now)) {
      path_.trouble = "no instruction";
      return;
    }
    ip_ = now.next();
    if (!execute(now, more) && path_.trouble.empty()) path_.trouble = "cannot follow " + now.text();
  }

  bool execute(const Instruction& now, std::vector<Machine>& more) {
    switch (now.code.meta.category) {
      case ZYDIS_CATEGORY_COND_BR:
        return branch(now, more);
      case ZYDIS_CATEGORY_UNCOND_BR:
        return jump(now);
      case ZYDIS_CATEGORY_CALL:
        return call(now);
      case ZYDIS_CATEGORY_RET:
        return leave("ret", pop());
      default:
        return compute(now);
    }
  }

  bool compute(const Instruction& now) {
    switch (now.code.mnemonic) {
      case ZYDIS_MNEMONIC_NOP:
        return true;
      case ZYDIS_MNEMONIC_UD2:
        return leave("ud2", {});
      case ZYDIS_MNEMONIC_CLD:
      case ZYDIS_MNEMONIC_FNCLEX:
        return note(now.mnemonic(), {});
      case ZYDIS_MNEMONIC_STMXCSR:
        return store(now.operands[0], {"mxcsr" + when()});
      case ZYDIS_MNEMONIC_FNSTCW:
        return store(now.operands[0], {"fcw" + when()});
      case ZYDIS_MNEMONIC_LDMXCSR:
      case ZYDIS_MNEMONIC_FLDCW:
        return load_control_word(now);
      case ZYDIS_MNEMONIC_MOV:
      case ZYDIS_MNEMONIC_MOVZX:
        return assign(now.operands[0], read(now, now.operands[1]));
      case ZYDIS_MNEMONIC_LEA:
        return assign(now.operands[0], address_of(now, now.operands[1]));
      case ZYDIS_MNEMONIC_PUSH:
        return push(read(now, now.operands[0]));
      case ZYDIS_MNEMONIC_POP:
        return assign(now.operands[0], pop());
      case ZYDIS_MNEMONIC_ADD:
      case ZYDIS_MNEMONIC_SUB:
        return add(now);
      case ZYDIS_MNEMONIC_XOR:
      case ZYDIS_MNEMONIC_AND:
      case ZYDIS_MNEMONIC_OR:
        return combine(now);
      case ZYDIS_MNEMONIC_CMP:
      case ZYDIS_MNEMONIC_TEST:
        return compare(now);
      default:
        return false;
    }
  }

  // --- Operands ---

  std::optional<Value> address_of(const Instruction& now, const ZydisDecodedOperand& operand) {
    const auto& mem = operand.mem;
    const bool other_segment = mem.segment == ZYDIS_REGISTER_FS || mem.segment == ZYDIS_REGISTER_GS;
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || mem.index != ZYDIS_REGISTER_NONE || other_segment) return {};
    if (mem.base == ZYDIS_REGISTER_RIP) return Value{"", static_cast<std::int64_t>(now.next()) + mem.disp.value};
    if (mem.base == ZYDIS_REGISTER_NONE) return Value{"", mem.disp.value};
    return path_.registers[full_register(mem.base)] + mem.disp.value;
  }

  std::optional<Value> read(const Instruction& now, const ZydisDecodedOperand& operand) {
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) return path_.registers[full_register(operand.reg.value)];
    if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) return Value{"", operand.imm.value.s};
    const auto address = address_of(now, operand);
    if (!address) return {};
    return load(*address, operand.size / 8);
  }

  Value load(const Value& address, unsigned bytes) {
    const auto found = path_.stores.find(address);
    if (found == path_.stores.end()) return {"[" + address.text() + "]"};
    if (found->second.bytes != bytes) path_.trouble = "reads another width than it wrote at " + address.text();
    return found->second.value;
  }

  bool assign(const ZydisDecodedOperand& to, std::optional<Value> value) {
    if (!value) return false;
    if (to.type == ZYDIS_OPERAND_TYPE_MEMORY) return store(to, *value);
    path_.registers[full_register(to.reg.value)] = *value;
    return true;
  }

  bool store(const ZydisDecodedOperand& to, const Value& value) {
    Instruction none;
    if (to.mem.base == ZYDIS_REGISTER_RIP) return false;  // no tested function writes a global
    const auto address = address_of(none, to);
    if (address) path_.stores[*address] = {value, to.size / 8u};
    return address.has_value();
  }

  // --- Instructions ---

  bool push(std::optional<Value> value) {
    if (!value) return false;
    auto& sp = path_.registers["rsp"];
    sp = sp + -8;
    path_.stores[sp] = {*value, 8};
    return true;
  }

  Value pop() {
    auto& sp = path_.registers["rsp"];
    Value value = load(sp, 8);
    sp = sp + 8;
    return value;
  }

  bool add(const Instruction& now) {
    const auto left = read(now, now.operands[0]), right = read(now, now.operands[1]);
    if (!left || !right || !right->symbol.empty()) return false;
    return assign(now.operands[0], *left + (now.code.mnemonic == ZYDIS_MNEMONIC_ADD ? right->offset : -right->offset));
  }

  static std::string expression(const Instruction& now, const Value& left, const Value& right) {
    return now.mnemonic() + "(" + left.text() + "," + right.text() + ")";
  }

  bool combine(const Instruction& now) {
    const auto left = read(now, now.operands[0]), right = read(now, now.operands[1]);
    if (!left || !right) return false;
    const bool zero = now.code.mnemonic == ZYDIS_MNEMONIC_XOR && *left == *right;
    const Value result = zero ? Value{} : Value{expression(now, *left, *right)};
    flags_ = result;
    return assign(now.operands[0], result);
  }

  bool compare(const Instruction& now) {
    const auto left = read(now, now.operands[0]), right = read(now, now.operands[1]);
    if (!left || !right) return false;
    flags_ = {expression(now, *left, *right)};
    return true;
  }

  bool load_control_word(const Instruction& now) {
    const auto address = address_of(now, now.operands[0]);
    return address && note(now.mnemonic(), load(*address, now.operands[0].size / 8));
  }

  bool branch(const Instruction& now, std::vector<Machine>& more) {
    Machine other = *this;
    other.note(now.mnemonic(), flags_, true);
    other.ip_ = now.next() + static_cast<std::uint64_t>(now.operands[0].imm.value.s);
    more.push_back(other);
    return note(now.mnemonic(), flags_);
  }

  bool jump(const Instruction& now) {
    if (now.operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE) {
      const auto target = read(now, now.operands[0]);
      return target && leave("jmp", *target);
    }
    ip_ = now.next() + static_cast<std::uint64_t>(now.operands[0].imm.value.s);
    return true;
  }

  // The called function keeps the ABI: it uses its own stack, and changes caller-saved registers only.
  bool call(const Instruction& now) {
    const auto target = read(now, now.operands[0]);
    if (!target) return false;
    note("call", *target);
    called_ = true;
    for (const char* name : kLostInACall) path_.registers[name] = {std::string("lost ") + name};
    path_.registers["rax"] = {"result"};
    return true;
  }

  // The called function may have changed the control words.
  [[nodiscard]] std::string when() const { return called_ ? " after the call" : ""; }

  bool note(const std::string& what, const Value& operand, bool taken = false) {
    path_.events.push_back({what, operand, taken, path_.registers});
    return true;
  }

  bool leave(const std::string& how, const Value& target) {
    path_.end = how;
    path_.target = target;
    return true;
  }

  const Image& image_;
  std::uint64_t ip_;
  Path path_;
  Value flags_;
  bool called_ = false;
};

}  // namespace

std::string Value::text() const {
  if (symbol.empty()) return std::to_string(offset);
  if (offset == 0) return symbol;
  return symbol + (offset > 0 ? "+" : "") + std::to_string(offset);
}

std::vector<Path> run(const Image& image, std::uint64_t address, const std::map<std::string, Value>& given) {
  Path start;
  for (const char* name : kRegisters) start.registers[name] = {name};
  start.registers["rsp"] = {"sp"};
  for (const auto& [name, value] : given) start.registers[name] = value;

  std::vector<Machine> waiting = {Machine(image, address, start)};
  std::vector<Path> paths;
  while (!waiting.empty() && paths.size() < 64) {
    Machine next = waiting.back();
    waiting.pop_back();
    paths.push_back(next.finish(waiting));
  }
  return paths;
}

}  // namespace witness
