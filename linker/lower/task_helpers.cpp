// SPDX-License-Identifier: Apache-2.0
// task_helpers.cpp — the helpers that make tasks and join them, and the functions that tasks begin in.
#include "helpers.h"

#include "helper_text.h"
#include "types.h"

namespace janus::lower {
namespace {

constexpr unsigned kDetached = 1, kRunCancelled = 2;
constexpr std::string_view kCancelled = "-1";  // JANUS_CANCELLED
constexpr std::size_t kChannelField = 1, kResultField = 2,
                      kRecordFields = 3;  // next, channel, result; the arguments follow

bool has_record(Handle handle) {
  return handle == Handle::kRecord || handle == Handle::kChannel;
}

// Whether all arguments together fit into the pointer that a task gets.
bool fits_into_word(const Signature& signature) {
  if (signature.parameters.empty()) return true;
  if (signature.parameters.size() > 1) return false;
  const std::string& type = signature.parameters[0].type;
  const unsigned width = integer_width(type);
  return (width != 0 && width <= 64) || (is_pointer(type) && type.find("addrspace") == std::string::npos);
}

std::string stored_result(const Signature& signature) {
  return signature.result == "void" ? "i64" : signature.result;
}

// A key for the properties on which a spawn helper depends.
std::string shape_key(const TaskShape& shape) {
  std::string key =
      text_of("spawn ", std::to_string(static_cast<int>(shape.handle)), shape.has_budget ? " budget" : "");
  if (has_record(shape.handle)) key += text_of(" ", stored_result(shape.signature));
  for (const Parameter& parameter : shape.signature.parameters) key += text_of(", ", parameter.type);
  return key;
}

// A key for the function that a task starts in. A function's name may have any character, so the symbol of the helper
// has a number instead of the name. Tasks that differ only in their budgets, or in whether a handle without a record is
// kept, start in the same function.
std::string task_key(const TaskShape& shape) {
  return text_of("task ", has_record(shape.handle) ? std::to_string(static_cast<int>(shape.handle)) : "",
                 shape.tells_cancel ? " cancel " : " ", shape.symbol);
}

}  // namespace

Handle handle_for(std::string_view result) {
  const unsigned width = integer_width(result);
  return result == "void" || (width != 0 && width <= 64) ? Handle::kTask : Handle::kRecord;
}

std::string joined_type(std::string_view result) {
  return result == "void" ? "i64" : std::string(result);
}

// The fields of a record. With a result in it: the next record of the list, the channel, the result, the arguments.
// Without: the arguments.
std::string Helpers::record_type(const TaskShape& shape) const {
  std::string fields;
  if (has_record(shape.handle)) fields = text_of(pointer(), ", ", pointer(), ", ", stored_result(shape.signature));
  for (const Parameter& parameter : shape.signature.parameters) fields += (fields.empty() ? "" : ", ") + parameter.type;
  return text_of("{ ", fields, " }");
}

std::string Helpers::head_of_spawn(const TaskShape& shape, const std::string& symbol) const {
  std::string parameters = text_of(pointer(), " %nursery, ", task_type(), " %task");
  if (has_record(shape.handle)) parameters += ", " + pointer_to(pointer()) + " %list";
  for (std::size_t i = 0; i < shape.signature.parameters.size(); ++i)
    parameters += ", " + given_type(shape.signature.parameters[i].type) + " %a" + std::to_string(i);
  if (shape.has_budget) parameters += text_of(", ", kBudgetParameters);
  return text_of("define internal i64 ", symbol, "(", parameters, ")", kOfTask, " {\nentry:\n");
}

// The options of a spawn, as an operand of pointer type: null for the defaults, a constant or, with a budget, a
// variable.
std::string Helpers::spawn_options(const TaskShape& shape, std::string& body, unsigned flags) {
  if (!shape.has_budget && flags == 0) return "null";
  const std::string type = text_of("{ i32, i32, i64, ", kBudget, ", i64, ", pointer(), ", i64 }");
  if (!shape.has_budget) {
    const std::string constant = once(text_of("options ", std::to_string(flags)), [&](const std::string& symbol) {
      return text_of(symbol, " = private unnamed_addr constant ", type, " { i32 0, i32 0, i64 0, ", kBudget,
                     " zeroinitializer, i64 0, ", pointer(), " null, i64 ", std::to_string(flags), " }\n");
    });
    return settings_.has_typed_pointers ? text_of("bitcast (", type, "* ", constant, " to i8*)") : constant;
  }
  line(body, "%options = alloca ", type);
  line(body, "store ", type, " zeroinitializer, ", pointer_to(type), " %options");
  store_budget(body, type, 3);
  line(body, "store i64 ", std::to_string(flags), ", ", pointer_to("i64"), " ",
       field(body, "%options", type, 6, "%flags"));
  if (!settings_.has_typed_pointers) return "%options";
  line(body, "%options_at = bitcast ", type, "* %options to i8*");
  return "%options_at";
}

std::string Helpers::spawn(const TaskShape& shape) {
  return once(shape_key(shape), [&](const std::string& symbol) {
    return !has_record(shape.handle) && fits_into_word(shape.signature) ? spawn_with_word(shape, symbol)
                                                                        : spawn_with_record(shape, symbol);
  });
}

std::string Helpers::task(const TaskShape& shape) {
  return text_of(
      task_type(), " ",
      !has_record(shape.handle) && fits_into_word(shape.signature) ? task_with_word(shape) : task_with_record(shape));
}

// The call of the task's function, with everything that its ABI requires of a caller.
std::string Helpers::call_of(const TaskShape& shape, const std::vector<std::string>& arguments) const {
  const Signature& signature = shape.signature;
  std::string list;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Parameter& parameter = signature.parameters[i];
    list += (i == 0 ? "" : ", ") + parameter.type + (parameter.extension.empty() ? "" : " " + parameter.extension) +
            " " + arguments[i];
  }
  std::string result = signature.result;
  if (shape.tells_cancel) result = result == "void" ? "i1" : "{ " + result + ", i1 }";
  return text_of("call ", signature.convention, signature.convention.empty() ? "" : " ", result, " ", shape.symbol, "(",
                 list, ")");
}

