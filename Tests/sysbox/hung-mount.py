#!/usr/bin/env python3
"""Mounts a file system that never answers, as one does whose server is gone, until it is ended.

    hung-mount.py FOLDER
"""
import ctypes
import os
import signal
import sys

folder = sys.argv[1]
libc = ctypes.CDLL(None, use_errno=True)
device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other"
if libc.mount(b"hung", folder.encode(), b"fuse", 0, options.encode()) != 0:
    sys.exit(os.strerror(ctypes.get_errno()))
# Nothing is ever read from the device. When it is closed, everybody who waits gets an error.
signal.sigwait([signal.SIGTERM, signal.SIGINT])
MNT_DETACH = 2
libc.umount2(folder.encode(), MNT_DETACH)
