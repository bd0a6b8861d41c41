#!/usr/bin/env python3
"""Tries to take every connection of a socket, keeps what it gets until its input ends.

    flood.py SOCKET COUNT
"""
import resource
import socket
import sys

path, count = sys.argv[1], int(sys.argv[2])
limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
held = []
for _ in range(count):
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.setblocking(False)
    try:
        connection.connect(path)
        # Half a message: the daemon must wait for the rest.
        connection.send(b'{"method":')
        held.append(connection)
    except OSError:
        connection.close()
print(len(held), flush=True)
sys.stdin.read()
