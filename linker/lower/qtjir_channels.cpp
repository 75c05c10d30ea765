// SPDX-License-Identifier: Apache-2.0
// qtjir_channels.cpp — Channel_Create, Send, Recv and Close.
#include "qtjir_channels.h"

#include "types.h"

namespace janus::lower::qtjir {

void Channels::create(const Instruction& one) {
  const std::string pointer = text_.pointer();
  if (list_.empty()) list_ = text_.local(pointer, "channels");
  const std::string capacity = text_.value(one.operands[0]), name = text_.fresh("v");
  text_.line(name, " = call ", pointer, " ", text_.helpers().channel_create(), "(", text_.to(pointer), " ", list_,
             ", i64 ", text_.helpers().size_of(text_.module().llvm(one.type)), ", i64 ", capacity, ")");
  text_.store_result(one, "channel " + one.type, name);
}

void Channels::transfer(const Instruction& one, const Block& block, bool has_back_edge) {
  const bool is_send = one.kind == Kind::kSend;
  const std::string type = text_.module().llvm(is_send ? one.operands[1].type : one.type), pointer = text_.pointer();
  const std::string element = text_.local(type, "element");
  const std::string channel = text_.value(one.operands[0]);
  if (is_send) {
    const std::string sent = text_.typed_value(one.operands[1]);
    text_.line("store ", sent, ", ", text_.to(type), " ", element);
  } else {
    text_.line("store ", type, " ", is_pointer(type) ? "null" : "0", ", ", text_.to(type), " ", element);
  }
  std::string address = element;
  if (pointer != "ptr") {
    address = text_.fresh("v");
    text_.line(address, " = bitcast ", type, "* ", element, " to i8*");
  }
  const std::string status = text_.fresh("status");
  const std::string function =
      text_.helpers().runtime(is_send ? "janus_channel_send" : "janus_channel_recv", "i32", pointer + ", " + pointer);
  text_.line(status, " = call i32 ", function, "(", pointer, " ", channel, ", ", pointer, " ", address, ")");
  if (!is_send) {
    const std::string received = text_.fresh("v");
    text_.line(received, " = load ", type, ", ", text_.to(type), " ", element);
    text_.store_result(one, one.type, received);
  }
  if (points_.unwinds()) {
    const std::string told = text_.fresh("told");
    text_.line(told, " = icmp eq i32 ", status, ", ", kCancelled);
    points_.leave_if(one, told);
  }
  if (one.labels.empty()) return;
  const std::string is_closed = text_.fresh("closed"), next = text_.fresh_label();
  text_.line(is_closed, " = icmp slt i32 ", status, ", 0");
  const std::string target = FunctionText::block_label(block.successors[one.first_successor]),
                    around = has_back_edge ? text_.fresh_label() : target;
  text_.line("br i1 ", is_closed, ", label %", around, ", label %", next);
  if (has_back_edge) {
    // A null channel (not made) counts as closed, but a transfer on it does not yield, so this edge has a check.
    text_.begin(around);
    points_.check_loop(one, "1");
    text_.line("br label %", target);
  }
  text_.begin(next);
}

void Channels::close(const Instruction& one) {
  const std::string channel = text_.value(one.operands[0]), pointer = text_.pointer();
  text_.line(text_.fresh("unused"), " = call i32 ", text_.helpers().runtime("janus_channel_close", "i32", pointer), "(",
             pointer, " ", channel, ")");
}

void Channels::write_exit() {
  if (!list_.empty())
    text_.line("call void ", text_.helpers().free_records(), "(", text_.to(text_.pointer()), " ", list_, ")");
}

}  // namespace janus::lower::qtjir
