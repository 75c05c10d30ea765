; SPDX-License-Identifier: Apache-2.0
; Opcodes in LLVM IR with opaque pointers: arguments and results of any first-class type arrive unchanged.
; prints: fib 6765, wide 3 and 3, loop 5000
declare i32 @printf(ptr, ...)
@fmt = constant [39 x i8] c"fib %lld, wide %lld and %d, loop %lld\0A\00"

define i64 @fib(i64 %n) {
  %small = icmp slt i64 %n, 2
  br i1 %small, label %base, label %split
base:
  ret i64 %n
split:
  %nursery = Nursery_Begin
  %m = sub i64 %n, 1
  %left = Spawn @fib, %m
  %k = sub i64 %n, 2
  %right = call i64 @fib(i64 %k)
  %a = Task_Join %left
  %end = Nursery_End %nursery
  %sum = add i64 %a, %right
  ret i64 %sum
}

define { i64, i128 } @wide(double %x, i1 %b, { i32, float } %s, <8 x float> %v, i128 %big) {
  %i = fptosi double %x to i64
  %z = insertvalue { i64, i128 } undef, i64 %i, 0
  %w = insertvalue { i64, i128 } %z, i128 %big, 1
  ret { i64, i128 } %w
}
define i64 @near(ptr addrspace(0) %p, i64 %x) {
  ret i64 %x
}

define i64 @far(ptr addrspace(1) %p, i64 %x) {
  ret i64 %x
}
define void @nothing() {
  ret void
}

define i64 @loop(i64 %n) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %head ]
  %next = add i64 %i, 1
  %done = icmp eq i64 %next, %n
  br i1 %done, label %out, label %head
out:
  ret i64 %next
}

define i32 @main() {
  %r = call i64 @fib(i64 20)
  %n = Nursery_Begin budget(ops 1000000, memory 1000000, spawn_count 10, channel_ops 10), on_error collect
  %t = Task_Create @wide(double 3.500000e+00, i1 true, { i32, float } zeroinitializer, <8 x float> zeroinitializer, i128 18446744073709551619), budget(ops 1000, memory 10000), tenancy CPU_Parallel
  Spawn @nothing
  Spawn @far(ptr addrspace(1) null, i64 1)
  Spawn @near(ptr null, i64 1)
  %v = Task_Join %t
  %c = Async_Call @loop(i64 5000)
  %l = Await %c
  %st = Nursery_End %n
  %f = fork @nothing
  await %f
  %w = extractvalue { i64, i128 } %v, 0
  %big = extractvalue { i64, i128 } %v, 1
  %bt = trunc i128 %big to i32
  %p = call i32 (ptr, ...) @printf(ptr @fmt, i64 %r, i64 %w, i32 %bt, i64 %l)
  %x = trunc i64 %st to i32
  ret i32 %x
}
