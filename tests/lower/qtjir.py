# SPDX-License-Identifier: Apache-2.0
# qtjir.py — an interpreter of .qtjir programs, written from docs/lowering.md: it computes a function's result and the
# ops that a task is charged. Each instruction must be on a line of its own. Programs whose results depend on the
# schedule are not supported.
import re
import sys

sys.setrecursionlimit(100000)

MOST_STEPS = 15000


class TooLong(Exception):
    """The program runs longer than the test can wait."""


OPTION = re.compile(r'\s*\b(?:on_error|on_exhaustion|tenancy|budget)\b.*$')
WORDS = re.compile(r'%[\w.]+|@[\w.]+|-?\d+|"[^"]*"|[A-Za-z_]\w*|[(),=:{}]|->')


class Function:
    def __init__(self, header):
        head = re.match(r'func @([\w.]+)\((.*?)\)(?: -> (\w+))?( cleanup)? \{', header)
        self.name, self.result = head[1], head[3] or 'void'
        self.parameters = [p.split(': ') for p in head[2].split(', ') if p]
        self.blocks, self.labels = [[]], {}

    def finish(self):
        """Finds the blocks that are heads of loops, by a depth-first walk."""
        self.successors = []
        for number, block in enumerate(self.blocks):
            targets = []
            for words in block:
                if words[0] in ('branch', 'jump'):
                    targets += [self.labels[w] for w in words[1:] if w in self.labels]
            if not block or block[-1][0] not in ('branch', 'jump', 'return'):
                targets.append(number + 1)
            self.successors.append(targets)
        back, state, path = [], [0] * len(self.blocks), [[0, 0]]
        state[0] = 1
        while path:
            step = path[-1]
            targets = self.successors[step[0]]
            if step[1] == len(targets):
                state[step[0]] = 2
                path.pop()
                continue
            target = targets[step[1]]
            step[1] += 1
            if state[target] == 1:
                back.append((step[0], target))
            elif state[target] == 0:
                state[target] = 1
                path.append([target, 0])
        # An iteration ends at a back edge, and at an edge beside a back edge that leaves the loop.
        self.iteration_ends = {(block, target) for block, head in back for target in self.successors[block]
                               if (block, target) in back or not self.is_in_loop(target, head, {b for b, h in back if h == head})}

    def is_in_loop(self, block, head, last):
        """Whether a path leads from the block to one of the last blocks of the loop, and not through the loop's head."""
        if block == head:
            return True
        seen, open_ = {head}, [block]
        while open_:
            block = open_.pop()
            if block not in seen:
                seen.add(block)
                open_ += self.successors[block]
        return bool(last & (seen - {head}))


def parse(text):
    functions, function = {}, None
    for line in text.splitlines():
        line = line.split(';')[0].rstrip()
        if line.startswith('func '):
            function = Function(line)
        elif line == '}':
            function.finish()
            functions[function.name] = function
        elif label := re.match(r'(\w+):$', line):
            if function.blocks[-1] or len(function.blocks) - 1 in function.labels.values():
                function.blocks.append([])
            function.labels[label[1]] = len(function.blocks) - 1
        elif line:
            words = WORDS.findall(OPTION.sub('', line))
            if ' on_error ' in line:
                words.append('opened')  # not the current nursery; it is destroyed by its handle
            function.blocks[-1].append(words)
    return functions


def wrap(value, width):
    """The value modulo 2^width, as a signed number."""
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def width_of(type_):
    return int(type_[1:]) if re.fullmatch(r'i\d+', type_) else 0


class Task:
    def __init__(self, run):
        self.run, self.value, self.has_ended = run, None, False


