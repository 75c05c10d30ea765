// SPDX-License-Identifier: Apache-2.0
// offsets.cpp — the offsets and constants that assembly here uses, from the compiler. Compiled, never linked:
// offsets.py converts the table in section .janus_offsets into context_offsets.h.
#include <arch/context.h>
#include <arch/cpu.h>
#include <arch/offsets.h>
#include <arch/task_call.h>
#include <arch/user_copy.h>

using janus::arch::Context;
using janus::arch::Features;
using janus::arch::TaskFrame;
using janus::arch::UserCopy;

JANUS_OFFSETS = {
    {"JANUS_CONTEXT_SP", offsetof(Context, sp)},
    {"JANUS_CONTEXT_RBX", offsetof(Context, rbx)},
    {"JANUS_CONTEXT_RBP", offsetof(Context, rbp)},
    {"JANUS_CONTEXT_R12", offsetof(Context, r12)},
    {"JANUS_CONTEXT_R13", offsetof(Context, r13)},
    {"JANUS_CONTEXT_R14", offsetof(Context, r14)},
    {"JANUS_CONTEXT_R15", offsetof(Context, r15)},
    {"JANUS_CONTEXT_MXCSR", offsetof(Context, mxcsr)},
    {"JANUS_CONTEXT_FCW", offsetof(Context, fcw)},
    {"JANUS_TASK_FRAME_MXCSR", offsetof(TaskFrame, mxcsr)},
    {"JANUS_TASK_FRAME_FCW", offsetof(TaskFrame, fcw)},
    {"JANUS_TASK_FRAME_RBX", offsetof(TaskFrame, rbx)},
    {"JANUS_TASK_FRAME_RBP", offsetof(TaskFrame, rbp)},
    {"JANUS_TASK_FRAME_R12", offsetof(TaskFrame, r12)},
    {"JANUS_TASK_FRAME_R13", offsetof(TaskFrame, r13)},
    {"JANUS_TASK_FRAME_R14", offsetof(TaskFrame, r14)},
    {"JANUS_TASK_FRAME_R15", offsetof(TaskFrame, r15)},
    {"JANUS_TASK_FRAME_RETURN_IP", offsetof(TaskFrame, return_ip)},
    {"JANUS_MXCSR_DEFAULT", janus::arch::kDefaultMxcsr},
    {"JANUS_FCW_DEFAULT", janus::arch::kDefaultFcw},
    {"JANUS_MXCSR_CONTROL_BITS", janus::arch::kMxcsrControlBits},
    {"JANUS_USER_COPY_DONE", static_cast<std::uint64_t>(UserCopy::kDone)},
    {"JANUS_USER_COPY_BAD_SOURCE", static_cast<std::uint64_t>(UserCopy::kBadSource)},
    {"JANUS_USER_COPY_BAD_TARGET", static_cast<std::uint64_t>(UserCopy::kBadTarget)},
    {"JANUS_CPU_AVX2", Features::kAvx2},
    {"JANUS_CPU_ERMS", Features::kErms},
};