// The code after the loads of the arguments: calls the function, keeps its result, and returns the value that the
// runtime takes as the task's value.
std::string Helpers::finish_task(const TaskShape& shape, const std::string& record) {
  const Signature& signature = shape.signature;
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < signature.parameters.size(); ++i) arguments.push_back("%a" + std::to_string(i));
  const bool is_void = signature.result == "void";
  std::string body = empty_body();
  if (is_void && !shape.tells_cancel)
    line(body, call_of(shape, arguments));
  else
    line(body, shape.tells_cancel ? (is_void ? "%is_cancelled" : "%both") : "%result", " = ",
         call_of(shape, arguments));
  if (shape.tells_cancel) {
    const std::string both = text_of("{ ", signature.result, ", i1 }");
    if (!is_void) {
      line(body, "%is_cancelled = extractvalue ", both, " %both, 1");
      line(body, "%result = extractvalue ", both, " %both, 0");
    }
    line(body, "br i1 %is_cancelled, label %cancelled, label %ended");
    label(body, "cancelled");
    line(body, "ret i64 ", kCancelled);
    label(body, "ended");
  }
  if (has_record(shape.handle)) {
    const std::string type = record_type(shape);
    const std::string stored = stored_result(signature);
    field(body, record, type, kResultField, "%result_at");
    line(body, store(stored, is_void ? "0" : "%result", "%result_at"));
    if (shape.handle == Handle::kChannel) {
      line(body, "%channel = load ", pointer(), ", ", pointer_to(pointer()), " ",
           field(body, record, type, kChannelField, "%channel_at"));
      std::string element = "%result_at";
      if (settings_.has_typed_pointers) {
        line(body, "%element = bitcast ", stored, "* %result_at to i8*");
        element = "%element";
      }
      line(body, "%sent = call i32 ", runtime("janus_channel_send", "i32", pointer() + ", " + pointer()), "(",
           pointer(), " %channel, ", pointer(), " ", element, ")");
    }
  }
  const unsigned width = integer_width(signature.result);
  if (has_record(shape.handle)) {
    line(body, "%address = ptrtoint ", pointer(), " %record to i64");
    if (width != 32 && width != 64) {
      line(body, "ret i64 %address");
    } else {
      const std::string wide = width == 32 ? "%wide" : "%result";
      if (width == 32) line(body, "%wide = sext i32 %result to i64");
      line(body, "%is_failure = icmp slt i64 ", wide, ", 0");
      line(body, "%value = select i1 %is_failure, i64 ", wide, ", i64 %address");
      line(body, "ret i64 %value");
    }
  } else if (is_void || width == 0 || width > 64) {
    line(body, "ret i64 0");
  } else if (width == 64) {
    line(body, "ret i64 %result");
  } else {
    // An i32 is sign-extended, because it may be a failure code, which is negative. Other widths have no failure codes.
    line(body, "%wide = ", width == 32 ? "sext" : "zext", " ", signature.result, " %result to i64");
    line(body, "ret i64 %wide");
  }
  return body;
}

