; SPDX-License-Identifier: Apache-2.0
; A task calls its function with the function's own calling convention, under each of its names, and its parameter
; attributes.
; prints: 42
; prints: 2001
; prints: 42
; prints: 42
@format = constant [6 x i8] c"%lld\0A\00"
@forty = global i64 40
declare i32 @janus_print(i32, ptr, ...)

define spir_func i64 @family(i64 %x) noinline {
  %r = add i64 %x, 2
  ret i64 %r
}
define cc79 i64 @numbered(i64 %x, i64 %y) noinline {
  %r = sub i64 %x, %y
  ret i64 %r
}
define i64 @nested(ptr nest %context) noinline {
  %v = load i64, ptr %context
  %r = add i64 %v, 2
  ret i64 %r
}
define i64 @nested_with(i64 %x, ptr nest %context) noinline {
  %v = load i64, ptr %context
  %r = add i64 %v, %x
  ret i64 %r
}

define void @print(i64 %x) {
  %p = call i32 (i32, ptr, ...) @janus_print(i32 1, ptr @format, i64 %x)
  ret void
}
define i32 @main() {
  %n = Nursery_Begin
  %a = Spawn @family(i64 40)
  %b = Spawn @numbered(i64 2026, i64 25)
  %c = Spawn @nested(ptr @forty)
  %d = Spawn @nested_with(i64 2, ptr @forty)
  %ra = Task_Join %a
  %rb = Task_Join %b
  %rc = Task_Join %c
  %rd = Task_Join %d
  %s = Nursery_End %n
  call void @print(i64 %ra)
  call void @print(i64 %rb)
  call void @print(i64 %rc)
  call void @print(i64 %rd)
  ret i32 0
}
