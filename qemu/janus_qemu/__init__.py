# SPDX-License-Identifier: Apache-2.0
"""What janus-qemu is made of: words (command lines), cpio (file systems), elf (what a file is), kernel (which Linux),
machine and accelerator (which QEMU), session (one run from start to status)."""
