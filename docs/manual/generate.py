#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# docs/decisions/0265
"""Man pages: section 3 from the comments of the public headers, section 1 from pages of the book.

    generate.py SOURCE_ROOT VERSION SECTION OUTPUT_DIRECTORY
"""
import datetime
import pathlib
import re
import sys

import headers
import mdoc

COMMANDS = {'janus-cc': 'C and C++ compiler driver for programs of janus-rt', 'janus-qemu': 'boot a program of janus-rt in QEMU'}
WHERE = {
    'task': 'From a task only; elsewhere the answer is JANUS_E_NO_TASK.', 'any': 'From any thread.',
    'owner': 'From the task that opened the nursery, or the thread.', 'threads outside tasks': 'From threads outside tasks.',
    'the root task': 'From the root task.',
}


def released(root, version):
    day = re.search(rf'^## {re.escape(version)} \((.*)\)$', (root / 'docs/changelog.md').read_text(), re.M)[1]
    date = datetime.date.fromisoformat(day)
    return f'{date:%B} {date.day}, {date.year}'


def prose(text):
    """Paragraphs of a comment; what is indented in it is code."""
    out, at = '', 0
    for block in re.finditer(r'(?:^(?: {4,}|\t).*\n?)+', text, re.M):
        out += '.Pp\n' + mdoc.paragraph(text[at:block.start()]) + '\n' + mdoc.code(re.sub('^    ', '', block[0], flags=re.M)) + '\n'
        at = block.end()
    rest = mdoc.paragraph(text[at:])
    return out + (f'.Pp\n{rest}\n' if rest else '')


def synopsis(function):
    result, name, arguments = re.match(r'(.*?)(\w+)\((.*)\)$', function.prototypes[0]).groups()
    pieces = [] if arguments == 'void' else re.split(r', (?![^()]*\))', arguments)
    text = f'.Sh SYNOPSIS\n.In {function.header.name}\n.Ft {mdoc.argument(result.strip())}\n.Fo {name}\n'
    return text + ''.join(f'.Fa {mdoc.argument(piece)}\n' for piece in pieces or ['void']) + '.Fc\n'


def results_explained(root):
    """docs/errors.md's words for each result."""
    rows = re.findall(r'^\| `(JANUS_\w+)` \| -?\d+ \| (.*?) \|', (root / 'docs/errors.md').read_text(), re.M)
    return {name: text for name, text in rows}


def price(function, root):
    """What docs/budgets.md says that a call costs."""
    free = re.search(r'^## Free of charge\n(.*?)^## ', (root / 'docs/budgets.md').read_text(), re.M | re.S)[1]
    costs = re.search(r'^## What each call costs\n(.*?)^## ', (root / 'docs/budgets.md').read_text(), re.M | re.S)[1]
    for names, why in re.findall(r'^\| (`.*?) \| (.*) \|$', free, re.M):
        if f'`{function.name}`' in names:
            return f'Free of charge: {why}.'
    for names, ops in re.findall(r'^\| (`.*?) \| (.*) \|$', costs.split('| what |')[0], re.M):
        if f'`{function.name}`' in names:
            return f'Costs in ops: {ops}.'
    return 'Costs 1 op when a task calls it.' if re.search(r'\[(task|any|owner)\]', function.comment) else ''


def returns(function):
    result = function.prototypes[0].split(function.name)[0].strip()
    if result.endswith('*') or result in ('janus_task', 'janus_cap'):
        return f'{"NULL" if result.endswith("*") else "{0}"} stands for failure, and janus_last_error() says why.'
    if result == 'int' and 'Ends' not in function.comment:
        return '0 or more for success; a negative value is JANUS_CANCELLED or a JANUS_E_*.'
    return ''


def constants(text, everything):
    """What `JANUS_SOMETHING_*` in it stands for."""
    lines = []
    for prefix in dict.fromkeys(re.findall(r'\b(JANUS_\w+_)\*', text)):
        lines += [line for header in everything for name, line in header.constants
                  if name.startswith(prefix) and not name.startswith(('JANUS_E_', 'JANUS_RT_VERSION'))]
    return f'.Pp\nThe values of these are\n{mdoc.code(chr(10).join(lines))}\n' if lines else ''