// The function of a task whose arguments are in a record. It frees the record first, even if the task was cancelled
// before it started. A record that holds the result is not freed: it belongs to the nursery.
std::string Helpers::task_with_record(const TaskShape& shape) {
  return once(task_key(shape), [&](const std::string& symbol) {
    const Signature& signature = shape.signature;
    const std::string record = record_type(shape);
    std::string body = empty_body();
    const std::string fields = cast(body, "%record", record, "%typed");
    const std::size_t first = has_record(shape.handle) ? kRecordFields : 0;
    for (std::size_t i = 0; i < signature.parameters.size(); ++i) {
      const std::string name = "%a" + std::to_string(i);
      const std::string at = field(body, fields, record, first + i, name + "_at");
      line(body, name, " = ", load(signature.parameters[i].type, at));
    }
    if (!has_record(shape.handle)) {
      line(body, "call void ", runtime("janus_free", "void", pointer()), "(", pointer(), " %record)");
      line(body, "%told = call i32 ", runtime("janus_cancelled", "i32", ""), "()");
      line(body, "%is_told = icmp ne i32 %told, 0");
      line(body, "br i1 %is_told, label %never, label %go");
      label(body, "never");
      line(body, "ret i64 ", kCancelled);
      label(body, "go");
    }
    body += finish_task(shape, fields);
    return text_of("define internal i64 ", symbol, "(", pointer(), " %record)", kOfTask, signature.target,
                   " {\nentry:\n", body, "}\n");
  });
}

// Calls the runtime to spawn %task in %nursery; the result is %handle.
std::string Helpers::spawn_call(const std::string& argument, const std::string& options) {
  const std::string parameters = text_of(pointer(), ", ", task_type(), ", ", pointer(), ", ", pointer());
  return text_of("%handle = call i64 ", runtime("janus_nursery_spawn_in", "i64", parameters), "(", pointer(),
                 " %nursery, ", task_type(), " %task, ", pointer(), " ", argument, ", ", pointer(), " ", options, ")");
}

