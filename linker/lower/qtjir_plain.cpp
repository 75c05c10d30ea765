// SPDX-License-Identifier: Apache-2.0
// qtjir_plain.cpp — arithmetic, comparisons, conversions and print.
#include "qtjir_plain.h"

#include "qtjir_strings.h"
#include "types.h"

namespace janus::lower::qtjir {
namespace {

// The width, as a constant of the type. (For i1 it is 1, which is `true`.)
std::string shift_limit(const std::string& type) {
  return type == "i1" ? "true" : type == "i2" ? "2" : std::to_string(integer_width(type));
}

// A division by zero makes the task panic. The only quotient that does not fit (the smallest value by -1) wraps.
std::string division(Module& module, const std::string& word, const std::string& type) {
  Helpers& helpers = module.helpers();
  return helpers.once(word + "." + type, [&](const std::string& symbol) {
    const bool is_signed = word[0] == 's', is_quotient = word[1] == 'd';
    const std::string pointer = helpers.pointer();
    std::string text = "define internal " + type + " " + symbol + "(" + type + " %a, " + type + " %b) alwaysinline {\n";
    text += "  %is_zero = icmp eq " + type + " %b, 0\n  br i1 %is_zero, label %zero, label %nonzero\nzero:\n";
    text += "  call void " + helpers.runtime("janus_task_panic", "void", pointer) + "(" + pointer + " " +
            module.string("division by zero") + ") cold\n  unreachable\nnonzero:\n";
    if (is_signed) {
      text += "  %is_minus_one = icmp eq " + type +
              " %b, -1\n  br i1 %is_minus_one, label %minus_one, label %plain\nminus_one:\n";
      text +=
          "  %negated = sub " + type + " 0, %a\n  ret " + type + " " + (is_quotient ? "%negated" : "0") + "\nplain:\n";
    }
    return text + "  %result = " + word + " " + type + " %a, %b\n  ret " + type + " %result\n}\n";
  });
}

}  // namespace

void write_copy(FunctionText& text, const Instruction& one) {
  text.store_result(one, one.type, text.value(one.operands[0]));
}

void write_arithmetic(FunctionText& text, const Instruction& one) {
  const std::string left = text.value(one.operands[0]), right = text.value(one.operands[1]), name = text.fresh("v");
  const std::string& word = one.word;
  if (word == "sdiv" || word == "udiv" || word == "srem" || word == "urem") {
    text.line(name, " = call ", one.type, " ", division(text.module(), word, one.type), "(", one.type, " ", left, ", ",
              one.type, " ", right, ")");
  } else if (word == "shl" || word == "lshr" || word == "ashr") {
    // The amount is taken modulo the width.
    const std::string amount = text.fresh("v");
    text.line(amount, " = urem ", one.type, " ", right, ", ", shift_limit(one.type));
    text.line(name, " = ", word, " ", one.type, " ", left, ", ", amount);
  } else {
    text.line(name, " = ", word, " ", one.type, " ", left, ", ", right);
  }
  text.store_result(one, one.type, name);
}

void write_comparison(FunctionText& text, const Instruction& one) {
  const std::string left = text.typed_value(one.operands[0]), right = text.value(one.operands[1]),
                    name = text.fresh("v");
  text.line(name, " = icmp ", one.word, " ", left, ", ", right);
  text.store_result(one, "i1", name);
}

void write_conversion(FunctionText& text, const Instruction& one) {
  const std::string from = text.typed_value(one.operands[0]), name = text.fresh("v");
  text.line(name, " = ", one.word, " ", from, " to ", one.type);
  text.store_result(one, one.type, name);
}

void write_print(FunctionText& text, const Instruction& one) {
  const std::vector<std::string> parts = split_at_places(text.module().tokens().text(one.operands[0].token));
  const std::string pointer = text.pointer();
  std::string format, list;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i != 0) {
      const Operand& operand = one.operands[i];
      std::string argument = text.value(operand);
      const unsigned width = integer_width(operand.type);
      if (width != 0 && width < 64) {
        const std::string wide = text.fresh("v");
        text.line(wide, " = ", width == 1 ? "zext" : "sext", " ", operand.type, " ", argument, " to i64");
        argument = wide;
      }
      format += width == 0 ? "%s" : "%lld";
      list += ", " + (width == 0 ? pointer : std::string("i64")) + " " + argument;
    }
    for (const char c : parts[i]) format.append(c == '%' ? 2 : 1, c);
  }
  const std::string print = text.helpers().runtime("janus_print", "i32", "i32, " + pointer + ", ...");
  text.line(text.fresh("unused"), " = call i32 (i32, ", pointer, ", ...) ", print, "(i32 1, ", pointer, " ",
            text.module().string(format + "\n"), list, ")");
}

}  // namespace janus::lower::qtjir
