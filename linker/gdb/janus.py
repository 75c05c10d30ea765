# SPDX-License-Identifier: Apache-2.0
"""janus.py — gdb's commands for programs under janus-rt, running or as a core: janus tasks, task, nurseries, budgets, channels.

The same text lies in each program that janus-cc links, unless it strips it, and gdb loads it by itself where its
`auto-load safe-path` lets it. Where the runtime's records lie and how they are laid out, the program says
(janus_debugger_layout, rt/abi/debugger.cpp). Reads only; docs/debugging.md.
"""
import struct

import gdb
import gdb.unwinder

NOTHING = 0
UNLIMITED = (1 << 64) - 1
COMPONENTS = ('ops', 'memory', 'spawns', 'channel_ops', 'syscalls')
PRESERVED = ('rbx', 'rbp', 'r12', 'r13', 'r14', 'r15')
MOST_NESTED = 64  # nurseries, accounts, joins in one another: what is damaged may go in circles


class NoProgram(gdb.GdbError):
    pass


# --- Memory ------------------------------------------------------------------------------------------------------------

def read(address, count):
    try:
        return bytes(gdb.selected_inferior().read_memory(address, count))
    except gdb.MemoryError:
        raise gdb.GdbError(f'janus: no memory at {address:#x}: the process does not run, or the core is incomplete') from None


def word(address):
    return struct.unpack('<Q', read(address, 8))[0]


def word_in(record, offset):
    return struct.unpack_from('<Q', record, offset)[0]


def half_in(record, offset):
    return struct.unpack_from('<I', record, offset)[0]


def text_in(record, offset, most=32):
    """What others wrote stays on its line."""
    text = record[offset:offset + most].split(b'\0')[0]
    return ''.join(chr(c) if 32 <= c < 127 else f'\\x{c:02x}' for c in text)


def address_of(symbol):
    try:
        return int(gdb.parse_and_eval(f"(unsigned long)&'{symbol}'"))
    except gdb.error:
        return NOTHING


def function_at(address):
    said = gdb.execute(f'info symbol {address:#x}', to_string=True)
    return said.split(' in section ')[0].strip() if ' in section ' in said else f'{address:#x}'


def layout():
    """Names of places, and where they are, as the program has them."""
    table = address_of('janus_debugger_layout')
    if table == NOTHING:
        raise NoProgram('janus: this program does not say how its runtime is laid out: it was stripped, or its runtime is not of this '
                        'version; give gdb the file from before `strip`')
    entries = {}
    while True:
        name, value = struct.unpack('<24sQ', read(table, 32))
        if name[0] == 0:
            return entries
        entries[name.split(b'\0')[0].decode()] = value
        table += 32


# --- What there is -----------------------------------------------------------------------------------------------------

class Task:
    def __init__(self, at, address, record):
        self.address = address
        self.id = word_in(record, at['task.id'])
        self.fn = word_in(record, at['task.fn'])
        self.arg = word_in(record, at['task.arg'])
        self.nursery = word_in(record, at['task.nursery'])
        self.account = word_in(record, at['task.account'])
        self.state = record[at['task.state']]
        self.is_cancelled = record[at['task.cancel']] != 0
        self.frame = word_in(record, at['task.frame'])
        self.suspension = word_in(record, at['task.suspended_at'])
        self.waits_at = word_in(record, at['task.waits_at'])
        self.waiters = word_in(record, at['task.waiters'])
        extra = word_in(record, at['task.extra'])
        self.name = text_in(read(extra + at['extra.name'], 32), 0) if extra != NOTHING else ''
        self.worker = None   # that it runs on
        self.inner = None    # the task that it runs in place of waiting for it
        self.joins = None    # the task that it waits for


