// SPDX-License-Identifier: Apache-2.0
#include "helpers.h"

#include <array>

#include "types.h"

namespace janus::lower {
namespace {

// janus_budget, janus_spawn_options and janus_nursery_options of janus/rt.h. tests/lower holds them to the header.
constexpr std::string_view kBudget = "{ i32, i64, i16, i16, i16 }";
constexpr std::string_view kBudgetParameters =
    "i32 %ops, i64 %memory, i16 %spawn_count, i16 %channel_ops, i16 %syscalls";
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kBudgetFields = {
    {{"i32", "%ops"}, {"i64", "%memory"}, {"i16", "%spawn_count"}, {"i16", "%channel_ops"}, {"i16", "%syscalls"}}};
constexpr unsigned kDetached = 1, kRunCancelled = 2;
constexpr std::string_view kCancelled = "-1", kStale = "-4104";  // JANUS_CANCELLED, JANUS_E_STALE
constexpr std::size_t kRecordFields = 4;                         // next, channel, task, result; the arguments follow

template <class... Parts>
std::string text_of(const Parts&... parts) {
  std::string result;
  (result.append(std::string_view(parts)), ...);
  return result;
}
template <class... Parts>
void line(std::string& body, const Parts&... parts) {
  body += "  ";
  (body.append(std::string_view(parts)), ...);
  body += '\n';
}
void label(std::string& body, std::string_view name) {
  body += name;
  body += ":\n";
}

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

// Names may hold any character: a helper's own has a number instead.
std::string shape_key(const TaskShape& shape) {
  return text_of("spawn ", std::to_string(static_cast<int>(shape.handle)), shape.has_budget ? " budget " : " ",
                 shape.tells_cancel ? "cancel " : "", shape.signature.symbol);
}

}  // namespace

Handle handle_for(std::string_view result) {
  const unsigned width = integer_width(result);
  return result == "void" || (width != 0 && width <= 64) ? Handle::kTask : Handle::kRecord;
}

std::string joined_type(std::string_view result) {
  return result == "void" ? "i64" : std::string(result);
}

std::string Helpers::once(const std::string& key, const std::function<std::string(const std::string&)>& generate) {
  if (const auto known = names_.find(key); known != names_.end()) return known->second;
  const bool is_plain = key.find(' ') == std::string::npos;
  std::string symbol =
      text_of("@", settings_.prefix,
              is_plain ? key : text_of(key.substr(0, key.find(' ')), ".", std::to_string(names_.size())));
  names_.emplace(key, symbol);
  definitions_.push_back(generate(symbol));
  return symbol;
}

std::string Helpers::runtime(std::string_view name, std::string_view result, std::string_view parameters) {
  if (const auto known = declared_.find(name); known != declared_.end()) return known->second.symbol;
  // A module that declares the function itself may do so with other types. The escaped name is another one to LLVM, and
  // the same to the linker.
  const bool is_taken = settings_.is_declared && settings_.is_declared(name);
  std::string symbol = is_taken ? text_of("@\"\\01", name, "\"") : text_of("@", name);
  declared_.emplace(name, Declared{symbol, text_of("declare ", result, " ", symbol, "(", parameters, ")\n")});
  return symbol;
}

void Helpers::append_to(std::string& text) const {
  for (const std::string& definition : definitions_) (text += "\n") += definition;
  if (!declared_.empty()) text += "\n";
  for (const auto& [name, declared] : declared_) text += declared.text;
}

// ---- Small pieces of IR ---------------------------------------------------------------------------------------------------

std::string Helpers::size_of(const std::string& type) const {
  const std::string address = pointer_to(type);
  return text_of("ptrtoint (", address, " getelementptr (", type, ", ", address, " null, i32 1) to i64)");
}

std::string Helpers::cast(std::string& body, const std::string& value, const std::string& type,
                          std::string_view name) const {
  if (!settings_.has_typed_pointers) return value;
  line(body, name, " = bitcast i8* ", value, " to ", type, "*");
  return std::string(name);
}

std::string Helpers::field(std::string& body, const std::string& base, const std::string& type, std::size_t index,
                           std::string_view name) const {
  line(body, name, " = getelementptr ", type, ", ", pointer_to(type), " ", base, ", i32 0, i32 ",
       std::to_string(index));
  return std::string(name);
}

// Blocks of the runtime's are aligned to 16 bytes.
std::string Helpers::load(const std::string& type, const std::string& address) const {
  return text_of("load ", type, ", ", pointer_to(type), " ", address, may_be_overaligned(type) ? ", align 1" : "");
}
std::string Helpers::store(const std::string& type, const std::string& value, const std::string& address) const {
  return text_of("store ", type, " ", value, ", ", pointer_to(type), " ", address,
                 may_be_overaligned(type) ? ", align 1" : "");
}

// ---- Yielding -------------------------------------------------------------------------------------------------------------

// The check of janus/llvm.h.
std::string Helpers::check() {
  return once("check", [this](const std::string& symbol) {
    std::string body;
    line(body,
         "%spent = call i8 asm sideeffect \"subq $1, %gs:8\", \"={@ccl},er,~{dirflag},~{fpsr},~{flags}\"(i64 %cost)");
    line(body, "%is_spent = icmp ne i8 %spent, 0");
    line(body, "br i1 %is_spent, label %slow, label %go_on");
    label(body, "slow");
    line(body, "%status = call i32 ", runtime("janus_yield_slow", "i32", ""), "() cold");
    line(body, "br label %go_on");
    label(body, "go_on");
    line(body, "%result = phi i32 [ 0, %entry ], [ %status, %slow ]");
    line(body, "ret i32 %result");
    return text_of("define internal i32 ", symbol, "(i64 %cost) alwaysinline nounwind {\nentry:\n", body, "}\n");
  });
}

// The check with a cost that the program computes. A negative one charges nothing: a task cannot give itself ops.
std::string Helpers::decrement() {
  return once("decrement", [this](const std::string& symbol) {
    std::string body;
    line(body, "%is_credit = icmp slt i64 %cost, 0");
    line(body, "%charge = select i1 %is_credit, i64 0, i64 %cost");
    line(body, "%status = call i32 ", check(), "(i64 %charge)");
    line(body, "ret i32 %status");
    return text_of("define internal i32 ", symbol, "(i64 %cost) alwaysinline nounwind {\n", body, "}\n");
  });
}

// As JANUS_LOOP_CHECK: the iterations are counted in a local and charged together.
std::string Helpers::loop_check() {
  return once("loop_check", [this](const std::string& symbol) {
    const std::string interval = std::to_string(settings_.yield_interval);
    std::string body;
    line(body, "%before = load i32, ", pointer_to("i32"), " %counter");
    line(body, "%count = add i32 %before, 1");
    line(body, "store i32 %count, ", pointer_to("i32"), " %counter");
    line(body, "%is_due = icmp uge i32 %count, ", interval);
    line(body, "br i1 %is_due, label %due, label %go_on");
    label(body, "due");
    line(body, "store i32 0, ", pointer_to("i32"), " %counter");
    line(body, "%status = call i32 ", check(), "(i64 ", interval, ")");
    line(body, "br label %go_on");
    label(body, "go_on");
    line(body, "%result = phi i32 [ 0, %entry ], [ %status, %due ]");
    line(body, "ret i32 %result");
    return text_of("define internal i32 ", symbol, "(", pointer_to("i32"),
                   " %counter) alwaysinline nounwind {\nentry:\n", body, "}\n");
  });
}

std::string Helpers::loop_end() {
  return once("loop_end", [this](const std::string& symbol) {
    std::string body;
    line(body, "%count = load i32, ", pointer_to("i32"), " %counter");
    line(body, "store i32 0, ", pointer_to("i32"), " %counter");
    line(body, "%cost = zext i32 %count to i64");
    line(body, "%status = call i32 ", check(), "(i64 %cost)");
    line(body, "ret i32 %status");
    return text_of("define internal i32 ", symbol, "(", pointer_to("i32"),
                   " %counter) alwaysinline nounwind {\nentry:\n", body, "}\n");
  });
}

std::string Helpers::yield() {
  return runtime("janus_yield", "i32", "");
}

std::string Helpers::sleep() {
  return once("sleep", [this](const std::string& symbol) {
    std::string body;
    line(body, "%ns = mul i64 %milliseconds, 1000000");
    line(body, "%status = call i32 ", runtime("janus_sleep_ns", "i32", "i64"), "(i64 %ns)");
    line(body, "ret i32 %status");
    return text_of("define internal i32 ", symbol, "(i64 %milliseconds) {\n", body, "}\n");
  });
}

// ---- Nurseries ------------------------------------------------------------------------------------------------------------

std::string Helpers::nursery_begin() {
  return runtime("janus_nursery_create", pointer(), "");
}

std::string Helpers::nursery_open(const NurseryOptions& options) {
  const std::string numbers = text_of(std::to_string(options.on_error), ".", std::to_string(options.on_exhaustion));
  return once(text_of("nursery_open ", numbers, options.has_budget ? " budget" : ""), [&](const std::string& symbol) {
    const std::string type = text_of("{ i32, i32, i32, i32, ", kBudget, ", i64, ", pointer(), ", i64 }");
    std::string body;
    line(body, "%options = alloca ", type);
    line(body, "store ", type, " zeroinitializer, ", pointer_to(type), " %options");
    line(body, "store i32 ", std::to_string(options.on_error), ", ", pointer_to("i32"), " ",
         field(body, "%options", type, 1, "%on_error"));
    line(body, "store i32 ", std::to_string(options.on_exhaustion), ", ", pointer_to("i32"), " ",
         field(body, "%options", type, 2, "%on_exhaustion"));
    if (options.has_budget)
      for (std::size_t i = 0; i < kBudgetFields.size(); ++i) {
        const auto& [width, name] = kBudgetFields[i];
        line(body, name, "_at = getelementptr ", type, ", ", pointer_to(type), " %options, i32 0, i32 4, i32 ",
             std::to_string(i));
        line(body, "store ", width, " ", name, ", ", pointer_to(width), " ", name, "_at");
      }
    std::string address = "%options";
    if (settings_.has_typed_pointers) {
      line(body, "%address = bitcast ", type, "* %options to i8*");
      address = "%address";
    }
    line(body, "%nursery = call ", pointer(), " ",
         runtime("janus_nursery_open", pointer(), pointer() + ", " + pointer()), "(", pointer(), " null, ", pointer(),
         " ", address, ")");
    line(body, "ret ", pointer(), " %nursery");
    return text_of("define internal ", pointer(), " ", symbol, "(", options.has_budget ? kBudgetParameters : "",
                   ") {\n", body, "}\n");
  });
}

std::string Helpers::nursery_end(bool is_opened) {
  return once(is_opened ? "nursery_close" : "nursery_end", [&](const std::string& symbol) {
    std::string body;
    // Where none could be created, the current nursery is another one.
    line(body, "%is_none = icmp eq ", pointer(), " %nursery, null");
    line(body, "br i1 %is_none, label %none, label %some");
    label(body, "none");
    line(body, "%why = call i32 ", runtime("janus_last_error", "i32", ""), "()");
    line(body, "%error = sext i32 %why to i64");
    line(body, "ret i64 %error");
    label(body, "some");
    if (is_opened) {
      line(body, "%result = call i64 ", runtime("janus_nursery_await", "i64", pointer() + ", " + pointer()), "(",
           pointer(), " %nursery, ", pointer(), " null)");
      line(body, "%destroyed = call i32 ", runtime("janus_nursery_destroy", "i32", pointer()), "(", pointer(),
           " %nursery)");
    } else {
      line(body, "%result = call i64 ", runtime("janus_nursery_await_all", "i64", ""), "()");
    }
    line(body, "ret i64 %result");
    return text_of("define internal i64 ", symbol, "(", pointer(), " %nursery) {\n", body, "}\n");
  });
}

std::string Helpers::nursery_cancel() {
  return runtime("janus_nursery_cancel", "i32", pointer());
}

// Frees the records of a nursery that has ended, which its owner has linked by their first field.
std::string Helpers::free_records() {
  return once("free_records", [this](const std::string& symbol) {
    const std::string link = text_of("{ ", pointer(), ", ", pointer(), " }");
    std::string body;
    line(body, "%first = load ", pointer(), ", ", pointer_to(pointer()), " %list");
    line(body, "store ", pointer(), " null, ", pointer_to(pointer()), " %list");
    line(body, "br label %next");
    label(body, "next");
    line(body, "%record = phi ", pointer(), " [ %first, %entry ], [ %rest, %free ]");
    line(body, "%is_end = icmp eq ", pointer(), " %record, null");
    line(body, "br i1 %is_end, label %done, label %one");
    label(body, "one");
    const std::string list = cast(body, "%record", link, "%typed");
    line(body, "%rest = load ", pointer(), ", ", pointer_to(pointer()), " ", field(body, list, link, 0, "%rest_at"));
    line(body, "%channel = load ", pointer(), ", ", pointer_to(pointer()), " ",
         field(body, list, link, 1, "%channel_at"));
    line(body, "%has_none = icmp eq ", pointer(), " %channel, null");
    line(body, "br i1 %has_none, label %free, label %release");
    label(body, "release");
    line(body, "call void ", runtime("janus_channel_release", "void", pointer()), "(", pointer(), " %channel)");
    line(body, "br label %free");
    label(body, "free");
    line(body, "call void ", runtime("janus_free", "void", pointer()), "(", pointer(), " %record)");
    line(body, "br label %next");
    label(body, "done");
    line(body, "ret void");
    return text_of("define internal void ", symbol, "(", pointer_to(pointer()), " %list) {\nentry:\n", body, "}\n");
  });
}

// A channel that is released with the records of the list.
std::string Helpers::channel_create() {
  return once("channel_create", [this](const std::string& symbol) {
    const std::string link = text_of("{ ", pointer(), ", ", pointer(), " }");
    std::string body;
    line(body, "%record = call ", pointer(), " ", runtime("janus_alloc", pointer(), "i64"), "(i64 16)");
    line(body, "%is_none = icmp eq ", pointer(), " %record, null");
    line(body, "br i1 %is_none, label %failed, label %create");
    label(body, "create");
    line(body, "%channel = call ", pointer(), " ", runtime("janus_channel_create", pointer(), "i64, i64"),
         "(i64 %size, i64 %capacity)");
    line(body, "%has_none = icmp eq ", pointer(), " %channel, null");
    line(body, "br i1 %has_none, label %undo, label %keep");
    label(body, "keep");
    const std::string list = cast(body, "%record", link, "%typed");
    line(body, "%rest = load ", pointer(), ", ", pointer_to(pointer()), " %list");
    line(body, "store ", pointer(), " %rest, ", pointer_to(pointer()), " ", field(body, list, link, 0, "%rest_at"));
    line(body, "store ", pointer(), " %channel, ", pointer_to(pointer()), " ",
         field(body, list, link, 1, "%channel_at"));
    line(body, "store ", pointer(), " %record, ", pointer_to(pointer()), " %list");
    line(body, "ret ", pointer(), " %channel");
    label(body, "undo");
    line(body, "call void ", runtime("janus_free", "void", pointer()), "(", pointer(), " %record)");
    line(body, "br label %failed");
    label(body, "failed");
    line(body, "ret ", pointer(), " null");
    return text_of("define internal ", pointer(), " ", symbol, "(", pointer_to(pointer()),
                   " %list, i64 %size, i64 %capacity) {\n", body, "}\n");
  });
}

// ---- Tasks ----------------------------------------------------------------------------------------------------------------

// With a handle of its own: the list, the channel, the task, the result, the arguments. Without: the arguments.
std::string Helpers::record_type(const TaskShape& shape) const {
  std::string fields;
  if (has_record(shape.handle)) fields = text_of(pointer(), ", ", pointer(), ", i64, ", stored_result(shape.signature));
  for (const Parameter& parameter : shape.signature.parameters) fields += (fields.empty() ? "" : ", ") + parameter.type;
  return text_of("{ ", fields, " }");
}

std::string Helpers::head_of_spawn(const TaskShape& shape, const std::string& symbol) const {
  std::string parameters = pointer() + " %nursery";
  if (has_record(shape.handle)) parameters += ", " + pointer_to(pointer()) + " %list";
  for (std::size_t i = 0; i < shape.signature.parameters.size(); ++i)
    parameters += ", " + shape.signature.parameters[i].type + " %a" + std::to_string(i);
  if (shape.has_budget) parameters += text_of(", ", kBudgetParameters);
  return text_of("define internal i64 ", symbol, "(", parameters, ") \"janus-tenancy\"=\"CPU_Parallel\" {\nentry:\n");
}

// The options of a spawn, and the address of them.
std::string Helpers::spawn_options(const TaskShape& shape, std::string& body, unsigned flags) {
  const std::string type = text_of("{ i32, i32, i64, ", kBudget, ", i64, ", pointer(), ", i64 }");
  line(body, "%options = alloca ", type);
  line(body, "store ", type, " zeroinitializer, ", pointer_to(type), " %options");
  if (shape.has_budget)
    for (std::size_t i = 0; i < kBudgetFields.size(); ++i) {
      const auto& [width, name] = kBudgetFields[i];
      line(body, name, "_at = getelementptr ", type, ", ", pointer_to(type), " %options, i32 0, i32 3, i32 ",
           std::to_string(i));
      line(body, "store ", width, " ", name, ", ", pointer_to(width), " ", name, "_at");
    }
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

// The call of the task's function, with all that its ABI asks of a caller.
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
  return text_of("call ", signature.convention, signature.convention.empty() ? "" : " ", result, " ", signature.symbol,
                 "(", list, ")");
}

// Behind the arguments' loads: calls the function, keeps its result, and returns what the runtime takes as the task's.
std::string Helpers::finish_task(const TaskShape& shape, const std::string& record) {
  const Signature& signature = shape.signature;
  std::vector<std::string> arguments;
  for (std::size_t i = 0; i < signature.parameters.size(); ++i) arguments.push_back("%a" + std::to_string(i));
  const bool is_void = signature.result == "void";
  std::string body;
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
    field(body, record, type, 3, "%result_at");
    line(body, store(stored, is_void ? "0" : "%result", "%result_at"));
    if (shape.handle == Handle::kChannel) {
      line(body, "%channel = load ", pointer(), ", ", pointer_to(pointer()), " ",
           field(body, record, type, 1, "%channel_at"));
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
  if (is_void || width == 0 || width > 64) {
    line(body, "ret i64 0");
  } else if (width == 64) {
    line(body, "ret i64 %result");
  } else {
    // SPEC 3.4.3 widens an i32, and with it the codes of failures. Other widths have no codes.
    line(body, "%wide = ", width == 32 ? "sext" : "zext", " ", signature.result, " %result to i64");
    line(body, "ret i64 %wide");
  }
  return body;
}

// A task whose arguments are a record: it frees that first, also when it was cancelled before its start, unless the record
// is its nursery's, for the result.
std::string Helpers::task_function(const TaskShape& shape, const std::string& record) {
  return once("task " + shape_key(shape), [&](const std::string& symbol) {
    const Signature& signature = shape.signature;
    std::string body;
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
    return text_of("define internal i64 ", symbol, "(", pointer(),
                   " %record) \"janus-tenancy\"=\"CPU_Parallel\" {\nentry:\n", body, "}\n");
  });
}

std::string Helpers::spawn_with_record(const TaskShape& shape, const std::string& symbol) {
  const std::string type = record_type(shape);
  const std::string task = task_function(shape, type);
  const bool keeps = has_record(shape.handle);
  const std::size_t first = keeps ? kRecordFields : 0;
  std::string body;
  const unsigned flags = keeps ? 0 : (kRunCancelled | (shape.handle == Handle::kNone ? kDetached : 0));
  const std::string options = spawn_options(shape, body, flags);
  line(body, "%record = call ", pointer(), " ", runtime("janus_alloc", pointer(), "i64"), "(i64 ", size_of(type), ")");
  line(body, "%is_none = icmp eq ", pointer(), " %record, null");
  line(body, "br i1 %is_none, label %failed, label %fill");
  label(body, "fill");
  const std::string fields = cast(body, "%record", type, "%typed");
  for (std::size_t i = 0; i < shape.signature.parameters.size(); ++i) {
    const std::string name = "%a" + std::to_string(i);
    const std::string at = field(body, fields, type, first + i, name + "_at");
    line(body, store(shape.signature.parameters[i].type, name, at));
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
         field(body, fields, type, 1, "%channel_at"));
    line(body, "store ", stored_result(shape.signature), " zeroinitializer, ",
         pointer_to(stored_result(shape.signature)), " ", field(body, fields, type, 3, "%result_at"),
         may_be_overaligned(stored_result(shape.signature)) ? ", align 1" : "");
  }
  const std::string function = settings_.has_typed_pointers ? "i64 (i8*)*" : "ptr";
  line(body, "%task = call i64 ",
       runtime("janus_nursery_spawn_in", "i64", text_of(pointer(), ", ", function, ", ", pointer(), ", ", pointer())),
       "(", pointer(), " %nursery, ", function, " ", task, ", ", pointer(), " %record, ", pointer(), " ", options, ")");
  line(body, "%is_refused = icmp eq i64 %task, 0");
  line(body, "br i1 %is_refused, label %refused, label %spawned");
  label(body, "spawned");
  if (keeps) {
    line(body, "store i64 %task, ", pointer_to("i64"), " ", field(body, fields, type, 2, "%task_at"));
    line(body, "%rest = load ", pointer(), ", ", pointer_to(pointer()), " %list");
    line(body, "store ", pointer(), " %rest, ", pointer_to(pointer()), " ", field(body, fields, type, 0, "%rest_at"));
    line(body, "store ", pointer(), " %record, ", pointer_to(pointer()), " %list");
    line(body, "%handle = ptrtoint ", pointer(), " %record to i64");
    line(body, "ret i64 %handle");
  } else {
    line(body, "ret i64 %task");
  }
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

// A task whose arguments fit into the pointer that the runtime hands on: nothing is allocated, so that it need not be
// called when it was cancelled before its start.
std::string Helpers::spawn_with_word(const TaskShape& shape, const std::string& symbol) {
  const Signature& signature = shape.signature;
  const bool is_plain = signature.result == "i64" && signature.parameters.size() == 1 &&
                        signature.parameters[0].type == pointer() && signature.convention.empty() &&
                        !shape.tells_cancel;
  std::string task = signature.symbol;
  if (!is_plain)
    task = once("task " + shape_key(shape), [&](const std::string& name) {
      std::string body;
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
      return text_of("define internal i64 ", name, "(", pointer(),
                     " %argument) \"janus-tenancy\"=\"CPU_Parallel\" {\nentry:\n", body, "}\n");
    });
  std::string body;
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
  const std::string function = settings_.has_typed_pointers ? "i64 (i8*)*" : "ptr";
  const std::string options = spawn_options(shape, body, shape.handle == Handle::kNone ? kDetached : 0);
  line(body, "%task = call i64 ",
       runtime("janus_nursery_spawn_in", "i64", text_of(pointer(), ", ", function, ", ", pointer(), ", ", pointer())),
       "(", pointer(), " %nursery, ", function, " ", task, ", ", pointer(), " ", argument, ", ", pointer(), " ",
       options, ")");
  line(body, "ret i64 %task");
  return head_of_spawn(shape, symbol) + body + "}\n";
}

// Waits for a task and gives its result; where there is none, zero or, of an i64, the code that says why.
std::string Helpers::join(Handle handle, std::string_view result) {
  const std::string type = joined_type(result);
  const std::string joined = runtime("janus_task_join", "i32", "i64, " + pointer_to("i64"));
  const std::string kind = handle == Handle::kChannel ? "await" : handle == Handle::kRecord ? "join_record" : "join";
  return once(text_of(kind, " ", result), [&](const std::string& symbol) {
    std::string body;
    line(body, "%out = alloca i64");
    line(body, "store i64 0, ", pointer_to("i64"), " %out");
    std::string task = "%handle";
    const std::string record = text_of("{ ", pointer(), ", ", pointer(), ", i64, ", type, " }");
    std::string fields;
    if (has_record(handle)) {
      line(body, "%is_none = icmp eq i64 %handle, 0");
      line(body, "br i1 %is_none, label %no_value, label %wait");
      label(body, "wait");
      line(body, "%record = inttoptr i64 %handle to ", pointer());
      fields = cast(body, "%record", record, "%typed");
      line(body, "%task = load i64, ", pointer_to("i64"), " ", field(body, fields, record, 2, "%task_at"));
      task = "%task";
    }
    line(body, "%status = call i32 ", joined, "(i64 ", task, ", ", pointer_to("i64"), " %out)");
    line(body, "%returned = load i64, ", pointer_to("i64"), " %out");
    line(body, "%has_failed = icmp slt i32 %status, 0");
    line(body, "%code = sext i32 %status to i64");
    line(body, "%outcome = select i1 %has_failed, i64 %code, i64 %returned");
    const unsigned width = integer_width(type);
    if (!has_record(handle)) {
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
    } else {
      line(body, "%is_failure = icmp slt i64 %outcome, 0");
      line(body, "br i1 %is_failure, label %no_value, label %read");
      label(body, "read");
      field(body, fields, record, 3, "%result_at");
      if (handle == Handle::kChannel) {
        std::string element = "%buffer";
        line(body, "%buffer = alloca ", type);
        if (settings_.has_typed_pointers) {
          line(body, "%element = bitcast ", type, "* %buffer to i8*");
          element = "%element";
        }
        line(body, "store ", type, " zeroinitializer, ", pointer_to(type), " %buffer");
        line(body, "%channel = load ", pointer(), ", ", pointer_to(pointer()), " ",
             field(body, fields, record, 1, "%channel_at"));
        line(body, "%received = call i32 ", runtime("janus_channel_try_recv", "i32", pointer() + ", " + pointer()), "(",
             pointer(), " %channel, ", pointer(), " ", element, ")");
        line(body, "%value = load ", type, ", ", pointer_to(type), " %buffer");
      } else {
        line(body, "%value = ", load(type, "%result_at"));
      }
      line(body, "ret ", type, " %value");
      label(body, "no_value");
      if (width == 64 || width == 32) {
        line(body, "%reason = phi i64 [ ", kStale, ", %entry ], [ %outcome, %wait ]");
        line(body, "%shown = trunc i64 %reason to i32");
        if (width == 64) line(body, "ret i64 %reason");
        if (width == 32) line(body, "ret i32 %shown");
      } else {
        line(body, "ret ", type, " zeroinitializer");
      }
    }
    return text_of("define internal ", type, " ", symbol, "(i64 %handle) {\nentry:\n", body, "}\n");
  });
}

}  // namespace janus::lower
