# SPDX-License-Identifier: Apache-2.0
"""What the public headers declare, with the comments that they have for it."""
import pathlib
import re
from dataclasses import dataclass, field


@dataclass
class Function:
    name: str
    prototypes: list   # as it stands there, more than one for a macro with its kin
    comment: str
    header: 'Header'


@dataclass
class Header:
    name: str          # janus/rt.h, as a program includes it
    part: str          # janus/rt/channel.h
    about: str
    notes: list = field(default_factory=list)      # comments that belong to no declaration
    functions: list = field(default_factory=list)
    structs: dict = field(default_factory=dict)    # name: its text, with its comment
    constants: list = field(default_factory=list)  # (name, its line below its comment)


def words_of(comment):
    return '\n'.join(re.sub(r'^// ?', '', line) for line in comment)


def name_of(declaration):
    found = re.search(r'\b(janus_\w+)\(', declaration) or re.search(r'\b(JANUS_\w+)\(', declaration)
    return found[1] if found else None


# Names that end in _ are for the headers themselves.
def is_declaration(line):
    return re.match(r'(?!typedef|extern|return|\s|#|//|\}|__)[\w(].*\bjanus_\w*[^\W_]\(', line)


def read(path, includes):
    lines = path.read_text().splitlines()
    part = re.match(r'// (janus/\S+): ', lines[1])[1]
    header, comment, covered = Header(includes, part, ''), [], ''
    at = next(index for index, line in enumerate(lines) if not line.startswith('//'))
    header.about = words_of(lines[1:at]).split(': ', 1)[1].replace('A part of janus/rt.h.', '')
    while at < len(lines):
        line = lines[at]
        at += 1
        if re.match(r'//(?! ----)', line):
            if covered:
                comment, covered = [], ''
            comment.append(line)
        elif line.startswith('typedef struct') and line.endswith('{'):
            end = next(index for index in range(at, len(lines)) if lines[index].startswith('}'))
            header.structs[re.match(r'\} (\w+);', lines[end])[1]] = '\n'.join([*comment, *lines[at - 1:end + 1]])
            at, comment, covered = end + 1, [], ''
        elif is_declaration(line):
            text = line
            while not re.search(r'[;{]', text):
                text += ' ' + lines[at].strip()
                at += 1
            prototype = re.sub(r'^(JANUS_(PRINTF|ALLOCATES)\(.*?\)+ (?=\w)|JANUS_NORETURN |static inline )', '', re.split(r'\s*[;{]', text)[0])
            covered = covered or words_of(comment)
            header.functions.append(Function(name_of(prototype), [prototype], covered, header))
            if text.rstrip().endswith('{'):
                at = next(index for index in range(at, len(lines)) if lines[index].startswith('}')) + 1
        elif re.match(r'#define JANUS_LOOP_\w+\(', line):
            covered = covered or words_of(comment)
            macro = re.match(r'#define (\w+)\((\w+)\)', line)
            header.functions.append(Function(macro[1], [f'int {macro[1]}(uint32_t {macro[2]})'], covered, header))
        elif not line.strip():
            if comment and not covered:
                header.notes.append(words_of(comment))
            comment, covered = [], ''
        elif line.startswith(('typedef', '__', 'extern', '#define')):
            if re.match(r'#define JANUS_\w+ \S', line):
                header.constants.append((line.split()[1], '\n'.join([*comment, line.removeprefix('#define ')])))
            comment, covered = [], ''
    share_comments(header)
    return header


def share_comments(header):
    """A declaration without a comment of its own is explained by what stands before it."""
    for before, this in zip(header.functions, header.functions[1:]):
        if not this.comment.strip():
            this.comment = before.comment


def read_all(include):
    parts = sorted((include / 'janus/rt').glob('*.h'))
    headers = [read(part, 'janus/rt.h') for part in parts]
    return headers + [read(include / part, part) for part in ('janus/broadcast.h', 'janus/supervise.h', 'janus/sync.h', 'janus/ticker.h', 'janus/watch.h', 'janus/llvm.h')]


def general(include):
    """How to read the notes: from the top of rt.h."""
    top = re.search(r'^// How to read.*?(?=^//\n)', pathlib.Path(include / 'janus/rt.h').read_text(), re.M | re.S)[0]
    return words_of(top.splitlines())