class Nursery:
    def __init__(self, at, address, record):
        self.address = address
        self.account = word_in(record, at['nursery.account'])
        self.owner = word_in(record, at['nursery.owner'])
        self.errors = half_in(record, at['nursery.errors'])
        self.name = text_in(record, at['nursery.name']) or '-'
        self.word = word_in(record, at['nursery.word'])
        children = (self.word - ((self.word >> 63) << 64)) // at['word.child']
        if word_in(record, at['nursery.owner_worker']) != NOTHING and not self.word & at['word.shared']:
            children += struct.unpack_from('<q', record, at['nursery.local_count'])[0]
        self.children = children
        self.is_awaited = bool(self.word & at['word.waiter'])
        self.state = ('cancelled' if self.word & at['word.cancelled'] else 'closed' if self.word & at['word.closed'] else 'open')


class Runtime:
    """A runtime of the process, as it is at this moment."""

    def __init__(self, at, address):
        self.at = at
        self.address = address
        self.main = word(address + at['runtime.main'])
        self.tasks = {}
        self.nurseries = {}
        is_alive = range(at['alive.first'], at['alive.last'] + 1)
        for where, record in self.records('nurseries', at['nursery.bytes']):
            if half_in(record, at['nursery.alive']) in is_alive:
                self.nurseries[where] = Nursery(at, where, record)
        for where, record in self.records('tasks', at['task.bytes']):
            if word_in(record, at['task.frame']) != NOTHING:
                self.tasks[where] = Task(at, where, record)
        for where in self.queued():
            if where not in self.tasks:
                task = Task(at, where, read(where, at['task.bytes']))
                if task.suspension == NOTHING:
                    self.tasks[where] = task
        self.connect()

    def records(self, slab, size):
        at, slab = self.at, self.address + self.at['runtime.' + slab]
        count = struct.unpack('<I', read(slab + at['slab.chunk_count'], 4))[0]
        each = struct.unpack('<I', read(slab + at['slab.object_bytes'], 4))[0]
        per_chunk = struct.unpack('<I', read(slab + at['slab.per_chunk'], 4))[0]
        if count == 0:
            return
        for chunk in struct.unpack(f'<{count}Q', read(word(slab + at['slab.chunks']), 8 * count)):
            first = chunk + at['slab.header_bytes']
            memory = read(first, per_chunk * each)
            for place in range(0, per_chunk * each, each):
                yield first + place, memory[place:place + size]

    def workers(self):
        first = word(self.address + self.at['runtime.workers'])
        count = struct.unpack('<I', read(self.address + self.at['runtime.worker_count'], 4))[0]
        return [first + i * self.at['worker.stride'] for i in range(count)]

    def queued(self):
        """Tasks in deques and in the injector; those that have not started are found nowhere else."""
        at = self.at
        for worker in self.workers():
            ring, top, bottom = (word(worker + at[name]) for name in ('worker.ring', 'worker.top', 'worker.bottom'))
            mask = word(ring + at['ring.mask'])
            for i in range(top, min(bottom, top + mask + 1)):
                entry = word(ring + at['ring.entries'] + 8 * (i & mask)) & ~1
                if entry != NOTHING:
                    yield entry
        task = word(self.address + at['runtime.injected'])
        while task != NOTHING:
            yield task
            task = word(task + at['task.next'])

    def connect(self):
        at = self.at
        for number, worker in enumerate(self.workers()):
            task = self.tasks.get(word(worker + at['worker.task']))
            if task is not None:
                task.worker = (number, worker)
        for task in self.tasks.values():
            if task.frame != NOTHING:
                outer = word(task.frame + at['frame.outer'])
                buried = self.tasks.get(word(outer + at['frame.task'])) if outer != NOTHING else None
                if buried is not None:
                    buried.inner = task
            join = task.waiters
            for _ in range(100000):
                if join == NOTHING:
                    break
                joiner = self.tasks.get(word(join + at['join.joiner']))
                if joiner is not None:
                    joiner.joins = task
                join = word(join + at['join.next'])

    def label(self, task):
        name = task.name or ('main' if task.address == self.main else '')
        return f'task {task.id}' + (f" '{name}'" if name else '')

    def path(self, address):
        names = []
        while address in self.nurseries and len(names) < MOST_NESTED:
            nursery = self.nurseries[address]
            names.append(nursery.name)
            address = self.tasks[nursery.owner].nursery if nursery.owner in self.tasks else NOTHING
        return '/'.join(reversed(names))

    def awaited_by(self, task):
        return next((n for n in self.nurseries.values() if n.owner == task.address and n.is_awaited), None)

    def standing(self, task):
        at = self.at
        if task.frame == NOTHING:
            return 'has not started'
        if task.inner is not None:
            return f'runs task {task.inner.id} in place of waiting for it'
        if task.worker is not None:
            return f'runs on worker {task.worker[0]}'
        if task.state == at['state.blocked']:
            if task.joins is not None:
                return f'waits for {self.label(task.joins)} to end'
            nursery = self.awaited_by(task)
            return f'waits for nursery {nursery.name} to end' if nursery is not None else 'waits for tasks to end'
        if task.state == at['state.at_channel']:
            channel = read(task.waits_at, at['channel.bytes'])
            return (f"waits at channel {word_in(channel, at['channel.handle']):#x} ({word_in(channel, at['channel.count'])} of "
                    f"{word_in(channel, at['channel.capacity'])})")
        if task.state == at['state.parked']:
            return 'is parked'
        if task.state == at['state.exhausted']:
            return 'waits for a recharge'
        if task.state == at['state.awaits_turn']:
            return 'waits for a static or a descriptor'
        return 'is ready'

    def describe(self, task):
        told = ', told to end' if task.is_cancelled else ''
        return f'{self.label(task)}{self.function(task)} {self.standing(task)}{told}; nursery {self.path(task.nursery)}'

    @staticmethod
    def function(task):
        name = function_at(task.fn)
        return '' if name.startswith('janus::') else f' <{name}>'  # the runtime's own say nothing to anybody

    def accounts(self):
        """Open ones: address, record."""
        at, table = self.at, self.address + self.at['runtime.accounts']
        end = struct.unpack('<I', read(table + at['accounts.end'], 4))[0]
        index, segment = 0, 0
        while index < end:
            count = 1 << (at['accounts.first_bits'] + segment)
            first = word(table + at['accounts.segments'] + 8 * segment)
            for i in range(min(count, end - index) if first != NOTHING else 0):
                record = read(first + i * at['account.bytes'], at['account.bytes'])
                if half_in(record, at['account.references']) != 0 and record[at['account.is_closed']] == 0 and index + i != 0:
                    yield first + i * at['account.bytes'], record
            index += count
            segment += 1


