; SPDX-License-Identifier: Apache-2.0
; Handles in variables, as clang -O0 stores them: Await finds out whether a handle is of a task or of an asynchronous
; call.
; prints: 7 8 9
@format = constant [16 x i8] c"%lld %lld %lld\0A\00"
declare i32 @janus_print(i32, ptr, ...)
declare void @llvm.lifetime.start.p0(i64, ptr)
define i64 @same(i64 %x) noinline {
  ret i64 %x
}
define i32 @main() {
  %call = alloca i64
  %again = alloca i64
  %task = alloca i64
  call void @llvm.lifetime.start.p0(i64 8, ptr %call)
  store i64 0, ptr %call
  %n = Nursery_Begin
  %c = Async_Call @same(i64 7)
  store i64 %c, ptr %call, align 8
  %d = Async_Call @same(i64 8)
  store i64 %d, ptr %again
  %t = Spawn @same(i64 9)
  store volatile i64 %t, ptr %task
  %moved = load i64, ptr %call, align 8
  store i64 %moved, ptr %again
  store i64 %d, ptr %again
  %h = load i64, ptr %call
  %a = Await i64, i64 %h
  %g = load i64, ptr %again
  %b = Await %g
  %k = load volatile i64, ptr %task
  %e = Await i64 %k
  %s = Nursery_End ptr %n
  %p = call i32 (i32, ptr, ...) @janus_print(i32 1, ptr @format, i64 %a, i64 %b, i64 %e)
  ret i32 0
}
