#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# absent_headers.py TABLE C_DIRECTORY CXX_DIRECTORY — installs a header for each name in TABLE. Including it ends the
# compilation with one line: that janus-rt has no such header, and what to use instead. The line is the name of a header to
# include, because a header that cannot be found is the only error that stops every compiler at once.
import os
import sys
from pathlib import Path

TEXT = """// SPDX-License-Identifier: Apache-2.0
// {name}: not of janus-rt. The line below ends the compilation.
#include <janus-rt has no {name}: {remedy}>
"""


def main():
    prefix = os.environ["MESON_INSTALL_DESTDIR_PREFIX"]
    of_c, of_cxx = (Path(prefix, directory) for directory in sys.argv[2:4])
    for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
        names, colon, remedy = line.partition(": ")
        if not colon or line.startswith("#"):
            continue
        for name in names.split():
            header = (of_c if name.endswith(".h") else of_cxx) / name
            header.parent.mkdir(parents=True, exist_ok=True)
            header.write_text(TEXT.format(name=name, remedy=remedy), encoding="utf-8")


main()
