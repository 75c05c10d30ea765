; SPDX-License-Identifier: Apache-2.0
; The yield check as janus/llvm.h describes it for compilers. headers_test.py checks that both agree, and which
; instructions LLVM makes of it.
target triple = "x86_64-pc-linux-gnu"

declare i32 @janus_yield_slow()

define i32 @check(i64 %cost) {
  %spent = call i8 asm sideeffect "subq $1, %gs:8", "={@ccl},er,~{dirflag},~{fpsr},~{flags}"(i64 %cost)
  %is_spent = icmp ne i8 %spent, 0
  br i1 %is_spent, label %slow, label %go_on, !prof !0
slow:
  %status = call i32 @janus_yield_slow()
  ret i32 %status
go_on:
  ret i32 0
}

define i32 @check_one() {
  %status = call i32 @check(i64 1)
  ret i32 %status
}

!0 = !{!"branch_weights", i32 1, i32 1000}
