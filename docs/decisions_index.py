#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints docs/decisions/README.md: a line for each decision, by its number and its first line, and which one stands in
place of it now. docs/check.py holds the file to this.

    decisions_index.py SOURCE_ROOT > docs/decisions/README.md
"""
import pathlib
import re
import sys

HEAD = """# Decisions

What was decided and why, what was rejected, and what would change our mind; each half a page. They are kept as they were:
one that no longer holds, or not all of it, says which one came after it.

"""


def title(text):
    """Of the first line, without its number."""
    return re.sub(r'^(\d{4})?[.:]?\s*', '', text.splitlines()[0].lstrip('# ')).strip()


def successors(text):
    return re.findall(r'^\*\*(Superseded|Amended) by (\d{4})\.?\*\*', text, re.M)


def line(page):
    text = page.read_text(encoding='utf-8')
    after = ''.join(f'; {word.lower()} by {number}' for word, number in successors(text))
    return f'- [{page.name[:4]}]({page.name}) {title(text)}{after}\n'


def index(root):
    pages = sorted((pathlib.Path(root) / 'docs/decisions').glob('[0-9]*.md'))
    return HEAD + ''.join(line(page) for page in pages)


if __name__ == '__main__':
    sys.stdout.write(index(sys.argv[1]))
