# SPDX-License-Identifier: Apache-2.0
# stack_need.py — how much stack a function and everything that it calls need, read from the machine code of a linked
# program. The targets of calls through pointers are given by the caller (`pointers`); a frame whose size is known only
# at run time is an error. A "touch" is an access deep below the stack pointer with which kernel-free makes sure, before
# it switches interrupts off, that the stack beneath is mapped (kernel-free/smp/lock.h).
import re
import subprocess

WORD = 8  # bytes of a return address or a push
_NOT_HERE, _UNKNOWN = '?', 64  # a function that is not in the program, and the bytes that it is assumed to need
_TOUCH = 'testb $0x0,(%rsp)'
_SYMBOL = re.compile(r'^([0-9a-f]+) <(.+)>:$')
_CODE = re.compile(r'^\s*([0-9a-f]+):\t(.*)$')
_PREFIXES = re.compile(r'^(?:(?:bnd|notrack|lock|repz?|repnz|data16|[cdefgs]s) )+')
_MEMORY = re.compile(r'(-?0x[0-9a-f]+)?\(%(r\w+)\)')
_PADDING = ('nop', 'xchg', 'int3', 'cs', 'data16')


class Call:
    def __init__(self, depth, name, section):
        self.depth = depth  # bytes in use at the call, counted from above the caller's return address
        self.name = name  # None: through a pointer
        self.section = section  # bytes down to which the current section has touched the stack; 0: no section


class Function:
    def __init__(self, name, first, end):
        self.name, self.first, self.end = name, first, end
        self.frame = WORD  # the most bytes in use by itself
        self.touches = 0  # how deep it touches
        self.returns = self.masks = self.unmasks = False  # interrupts
        self.calls = []
        self.error = None

    def opens_section(self):
        return self.touches != 0 and not self.unmasks

    def closes_section(self):
        return self.unmasks and not self.masks

    def facts(self):
        return self.name, self.returns, self.touches, self.masks, self.unmasks


class Program:
    """`never_return`: names of functions of which the code does not tell."""

    def __init__(self, path, never_return=()):
        listing = subprocess.run(['objdump', '-d', '-w', '--no-show-raw-insn', path], capture_output=True, text=True, check=True)
        self._code, starts = {}, []
        for line in listing.stdout.splitlines():
            if found := _SYMBOL.match(line):
                starts.append((int(found[1], 16), found[2]))
            elif found := _CODE.match(line):
                text = _PREFIXES.sub('', found[2].split('#')[0].strip())
                self._code[int(found[1], 16)] = re.sub(r'\s+', ' ', text)
        order = sorted(self._code)
        self._following = dict(zip(order, order[1:]))
        starts.sort()
        ends = [at for at, _ in starts[1:]] + [order[-1] + 1]
        self._ranges = [(first, end, name) for (first, name), end in zip(starts, ends) if not name.endswith('.cold')]
        self._entries = {first: name for first, _, name in self._ranges}
        names = sorted(self._entries.values())
        plain = subprocess.run(['c++filt'], input='\n'.join(names), capture_output=True, text=True, check=True).stdout.split('\n')
        self.plain_names = dict(zip(names, plain))
        self._never_return = set(never_return)
        self.functions = {}
        while True:  # until each function is walked with the facts about those that it calls
            before = {function.facts() for function in self.functions.values()}
            self.functions = {name: self._walked(Function(name, first, end)) for first, end, name in self._ranges}
            if before == {function.facts() for function in self.functions.values()}:
                return

    def short(self, name):
        return re.sub(r'\(anonymous namespace\)::|janus::', '', self.plain_names.get(name, str(name))).split('(')[0]

    def _ends_here(self, name):
        known = self.functions.get(name)
        return name in self._never_return or (known is not None and not known.returns)

    def _walked(self, function):
        try:
            self._walk(function)
        except (TypeError, AttributeError, ValueError) as error:  # code that sets up a stack, not a frame
            function.error = str(error)
            function.calls.clear()
            function.returns = True
        return function

    def _walk(self, function):
        code, entries = self._code, self._entries
        seen, tables = set(), []
        waiting = [(function.first, WORD, None, 0)]

        def call(depth, name, section):
            function.calls.append(Call(depth, name, section))

        def tail_call(depth, name, section):
            call(depth - WORD, name, section)
            function.returns = function.returns or not self._ends_here(name)

        while waiting:
            at, depth, base, section = waiting.pop()
            touched = 0
            while at in code and at not in seen:
                if at != function.first and at in entries:  # runs on into the next function
                    tail_call(depth, entries[at], section)
                    break
                seen.add(at)
                op, _, args = code[at].partition(' ')
                if op.startswith('push'):
                    depth += WORD
                elif op.startswith('pop'):
                    depth -= WORD
                elif args.endswith(',%rsp') and op.startswith(('sub', 'add', 'and')):
                    if not args.startswith('$'):
                        raise ValueError('a frame of any size')
                    amount = int(args[1:].split(',')[0], 16)
                    depth += {'sub': amount, 'add': -amount, 'and': (1 << 64) - amount - WORD}[op[:3]]
                elif args.endswith(',%rsp') and op.startswith('lea'):
                    offset, register = _MEMORY.match(args).groups()
                    depth = (depth if register == 'rsp' else base) - int(offset or '0', 16)
                elif op.startswith('mov') and args == '%rsp,%rbp':
                    base = depth
                elif op.startswith('mov') and args == '%rbp,%rsp':
                    depth = base
                elif op == 'leave':
                    depth = base - WORD
                elif op == 'cli':
                    function.masks, section = True, touched or section
                elif op == 'sti':
                    function.unmasks, section = True, 0
                elif code[at] == _TOUCH:
                    touched = depth
                    function.touches = max(function.touches, depth)
                if _TOUCH not in (code[at], code.get(self._following.get(at))):
                    function.frame = max(function.frame, depth)
                if op.startswith(('call', 'j')):
                    where = None if args.startswith('*') else int(args.split()[0], 16)
                    name = entries.get(where, _NOT_HERE) if where is not None else None
                    if op.startswith('call'):
                        call(depth, name, section)
                        if self._ends_here(name):
                            break
                        callee = self.functions.get(name)
                        if callee is not None and callee.opens_section():
                            section = section or depth + callee.touches
                        elif callee is not None and callee.closes_section():
                            section = 0
                    elif where is None and depth == WORD:
                        tail_call(depth, None, section)
                    elif where is None:
                        tables.append((depth, base, section))
                    elif where in entries and where != function.first:
                        tail_call(depth, name, section)
                    else:
                        waiting.append((where, depth, base, section))
                function.returns = function.returns or op in ('ret', 'iretq')
                if op in ('ret', 'iretq', 'jmp', 'ud2', 'hlt'):
                    break
                at = self._following.get(at)
            if not waiting and tables:  # what is left is reached by tables of jumps
                rest = next((at for at in range(function.first, function.end)
                             if at in code and at not in seen and not code[at].startswith(_PADDING)), None)
                if rest is not None:
                    waiting.append((rest, *max(tables, key=lambda table: table[0])))