def runtimes():
    at = layout()
    table = address_of('janus::runtime_places')
    found = [word(table + i * at['runtimes.stride']) for i in range(at['runtimes.count'])] if table != NOTHING else []
    found = [Runtime(at, address) for address in found if address != NOTHING]
    if not found:
        raise NoProgram('janus: no runtime lives in this process yet, or any more')
    return found


def the_task(number):
    for runtime in runtimes():
        for task in runtime.tasks.values():
            if task.id == number:
                return runtime, task
    raise gdb.GdbError(f'janus: there is no task {number}; `janus tasks` lists them')


# --- The frames of a task that no thread stands in ---------------------------------------------------------------------

class Place:
    """gdb wants addresses that frames are told apart by."""

    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class TaskUnwinder(gdb.unwinder.Unwinder):
    """While a task is being looked at, says of the selected thread's innermost frame that the task's own frames are its callers.
    Nothing is written, so that it works on a core as well."""

    def __init__(self):
        super().__init__('janus-task')
        self.registers = None
        self.thread_at = None

    def __call__(self, frame):
        if self.registers is None:
            return None
        if (int(frame.read_register('rsp')), int(frame.read_register('rip'))) != self.thread_at:
            return None
        number = gdb.lookup_type('unsigned long')
        value = {name: gdb.Value(content).cast(number) for name, content in self.registers.items()}
        # Each frame has to lie above the one that it called: this one just below the task's.
        info = frame.create_unwind_info(Place(gdb.Value(self.registers['rsp'] - 16).cast(number), frame.read_register('rip')))
        for name, content in value.items():
            info.add_saved_register(name, content)
        return info


