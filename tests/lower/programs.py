# SPDX-License-Identifier: Apache-2.0
# programs.py — makes random .qtjir programs that end and whose results do not depend on the schedule.
import random

WIDTHS = ('i1', 'i3', 'i8', 'i16', 'i32', 'i33', 'i64', 'i64', 'i64', 'i128')
LEAST_LITERALS = {'i1': (0, 1), 'i3': (-4, 3)}


class Body:
    """The text of a function while it is built."""

    def __init__(self, rng, parameters):
        self.rng, self.lines, self.names = rng, [], 0
        self.registers = list(parameters)  # (name, type)
        self.depth = 0

    def fresh(self, prefix):
        self.names += 1
        return f'{prefix}{self.names}'

    def add(self, line):
        self.lines.append('  ' + line)

    def label(self, name):
        self.lines.append(f'{name}:')

    def literal(self, type_):
        low, high = LEAST_LITERALS.get(type_, (-100, 100))
        return str(self.rng.randint(low, high))

    def of_type(self, type_):
        names = [n for n, t in self.registers if t == type_]
        return self.rng.choice(names) if names and self.rng.random() < 0.8 else self.literal(type_)

    def set(self, type_, text):
        name = self.fresh('%v')
        self.add(f'{name} = {text}')
        self.registers.append((name, type_))
        return name

    def arithmetic(self):
        type_ = self.rng.choice(WIDTHS)
        word = self.rng.choice(('add', 'sub', 'mul', 'and', 'or', 'xor', 'shl', 'lshr', 'ashr', 'sdiv', 'srem', 'udiv', 'urem'))
        right = self.of_type(type_)
        if word in ('sdiv', 'srem', 'udiv', 'urem'):
            right = self.set(type_, f'or {type_} {right}, 1')
        self.set(type_, f'{word} {type_} {self.of_type(type_)}, {right}')

    def comparison(self):
        type_ = self.rng.choice(WIDTHS)
        word = self.rng.choice(('eq', 'ne', 'slt', 'sle', 'sgt', 'sge', 'ult', 'ule', 'ugt', 'uge'))
        return self.set('i1', f'{word} {type_} {self.of_type(type_)}, {self.of_type(type_)}')

    def conversion(self):
        name, before = self.rng.choice([r for r in self.registers if r[1][0] == 'i'])
        after = self.rng.choice([w for w in WIDTHS if w != before])
        word = 'trunc' if int(after[1:]) < int(before[1:]) else self.rng.choice(('zext', 'sext'))
        self.set(after, f'{word} {name} to {after}')

    def reassign(self):
        name, type_ = self.rng.choice([r for r in self.registers if r[1][0] == 'i'])
        self.add(f'{name} = add {type_} {name}, {self.of_type(type_)}')

    def call(self, functions):
        name, result, parameters = self.rng.choice(functions)
        text = f'@{name}({", ".join(self.of_type(t) for t in parameters)})'
        if result != 'void' and self.rng.random() < 0.9:
            self.set(result, 'call ' + text)
        else:
            self.add('call ' + text)

    def charge(self):
        self.add(self.rng.choice(('Budget_Check', f'Budget_Decrement {self.rng.randint(-50, 50)}', 'Budget_Decrement 1\n  Yield')))

    def nursery(self, functions):
        collects = self.rng.random() < 0.3
        kept = [f for f in functions if collects or not f[0].startswith('any')]
        if not kept:
            return
        name = self.fresh('%n')
        self.add(f'{name} = Nursery_Begin' + (' on_error collect' if collects else ''))
        handles = self.spawns(kept, ('Spawn', 'Task_Create', 'Async_Call', 'SPAWN', 'fork'))
        if self.depth < 2 and self.rng.random() < 0.3:
            self.depth += 1
            self.statements(functions, 2)
            self.depth -= 1
        self.joins(handles)
        if self.rng.random() < 0.2:
            self.add(f'Await {name}')
        self.add(f'Nursery_End {name}')

    def spawns(self, functions, opcodes):
        handles = []
        for _ in range(self.rng.randint(0, 4)):
            name, result, parameters = self.rng.choice(functions)
            opcode = self.rng.choice(opcodes)
            arguments = [self.of_type(t) for t in parameters]
            text = f'{opcode} @{name}' + (f'({", ".join(arguments)})' if self.rng.random() < 0.5 else ''.join(f', {a}' for a in arguments))
            if self.rng.random() < 0.2:
                text += ', tenancy CPU_Parallel'
            if self.rng.random() < 0.2 and opcode != 'Async_Call':
                self.add(text)
                continue
            handle = self.fresh('%t')
            self.add(f'{handle} = {text}')
            handles.append((handle, result, opcode == 'Async_Call'))
        return handles

    def joins(self, handles):
        self.rng.shuffle(handles)
        for handle, result, is_async in handles:
            if self.rng.random() < 0.85:
                word = self.rng.choice(('Await', 'AWAIT', 'await') + (() if is_async else ('Task_Join',)))
                if result == 'void':
                    self.add(f'{word} {handle}')
                else:
                    self.set(result, f'{word} {handle}')

    def pipeline(self):
        """A pipeline of a producer, a stage and this function: each channel has one sender and one receiver."""
        count, capacity = self.rng.randint(1, 12), self.rng.randint(1, 4)
        first, second = self.fresh('%c'), self.fresh('%c')
        self.add(f'{first} = Channel_Create i32, {capacity}')
        self.add(f'{second} = Channel_Create i32, {self.rng.randint(1, 4)}')
        nursery = self.fresh('%n')
        self.add(f'{nursery} = Nursery_Begin')
        self.add(f'Spawn @produce({first}, {count})')
        self.add(f'Spawn @stage({first}, {second}, {count})')
        for _ in range(count):
            value = self.set('i32', f'Recv {second}')
        del value
        self.add(f'Nursery_End {nursery}')

    def branch(self, functions):
        condition = self.comparison()
        yes, no, end = self.fresh('yes'), self.fresh('no'), self.fresh('end')
        self.add(f'branch {condition}, {yes}, {no}')
        known = list(self.registers)
        self.label(yes)
        self.statements(functions, 2)
        self.registers = list(known)
        self.add(f'jump {end}')
        self.label(no)
        self.statements(functions, 2)
        self.registers = known
        self.label(end)  # reached by falling through

    def loop(self, functions):
        count = self.rng.choice((1, 2, 3, 5, 8)) if functions or self.rng.random() < 0.9 else self.rng.randint(900, 2500)
        i, again, end = self.fresh('%i'), self.fresh('again'), self.fresh('end')
        known = list(self.registers)
        self.add(f'{i} = copy 0')
        self.label(again)
        if self.rng.random() < 0.5:  # the condition is tested at the start of the loop
            body, more = self.fresh('body'), self.fresh('%m')
            self.add(f'{more} = slt {i}, {count}')
            self.add(f'branch {more}, {body}, {end}')
            self.label(body)
            self.statements(functions, 2)
            self.add(f'{i} = add {i}, 1')
            self.maybe_continue(again, functions)
            self.add(f'jump {again}')
        else:
            self.statements(functions, 2)
            self.add(f'{i} = add {i}, 1')
            if self.rng.random() < 0.3:
                early = self.fresh('%m')
                self.add(f'{early} = slt {i}, {self.rng.randint(0, count)}')
                self.go_or_stay(early, again, functions)
            more = self.fresh('%m')
            self.add(f'{more} = slt {i}, {count}')
            self.add(f'branch {more}, {again}, {end}')
        self.label(end)
        self.registers = known

    def maybe_continue(self, again, functions):
        if self.rng.random() < 0.3:
            self.go_or_stay(self.comparison(), again, functions)

    def go_or_stay(self, condition, again, functions):
        """A branch to the start of the loop, or to further statements."""
        stay = self.fresh('stay')
        self.add(f'branch {condition}, ' + ', '.join(self.rng.sample((again, stay), 2)))
        self.label(stay)
        known = list(self.registers)
        self.statements(functions, 1)
        self.registers = known

    def statements(self, functions, count):
        for _ in range(self.rng.randint(1, count)):
            kinds = [self.arithmetic, self.arithmetic, self.comparison, self.conversion, self.reassign]
            if functions:
                kinds += [lambda: self.call(functions), lambda: self.nursery(functions), self.charge]
            else:
                kinds += [self.charge]
            if self.depth < 3:
                kinds += [lambda: self.nested(self.branch, functions), lambda: self.nested(self.loop, functions)]
            self.rng.choice(kinds)()

    def nested(self, kind, functions):
        self.depth += 1
        # Nested statements call the smallest functions only, so that programs end soon.
        kind(functions[:2] if self.depth > 1 else functions)
        self.depth -= 1

    def finish(self, result, is_any):
        if result == 'void':
            self.add('return')
            return
        value = self.of_type(result)
        if result in ('i32', 'i64') and not is_any:
            value = self.set(result, f'lshr {result} {value}, 1')
        self.add(f'return {value}')


