; SPDX-License-Identifier: Apache-2.0
; What LLVM's grammar allows and few front ends write: metadata of a declaration, inline locations, strings as
; attributes of a result, aliases, escapes in names, a plus sign, attribute groups, and a summary for ThinLTO at the
; end.
; prints: 7
; prints: 42
; prints: 43
; prints: 44
; prints: 45
; prints: 41
; prints: 3
@format = constant [6 x i8] c"%lld\0A\00"
declare i32 @janus_print(i32, ptr, ...)
declare !dbg !3 i32 @abs(i32)

@alias = alias i64 (i64), ptr @alias_of_alias
@alias_of_alias = private unnamed_addr alias i64 (i64), ptr @"f\20g"

define "description"="of the result" i64 @"f\20g"(i64 %x) {
  ret i64 %x
}
define double @real(double %x) {
  ret double %x
}
; The names of this function and of its local are like those that janus-lower makes.
define i64 @"janus\2Echeck"(i64 %"janus\2Echeck1") {
  ret i64 %"janus.check1"
}

; A naked function: its argument is in a register across the call, which a yield check before the call would overwrite.
define i64 @naked(i64) #0 {
  %r = tail call i64 @nothing()
  call void asm sideeffect "movq %rdi, %rax; ret", ""()
  unreachable
}
define i64 @nothing() #1 {
  ret i64 0
}

define i64 @located(i64 %n) !dbg !5 {
entry:
  br label %again, !dbg !DILocation(line: 3, column: 1, scope: !5)
again:
  %i = phi i64 [ 0, %entry ], [ %j, %again ]
  %j = add i64 %i, 1
  %r = call i64 @nothing(), !dbg !DILocation(line: 4, column: 1, scope: !5)
  %c = icmp eq i64 %j, %n
  br i1 %c, label %done, label %again, !dbg !DILocation(line: 5, column: 1, scope: !5)
done:
  ret i64 %j, !dbg !DILocation(line: 6, column: 1, scope: !5)
}

define void @print(i64 %x) {
  %p = call i32 (i32, ptr, ...) @janus_print(i32 1, ptr @format, i64 %x)
  ret void
}
define i32 @main() {
  %n = Nursery_Begin
  %a = Spawn @abs(i32 -7)
  %b = Spawn @alias(i64 42)
  %c = Spawn @"f g"(i64 43)
  %d = Spawn @real(double +44.0)
  %e = Spawn @"janus.check"(i64 45)
  %ra = Task_Join %a
  %wa = sext i32 %ra to i64
  call void @print(i64 %wa)
  %rb = Task_Join %b
  call void @print(i64 %rb)
  %rc = Task_Join %c
  call void @print(i64 %rc)
  %rd = Task_Join %d
  %wd = fptosi double %rd to i64
  call void @print(i64 %wd)
  %re = Task_Join %e
  call void @print(i64 %re)
  %s = Nursery_End %n
  %rn = call i64 @naked(i64 41)
  call void @print(i64 %rn)
  %rl = call i64 @located(i64 3)
  call void @print(i64 %rl)
  ret i32 0
}
attributes #0 = { naked noinline nounwind }
attributes #1 = { noinline }
!llvm.module.flags = !{!0}
!llvm.dbg.cu = !{!2}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = !DIFile(filename: "a.c", directory: "/")
!2 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, producer: "x", emissionKind: FullDebug)
!3 = !DISubprogram(name: "abs", scope: !1, file: !1, line: 1, spFlags: DISPFlagOptimized)
!4 = !DISubroutineType(types: !{null})
!5 = distinct !DISubprogram(name: "located", scope: !1, file: !1, line: 1, spFlags: DISPFlagDefinition, unit: !2, type: !4)
^0 = module: (path: "x", hash: (0, 0, 0, 0, 0))
^1 = gv: (name: "main", summaries: (function: (module: ^0, flags: (linkage: external, notEligibleToImport: 0, live: 0, dsoLocal: 1), insts: 2))) ; guid = 15822663052811949562