def registers_of(at, task):
    sp = word(task.suspension + at['suspension.sp'])
    registers = {name: word(task.suspension + at['suspension.' + name]) for name in PRESERVED}
    registers.update(rip=word(sp), rsp=sp + 8)
    return registers


def on_thread_of(worker, command):
    selected = gdb.selected_thread()
    try:
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            if int(gdb.parse_and_eval('(unsigned long)$gs_base')) == worker:
                gdb.execute(command)
                return
        raise gdb.GdbError('janus: no thread is that worker')
    finally:
        if selected is not None and selected.is_valid():
            selected.switch()


def on_task(at, task, command):
    if gdb.selected_thread() is None:
        raise gdb.GdbError('janus: the program does not run')
    frame = gdb.newest_frame()
    unwinder.thread_at = (int(frame.read_register('rsp')), int(frame.read_register('rip')))
    unwinder.registers = registers_of(at, task)
    try:
        gdb.invalidate_cached_frames()
        gdb.newest_frame().older().select()
        lines = gdb.execute(command, to_string=True).splitlines()
        is_backtrace = command.split()[0] in ('bt', 'backtrace', 'where')
        for line in lines:  # frame 0 is the thread's, which has nothing to do with the task
            if not (is_backtrace and line.startswith('#0 ')):
                print(line)
    finally:
        unwinder.registers = None
        gdb.invalidate_cached_frames()


# --- Commands ----------------------------------------------------------------------------------------------------------

class Janus(gdb.Command):
    """Tasks, nurseries, budgets and channels of a program under janus-rt."""

    def __init__(self):
        super().__init__('janus', gdb.COMMAND_STATUS, gdb.COMPLETE_NONE, True)


