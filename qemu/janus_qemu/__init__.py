# SPDX-License-Identifier: Apache-2.0
"""The modules of janus-qemu: words (command lines), cpio (file systems), elf (what kind of program a file is), kernel (which
Linux to boot), machine and accelerator (how QEMU is run), session (one run from start to status), outlet (output to a slow
reader), refusal."""
