#!/usr/bin/env python3
"""Calls through a connection that a process of another user has made, which is gone by then.

    passed-socket.py SOCKET CONNECTING-USER CALLING-USER CALL

Prints the answer. CALL is JSON. Takes root.
"""
import os
import pwd
import socket
import sys

path, connecting, calling, call = sys.argv[1:]


def become(name):
    user = pwd.getpwnam(name)
    os.initgroups(name, user.pw_gid)
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)


here, there = socket.socketpair()
child = os.fork()
if child == 0:
    become(connecting)
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    # One answer: the daemon has taken the connection.
    connection.sendall(b'{"method":"org.varlink.service.GetInfo"}\0')
    while not connection.recv(65536).endswith(b"\0"):
        pass
    socket.send_fds(there, [b"x"], [connection.fileno()])
    os._exit(0)
_, descriptors, _, _ = socket.recv_fds(here, 1, 1)
os.waitpid(child, 0)
become(calling)
connection = socket.socket(fileno=descriptors[0])
connection.settimeout(20)
connection.sendall(call.encode() + b"\0")
answer = b""
while not answer.endswith(b"\0"):
    part = connection.recv(65536)
    if not part:
        break
    answer += part
print(answer.rstrip(b"\0").decode())