class Machine:
    def __init__(self, text):
        self.functions, self.ops, self.ready = parse(text), 0, []

    def call(self, name, *arguments):
        """Runs a function; returns its result and its ops."""
        self.ops = self.steps = 0
        root = Task(self.body(self.functions[name], list(arguments)))
        self.ready = [root]
        while not root.has_ended:
            task = self.ready.pop(0)
            try:
                next(task.run)
                self.ready.append(task)
            except StopIteration as end:
                task.value, task.has_ended = end.value, True
        return root.value, self.ops

    # The price of a spawn depends on the types of its arguments and result (linker/lower/task_helpers.cpp).
    def spawn(self, target, arguments, keeps, is_async):
        types = [t for _, t in target.parameters]
        is_narrow = target.result == 'void' or 0 < width_of(target.result) <= 64
        has_record = is_async or (keeps and not is_narrow)
        fits = len(types) == 0 or (len(types) == 1 and (types[0] == 'ptr' or 0 < width_of(types[0]) <= 64 or ' ' in types[0]))
        self.ops += 1 + (has_record or not fits) + is_async
        task = Task(self.task_body(target, arguments, is_async))
        self.ready.append(task)
        return task

    def task_body(self, target, arguments, is_async):
        value = yield from self.body(target, arguments)
        self.ops += is_async  # for sending the result
        return value

    def body(self, function, arguments):
        registers = {name: (value, type_) for (name, type_), value in zip(function.parameters, arguments)}
        nurseries, deferred, block = [], [], 0
        scope = []

        def operand(word, type_='i64'):
            return registers[word] if word[0] == '%' else (wrap(int(word), width_of(type_)), type_)

        def values_for(target, words):
            words = [w for w in words if w not in '(),']
            return [operand(w, t)[0] for w, (_, t) in zip(words, target.parameters)]

        while True:
            jumped = False
            instructions = function.blocks[block]
            for number, words in enumerate(instructions):
                self.steps += 1
                if self.steps > MOST_STEPS:
                    raise TooLong
                result = None
                if words[1:2] == ['=']:
                    result, words = words[0], words[2:]
                name, rest = words[0], words[1:]
                given = None
                if name in BINARY or name in COMPARISONS or name == 'copy':
                    type_ = rest.pop(0) if re.match(r'i\d', rest[0]) else next(
                        (registers[w][1] for w in rest if w[0] == '%'), 'i64')
                    operands = [operand(w, type_)[0] for w in rest if w != ',']
                    if name == 'copy':
                        given = operands[0], type_
                    elif name in BINARY:
                        given = wrap(BINARY[name](*operands, width_of(type_)), width_of(type_)), type_
                    else:
                        given = wrap(COMPARISONS[name](*operands, width_of(type_)), 1), 'i1'
                elif name in ('zext', 'sext', 'trunc'):
                    value, before = operand(rest[0])
                    if name == 'zext':
                        value &= (1 << width_of(before)) - 1
                    given = wrap(value, width_of(rest[2])), rest[2]
                elif name == 'call':
                    target = self.functions[rest[0][1:]]
                    self.ops += 1
                    given = (yield from self.body(target, values_for(target, rest[1:]))), target.result
                elif name == 'defer':
                    target = self.functions[rest[0][1:]]
                    deferred.append((target, values_for(target, rest[1:])))
                elif name in ('branch', 'jump'):
                    target = function.labels[rest[0] if name == 'jump' else rest[2] if operand(rest[0], 'i1')[0] else rest[4]]
                    self.ops += (block, target) in function.iteration_ends
                    block, jumped = target, True
                elif name == 'return':
                    value = operand(rest[0], function.result)[0] if rest else None
                    if scope:
                        yield from self.end(scope[0])
                    for target, values in reversed(deferred):
                        yield from self.body(target, values)
                    return value
                elif name == 'Budget_Decrement':
                    self.ops += max(operand(rest[0])[0], 0)
                elif name == 'Yield':
                    yield
                elif name == 'Nursery_Begin':
                    self.ops += 1
                    nurseries.append({'tasks': [], 'is_opened': words[-1] == 'opened', 'awaited': False})
                    given = nurseries[-1], 'nursery'
                elif name in ('Spawn', 'Task_Create', 'SPAWN', 'fork', 'Async_Call'):
                    target = self.functions[rest[0][1:]]
                    task = self.spawn(target, values_for(target, rest[1:]), result is not None, name == 'Async_Call')
                    if not nurseries and not scope:
                        self.ops += 1  # for the nursery that the function then opens at its entry
                        scope.append({'tasks': []})
                    (nurseries[-1] if nurseries else scope[0])['tasks'].append(task)
                    given = task, ('async ' if name == 'Async_Call' else 'task ') + target.result
                elif name in ('Task_Join', 'Await', 'AWAIT', 'await') and operand(rest[0])[1] != 'nursery':
                    task, type_ = operand(rest[0])
                    self.ops += 1
                    while not task.has_ended:
                        yield
                    # A failed task has an error code; nothing is received from it.
                    fails = type_ in ('async i32', 'async i64') and task.value < 0
                    self.ops += type_.startswith('async ') and not fails
                    given = task.value, type_.split(' ', 1)[1]
                elif name in ('Nursery_End', 'Await'):
                    nursery = nurseries[-1]
                    if not nursery['awaited']:
                        yield from self.end(nursery)
                    nursery['awaited'] = name == 'Await'
                    if name == 'Nursery_End':
                        nurseries.pop()
                    given = 0, 'i64'
                elif name == 'Channel_Create':
                    self.ops += 2
                    given = {'queue': [], 'capacity': int(rest[2]), 'type': rest[0]}, 'channel ' + rest[0]
                elif name == 'Send':
                    channel = operand(rest[0])[0]
                    value = operand(rest[2], channel['type'])[0]
                    self.ops += 1
                    while len(channel['queue']) >= channel['capacity']:
                        yield
                    channel['queue'].append(value)
                elif name == 'Recv':
                    channel = operand(rest[0])[0]
                    self.ops += 1
                    while not channel['queue']:
                        yield
                    given = channel['queue'].pop(0), channel['type']
                elif name != 'Budget_Check':
                    raise ValueError(' '.join(words))
                if result and given[1] == 'void':
                    given = 0, 'i64'
                if result:
                    registers[result] = given
                if jumped:
                    break
            if not jumped:
                self.ops += (block, block + 1) in function.iteration_ends
                block += 1

    def end(self, nursery):
        self.ops += 1 + nursery.get('is_opened', False)
        while not all(task.has_ended for task in nursery['tasks']):
            yield


