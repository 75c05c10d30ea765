// SPDX-License-Identifier: Apache-2.0
// nursery_helpers.cpp — the helpers that open and end nurseries, and free the records of their tasks and channels.
#include "helpers.h"

#include "helper_text.h"

namespace janus::lower {

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
    if (options.has_budget) store_budget(body, type, 4);
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
    // If no nursery could be created, the current nursery is a different one.
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

// Frees the records of a nursery that has ended. The owner has linked them by their first field.
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

// A channel that is released together with the records of the list.
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

}  // namespace janus::lower
