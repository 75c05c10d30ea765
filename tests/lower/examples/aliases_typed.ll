; SPDX-License-Identifier: Apache-2.0
; An alias is called with its function's convention and extensions, even through casts.
; prints: 1002 7 2
@format = constant [16 x i8] c"%lld %lld %lld\0A\00"
declare i32 @janus_print(i32, i8*, ...)
@alias = alias i64 (i64, i64), bitcast (i64 (i64, i64)* @function to i64 (i64, i64)*)
@second = alias i64 (i64, i64), i64 (i64, i64)* @alias
@narrow_alias = alias i64 (i8), bitcast (i64 (i8)* @narrow to i64 (i8)*)
define x86_regcallcc i64 @function(i64 %a, i64 %b) noinline {
  %c = mul i64 %a, 1000
  %d = add i64 %c, %b
  ret i64 %d
}
define i64 @narrow(i8 signext %x) noinline {
  %y = sext i8 %x to i64
  %z = sub i64 0, %y
  ret i64 %z
}
define i32 @main() {
  %n = Nursery_Begin
  %t = Spawn @alias(i64 1, i64 2)
  %u = Spawn @second(i64 0, i64 7)
  %v = Spawn @narrow_alias(i8 -2)
  %a = Task_Join %t
  %b = Task_Join %u
  %c = Task_Join %v
  %s = Nursery_End i8* %n
  %f = getelementptr [16 x i8], [16 x i8]* @format, i64 0, i64 0
  %p = call i32 (i32, i8*, ...) @janus_print(i32 1, i8* %f, i64 %a, i64 %b, i64 %c)
  ret i32 0
}
