// SPDX-License-Identifier: Apache-2.0
// helpers.h — the helper functions that are added to the output: one for each way in which the module uses the runtime.
// An opcode becomes a single call of a helper, so no block of the input is ever split. All helpers have internal
// linkage, so the optimizer removes unused ones and inlines small ones. docs/decisions/0310
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ll_module.h"
#include "pieces.h"
#include "types.h"

namespace janus::lower {

// How the creator of a task, which has the runtime's handle, gets the task's result. A result record is reached only
// through the task's value, which the runtime gives for a valid handle only. After the nursery's end, when the record
// is freed, the handle is no longer valid.
enum class Handle {
  kNone,     // nothing: the task is detached
  kTask,     // the task's value is the result: an integer of up to 64 bits
  kRecord,   // the task's value is the address of a record that holds the result. It lives until its nursery's end
  kChannel,  // as kRecord, with a channel for the result. The task's value is the code if the result is a failure
};

// How a function is called as a task.
struct TaskShape {
  Signature signature;
  std::string symbol;  // of the function, with its sigil
  Handle handle = Handle::kNone;
  bool has_budget = false;    // the helper has five further parameters, the budget's components, after the arguments
  bool tells_cancel = false;  // the function returns { result, i1 }, or i1; the i1 is true if it was cancelled
};

// The handle that a task with a result of this type has, and the type that a join of the task gives.
Handle handle_for(std::string_view result);
std::string joined_type(std::string_view result);

struct NurseryOptions {
  bool has_budget = false;
  unsigned on_error = 0, on_exhaustion = 0;
};

class Helpers {
 public:
  struct Settings {
    bool has_typed_pointers = false;
    unsigned yield_interval = 1024;
    std::string prefix = "janus.";                      // of all names here
    std::function<bool(std::string_view)> is_declared;  // whether the input has a function of this name
  };
  explicit Helpers(Settings settings) : settings_(std::move(settings)) {}

  // A prefix that no name in the text begins with: `janus.`, or `janus.N.` with an N that is higher than those in use.
  static std::string free_prefix(const Tokens& tokens);

  const std::string& prefix() const { return settings_.prefix; }
  std::string pointer() const { return settings_.has_typed_pointers ? "i8*" : "ptr"; }
  std::string pointer_to(std::string_view type) const {
    return settings_.has_typed_pointers ? std::string(type) + "*" : std::string("ptr");
  }

  // Each function returns the symbol of a helper, with @. The helper is generated at the first call.
  std::string check();                                      // i32 (i64 cost), which is not negative
  std::string decrement();                                  // i32 (i64 cost), for any cost
  std::string loop_check();                                 // i32 (i32* counter, i32 iterations)
  std::string loop_end();                                   // i32 (i32* counter)
  std::string yield();                                      // i32 ()
  std::string sleep();                                      // i32 (i64 milliseconds)
  std::string nursery_begin();                              // pointer ()
  std::string nursery_open(const NurseryOptions& options);  // pointer (budget)
  std::string nursery_end(bool is_opened);                  // i64 (pointer nursery)
  std::string nursery_cancel();                             // i32 (pointer nursery)
  std::string free_records();                               // void (pointer* list)
  std::string channel_create();                             // pointer (pointer* list, i64 size, i64 capacity)
  // i1 (type of a switch's value): whether a switch with these cases, to %ends and %goes_on, goes to %ends.
  std::string switch_ends(const std::string& type, const std::string& cases);
  // The helper's signature: i64 (pointer nursery, the task's function, pointer* list if there is a record, arguments, budget). An argument
  // whose type depends on target features is passed by address. Tasks whose functions have the same types share a
  // helper.
  std::string spawn(const TaskShape& shape);
  // The function that a task of this shape starts in, for spawn() to pass to the runtime.
  std::string task(const TaskShape& shape);
  // joined_type (i64 handle); void (i64 handle, type*) for a type that depends on target features.
  std::string join(Handle handle, std::string_view result);

  // Returns the symbol of a function of the runtime, and declares the function in the output.
  std::string runtime(std::string_view name, std::string_view result, std::string_view parameters);

  // A helper that the caller defines: `generate` returns its definition for a given symbol. The symbol ends in `key`.
  // If `key` has a blank, it ends in the part before the blank and a number.
  std::string once(const std::string& key, const std::function<std::string(const std::string& symbol)>& generate);

  std::string size_of(const std::string& type) const;  // a constant of type i64

  // The first line of the output. It tells janus-cc which kind of pointers the output has.
  std::string header() const {
    return std::string("; lowered by janus-lower: ") + (settings_.has_typed_pointers ? "typed" : "opaque") +
           " pointers\n";
  }
  // Hands on the definitions that were made since the last call.
  void hand_on(const TakePiece& take);
  // Calls hand_on() if the definitions are long enough for a piece.
  void hand_on_piece(const TakePiece& take) {
    if (definitions_.size() >= kPieceBytes) hand_on(take);
  }
  // Hands on the remaining definitions, and the declarations.
  void finish(const TakePiece& take);

 private:
  std::string field(std::string& body, const std::string& base, const std::string& type, std::size_t index,
                    std::string_view name) const;
  // Stores the parameters kBudgetParameters in field `index` of %options, a structure of type `type`.
  void store_budget(std::string& body, const std::string& type, std::size_t index) const;
  std::string cast(std::string& body, const std::string& value, const std::string& type, std::string_view name) const;
  std::string load(const std::string& type, const std::string& address) const;
  std::string store(const std::string& type, const std::string& value, const std::string& address) const;
  std::string task_with_record(const TaskShape& shape);
  std::string task_with_word(const TaskShape& shape);
  // The type of the function that a task starts in.
  std::string task_type() const { return settings_.has_typed_pointers ? "i64 (i8*)*" : "ptr"; }
  std::string call_of(const TaskShape& shape, const std::vector<std::string>& arguments) const;
  std::string finish_task(const TaskShape& shape, const std::string& record);
  std::string record_type(const TaskShape& shape) const;
  std::string given_type(const std::string& type) const { return depends_on_features(type) ? pointer_to(type) : type; }
  std::string value_of_word(const std::string& type) const;
  std::string value_of_record(Handle handle, const std::string& type);
  std::string spawn_options(const TaskShape& shape, std::string& body, unsigned flags);
  std::string spawn_call(const std::string& argument, const std::string& options);
  std::string spawn_with_record(const TaskShape& shape, const std::string& symbol);
  std::string spawn_with_word(const TaskShape& shape, const std::string& symbol);
  std::string head_of_spawn(const TaskShape& shape, const std::string& symbol) const;

  Settings settings_;
  std::map<std::string, std::string, std::less<>> names_;  // symbols by what was requested
  struct Declared {
    std::string symbol, text;
  };
  std::map<std::string, Declared, std::less<>> declared_;  // by the name of the runtime's function
  std::string definitions_;                                // those that have not been handed on
};

}  // namespace janus::lower
