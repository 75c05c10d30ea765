; SPDX-License-Identifier: Apache-2.0
; A task calls its function by its calling convention, by whatever name that is written.
; prints: 42
; prints: 2001
@format = constant [6 x i8] c"%lld\0A\00"
declare i32 @janus_print(i32, ptr, ...)

define spir_func i64 @family(i64 %x) noinline {
  %r = add i64 %x, 2
  ret i64 %r
}
define cc79 i64 @numbered(i64 %x, i64 %y) noinline {
  %r = sub i64 %x, %y
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
  %ra = Task_Join %a
  %rb = Task_Join %b
  %s = Nursery_End %n
  call void @print(i64 %ra)
  call void @print(i64 %rb)
  ret i32 0
}
