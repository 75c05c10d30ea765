; SPDX-License-Identifier: Apache-2.0
; Names in quotes, some of them equal to names that janus-lower makes; functions in comdats; and a loop with two
; entries.
; prints: 5050
; prints: 12
$"a function" = comdat any
$shared = comdat any
@format = constant [6 x i8] c"%lld\0A\00"
declare i32 @janus_print(i32, ptr, ...)

define linkonce_odr i64 @"a function"(i64 %"the count", i64 %"how much") comdat {
"the entry":
  br label %"a loop: {"
"a loop: {":
  %"%i" = phi i64 [ 0, %"the entry" ], [ %"next one", %"a loop: {" ]
  %"so far" = phi i64 [ 0, %"the entry" ], [ %"as sum", %"a loop: {" ]
  %"next one" = add i64 %"%i", %"how much"
  %"as sum" = add i64 %"so far", %"next one"
  %"is last" = icmp eq i64 %"next one", %"the count"
  br i1 %"is last", label %"the end", label %"a loop: {"
"the end":
  ret i64 %"as sum"
}

define linkonce_odr i64 @irreducible(i64 %x, i64 %count) comdat($shared) {
entry:
  %starts_right = icmp eq i64 %x, 0
  br i1 %starts_right, label %right, label %left
left:
  %a = phi i64 [ 1, %entry ], [ %d, %right ]
  %c = add i64 %a, 1
  %ends = icmp sge i64 %c, %count
  br i1 %ends, label %done, label %right
right:
  %b = phi i64 [ 0, %entry ], [ %c, %left ]
  %d = add i64 %b, 2
  br label %left
done:
  ret i64 %c
}

define i64 @"janus.check"(i64 %"janus.x") {
  ret i64 %"janus.x"
}

define i32 @main() {
  %"my nursery" = Nursery_Begin
  %"a task" = Spawn @"a function"(i64 100, i64 1)
  %other = Async_Call @irreducible(i64 0, i64 10)
  %"its value" = Await %"a task"
  %v = Await %other
  Nursery_End %"my nursery"
  %checked = call i64 @"janus.check"(i64 %"its value")
  %p = call i32 (i32, ptr, ...) @janus_print(i32 1, ptr @format, i64 %checked)
  %q = call i32 (i32, ptr, ...) @janus_print(i32 1, ptr @format, i64 %v)
  ret i32 0
}
