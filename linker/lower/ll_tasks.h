// SPDX-License-Identifier: Apache-2.0
// ll_tasks.h — the opcodes that make a task and that wait for one.
#pragma once

#include <optional>

#include "ll_handles.h"
#include "ll_nurseries.h"
#include "ll_rewrite.h"

namespace janus::lower {

class Tasks {
 public:
  Tasks(FunctionRewrite& rewrite, Nurseries& nurseries) : rewrite_(rewrite), nurseries_(nurseries), kinds_(rewrite) {}

  // Task_Create, SPAWN, fork, Async_Call.
  void spawn(const OpcodeAt& use);
  // Task_Join, AWAIT, await.
  void join(const OpcodeAt& use);

 private:
  bool fits(const OpcodeAt& use, const Signature& signature, const std::string& name);

  bool makes_async_calls();

  FunctionRewrite& rewrite_;
  Nurseries& nurseries_;
  HandleKinds kinds_;
  // whether this function makes any; determined at the first call of makes_async_calls()
  std::optional<bool> makes_async_calls_;
};

}  // namespace janus::lower
