; SPDX-License-Identifier: Apache-2.0
; Vectors are passed to functions with other target features than their spawners', and returned by them.
; needs: avx2
; prints: 42
; prints: 90
; prints: 42
@format = constant [6 x i8] c"%lld\0A\00"
declare i32 @janus_print(i32, ptr, ...)

define i64 @sum(<8 x i32> %v) noinline "target-features"="+avx2" {
  %a = extractelement <8 x i32> %v, i32 0
  %b = extractelement <8 x i32> %v, i32 7
  %c = add i32 %a, %b
  %r = zext i32 %c to i64
  ret i64 %r
}
define { <8 x i32>, i64 } @double(<8 x i32> %v, i64 %x) noinline #0 {
  %w = add <8 x i32> %v, %v
  %r = insertvalue { <8 x i32>, i64 } undef, <8 x i32> %w, 0
  %s = insertvalue { <8 x i32>, i64 } %r, i64 %x, 1
  ret { <8 x i32>, i64 } %s
}
define <8 x i32> @same(<8 x i32> %v) noinline "target-features"="+avx2" {
  ret <8 x i32> %v
}

; Spawners with and without the features.
define i64 @plain(<8 x i32> %v) noinline {
  %n = Nursery_Begin
  %t = Spawn @double(<8 x i32> %v, i64 6)
  %r = Task_Join %t
  %s = Nursery_End %n
  %w = extractvalue { <8 x i32>, i64 } %r, 0
  %x = extractvalue { <8 x i32>, i64 } %r, 1
  %a = extractelement <8 x i32> %w, i32 0
  %b = extractelement <8 x i32> %w, i32 7
  %c = add i32 %a, %b
  %d = zext i32 %c to i64
  %e = add i64 %d, %x
  ret i64 %e
}
define i64 @wide() noinline #0 {
  %n = Nursery_Begin
  %t = Async_Call @same(<8 x i32> <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 41>)
  %r = Await %t
  %s = Nursery_End %n
  %x = call i64 @sum(<8 x i32> %r)
  ret i64 %x
}

define void @print(i64 %x) {
  %p = call i32 (i32, ptr, ...) @janus_print(i32 1, ptr @format, i64 %x)
  ret void
}
define i32 @main() {
  %n = Nursery_Begin
  %t = Spawn @sum(<8 x i32> <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 41>)
  %r = Task_Join %t
  %s = Nursery_End %n
  call void @print(i64 %r)
  %p = call i64 @plain(<8 x i32> <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 41>)
  call void @print(i64 %p)
  %w = call i64 @wide()
  call void @print(i64 %w)
  ret i32 0
}
attributes #0 = { "min-legal-vector-width"="256" "target-features"="+avx2" }
