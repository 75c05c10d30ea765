; SPDX-License-Identifier: Apache-2.0
; A negative cost that the program computes must not give a task ops.
; prints: -3
@format = constant [6 x i8] c"%lld\0A\00"
declare i32 @janus_print(i32, ptr, ...)

define i64 @charge(i64 %cost) {
entry:
  Budget_Decrement i64 %cost
  br label %again
again:
  %i = phi i64 [ 0, %entry ], [ %next, %again ]
  %next = add i64 %i, 1
  %told = Budget_Check
  %is_told = icmp slt i32 %told, 0
  %is_last = icmp eq i64 %next, 100000
  %ends = or i1 %is_told, %is_last
  br i1 %ends, label %end, label %again
end:
  ret i64 %next
}

define i32 @main() {
  %n = Nursery_Begin budget(ops 5000, memory 100000, spawn_count 1), on_exhaustion fail
  %t = Spawn @charge(i64 -1000000)
  %s = Nursery_End %n
  %p = call i32 (i32, ptr, ...) @janus_print(i32 1, ptr @format, i64 %s)
  ret i32 0
}