HELPERS = '''func @produce{0}(%out: channel i32, %count: i64) {{
  %i = copy 0
again:
  %v = trunc %i to i32
  Send %out, %v
  %i = add %i, 1
  %more = slt %i, %count
  branch %more, again, end
end:
  return
}}
func @stage{0}(%in: channel i32, %out: channel i32, %count: i64) {{
  %i = copy 0
again:
  %v = Recv %in
  %v = mul %v, 3
  Send %out, %v
  %i = add %i, 1
  %more = slt %i, %count
  branch %more, again, end
end:
  return
}}
func @tidy{0}(%n: i64) cleanup {{
  %cost = and %n, 63
  Budget_Decrement %cost
  return
}}
'''


def program(number, seed):
    """The text of a program whose function @pNUMBER takes an i64 and returns one."""
    rng = random.Random(seed)
    functions, texts = [], [HELPERS.format(number)]
    for level in range(rng.randint(2, 5)):
        parameters = [rng.choice(WIDTHS) for _ in range(rng.choice((0, 1, 1, 2, 3, 5)))]
        result = rng.choice(WIDTHS + ('void',))
        is_any = rng.random() < 0.3
        name = f'{"any" if is_any else "f"}{number}_{level}'
        body = Body(rng, [(f'%p{i}', t) for i, t in enumerate(parameters)] + [])
        body.set('i64', 'copy 5')
        if rng.random() < 0.2:
            body.add(f'defer @tidy{number}({rng.randint(0, 9)})')
        body.statements(functions, 5)
        body.finish(result, is_any)
        head = f'func @{name}({", ".join(f"%p{i}: {t}" for i, t in enumerate(parameters))})' + (f' -> {result}' if result != 'void' else '')
        texts.append(head + ' {\n' + '\n'.join(body.lines) + '\n}\n')
        functions.append((name, result, parameters))
    body = Body(rng, [('%x', 'i64')])
    body.statements(functions, 6)
    body.nursery(functions)
    if rng.random() < 0.4:
        body.pipeline()
    if rng.random() < 0.4:
        body.joins(body.spawns([f for f in functions if not f[0].startswith('any')] or functions[:0] or [(f'tidy{number}', 'void', ['i64'])], ('SPAWN', 'fork')))
    total = '%x'
    for name, type_ in list(body.registers):
        if type_[0] != 'i' or not type_[1:].isdigit():
            continue
        if type_ != 'i64':
            name = body.set('i64', f'{"trunc" if type_ == "i128" else "sext"} {name} to i64')
        total = body.set('i64', f'xor {total}, {name}')
        total = body.set('i64', f'mul {total}, 31')
    body.add(f'return {total}')
    text = f'func @p{number}(%x: i64) -> i64 {{\n' + '\n'.join(body.lines) + '\n}\n'
    return ''.join(texts) + text.replace('@produce(', f'@produce{number}(').replace('@stage(', f'@stage{number}(')
