# SPDX-License-Identifier: Apache-2.0
# commands.py — finds what a page of the documentation tells its reader to type, by its form alone:
#   $ COMMAND        a line of a block (indented or fenced). The lines below it, up to the next command or blank line, are
#                    its expected output; `...` stands for omitted lines.
#   (gdb) COMMAND    the same, typed into the gdb that the command above it starts
#   ```sh            the whole block is one command
#   ./dev WHAT       a line of a block that begins with ./dev, janus-cc or janus-qemu is a synopsis if it has brackets, or
#                    if an explanation follows after two blanks
#   `COMMAND`        in running text, if it begins with one of PROGRAMS and has more than options
import re
from typing import NamedTuple

PROGRAMS = {'addr2line', 'apt', 'apt-get', 'cargo', 'cat', 'cmake', 'cp', 'curl', 'docker', 'echo', 'find', 'gcc', 'gdb', 'git', 'janus-cc',
            'janus-qemu', 'kill', 'ldd', 'make', 'man', 'meson', 'mkdir', 'ninja', 'nm', 'objdump', 'podman', 'python3',
            'qemu-system-x86_64', 'readelf', 'rm', 'runc', 'rustc', 'skopeo', 'strace', 'strip', 'sudo', 'systemctl', 'valgrind'}
OURS = ('./dev', 'janus-cc', 'janus-qemu')


class Command(NamedTuple):
    kind: str  # shell, gdb, synopsis, span, or bare: a line that looks like a command and has no $
    text: str
    output: tuple = ()

    def is_of_dev(self):
        """True for a `dev` command named in running text, and for one that would run this test as well."""
        return self.kind == 'span' and words(self.text)[0] == './dev' or re.search(r'\./dev (test|bench|lint)\b', self.text)


def words(text):
    """The words of a command without the settings before it."""
    return re.sub(r'^(?:\w+=(?:"[^"]*"|\S*) +)+', '', text).split()


def is_called(text):
    return words(text)[:1] and (words(text)[0] in PROGRAMS or re.match(r'\./\w|tests/\S+\.py$', words(text)[0]))


def of_block(block, language):
    if language == 'sh':
        yield Command('shell', block.strip())
        return
    lines, at = block.splitlines(), 0
    while at < len(lines):
        line, at = lines[at], at + 1
        if typed := re.match(r'(\$|\(gdb\)) (.*?)(?: {2,}# .*)?$', line):
            start = at
            while at < len(lines) and lines[at].strip() and not re.match(r'\$ |\(gdb\) ', lines[at]):
                at += 1
            yield Command('shell' if typed[1] == '$' else 'gdb', typed[2], tuple(lines[start:at]))
        elif language == '' and is_called(line):
            is_synopsis = words(line)[0] in OURS and ('[' in line or re.search(r'\S {2,}(?!#)\S', line))
            yield Command('synopsis' if is_synopsis else 'bare', line)


def of_text(text):
    for span in re.findall(r'(?<!`)`([^`]+)`(?!`)', text):
        if is_called(span) and any(not word.startswith('-') or '/' in word for word in words(span)[1:]):
            yield Command('span', ' '.join(span.split()))


def of_page(page):
    """All commands of the page, from top to bottom."""
    parts = re.split(r'^```(\w*)\n((?:(?!```).*\n)*)```$|((?:^ {4}.*\n|^\n)+)', page, flags=re.M)
    for text, language, fenced, indented in zip(parts[::4], parts[1::4] + [None], parts[2::4] + [None], parts[3::4] + [None]):
        yield from of_text(text)
        if fenced is not None or indented is not None:
            yield from of_block(fenced if fenced is not None else re.sub('^ {4}', '', indented, flags=re.M), language or '')


def programs(page):
    """The complete C programs of the page."""
    for block in re.findall(r'(?:^ {4}.*\n|^\n)+', page, re.M):
        text = re.sub(r'^\$.*\n?', '', re.sub('^ {4}', '', block, flags=re.M), flags=re.M)
        if 'int main(' in text and '#include <janus/rt.h>' in text:
            yield text