class Needs:
    """What functions need. The walk ends at functions whose plain name matches `ends`; `pointers`: (pattern of a plain
    name, names of those that it may call through a pointer, or bytes that they need); `counts_touches`: a touch counts as a
    need; `below`: (pattern of a plain name, what the walk ends at besides, below such a function)."""

    def __init__(self, program, ends, pointers=(), counts_touches=True, below=()):
        self.program = program
        self._below = [(re.compile(pattern), Needs(program, f'{ends}|{more}', pointers, counts_touches)) for pattern, more in below]
        self._ends, self._counts_touches = re.compile(ends), counts_touches
        self._pointers = [(re.compile(pattern), names) for pattern, names in pointers]
        self._known, self._path = {}, []
        self._cut_at = None  # where on the path the outermost function stands that was met again below
        self.untold = set()  # those that call through a pointer, of which nothing was told

    def of(self, name):
        """(bytes, the path there as [(name, bytes in use where it goes on)])"""
        function = self.program.functions.get(name)
        if function is None:
            return _UNKNOWN, [(name, _UNKNOWN)]
        if name in self._known:
            return self._known[name]
        if self._ends.search(self.program.plain_names[name]):
            return 0, []
        for pattern, needs in self._below:
            if pattern.search(self.program.plain_names[name]):
                self._known[name] = needs.of(name)
                self.untold |= needs.untold
                return self._known[name]
        if name in self._path:  # one more round of a cycle, which ends where it began
            met = self._path.index(name)
            self._cut_at = met if self._cut_at is None else min(self._cut_at, met)
            return 0, []
        self._path.append(name)
        own = max(function.frame, function.touches if self._counts_touches else 0)
        best = own, [(name, own)]
        for call in sorted(function.calls, key=lambda call: (str(call.name), call.depth)):
            for callee in [call.name] if call.name is not None else self._behind_pointer(name):
                bytes_below, path = (callee, []) if isinstance(callee, int) else self.of(callee)
                if call.depth + bytes_below > best[0]:
                    best = call.depth + bytes_below, [(name, call.depth), *path]
        self._path.pop()
        if self._cut_at is not None and self._cut_at >= len(self._path):
            self._cut_at = None
        if self._cut_at is None:  # or else it is less than what others would find from here
            self._known[name] = best
        return best

    def _behind_pointer(self, name):
        plain = self.program.plain_names[name]
        for pattern, callees in self._pointers:
            if pattern.search(plain):
                if isinstance(callees, int):
                    return [callees]
                return [symbol for symbol, there in self.program.plain_names.items()
                        if any(there.startswith(callee + '(') for callee in callees)]
        self.untold.add(self.program.short(name))
        return []

    def path(self, steps):
        return ' > '.join(f'{self.program.short(name)} {depth}' for name, depth in steps)