std::string Helpers::spawn_with_record(const TaskShape& shape, const std::string& symbol) {
  const std::string type = record_type(shape);
  const bool keeps = has_record(shape.handle);
  const std::size_t first = keeps ? kRecordFields : 0;
  std::string body = empty_body();
  const unsigned flags = keeps ? 0 : (kRunCancelled | (shape.handle == Handle::kNone ? kDetached : 0));
  const std::string options = spawn_options(shape, body, flags);
  line(body, "%record = call ", pointer(), " ", runtime("janus_alloc", pointer(), "i64"), "(i64 ", size_of(type), ")");
  line(body, "%is_none = icmp eq ", pointer(), " %record, null");
  line(body, "br i1 %is_none, label %failed, label %fill");
  label(body, "fill");
  const std::string fields = cast(body, "%record", type, "%typed");
  for (std::size_t i = 0; i < shape.signature.parameters.size(); ++i) {
    const std::string name = "%a" + std::to_string(i);
    const std::string& parameter = shape.signature.parameters[i].type;
    const std::string at = field(body, fields, type, first + i, name + "_at");
    std::string value = name;
    if (depends_on_features(parameter)) {
      value += "_value";
      line(body, value, " = load ", parameter, ", ", pointer_to(parameter), " ", name);
    }
    line(body, store(parameter, value, at));
  }
  std::string channel = "null";
  if (shape.handle == Handle::kChannel) {
    const std::string stored = stored_result(shape.signature);
    line(body, "%channel = call ", pointer(), " ", runtime("janus_channel_create", pointer(), "i64, i64"), "(i64 ",
         size_of(stored), ", i64 1)");
    line(body, "%has_none = icmp eq ", pointer(), " %channel, null");
    line(body, "br i1 %has_none, label %undo, label %start");
    label(body, "start");
    channel = "%channel";
  }
  if (keeps) {
    line(body, "store ", pointer(), " ", channel, ", ", pointer_to(pointer()), " ",
         field(body, fields, type, kChannelField, "%channel_at"));
    line(body, "store ", stored_result(shape.signature), " zeroinitializer, ",
         pointer_to(stored_result(shape.signature)), " ", field(body, fields, type, kResultField, "%result_at"),
         may_be_overaligned(stored_result(shape.signature)) ? ", align 1" : "");
  }
  line(body, spawn_call("%record", options));
  line(body, "%is_refused = icmp eq i64 %handle, 0");
  line(body, "br i1 %is_refused, label %refused, label %spawned");
  label(body, "spawned");
  if (keeps) {
    line(body, "%rest = load ", pointer(), ", ", pointer_to(pointer()), " %list");
    line(body, "store ", pointer(), " %rest, ", pointer_to(pointer()), " ", field(body, fields, type, 0, "%rest_at"));
    line(body, "store ", pointer(), " %record, ", pointer_to(pointer()), " %list");
  }
  line(body, "ret i64 %handle");
  label(body, "refused");
  if (shape.handle == Handle::kChannel)
    line(body, "call void ", runtime("janus_channel_release", "void", pointer()), "(", pointer(), " %channel)");
  line(body, "br label %undo");
  label(body, "undo");
  line(body, "call void ", runtime("janus_free", "void", pointer()), "(", pointer(), " %record)");
  line(body, "br label %failed");
  label(body, "failed");
  line(body, "ret i64 0");
  return head_of_spawn(shape, symbol) + body + "}\n";
}

// The function of a task whose arguments fit into the pointer that the runtime passes. Nothing is allocated for them, so
// nothing is leaked if the task is cancelled before it starts, and its function never runs.
std::string Helpers::task_with_word(const TaskShape& shape) {
  const Signature& signature = shape.signature;
  const bool is_plain = signature.result == "i64" && signature.parameters.size() == 1 &&
                        signature.parameters[0].type == pointer() && signature.parameters[0].extension.empty() &&
                        signature.convention.empty() && !shape.tells_cancel;
  if (is_plain) return shape.symbol;
  return once(task_key(shape), [&](const std::string& name) {
    std::string body = empty_body();
    if (!signature.parameters.empty()) {
      const std::string& type = signature.parameters[0].type;
      if (is_pointer(type)) {
        line(body, "%a0 = bitcast ", pointer(), " %argument to ", type);
      } else if (type == "i64") {
        line(body, "%a0 = ptrtoint ", pointer(), " %argument to i64");
      } else {
        line(body, "%word = ptrtoint ", pointer(), " %argument to i64");
        line(body, "%a0 = trunc i64 %word to ", type);
      }
    }
    body += finish_task(shape, "");
    return text_of("define internal i64 ", name, "(", pointer(), " %argument)", kOfTask, signature.target,
                   " {\nentry:\n", body, "}\n");
  });
}

std::string Helpers::spawn_with_word(const TaskShape& shape, const std::string& symbol) {
  const Signature& signature = shape.signature;
  std::string body = empty_body();
  std::string argument = "null";
  if (!signature.parameters.empty()) {
    const std::string& type = signature.parameters[0].type;
    argument = "%argument";
    if (is_pointer(type)) {
      line(body, "%argument = bitcast ", type, " %a0 to ", pointer());
    } else if (type == "i64") {
      line(body, "%argument = inttoptr i64 %a0 to ", pointer());
    } else {
      line(body, "%word = zext ", type, " %a0 to i64");
      line(body, "%argument = inttoptr i64 %word to ", pointer());
    }
  }
  const std::string options = spawn_options(shape, body, shape.handle == Handle::kNone ? kDetached : 0);
  line(body, spawn_call(argument, options));
  line(body, "ret i64 %handle");
  return head_of_spawn(shape, symbol) + body + "}\n";
}

