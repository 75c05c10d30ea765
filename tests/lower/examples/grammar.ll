; SPDX-License-Identifier: Apache-2.0
; What LLVM's grammar allows and few front ends write: metadata of a declaration, strings as attributes of a result,
; attributes in groups, and a summary for ThinLTO at the end.
; prints: 7
; prints: 42
; prints: 41
@format = constant [6 x i8] c"%lld\0A\00"
declare i32 @janus_print(i32, ptr, ...)
declare !dbg !3 i32 @abs(i32)

define "description"="of the result" i64 @f(i64 %x) {
  ret i64 %x
}

; It keeps its argument in a register across the call, which a yield check before it would use.
define i64 @naked(i64) #0 {
  %r = tail call i64 @nothing()
  call void asm sideeffect "movq %rdi, %rax; ret", ""()
  unreachable
}
define i64 @nothing() #1 {
  ret i64 0
}

define void @print(i64 %x) {
  %p = call i32 (i32, ptr, ...) @janus_print(i32 1, ptr @format, i64 %x)
  ret void
}
define i32 @main() {
  %n = Nursery_Begin
  %a = Spawn @abs(i32 -7)
  %b = Spawn @f(i64 42)
  %ra = Task_Join %a
  %wa = sext i32 %ra to i64
  call void @print(i64 %wa)
  %rb = Task_Join %b
  call void @print(i64 %rb)
  %s = Nursery_End %n
  %rn = call i64 @naked(i64 41)
  call void @print(i64 %rn)
  ret i32 0
}
attributes #0 = { naked noinline nounwind }
attributes #1 = { noinline }
!llvm.module.flags = !{!0}
!0 = !{i32 2, !"Debug Info Version", i32 3}
!1 = !DIFile(filename: "a.c", directory: "/")
!3 = !DISubprogram(name: "abs", scope: !1, file: !1, line: 1, spFlags: DISPFlagOptimized)
^0 = module: (path: "x", hash: (0, 0, 0, 0, 0))
^1 = gv: (name: "main", summaries: (function: (module: ^0, flags: (linkage: external, notEligibleToImport: 0, live: 0, dsoLocal: 1), insts: 2))) ; guid = 15822663052811949562
