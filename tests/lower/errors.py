# SPDX-License-Identifier: Apache-2.0
# errors.py — what janus-lower refuses: for each case the kind of file, its text, and the first line of the message.

LL = 'declare i64 @f(i64)\ndeclare void @g(i32, double)\ndefine void @test(i64 %x, i32 %n) {\n'
NO_NURSERY = 'is not the result of a Nursery_Begin: a nursery is named by that result itself, not by a value that was loaded or copied'


def ll(body):
    return 'll', LL + body + '}\n'


def qtjir(body, before=''):
    return 'qtjir', before + 'func @f(%x: i64) -> i64 {\n  return %x\n}\nfunc @test(%x: i64, %n: i32) {\n' + body + '}\n'


errors = {
    'a spawn outside a nursery': (*ll('  Spawn @f(i64 1)\n  ret void\n'), '4:3: error: spawn outside a nursery (NurseryNotActive)'),
    'a Task_Create behind its nursery': (*ll('  %a = Nursery_Begin\n  %b = Nursery_End %a\n  %t = Task_Create @f(i64 1)\n  ret void\n'),
                                         '6:8: error: spawn outside a nursery (NurseryNotActive)'),
    'a spawn after the Await': (*ll('  %a = Nursery_Begin\n  %b = Await %a\n  Spawn @f(i64 1)\n  %c = Nursery_End %a\n  ret void\n'),
                                '6:3: error: spawn in the nursery %a of line 4 after its Await (NurseryNotActive)'),
    'an unknown tenancy': (*ll('  %a = Nursery_Begin\n  Spawn @f(i64 1), tenancy NPU_Tensor\n  %b = Nursery_End %a\n  ret void\n'),
                           '5:28: error: unknown tenancy: tasks have CPU_Parallel'),
    'an opcode in :core': ('ll', 'profile :core\n' + LL + '  Yield\n  ret void\n}\n',
                           '5:3: error: Yield: profile :core has no scheduler; choose :service, :cluster or :sovereign'),
    'an unknown profile': ('ll', 'profile :fast\n', '1:1: error: unknown profile: there are :core, :service, :cluster and :sovereign'),
    'an unknown function': (*ll('  %a = Nursery_Begin\n  Spawn @h(i64 1)\n  %b = Nursery_End %a\n  ret void\n'), '5:9: error: unknown function @h'),
    'too few arguments': (*ll('  %a = Nursery_Begin\n  Spawn @g(i32 1)\n  %b = Nursery_End %a\n  ret void\n'),
                          '5:9: error: @g takes 2 arguments, not 1'),
    'an argument of a wrong type': (*ll('  %a = Nursery_Begin\n  Spawn @f(i32 1)\n  %b = Nursery_End %a\n  ret void\n'),
                                    '5:16: error: argument 1 of @f is of type i32, not i64'),
    'an untyped argument of a wrong type': (*ll('  %a = Nursery_Begin\n  Spawn @f, %n\n  %b = Nursery_End %a\n  ret void\n'),
                                            '5:13: error: argument 1 of @f is of type i32, not i64'),
    'a result of a wrong type': (*ll('  %a = Nursery_Begin\n  Spawn i32 @f(i64 1)\n  %b = Nursery_End %a\n  ret void\n'),
                                 '5:13: error: @f returns i64, not i32'),
    'a join with a wrong type': (*ll('  %a = Nursery_Begin\n  %t = Spawn @f(i64 1)\n  %r = Task_Join i32, %t\n  %b = Nursery_End %a\n  ret void\n'),
                                 "6:23: error: the task's result is of type i64, not i32"),
    'a nursery that is open where the function returns': (*ll('  %a = Nursery_Begin\n  ret void\n'),
                                                          '5:3: error: the nursery %a of line 4 is not closed on this path'),
    'a nursery that is open on one of two paths': (
        *ll('  %c = icmp eq i64 %x, 0\n  br i1 %c, label %yes, label %no\nyes:\n  %a = Nursery_Begin\n  br label %no\nno:\n  ret void\n'),
        '9:1: error: the nursery %a of line 7 is open on one path to this block and not on another'),
    'nurseries that are closed in the wrong order': (
        *ll('  %a = Nursery_Begin\n  %b = Nursery_Begin\n  %c = Nursery_End %a\n  %d = Nursery_End %b\n  ret void\n'),
        '6:8: error: Nursery_End of %a, but the innermost nursery is %b of line 5'),
    'an Await of a nursery that was loaded': (
        *ll('  %p = alloca ptr\n  %a = Nursery_Begin\n  store ptr %a, ptr %p\n  %l = load ptr, ptr %p\n  %s = Await %l\n  %t = Nursery_End %a\n  ret void\n'),
        f'8:14: error: %l {NO_NURSERY}'),
    'an Await of a nursery that a select chose': (
        *ll('  %a = Nursery_Begin\n  %b = Nursery_Begin\n  %c = icmp eq i64 %x, 0\n  %m = select i1 %c, ptr %a, ptr %b\n  Await %m\n  Nursery_End %b\n  Nursery_End %a\n'
            '  ret void\n'), f'8:9: error: %m {NO_NURSERY}'),
    'an Await of no pointer': (*ll('  Await ptr null\n  ret void\n'), f'4:13: error: null {NO_NURSERY}'),
    'a Nursery_End of a nursery that was loaded': (
        *ll('  %p = alloca ptr\n  %a = Nursery_Begin\n  store ptr %a, ptr %p\n  %l = load ptr, ptr %p\n  Nursery_End ptr %l\n  ret void\n'), f'8:19: error: %l {NO_NURSERY}'),
    'a Nursery_End of a copied nursery': (*ll('  %a = Nursery_Begin\n  %l = freeze ptr %a\n  Nursery_End %l\n  Nursery_End %a\n  ret void\n'), f'6:15: error: %l {NO_NURSERY}'),
    'a Nursery_End of a number': (*ll('  %a = Nursery_Begin\n  Nursery_End %x\n  Nursery_End %a\n  ret void\n'), f'5:15: error: %x {NO_NURSERY}'),
    'a Nursery_End of a number outside of every nursery': (*ll('  Nursery_End %x\n  ret void\n'), f'4:15: error: %x {NO_NURSERY}'),
    'a Nursery_End of a number that no path reaches': (*ll('  ret void\nnever:\n  Nursery_End %x\n  ret void\n'), f'6:15: error: %x {NO_NURSERY}'),
    'a Nursery_End of an unknown value': (*ll('  %a = Nursery_Begin\n  Nursery_End %z\n  ret void\n'), '5:15: error: unknown value %z'),
    'a cancel of no nursery': (*ll('  %a = Nursery_Begin\n  Nursery_Cancel null\n  Nursery_End %a\n  ret void\n'), f'5:18: error: null {NO_NURSERY}'),
    'a cancel of a nursery that has ended': (*ll('  %a = Nursery_Begin\n  Nursery_End %a\n  Nursery_Cancel %a\n  ret void\n'),
                                             '6:3: error: no nursery of this name is open here'),
    'a nursery result of a wrong type': (*ll('  %a = Nursery_Begin\n  %r = Await i32, %a\n  Nursery_End %a\n  ret void\n'),
                                         "5:19: error: the nursery's result is of type i64, not i32"),
    'a join of a pointer': (*ll('  %p = alloca ptr\n  %l = load ptr, ptr %p\n  Task_Join %l\n  ret void\n'), '6:13: error: the task is of type ptr, not i64'),
    'a Nursery_End without its value': (*ll('  %a = Nursery_Begin\n  Nursery_End ptr\n  ret void\n'), '5:18: error: a value is missing'),
    'a Nursery_Begin with an unknown option': (*ll('  %a = Nursery_Begin fast\n  Spawn @f(i64 1)\n  Nursery_End %a\n  ret void\n'),
                                               "4:22: error: unexpected 'fast' behind the operands"),
    'a Nursery_End too many': (*ll('  Nursery_End\n  ret void\n'), '4:3: error: Nursery_End outside of every nursery'),
    'a budget of a wrong type': (*ll('  %a = Nursery_Begin budget(ops %x)\n  %b = Nursery_End %a\n  ret void\n'), '4:33: error: ops is of type i64, not i32'),
    'a budget of an unknown value': (*ll('  %a = Nursery_Begin budget(ops %nothing)\n  %b = Nursery_End %a\n  ret void\n'),
                                     '4:33: error: unknown value %nothing'),
    'a budget that does not fit': (*ll('  %a = Nursery_Begin budget(spawn_count 70000)\n  %b = Nursery_End %a\n  ret void\n'),
                                   '4:41: error: 70000 does not fit into i16'),
    'a second amount in a budget': (*ll('  %a = Nursery_Begin budget(ops 1, ops 2)\n  %b = Nursery_End %a\n  ret void\n'),
                                    '4:36: error: a second amount of ops'),
    'an argument that does not fit': (*ll('  %a = Nursery_Begin\n  Spawn @g(i32 5000000000, double 1.0)\n  %b = Nursery_End %a\n  ret void\n'),
                                      '5:16: error: 5000000000 does not fit into i32'),
    'a join of a number': (*ll('  %r = Task_Join i64 7\n  ret void\n'), '4:22: error: a join of what is no task: 7'),
    'a join of a sum': (*ll('  %s = add i64 %x, 1\n  %r = Task_Join %s\n  ret void\n'),
                        '5:18: error: a join of what is no task: %s is the result of add'),
    'an unknown value': (*ll('  %r = Task_Join i64, %nothing\n  ret void\n'), '4:23: error: unknown value %nothing'),
    'a task whose result has no known type': (*ll('  %r = Task_Join %x\n  ret void\n'),
                                              "4:18: error: the type of the task's result is not known here; write it: Task_Join i64, %x"),
    'a label that is not there': (*ll('  %a = Nursery_Begin\n  br label %there\n'), '5:3: error: a branch to a label that this function does not have'),
    'something behind the operands': (*ll('  Yield now\n  ret void\n'), "4:9: error: unexpected 'now' behind the operands"),
    'a string without its end': ('ll', 'source_filename = "x\n', '1:19: error: a string without its closing quote'),
    'a join behind the end of the nursery': (
        *ll('  %a = Nursery_Begin\n  %t = Spawn @f(i64 1)\n  %b = Nursery_End %a\n  %r = Task_Join %t\n  ret void\n'),
        '7:18: error: a join of a task whose nursery %a of line 4 has ended'),
    'a join behind the Await of the nursery': (
        *ll('  %a = Nursery_Begin\n  %t = Spawn @f(i64 1)\n  %b = Await %a\n  %r = Await %t\n  %c = Nursery_End %a\n  ret void\n'),
        '7:14: error: a join of a task whose nursery %a of line 4 has ended'),
    'a task of an intrinsic': (
        'll', 'declare i64 @llvm.abs.i64(i64, i1)\ndefine void @f() {\n  %a = Nursery_Begin\n  Spawn @llvm.abs.i64(i64 1, i1 true)\n  %b = Nursery_End\n  ret void\n}\n',
        '4:9: error: @llvm.abs.i64 is an intrinsic, which a task cannot begin in: call it in a function'),
    'an operand that is missing at the end of a line': (*ll('  Budget_Decrement\n  ret void\n'), '4:19: error: an operand is missing'),
    'a tenancy that is missing at the end of a line': (*ll('  %a = Nursery_Begin\n  Spawn @f(i64 1), tenancy\n  %b = Nursery_End %a\n  ret void\n'),
                                                       '5:27: error: unknown tenancy: tasks have CPU_Parallel'),
    'a parenthesis that is not closed': (*ll('  %a = Nursery_Begin\n  Spawn @f(i64 1\n  %b = Nursery_End %a\n  ret void\n'), "5:11: error: '(' is not closed"),
    'a bracket that is not closed': ('ll', 'define void @f(i64 %x) {\n  switch i64 %x, label %a [ i64 1, label %a\na:\n  ret void\n}\n', "2:27: error: '[' is not closed"),
    'a comma behind the last argument': (*ll('  %a = Nursery_Begin\n  Spawn @f(i64 1,)\n  %b = Nursery_End %a\n  ret void\n'), '5:18: error: an operand is missing'),
    'a comma behind the last amount': (*ll('  %a = Nursery_Begin budget(ops 1,)\n  %b = Nursery_End %a\n  ret void\n'),
                                       '4:35: error: a component of a budget is missing behind the comma'),
    'a join of no type': (*ll('  %r = Task_Join void, %x\n  ret void\n'), "4:18: error: a task's result cannot be of type void"),
    'a join of an unknown type': (*ll('  %r = Task_Join number, %x\n  ret void\n'), '4:18: error: unknown type number'),
    'an argument of an unknown type': (*ll('  %a = Nursery_Begin\n  Spawn @f(number 1)\n  %b = Nursery_End %a\n  ret void\n'), '5:12: error: unknown type number'),
    'a task of an unknown type': (*ll('  %a = Nursery_Begin\n  Spawn number @f(i64 1)\n  %b = Nursery_End %a\n  ret void\n'), '5:9: error: unknown type number'),
    'a spawn of an alias whose function is not known': (
        'll', '@a = alias i64 (i64), inttoptr (i64 4096 to ptr)\ndefine void @f() {\n  %n = Nursery_Begin\n  Spawn @a(i64 1)\n  %s = Nursery_End\n  ret void\n}\n',
        '4:9: error: @a is an alias, and its function is not known here, or has other types: call it in a function'),
    'a spawn of an alias with other types': (
        'll', '@a = alias i64 (i64), ptr @f\ndefine void @f() {\n  %n = Nursery_Begin\n  Spawn @a(i64 1)\n  %s = Nursery_End\n  ret void\n}\n',
        '4:9: error: @a is an alias, and its function is not known here, or has other types: call it in a function'),
    'an Await of what may be an asynchronous call': (
        *ll('  %p = alloca [2 x i64]\n  %q = getelementptr i64, ptr %p, i64 1\n  %a = Nursery_Begin\n  %c = Async_Call @f(i64 1)\n  store i64 %c, ptr %q\n  %h = load i64, ptr %q\n  %r = Await i64, %h\n'
            '  %b = Nursery_End %a\n  ret void\n'),
        '10:19: error: it is not known here whether this is the handle of a task or of an Async_Call; keep each in a value or a variable of its own, '
        'or join tasks by Task_Join'),
    'a join of a variable of tasks and asynchronous calls': (
        *ll('  %p = alloca i64\n  %a = Nursery_Begin\n  %c = Async_Call @f(i64 1)\n  store i64 %c, ptr %p\n  %t = Spawn @f(i64 1)\n  store i64 %t, ptr %p\n'
            '  %h = load i64, ptr %p\n  %r = Task_Join i64, %h\n  %b = Nursery_End %a\n  ret void\n'),
        '11:23: error: it is not known here whether this is the handle of a task or of an Async_Call; keep each in a value or a variable of its own, '
        'or join tasks by Task_Join'),
    'a nursery of another type': (*ll('  %a = Nursery_Begin\n  %b = Nursery_End i32 %a\n  ret void\n'), '5:24: error: the nursery is of type i32, not ptr'),
    'a cancel of a nursery of another type': (*ll('  %a = Nursery_Begin\n  Nursery_Cancel double %a\n  %b = Nursery_End %a\n  ret void\n'),
                                              '5:25: error: the nursery is of type double, not ptr'),
    'an Await of a nursery of another type': (*ll('  %a = Nursery_Begin\n  %b = Await i8 %a\n  %c = Nursery_End %a\n  ret void\n'),
                                              '5:17: error: the nursery is of type i8, not ptr'),
    'something behind a nursery': (*ll('  %a = Nursery_Begin\n  %b = Nursery_End ptr %a junk 7\n  ret void\n'), "5:27: error: unexpected 'junk' behind the operands"),
    'something behind a number': (*ll('  Budget_Decrement i64 5 6\n  ret void\n'), "4:26: error: unexpected '6' behind the operands"),
    'an implicit label that is not there': (
        'll', 'define void @f() {\n  %1 = Nursery_Begin\n  %2 = Nursery_End %1\n  br label %4\n\n  ret void\n}\n',
        '4:3: error: a branch to a label that this function does not have'),
    'a join of a counter': (*ll('  %p = alloca i64\n  %s = atomicrmw add ptr %p, i64 1 seq_cst\n  %r = Task_Join i64, %s\n  ret void\n'),
                            '6:23: error: a join of what is no task: %s is the result of atomicrmw add'),
    'a join of a task or of a parameter': (
        *ll('  %a = Nursery_Begin\n  %c = icmp eq i32 %n, 0\n  br i1 %c, label %yes, label %no\nyes:\n  %t = Spawn @f(i64 1)\n  br label %no\nno:\n'
            '  %l = phi i64 [ %x, %0 ], [ %t, %yes ]\n  %r = Task_Join %l\n  %b = Nursery_End %a\n  ret void\n'),
        "12:18: error: the type of the task's result is not known here; write it: Task_Join i64, %l"),
    'a join of a variable that holds a task or a parameter': (
        *ll('  %p = alloca i64\n  store i64 %x, ptr %p\n  %a = Nursery_Begin\n  %t = Spawn @f(i64 1)\n  store i64 %t, ptr %p\n  %l = load i64, ptr %p\n'
            '  %r = Task_Join %l\n  %b = Nursery_End %a\n  ret void\n'),
        "10:18: error: the type of the task's result is not known here; write it: Task_Join i64, %l"),
    'an argument by value': (
        'll', 'declare void @h(ptr)\ndefine void @test(ptr %p) {\n  %a = Nursery_Begin\n  Spawn @h(ptr noundef byval(i64) align 8 %p)\n  %b = Nursery_End %a\n  ret void\n}\n',
        '4:43: error: argument 1 of @h is passed as byval, which a task cannot have'),
    'a scalable vector as an argument': (
        'll', 'declare void @h(<vscale x 2 x i64>)\ndefine void @test(<vscale x 2 x i64> %v) {\n  %a = Nursery_Begin\n  Spawn @h(<vscale x 2 x i64> %v)\n  %b = Nursery_End %a\n'
        '  ret void\n}\n', '4:31: error: argument 1 of @h is passed as < vscale x 2 x i64 >, which a task cannot have'),
    'a scalable vector as a result': (
        'll', 'declare <vscale x 2 x i64> @h()\ndefine void @test() {\n  %a = Nursery_Begin\n  %t = Spawn @h()\n  %b = Nursery_End %a\n  ret void\n}\n',
        "4:14: error: a task's result cannot be of type < vscale x 2 x i64 >"),
    'a result of type x86_mmx': (
        'll', 'declare x86_mmx @h()\ndefine void @test() {\n  %a = Nursery_Begin\n  %t = Spawn @h()\n  %b = Nursery_End %a\n  ret void\n}\n',
        "4:14: error: a task's result cannot be of type x86_mmx"),
    'a structure with x86_mmx as an argument': (
        'll', 'declare void @h({ x86_mmx })\ndefine void @test({ x86_mmx } %v) {\n  %a = Nursery_Begin\n  Spawn @h({ x86_mmx } %v)\n  %b = Nursery_End %a\n  ret void\n}\n',
        '4:24: error: argument 1 of @h is passed as { x86_mmx }, which a task cannot have'),
    'a spawn of a pointer': (*ll('  %a = Nursery_Begin\n  %t = Spawn %x(i64 1)\n  %b = Nursery_End %a\n  ret void\n'),
                             '5:14: error: a task begins in a function that is named, as @f: call a pointer in a function'),
    'a spawn of a pointer, with the type of the result': (*ll('  %a = Nursery_Begin\n  %t = Spawn i64 %x(i64 1)\n  %b = Nursery_End %a\n  ret void\n'),
                                                          '5:18: error: the name of a function, as @f, is missing'),
    'an opcode in small letters': (*ll('  %a = nursery_begin\n  Spawn @f(i64 1)\n  %b = Nursery_End %a\n  ret void\n'),
                                   "4:8: error: unknown instruction 'nursery_begin': the opcode is Nursery_Begin"),
    'a spawn of nothing': (*ll('  %a = Nursery_Begin\n  Spawn\n  %b = Nursery_End %a\n  ret void\n'), '5:8: error: the name of a function, as @f, is missing'),
    'an amount of a budget of a wrong type': (*ll('  %a = Nursery_Begin budget(ops i64 5)\n  %b = Nursery_End %a\n  ret void\n'),
                                              '4:37: error: ops is of type i64, not i32'),
    'an amount of a budget that is a type alone': (*ll('  %a = Nursery_Begin budget(ops i32)\n  %b = Nursery_End %a\n  ret void\n'),
                                                   '4:36: error: the amount is missing: a number, a value or `all`'),
    'a Task_Join of an asynchronous call': (*ll('  %a = Nursery_Begin\n  %c = Async_Call @f(i64 1)\n  %r = Task_Join %c\n  %b = Nursery_End %a\n  ret void\n'),
                                            '6:18: error: a join of what is no task: %c is the handle of an Async_Call, which Await waits for'),
    'a Task_Join of an asynchronous call that a select chose, whose type has a name': (
        'll', '%T = type i64\n' + LL + '  %a = Nursery_Begin\n  %c = Async_Call @f(i64 1)\n  %T = icmp eq i64 %x, 0\n  %d = select i1 %T, %T %c, %T 0\n  %e = freeze %T %d\n'
              '  %r = Task_Join i64, %e\n  %b = Nursery_End %a\n  ret void\n}\n',
        '10:23: error: a join of what is no task: %e is the handle of an Async_Call, which Await waits for'),
    'a parenthesis round a nursery that is not closed': (*ll('  %a = Nursery_Begin\n  %b = Nursery_End (ptr %a\n  ret void\n}\n'), "5:20: error: '(' is not closed"),
    'a join above its spawn': (*ll('  %a = Nursery_Begin\n  %r = Task_Join %t\n  %t = Spawn @f(i64 1)\n  %b = Nursery_End %a\n  ret void\n'),
                               '5:18: error: %t is not defined on every path to here: its definition is in line 6'),
    'a join of a task that one path spawns': (
        *ll('  %a = Nursery_Begin\n  %c = icmp eq i32 %n, 0\n  br i1 %c, label %yes, label %no\nyes:\n  %t = Spawn @f(i64 1)\n  br label %no\nno:\n'
            '  %r = Task_Join %t\n  %b = Nursery_End %a\n  ret void\n'),
        '11:18: error: %t is not defined on every path to here: its definition is in line 8'),
    'an amount of a budget that one path computes': (
        *ll('  %a = Nursery_Begin\n  %c = icmp eq i32 %n, 0\n  br i1 %c, label %yes, label %no\nyes:\n  %m = add i32 %n, 1\n  br label %no\nno:\n'
            '  Task_Create @f(i64 1), budget(ops %m)\n  %b = Nursery_End %a\n  ret void\n'),
        '11:37: error: %m is not defined on every path to here: its definition is in line 8'),
    'a fork outside of every nursery in a coroutine': (
        'll', LL + '  %b = call ptr @llvm.coro.begin(token none, ptr null)\n  fork @f(i64 1)\n  ret void\n}\ndeclare ptr @llvm.coro.begin(token, ptr)\n',
        '5:3: error: a coroutine cannot have a nursery of its own, which would end where it returns: open one'),
    'a negative amount in a budget': (*ll('  %a = Nursery_Begin budget(ops -5)\n  %b = Nursery_End %a\n  ret void\n'),
                                      '4:33: error: an amount of a budget cannot be negative'),
    'a second on_error': (*ll('  %a = Nursery_Begin on_error cancel, on_error collect\n  %b = Nursery_End %a\n  ret void\n'),
                          '4:39: error: a second on_error'),
    'an opcode in :core, which is written without a blank': (
        'll', 'profile:core\n' + LL + '  Yield\n  ret void\n}\n', '5:3: error: Yield: profile :core has no scheduler; choose :service, :cluster or :sovereign'),
    'q: a negative amount in a budget': (*qtjir('  %a = Nursery_Begin budget(ops -5)\n  Nursery_End\n  return\n'),
                                         '5:33: error: an amount of a budget cannot be negative'),
    'q: a second on_error': (*qtjir('  %a = Nursery_Begin on_error cancel, on_error collect\n  Nursery_End\n  return\n'),
                             '5:39: error: a second on_error'),
    'q: an opcode in :core, which is written without a blank': (
        *qtjir('  Budget_Check\n  return\n', 'profile:core\n'),
        '6:3: error: Budget_Check: profile :core has no scheduler; choose :service, :cluster or :sovereign'),
    'q: a label that is missing at the end of a line': (*qtjir('  jump\nthere:\n  return\n'), '5:7: error: expected a label, not the end of the line'),
    'a body without its end': ('ll', 'define void @f() {\n  ret void\n', '1:18: error: a function body without its closing brace'),
    'q: a spawn outside a nursery': (*qtjir('  Spawn @f(1)\n  return\n'), '5:3: error: spawn outside a nursery (NurseryNotActive)'),
    'q: a join behind the end of the nursery': (
        *qtjir('  %a = Nursery_Begin\n  %t = Spawn @f(1)\n  Nursery_End\n  %r = Await %t\n  return\n'),
        '8:14: error: a join of a task whose nursery %a of line 5 has ended'),
    'q: an operand that is missing at the end of a line': (*qtjir('  Budget_Decrement\n  return\n'),
                                                           '5:19: error: expected a register, a number or a text, not the end of the line'),
    'q: a parenthesis that is not closed': (*qtjir('  call @f(1\n  return\n'), "5:12: error: expected ')', not the end of the line"),
    'q: a comma behind the last argument': (*qtjir('  call @f(1,)\n  return\n'), "5:13: error: expected a register, a number or a text, not ')'"),
    'q: a comma behind the last parameter': ('qtjir', 'func @f(%x: i64,) {\n  return\n}\n', '1:17: error: expected a parameter behind the comma'),
    'q: a comma behind the last amount': (*qtjir('  %a = Nursery_Begin budget(ops 1,)\n  Nursery_End\n  return\n'),
                                          '5:35: error: expected a component of the budget behind the comma'),
    'q: a number that is not decimal': (*qtjir('  %y = copy 0x10\n  return\n'), '5:13: error: 0x10 is not a decimal number'),
    'q: an unknown tenancy': (*qtjir('  %a = Nursery_Begin\n  Spawn @f(1) tenancy QPU\n  Nursery_End\n  return\n'),
                              "6:23: error: unknown tenancy 'QPU': tasks have CPU_Parallel"),
    'q: an opcode in :core': (*qtjir('  Budget_Check\n  return\n', 'profile :core\n'),
                              '6:3: error: Budget_Check: profile :core has no scheduler; choose :service, :cluster or :sovereign'),
    'q: an unknown function': (*qtjir('  call @h(1)\n  return\n'), '5:8: error: unknown function @h'),
    'q: a wrong number of arguments': (*qtjir('  call @f(1, 2)\n  return\n'), '5:8: error: @f takes 1 arguments, not 2'),
    'q: an argument of a wrong type': (*qtjir('  %a = Nursery_Begin\n  Spawn @f(%n)\n  Nursery_End\n  return\n'),
                                       '6:12: error: argument 1 of @f is of type i32, not i64'),
    'q: a number that does not fit': (*qtjir('  %y = copy i8 256\n  return\n'), '5:16: error: 256 does not fit into i8'),
    'q: a number that does not fit into i128': (*qtjir('  %y = copy i128 340282366920938463463374607431768211456\n  return\n'),
                                                '5:18: error: 340282366920938463463374607431768211456 does not fit into i128'),
    'q: a second amount in a budget': (*qtjir('  %a = Nursery_Begin budget(ops 1, ops all)\n  Nursery_End\n  return\n'),
                                       '5:36: error: a second amount of ops'),
    'q: a result of what has none': (*qtjir('  %y = return\n'), '5:3: error: return has no result here'),
    'q: a function with the name of an intrinsic': ('qtjir', 'func @llvm.abs.i64(%x: i64) -> i64 {\n  return %x\n}\n',
                                                    "1:6: error: names that begin with llvm. are those of LLVM's intrinsics"),
    'q: a function without its closing brace': ('qtjir', 'func @f() {\n  return\n', "3:1: error: expected '}', not the end of the file"),
    'q: a name that has to be in quotes': ('qtjir', 'func @größe() {\n  return\n}\n', "1:9: error: expected '(', not 'ö'"),
    'q: a name without end': (*qtjir(f'  call @{"x" * 1000}()\n  return\n'), f'5:8: error: unknown function @{"x" * 382}...'),
    'q: a line that ends as on Windows': ('qtjir', 'func @f() {\r\n\tcall @g()\r\n\treturn\r\n}\r\n', '2:7: error: unknown function @g'),
    'q: a nursery that is open where the function returns': (*qtjir('  %a = Nursery_Begin\n  return\n'),
                                                             '6:3: error: the nursery %a of line 5 is not closed on this path'),
    'q: a nursery that is opened round a loop': (*qtjir('again:\n  %a = Nursery_Begin\n  jump again\n'),
                                                 '5:1: error: the nursery %a of line 6 is open on one path to this block and not on another'),
    'q: a Nursery_End of a number': (*qtjir('  %a = Nursery_Begin\n  Nursery_End %x\n  Nursery_End %a\n  return\n'), '6:15: error: Nursery_End takes a nursery, not i64'),
    'q: a Nursery_End of an unknown register': (*qtjir('  %a = Nursery_Begin\n  Nursery_End %z\n  return\n'),
                                                '6:15: error: unknown register %z (one is assigned above its first use)'),
    'q: a Nursery_End of a copied nursery': (*qtjir('  %a = Nursery_Begin\n  %b = copy %a\n  Nursery_End %b\n  return\n'), '6:13: error: a nursery cannot be copied'),
    'q: a cancel of a number': (*qtjir('  %a = Nursery_Begin\n  Nursery_Cancel 7\n  Nursery_End %a\n  return\n'), '6:18: error: Nursery_Cancel takes a nursery, not a number'),
    'q: a nursery in the register of a parameter': (*qtjir('  %x = Nursery_Begin\n  Nursery_End %x\n  return\n'), '5:3: error: a second value for the register of a nursery'),
    'q: a join of what is no task': (*qtjir('  %r = Task_Join %x\n  return\n'), '5:18: error: a join of what is no task: %x is of type i64'),
    'q: an Await of a number': (*qtjir('  %r = Await 3\n  return\n'), '5:14: error: a join of what is no task: 3 is a number'),
    'q: a register that changes its type': (*qtjir('  %x = copy i8 1\n  return\n'), '5:3: error: %x is of type i64, and this is of type i8'),
    'q: an unknown register': (*qtjir('  %y = add %z, 1\n  return\n'), '5:12: error: unknown register %z (one is assigned above its first use)'),
    'q: an unknown label': (*qtjir('  jump there\n'), '5:8: error: unknown label there'),
    'q: code that no path leads to': (*qtjir('  return\n  Yield\n  return\n'), '6:3: error: no path leads here: a label is missing'),
    'q: a function without an end': (*qtjir('  Yield\n'), '5:3: error: the function ends without a return, branch or jump'),
    'q: an unknown instruction': (*qtjir('  %y = frobnicate %x\n  return\n'), "5:8: error: unknown instruction 'frobnicate'"),
    'q: a text with other places than values': (*qtjir('  print "{}"\n  return\n'), '5:9: error: the text has 1 places {} for 0 values'),
    'q: a printed text with a byte 0': (*qtjir('  print "a\\00b"\n  return\n'), '5:9: error: a text that is printed cannot have a byte 0, which ends texts'),
    'q: a deferred function that a cancel would cut short': (
        *qtjir('  defer @f(1)\n  return\n'), '5:9: error: defer takes a function that is marked `cleanup`, which a cancel does not cut short'),
}
