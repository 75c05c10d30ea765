; SPDX-License-Identifier: Apache-2.0
; Opcodes with debug locations, in functions with debug information: everything that is made of an opcode has its
; location.
; prints: 21
@format = constant [6 x i8] c"%lld\0A\00"
declare i32 @janus_print(i32, ptr, ...)

define i64 @half(i64 %x, i64 %y) !dbg !4 {
  %r = sdiv i64 %x, %y, !dbg !7
  ret i64 %r, !dbg !7
}

define i32 @main() !dbg !8 {
entry:
  %n = Nursery_Begin, !dbg !9
  %t = Spawn @half(i64 42, i64 2), tenancy CPU_Parallel, !dbg !10
  %told = Budget_Decrement i64 3, !dbg !11
  Yield, !dbg !11
  br label %again, !dbg !11
again:
  %i = phi i64 [ 0, %entry ], [ %next, %again ], !dbg !11
  %next = add i64 %i, 1, !dbg !11
  %ends = icmp eq i64 %next, 10, !dbg !11
  br i1 %ends, label %done, label %again, !dbg !11
done:
  %v = Task_Join %t, !dbg !12
  %s = Nursery_End %n, !dbg !12
  %p = call i32 (i32, ptr, ...) @janus_print(i32 1, ptr @format, i64 %v), !dbg !12
  ret i32 0, !dbg !12
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, isOptimized: false, runtimeVersion: 0, emissionKind: FullDebug)
!1 = !DIFile(filename: "debug.c", directory: "/")
!2 = !{i32 7, !"Dwarf Version", i32 4}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "half", scope: !1, file: !1, line: 1, type: !5, spFlags: DISPFlagDefinition, unit: !0)
!5 = !DISubroutineType(types: !6)
!6 = !{null}
!7 = !DILocation(line: 2, column: 3, scope: !4)
!8 = distinct !DISubprogram(name: "main", scope: !1, file: !1, line: 4, type: !5, spFlags: DISPFlagDefinition, unit: !0)
!9 = !DILocation(line: 5, column: 3, scope: !8)
!10 = !DILocation(line: 6, column: 3, scope: !8)
!11 = !DILocation(line: 7, column: 3, scope: !8)
!12 = !DILocation(line: 8, column: 3, scope: !8)
