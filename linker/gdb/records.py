# SPDX-License-Identifier: Apache-2.0
"""records.py — reads the records of a program under janus-rt, running or as a core: tasks, nurseries, accounts, channels.

This is the first half of janus.py, gdb's commands for such programs; commands.py is the second. janus.py is also in each program
that janus-cc links, unless it strips the program, and gdb loads it by itself where its `auto-load safe-path` allows it. The layout
of the runtime's records is in a table of the program (janus_debugger_layout, rt/abi/inspect/debugger.cpp). Nothing is written to
the process. docs/debugging.md
"""
import re
import struct

import gdb

NOTHING = 0
MOST_NESTED = 64  # the depth at which nested nurseries are cut off: damaged records may form a cycle


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
    """A text from the program, with unprintable characters escaped, so that it stays on its line."""
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


def build_ids():
    """The build ids, as hexadecimal digits, of the file that gdb has and of the process or core; None if one is not available."""
    file_id = next((o.build_id for o in gdb.objfiles() if o.is_valid() and o.filename == gdb.current_progspace().filename), None)
    section = re.search(r'(0x[0-9a-f]+) - 0x[0-9a-f]+ is \.note\.gnu\.build-id$', gdb.execute('info files', to_string=True), re.M)
    if file_id is None or section is None:
        return file_id, None
    try:
        # A note is three words, the owner's name and the id. A core has a file's first page, unless coredump_filter excludes it.
        return file_id, read(int(section[1], 16) + 16, len(file_id) // 2).hex()
    except gdb.GdbError:
        return file_id, None


def layout():
    """The program's table of layout: offsets, sizes and constants by name."""
    table = address_of('janus_debugger_layout')
    if table == NOTHING:
        raise NoProgram('janus: this program does not say how its runtime is laid out: it was stripped, or its runtime is not of this '
                        'version; give gdb the file from before `strip`')
    file_id, memory_id = build_ids()
    if memory_id not in (None, file_id):
        raise NoProgram(f'janus: the core, or the process, is of another build of this program ({memory_id}) than the file ({file_id}); '
                        'give gdb the file that it came from')
    entries = {}
    while True:
        name, value = struct.unpack('<24sQ', read(table, 32))
        if name[0] == 0:
            return entries
        entries[name.split(b'\0')[0].decode()] = value
        table += 32


# --- Records of the runtime --------------------------------------------------------------------------------------------

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
        self.worker = None   # the worker that it runs on: number and address
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
    """A snapshot of a runtime of the process."""

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
        """Addresses of the tasks in deques and in the injector; tasks that have not started are found nowhere else."""
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
        if task.state == at['waits_for.task'] and task.joins is not None:
            return f'waits for {self.label(task.joins)} to end'
        if task.state in (at['waits_for.task'], at['waits_for.children']):
            nursery = self.awaited_by(task)
            return f'waits for nursery {nursery.name} to end' if nursery is not None else 'waits for tasks to end'
        if task.state == at['waits_for.channel']:
            channel = read(task.waits_at, at['channel.bytes'])
            return (f"waits at channel {word_in(channel, at['channel.handle']):#x} ({word_in(channel, at['channel.count'])} of "
                    f"{word_in(channel, at['channel.capacity'])})")
        if task.state == at['waits_for.select']:
            return 'waits at several channels'
        if task.state == at['waits_for.token']:
            return 'is parked'
        if task.state == at['waits_for.budget']:
            return 'waits for a recharge'
        if task.state == at['waits_for.channel_apart']:
            return 'waits at a channel'
        if task.state in (at['waits_for.lock'], at['waits_for.room']):
            return 'waits for a static or a descriptor'
        if task.state == at['waits_for.time']:
            return 'sleeps'
        if task.state in (at['waits_for.sync'], at['waits_for.relock'], at['waits_for.safepoint']):
            holds = f', which {self.label(task.joins)} holds' if task.joins is not None else ''
            return f'waits for a lock or a condition{holds}'
        if task.state in (at['waits_for.helper_queue'], at['waits_for.helper']):
            return 'waits for a helper thread'
        return 'is ready'

    def describe(self, task):
        told = ', told to end' if task.is_cancelled else ''
        return f'{self.label(task)}{self.function(task)} {self.standing(task)}{told}; nursery {self.path(task.nursery)}'

    @staticmethod
    def function(task):
        name = function_at(task.fn)
        return '' if name.startswith('janus::') else f' <{name}>'  # the runtime's own functions tell a user nothing

    def accounts(self):
        """Yields (address, record) of each open account. Index 0 is no account."""
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
