; SPDX-License-Identifier: Apache-2.0
; Names of types that are no structures stand for these types.
; prints: 42 7, failed with -5
%size = type i64
%address = type ptr
%pair = type [2 x %size]
@format = constant [29 x i8] c"%lld %lld, failed with %lld\0A\00"
declare i32 @janus_print(i32, ptr, ...)

define %size @twice(i64 %x) {
  %y = mul %size %x, 2
  ret i64 %y
}

define i64 @second(%address %where, %pair %both) {
  %x = extractvalue [2 x i64] %both, 1
  store i64 %x, ptr %where
  ret i64 0
}

define %size @fails() {
  ret i64 -5
}

define i32 @main() {
  %where = alloca i64
  %both = insertvalue [2 x i64] zeroinitializer, i64 7, 1
  %n = Nursery_Begin
  %a = Spawn @twice(i64 21)
  Spawn @second(ptr %where, [2 x %size] %both)
  %x = Task_Join %size, %a
  %e = Nursery_End %n
  %y = load i64, ptr %where
  %m = Nursery_Begin
  Spawn @fails()
  %f = Nursery_End %m
  call i32 (i32, ptr, ...) @janus_print(i32 1, ptr @format, i64 %x, i64 %y, i64 %f)
  ret i32 0
}