// Waits for a task and gives its result. Without a result it gives zero or, for an i64 or i32, the code of the reason.
std::string Helpers::join(Handle handle, std::string_view result) {
  const std::string type = joined_type(result);
  const std::string kind = handle == Handle::kChannel ? "await" : handle == Handle::kRecord ? "join_record" : "join";
  return once(text_of(kind, " ", result), [&](const std::string& symbol) {
    std::string body = empty_body();
    line(body, "%out = alloca i64");
    line(body, "store i64 0, ", pointer_to("i64"), " %out");
    line(body, "%status = call i32 ", runtime("janus_task_join", "i32", "i64, " + pointer_to("i64")), "(i64 %handle, ",
         pointer_to("i64"), " %out)");
    line(body, "%returned = load i64, ", pointer_to("i64"), " %out");
    line(body, "%has_failed = icmp slt i32 %status, 0");
    line(body, "%code = sext i32 %status to i64");
    line(body, "%outcome = select i1 %has_failed, i64 %code, i64 %returned");
    body += has_record(handle) ? value_of_record(handle, type) : value_of_word(type);
    const bool is_in_memory = depends_on_features(type);
    return text_of("define internal ", is_in_memory ? "void" : type, " ", symbol, "(i64 %handle",
                   is_in_memory ? ", " + pointer_to(type) + " %to" : "", ")", kLargeFrame, " {\nentry:\n", body, "}\n");
  });
}

// The end of a join: %outcome is the task's result.
std::string Helpers::value_of_word(const std::string& type) const {
  const unsigned width = integer_width(type);
  std::string body = empty_body();
  if (width == 64) {
    line(body, "ret i64 %outcome");
  } else if (width == 32) {
    line(body, "%value = trunc i64 %outcome to i32");
    line(body, "ret i32 %value");
  } else {
    line(body, "%is_failure = icmp slt i64 %outcome, 0");
    line(body, "%narrow = trunc i64 %outcome to ", type);
    line(body, "%value = select i1 %is_failure, ", type, " 0, ", type, " %narrow");
    line(body, "ret ", type, " %value");
  }
  return body;
}

// The end of a join: %outcome is the address of the record with the result, or a failure code.
std::string Helpers::value_of_record(Handle handle, const std::string& type) {
  const unsigned width = integer_width(type);
  const std::string record = text_of("{ ", pointer(), ", ", pointer(), ", ", type, " }");
  const auto give = [&](std::string& body, const std::string& value) {
    if (!depends_on_features(type)) return line(body, "ret ", type, " ", value);
    line(body, "store ", type, " ", value, ", ", pointer_to(type), " %to");
    line(body, "ret void");
  };
  std::string body = empty_body();
  line(body, "%has_none = icmp sle i64 %outcome, 0");
  line(body, "br i1 %has_none, label %no_value, label %read");
  label(body, "read");
  line(body, "%record = inttoptr i64 %outcome to ", pointer());
  const std::string fields = cast(body, "%record", record, "%typed");
  line(body, "%value = ", load(type, field(body, fields, record, kResultField, "%result_at")));
  if (handle == Handle::kChannel) {
    std::string element = "%buffer";
    line(body, "%buffer = alloca ", type);
    if (settings_.has_typed_pointers) {
      line(body, "%element = bitcast ", type, "* %buffer to i8*");
      element = "%element";
    }
    // The result that an earlier await received is still in the record.
    line(body, "store ", type, " %value, ", pointer_to(type), " %buffer");
    line(body, "%channel = load ", pointer(), ", ", pointer_to(pointer()), " ",
         field(body, fields, record, kChannelField, "%channel_at"));
    line(body, "%status_of_channel = call i32 ", runtime("janus_channel_try_recv", "i32", pointer() + ", " + pointer()),
         "(", pointer(), " %channel, ", pointer(), " ", element, ")");
    line(body, "%received = load ", type, ", ", pointer_to(type), " %buffer");
  }
  give(body, handle == Handle::kChannel ? "%received" : "%value");
  label(body, "no_value");
  if (width == 32) line(body, "%shown = trunc i64 %outcome to i32");
  give(body, width == 64 ? "%outcome" : width == 32 ? "%shown" : "zeroinitializer");
  return body;
}

}  // namespace janus::lower