class Tasks(gdb.Command):
    """janus tasks [WORD]: every task: number, name, function, what it does or waits for, nursery.
With WORD, those whose line has that in it."""

    def __init__(self):
        super().__init__('janus tasks', gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        for runtime in runtimes():
            lines = {task.id: runtime.describe(task) for task in runtime.tasks.values()}
            for number in sorted(lines):
                if argument in lines[number]:
                    print(lines[number])
            owned = sum(nursery.children for nursery in runtime.nurseries.values())
            if owned > len(lines):
                print(f'and {owned - len(lines)} that have not started')


class OneTask(gdb.Command):
    """janus task ID [COMMAND]: what is known of that task; with a COMMAND of gdb, runs that where the task stands:
`janus task 5 bt`, `janus task 5 info locals`."""

    def __init__(self):
        super().__init__('janus task', gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        number, _, command = argument.partition(' ')
        if not number.isdigit():
            raise gdb.GdbError('usage: janus task ID [COMMAND]')
        runtime, task = the_task(int(number))
        if not command.strip():
            print(runtime.describe(task))
            print(f'  calls {function_at(task.fn)}({task.arg:#x})')
            return
        top = task
        for _ in range(10000):
            if top.inner is None:
                break
            top = top.inner
        if top is not task:
            print(f'task {task.id} runs task {top.id} in place of waiting for it; its frames are below those of that one')
        if top.worker is not None:
            on_thread_of(top.worker[1], command)
        elif top.suspension != NOTHING:
            on_task(runtime.at, top, command)
        else:
            print(f'task {task.id} has not started')


class Nurseries(gdb.Command):
    """janus nurseries: the tree of nurseries, each below the task that opened it: state, children, failures."""

    def __init__(self):
        super().__init__('janus nurseries', gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        for runtime in runtimes():
            inside = {}  # nursery -> those that its tasks have opened
            for nursery in runtime.nurseries.values():
                owner = runtime.tasks.get(nursery.owner)
                inside.setdefault(owner.nursery if owner is not None else NOTHING, []).append(nursery)
            self.show(runtime, inside, NOTHING, 0)

    def show(self, runtime, inside, outer, depth):
        for nursery in sorted(inside.get(outer, []), key=lambda each: each.address):
            owner = runtime.tasks.get(nursery.owner)
            by = f', opened by {runtime.label(owner)}' if owner is not None else ''
            failed = f', {nursery.errors} failed' if nursery.errors else ''
            awaited = ', awaited' if nursery.is_awaited else ''
            print(f"{'  ' * depth}{nursery.name}: {nursery.state}{awaited}, {nursery.children} live{failed}{by}")
            if depth < MOST_NESTED and nursery.address != outer:
                self.show(runtime, inside, nursery.address, depth + 1)


class Budgets(gdb.Command):
    """janus budgets: every account: what is left of each component, memory that is held, and the nurseries that draw on it."""

    def __init__(self):
        super().__init__('janus budgets', gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        for runtime in runtimes():
            at = runtime.at
            names = {}
            for nursery in runtime.nurseries.values():
                names.setdefault(nursery.account, []).append(runtime.path(nursery.address))
            for address, record in runtime.accounts():
                parent = word_in(record, at['account.parent'])
                below = f", below account {half_in(read(parent, at['account.bytes']), at['account.index'])}" if parent else ''
                print(f"account {half_in(record, at['account.index'])}{below}: " + ', '.join(self.amounts(at, record)))
                if parent:
                    print(f"  memory held: {word_in(record, at['account.held'])}")
                for name in sorted(set(names.get(address, [])))[:8]:
                    print(f'  nursery {name}')

    @staticmethod
    def amounts(at, record):
        granted = record[at['account.granted']]
        for i, component in enumerate(COMPONENTS):
            left = word_in(record, at['account.left'] + 8 * i)
            yield f"{component} {'not granted' if not granted >> i & 1 else 'unlimited' if left == UNLIMITED else left}"


class Channels(gdb.Command):
    """janus channels: every channel: handle, elements, and who waits to receive or to send."""

    def __init__(self):
        super().__init__('janus channels', gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        for runtime in runtimes():
            at = runtime.at
            for address, record in runtime.records('channels', at['channel.bytes']):
                if word_in(record, at['channel.life']) & 0xffffffff == 0:
                    continue
                closed = ', closed' if record[at['channel.state']] == at['channel.closed'] else ''
                print(f"channel {word_in(record, at['channel.handle']):#x}: {word_in(record, at['channel.count'])} of "
                      f"{word_in(record, at['channel.capacity'])} elements of {half_in(record, at['channel.element_bytes'])} bytes{closed}")
                for queue, what in (('receivers', 'receives'), ('senders', 'sends')):
                    for waiter in self.waiting(runtime, address + at['channel.' + queue]):
                        print(f'  {waiter} {what}')

    @staticmethod
    def waiting(runtime, queue):
        """A circle that the list's head is part of."""
        at, tasks = runtime.at, []
        wait = word(queue + at['wait.next'])
        while wait != queue and len(tasks) < 16:
            task = runtime.tasks.get(word(wait + at['wait.task']))
            tasks.append(runtime.label(task) if task is not None else 'a task of another runtime')
            wait = word(wait + at['wait.next'])
        return tasks + ['and more'] if wait != queue else tasks


unwinder = TaskUnwinder()
gdb.unwinder.register_unwinder(None, unwinder, replace=True)
for command in (Janus, Tasks, OneTask, Nurseries, Budgets, Channels):
    command()
