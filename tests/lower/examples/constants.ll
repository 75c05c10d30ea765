; SPDX-License-Identifier: Apache-2.0
; Constants: of one word behind `personality`, `prefix` and `prologue`, as operands without their types, and as amounts
; of a budget with their types. Attributes of a task's result.
; prints: 42
; prints: 43
; prints: 44
; prints: 45
@format = constant [6 x i8] c"%lld\0A\00"
declare i32 @janus_print(i32, ptr, ...)

define i64 @structure({ i64, i8 } %x) personality ptr null {
  %a = extractvalue { i64, i8 } %x, 0
  %b = extractvalue { i64, i8 } %x, 1
  %c = zext i8 %b to i64
  %r = add i64 %a, %c
  ret i64 %r
}
define i64 @vector(<2 x i64> %x) prefix i32 undef personality ptr null {
  %a = extractelement <2 x i64> %x, i32 0
  %b = extractelement <2 x i64> %x, i32 1
  %r = add i64 %a, %b
  ret i64 %r
}
define i64 @array([2 x i64] %x) prefix { i32, i32 } zeroinitializer {
  %a = extractvalue [2 x i64] %x, 0
  %b = extractvalue [2 x i64] %x, 1
  %r = add i64 %a, %b
  ret i64 %r
}
define i64 @same(i64 %x) prefix { i32, i32 } { i32 1, i32 2 } personality ptr null {
  ret i64 %x
}

define void @print(i64 %x) {
  %p = call i32 (i32, ptr, ...) @janus_print(i32 1, ptr @format, i64 %x)
  ret void
}
define i32 @main() {
  %ops = add i32 50000, 50000
  %n = Nursery_Begin budget(ops i32 400000, memory i64 1000000, spawn_count i16 10)
  %a = Spawn @structure, { i64 40, i8 2 }
  %b = Spawn noundef signext i64 @vector(<i64 40, i64 3>)
  %c = Spawn @array([ i64 40, i64 4 ])
  %d = Task_Create @same(i64 45), budget(ops i32 %ops, memory i64 100000)
  %ra = Task_Join %a
  call void @print(i64 %ra)
  %rb = Task_Join %b
  call void @print(i64 %rb)
  %rc = Task_Join %c
  call void @print(i64 %rc)
  %rd = Task_Join %d
  call void @print(i64 %rd)
  %s = Nursery_End %n
  ret i32 0
}
