# SPDX-License-Identifier: Apache-2.0
"""Text as mdoc(7) has it: what man pages are written in."""
import re


def literal(text):
    """Characters that roff would take for its own, or print as others."""
    text = text.replace('\\', '\\e').replace('-', '\\-').replace('`', '\\(ga').replace("'", '\\(aq').replace('^', '\\(ha').replace('~', '\\(ti')
    return '\n'.join('\\&' + line if line.startswith('.') else line for line in text.split('\n'))


def argument(text):
    """One argument of a macro, whatever is in it."""
    return '"' + literal(text).replace('"', '\\(dq') + '"'


def sentence(text):
    text = re.sub(r'\[([^\]]+)\]\([^)]+\)', r'\1', text)  # of a link, what is read
    words = text.split('`')  # every second one is code
    plain = [literal(word) if index % 2 else literal_of_prose(word) for index, word in enumerate(words)]
    line = ''.join(plain)
    return '\\&' + line if line.startswith(('.', "'")) else line


def literal_of_prose(text):
    text = text.replace('**', '').replace('\\', '\\e').replace("'", '\\(aq').replace('~', '\\(ti').replace('^', '\\(ha')
    return re.sub(r'(?<!\w)-', r'\\-', re.sub(r'(?<!\w)\*|\*(?!\w)', '', text) if text.count('*') == 2 else text)


def paragraph(text):
    """Each sentence on a line of its own, as roff wants it."""
    joined = ' '.join(text.split())
    return '\n'.join(sentence(part) for part in re.split(r'(?<=[.!?])(?<!\.\.\.) (?=[^a-z])', joined) if part)


def code(text):
    return '.Bd -literal -offset indent\n' + literal(text.strip('\n')) + '\n.Ed'


def tagged(rows):
    """A list of what is explained, and the explanation."""
    items = ''.join(f'.It {argument(tag)}\n{paragraph(text) or chr(92) + "&"}\n' for tag, text in rows)
    return f'.Bl -tag -width Ds\n{items}.El'


def page(name, section, about, date, version, body):
    # groff takes whatever is not Linux for BSD.
    head = f'.Dd {date}\n.ds doc-volume-operating-system janus-rt\n.Dt {name.upper()} {section}\n.Os janus-rt {version}\n'
    head += f'.Sh NAME\n.Nm {name}\n.Nd {sentence(about)}\n'
    return re.sub(r'\n{2,}', '\n', (head + body).replace('.Pp\n.Bd', '.Bd')).rstrip('\n') + '\n'