def unsigned(value, width):
    return value & ((1 << width) - 1)


def quotient(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


BINARY = {
    'add': lambda a, b, w: a + b,
    'sub': lambda a, b, w: a - b,
    'mul': lambda a, b, w: a * b,
    'and': lambda a, b, w: a & b,
    'or': lambda a, b, w: a | b,
    'xor': lambda a, b, w: a ^ b,
    'sdiv': lambda a, b, w: quotient(a, b),
    'srem': lambda a, b, w: a - quotient(a, b) * b,
    'udiv': lambda a, b, w: unsigned(a, w) // unsigned(b, w),
    'urem': lambda a, b, w: unsigned(a, w) % unsigned(b, w),
    'shl': lambda a, b, w: a << (unsigned(b, w) % w),
    'lshr': lambda a, b, w: unsigned(a, w) >> (unsigned(b, w) % w),
    'ashr': lambda a, b, w: a >> (unsigned(b, w) % w),
}
COMPARISONS = {
    'eq': lambda a, b, w: a == b,
    'ne': lambda a, b, w: a != b,
    'slt': lambda a, b, w: a < b,
    'sle': lambda a, b, w: a <= b,
    'sgt': lambda a, b, w: a > b,
    'sge': lambda a, b, w: a >= b,
    'ult': lambda a, b, w: unsigned(a, w) < unsigned(b, w),
    'ule': lambda a, b, w: unsigned(a, w) <= unsigned(b, w),
    'ugt': lambda a, b, w: unsigned(a, w) > unsigned(b, w),
    'uge': lambda a, b, w: unsigned(a, w) >= unsigned(b, w),
}
