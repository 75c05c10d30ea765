# SPDX-License-Identifier: Apache-2.0
"""commands.py — the gdb commands janus tasks, task, nurseries, budgets, channels. Appended to records.py to form one file."""
import gdb.unwinder

UNLIMITED = (1 << 64) - 1
COMPONENTS = ('ops', 'memory', 'spawns', 'channel_ops', 'syscalls')
PRESERVED = ('rbx', 'rbp', 'r12', 'r13', 'r14', 'r15')


# --- The frames of a task that no thread is running --------------------------------------------------------------------

class Place:
    """The addresses by which gdb identifies a frame."""

    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class TaskUnwinder(gdb.unwinder.Unwinder):
    """While a task is inspected, presents the task's own frames to gdb as the callers of the selected thread's innermost frame.
    It writes nothing to the process, so it works on a core as well."""

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
        # Each frame has to be above the one that it called, so this one is put just below the task's.
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
        for line in lines:  # frame 0 is the thread's, not the task's
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
            inside = {}  # nursery -> the nurseries that its tasks have opened
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
        """Labels of the tasks in a wait queue, which is a circular list through its head."""
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
