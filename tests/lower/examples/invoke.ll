; SPDX-License-Identifier: Apache-2.0
; invoke, landingpad and resume: a check is before the invoke, and the nursery is closed on both of its paths.
; prints: 42
@format = constant [6 x i8] c"%lld\0A\00"
declare i32 @janus_print(i32, ptr, ...)

; Never called, since no exception is thrown here.
define i32 @personality(...) {
  ret i32 0
}
define i64 @value(i64 %x) {
  ret i64 %x
}

define i64 @sum(i64 %count) personality ptr @personality {
entry:
  %nursery = Nursery_Begin
  %t = Spawn @value(i64 2)
  br label %again
again:
  %i = phi i64 [ 0, %entry ], [ %next, %added ]
  %sum = phi i64 [ 0, %entry ], [ %more, %added ]
  %v = invoke i64 @value(i64 %i)
          to label %added unwind label %failed
added:
  %more = add i64 %sum, %v
  %next = add i64 %i, 1
  %ends = icmp eq i64 %next, %count
  br i1 %ends, label %done, label %again
done:
  %r = Task_Join %t
  %s = Nursery_End %nursery
  %fork = fork @value(i64 10)
  %ten = await %fork
  %with = add i64 %more, %r
  %all = add i64 %with, %ten
  ret i64 %all
failed:
  %exception = landingpad { ptr, i32 }
          cleanup
  %c = Nursery_Cancel %nursery
  %e = Nursery_End %nursery
  resume { ptr, i32 } %exception
}

define i32 @main() {
  %v = call i64 @sum(i64 6)
  %both = add i64 %v, 15
  %p = call i32 (i32, ptr, ...) @janus_print(i32 1, ptr @format, i64 %both)
  ret i32 0
}
