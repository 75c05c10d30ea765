#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints docs/decisions/README.md: the decisions of each layer, with number, title and status. docs/check.py compares the
file with this output, and reports what complaints() finds.

    decisions_index.py SOURCE_ROOT > docs/decisions/README.md

A decision begins with these lines:

    # Subject: decision

    Status: accepted. Layer: rt/task. Rules: rt/task/a.h, rt/task/b.cpp.

Status: `accepted`, `superseded by NNNN` or `partly superseded by NNNN` (several numbers: with commas). Rules: the source files
that the decision is about, or `no single file`. Each of these files cites the decision, as
`docs/decisions/NNNN`, in the comment at its head or where it applies. Then come the sections of SECTIONS, in this order; others may stand in between.
"""
import dataclasses
import itertools
import pathlib
import re
import sys

HEAD = """# Decisions

Each page says what was decided and why, what was rejected, and what would change our mind. The status of a decision that does
not hold any more, or not as a whole, names the decision that came after it. `python3 docs/decisions_index.py . >
docs/decisions/README.md` writes this list.

The words that most of them use ([rt/README.md](../../rt/README.md#words) has more):

* A *nursery* is a scope that does not end before the tasks spawned in it. A *worker* is a thread that runs tasks.
* An *op* is the unit of the budget for work. A running task holds a *slice* of ops as *fuel*, and draws it from its *account*. *Grace*
  is the number of ops that a cancelled task may still spend to clean up.
* A *cage* is a nursery or task with a budget of its own. A *scheduling group* is one cage, or all tasks outside cages; its *turn* is the
  time for which a worker runs only its tasks. The *root account* pays for all tasks outside cages.
* Each worker has a *deque* of spawned and woken tasks, taken newest first, and a *yield queue* of tasks outside cages that have yielded,
  taken oldest first. A *dispatch* is a worker's choice of its next task; a *fair round* is a dispatch that takes what has waited longest.
* An *entry* is how every exported function begins. A *general path* handles every case; a *fast path* leaves out the cases that the
  entry has excluded by comparing the stack pointer with the stack limit (0092, 0192).
* A *heavy fence* orders the memory accesses of all threads of the process (`membarrier`, or an interrupt without a kernel), so
  that the other side needs none.
* A *record* is the runtime's memory for one task, nursery or channel. A *member* of a nursery is a task that has left its worker: it has
  waited or yielded.
"""

LAYERS = ('arch', 'kernel-free', 'rt/base', 'rt/budget', 'rt/mem', 'rt/sched', 'rt/task', 'rt/abi', 'linker and C library',
          'tests and tools', 'docs')
SECTIONS = ['Context', 'Decision', 'Rejected', 'What would change our mind']
NO_FILE = 'no single file'
SHAPE = re.compile(r'# (?P<title>[^\n:]+: [^\n]+)\n\n'
                   r'Status: (?P<status>accepted|(?:partly )?superseded by \d{4}(?:, \d{4})*)\. '
                   r'Layer: (?P<layer>[^\n]+?)\. Rules: (?P<rules>[^\n]+)\.\n\n')
CITATION = re.compile(r'docs/decisions/(\d{4}(?:, \d{4})*)')
MOST_CITED = 3     # in the head of one file
SOURCES = ('arch', 'kernel-free', 'rt', 'linker', 'qemu', 'tests', 'docs')


@dataclasses.dataclass(frozen=True)
class Decision:
    page: pathlib.Path
    title: str
    status: str
    layer: str
    rules: tuple

    @property
    def number(self):
        return self.page.name[:4]

    @property
    def successors(self):
        return re.findall(r'\d{4}', self.status)


def read(page):
    """The decision of a page; None if its head has another shape."""
    head = SHAPE.match(page.read_text(encoding='utf-8'))
    if head is None:
        return None
    rules = () if head['rules'] == NO_FILE else tuple(head['rules'].split(', '))
    return Decision(page, head['title'], head['status'], head['layer'], rules)


def sections(page):
    return [name for name in re.findall(r'^\*\*([^*]+)\.\*\*', page.read_text(encoding='utf-8'), re.M) if name in SECTIONS]


def pages(root):
    return sorted((pathlib.Path(root) / 'docs/decisions').glob('[0-9]*.md'))


def head(text):
    """The comment at the head of a source file."""
    return '\n'.join(itertools.takewhile(lambda line: re.match(r'//|#[ !]|\s*$', line), text.splitlines()))


def cited(text):
    return [number for numbers in CITATION.findall(text) for number in numbers.split(', ')]


def sources(root):
    yield root / 'dev'
    for folder in SOURCES:
        yield from (path for path in sorted((root / folder).rglob('*')) if path.is_file() and path.suffix not in ('.md', '.pyc'))


def citation_complaints(root, ruling):
    """`ruling`: of each file the numbers of the decisions that rule it."""
    numbers = {page.name[:4] for page in pages(root)}
    for path in sources(root):
        text, name = path.read_text(encoding='utf-8', errors='replace'), str(path.relative_to(root))
        yield from (f'{name}: cites decision {number}, which does not exist' for number in cited(text) if number not in numbers)
        if len(cited(head(text))) > MOST_CITED:
            yield f'{name}: its head cites more than {MOST_CITED} decisions'
        yield from (f'{name}: does not cite decision {number}, which rules it' for number in ruling.get(name, ()) if number not in cited(text))


def file_name(decision):
    words = re.sub("'s", 's', decision.title.lower()).replace('c++', 'cxx')
    return f'{decision.number}-{re.sub("[^a-z0-9]+", "-", words).strip("-")}.md'


def complaints(root):
    """A line for each violation of the form, in any decision."""
    root = pathlib.Path(root)
    numbers, ruling = [page.name[:4] for page in pages(root)], {}
    yield from (f'{number}: two decisions have this number' for number in sorted(set(numbers)) if numbers.count(number) > 1)
    for page in pages(root):
        decision = read(page)
        if decision is None:
            yield f'{page.name}: it does not begin as decisions_index.py says'
            continue
        if page.name != file_name(decision):
            yield f'{page.name}: its title wants the name {file_name(decision)}'
        if sections(page) != SECTIONS:
            yield f'{page.name}: its sections are not {", ".join(SECTIONS)}'
        if decision.layer not in LAYERS:
            yield f'{page.name}: there is no layer {decision.layer}'
        yield from (f'{page.name}: there is no decision {number}' for number in decision.successors if number not in numbers)
        yield from (f'{page.name}: there is no file {name}' for name in decision.rules if not (root / name).exists())
        for name in decision.rules:
            ruling.setdefault(name, []).append(decision.number)
    yield from citation_complaints(root, ruling)


def table(layer, decisions):
    rows = (f'| [{one.number}]({one.page.name}) | {one.title} | {one.status} |\n' for one in decisions if one.layer == layer)
    return f'\n## {layer}\n\n| | decision | status |\n|---|---|---|\n' + ''.join(rows)


def index(root):
    decisions = [decision for decision in map(read, pages(root)) if decision is not None]
    return HEAD + ''.join(table(layer, decisions) for layer in LAYERS)


if __name__ == '__main__':
    sys.stdout.write(index(sys.argv[1]))