def function_page(function, everything, root, date, version):
    comment = re.sub(r'\s*\[[a-z ]+\](?=[.:]|$)', '', function.comment.replace('\n', '\n'), flags=re.M)
    first = re.split(r'(?<=[.:]) ', ' '.join(comment.split()))[0].rstrip('.:')
    about = (first if len(first) <= 90 else first[:90].rsplit(' ', 1)[0] + ' ...') or function.name
    body = synopsis(function) + '.Sh DESCRIPTION\n' + prose(comment).replace('.Pp\n', '', 1)
    where = [WHERE[' '.join(tag.split())] for tag in re.findall(r'\[([a-z\s]+)\]', function.comment) if ' '.join(tag.split()) in WHERE]
    body += ''.join(f'.Pp\n{mdoc.paragraph(text)}\n' for text in (*where[:1], price(function, root)) if text)
    body += ''.join(prose(note) for note in function.header.notes)
    structs = {name: text for header in everything for name, text in header.structs.items()}
    named = [name for name in structs if re.search(rf'\b{name}\b', function.prototypes[0])]
    for name in named:
        body += f'.Pp\n{name} is\n{mdoc.code(structs[name])}\n'
    body += constants(function.comment + ''.join(structs[name] for name in named), everything)
    if returns(function):
        body += f'.Sh RETURN VALUES\n{mdoc.paragraph(returns(function))}\n'
    explained = results_explained(root)
    errors = [name for name in explained if re.search(rf'\b{name}\b', function.comment) or name == 'JANUS_E_NO_TASK' and '[task]' in function.comment]
    if errors:
        body += '.Sh ERRORS\n' + mdoc.tagged([(name, explained[name]) for name in errors]) + '\n'
    near = sorted({f.name for f in function.header.functions} - {function.name}, key=str.lower)
    body += '.Sh SEE ALSO\n' + ' ,\n'.join(f'.Xr {name} {section}' for name, section in [*((name, 3) for name in near), ('janus_rt', 7)]) + '\n'
    return mdoc.page(function.name, 3, about[0].lower() + about[1:] if about[1:2].islower() or about.startswith('A ') else about, date, version, body)


def overview(everything, include, date, version):
    body = '.Sh SYNOPSIS\n.In janus/rt.h\n.Sh DESCRIPTION\n' + prose(headers.general(include)).replace('.Pp\n', '', 1)
    for header in everything:
        names = sorted({function.name for function in header.functions}, key=str.lower)
        if names:
            body += f'.Ss {mdoc.literal(header.part)}\n{mdoc.paragraph(header.about)}\n.Pp\n' + ' ,\n'.join(f'.Xr {name} 3' for name in names) + '\n'
    return mdoc.page('janus_rt', 7, 'tasks under budgets and in nurseries', date, version, body + '.Sh SEE ALSO\n.Xr janus-cc 1 ,\n.Xr janus-qemu 1\n')


def table(text):
    rows = [[cell.strip().replace('\\|', '|') for cell in re.split(r'(?<!\\)\|', line)[1:-1]] for line in text.strip().split('\n')]
    return mdoc.tagged([(re.sub('`', '', row[0]), '; '.join(cell for cell in row[1:] if cell)) for row in rows[2:]])


def section_text(text):
    out = ''
    for block in re.split(r'\n\n+', text.strip('\n')):
        if block.startswith('    '):
            out += '.Pp\n' + mdoc.code(re.sub('^    ', '', block, flags=re.M)) + '\n'
        elif block.startswith('|'):
            out += table(block) + '\n'
        elif block:
            out += f'.Pp\n{mdoc.paragraph(block)}\n'
    return out.replace('.Pp\n', '', 1) if out.startswith('.Pp') and '.Bd' not in out[:8] else out


def command_page(name, root, date, version):
    title, *sections = re.split(r'^## ', (root / f'docs/{name}.md').read_text(), flags=re.M)
    calls, rest = re.match(r'# [^\n]*\n\n((?:    [^\n]*\n)+)\n(.*)', title, re.S).groups()
    body = '.Sh SYNOPSIS\n' + mdoc.code(re.sub('^    ', '', calls, flags=re.M)) + '\n.Sh DESCRIPTION\n' + section_text(rest)
    for section in sections:
        head, text = section.split('\n', 1)
        body += f'.Sh {mdoc.literal(head.upper())}\n{section_text(text)}'
    return mdoc.page(name, 1, COMMANDS[name], date, version, body + '.Sh SEE ALSO\n.Xr janus_rt 7\n')


def main():
    root, version, section, output = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4])
    include, date = root / 'rt/include', released(root, version)
    everything = headers.read_all(include)
    output.mkdir(parents=True, exist_ok=True)
    for old in output.iterdir():
        old.unlink()
    if section == '1':
        pages = {name: command_page(name, root, date, version) for name in COMMANDS}
    elif section == '7':
        pages = {'janus_rt': overview(everything, include, date, version)}
    else:
        pages = {function.name: function_page(function, everything, root, date, version) for header in everything for function in header.functions}
    for name, text in pages.items():
        (output / f'{name}.{section}').write_text(text)


main()
