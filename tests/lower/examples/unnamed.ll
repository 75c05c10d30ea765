; SPDX-License-Identifier: Apache-2.0
; Values and blocks without names get the numbers that LLVM would give them. Handles are stored by atomics, and merged
; with undef.
; prints: 5 6 7
@format = constant [16 x i8] c"%lld %lld %lld\0A\00"
@place = global i64 0
declare i32 @janus_print(i32, ptr, ...)
define i64 @same(i64 %0) noinline {
  ret i64 %0
}
define i32 @main(i32, ptr) {
  %place = alloca i64
  Yield
  load volatile i64, ptr @place
  %4 = Nursery_Begin
  %5 = Spawn @same(i64 5)
  store i64 %5, ptr @place
  %6 = atomicrmw xchg ptr @place, i64 0 seq_cst
  %7 = Task_Join i64, i64 %6
  Nursery_End %4
  br label %8

  Yield
  call i64 @same(i64 1)
  %10 = Nursery_Begin
  %11 = Spawn @same(i64 6)
  store i64 %11, ptr %place
  %12 = cmpxchg ptr %place, i64 %11, i64 0 seq_cst seq_cst
  %13 = extractvalue { i64, i1 } %12, 0
  %14 = Task_Join i64, %13
  %15 = Spawn @same(i64 7)
  %16 = icmp ne i64 %15, 0
  br i1 %16, label %17, label %18

  br label %18

18:
  %19 = phi i64 [ %15, %17 ], [ undef, %8 ]
  %20 = Task_Join %19
  Nursery_End %10
  call i32 (i32, ptr, ...) @janus_print(i32 1, ptr @format, i64 %7, i64 %14, i64 %20)
  ret i32 0
}
