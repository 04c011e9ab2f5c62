# SPDX-License-Identifier: Apache-2.0
"""usage: no-hugepages.py [--no-thp] COMMAND [ARG...]

Runs COMMAND as on a machine without free hugepages, whatever this one has: a
seccomp filter answers memfd_create(MFD_HUGETLB) with ENOMEM.  With --no-thp
COMMAND has no transparent huge pages either."""

import ctypes
import errno
import os
import platform
import struct
import sys

PR_SET_SECCOMP, SECCOMP_MODE_FILTER, PR_SET_NO_NEW_PRIVS = 22, 2, 38
PR_SET_THP_DISABLE = 41
SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO = 0x7FFF0000, 0x00050000
LOAD, JUMP_EQUAL, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
MFD_HUGETLB = 4
MEMFD_CREATE = {"x86_64": 319, "aarch64": 279}[platform.machine()]
NUMBER, SECOND_ARGUMENT = 0, 24         # In struct seccomp_data.

program = b"".join(struct.pack("=HBBI", *instruction) for instruction in (
    (LOAD, 0, 0, NUMBER),
    (JUMP_EQUAL, 0, 3, MEMFD_CREATE),
    (LOAD, 0, 0, SECOND_ARGUMENT),
    (JUMP_ANY_BIT, 0, 1, MFD_HUGETLB),
    (RETURN, 0, 0, SECCOMP_RET_ERRNO | errno.ENOMEM),
    (RETURN, 0, 0, SECCOMP_RET_ALLOW)))


class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_char_p)]


command = sys.argv[1:]
prctl = ctypes.CDLL(None, use_errno=True).prctl
if command[0] == "--no-thp":
    del command[0]
    if prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0):
        sys.exit("--no-thp: " + os.strerror(ctypes.get_errno()))
if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER,
              ctypes.byref(Filter(len(program) // 8, program)), 0, 0)):
    sys.exit("no seccomp filter: " + os.strerror(ctypes.get_errno()))
os.execvp(command[0], command)
