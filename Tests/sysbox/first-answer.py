#!/usr/bin/env python3
"""Connects to the control socket as the first caller does, who starts the service by that, and prints the
milliseconds until the status and until a record is answered.

    first-answer.py SOCKET ENTITY
"""
import json
import socket
import sys
import time

begun = time.monotonic()
control = socket.socket(socket.AF_UNIX)
control.settimeout(30)
control.connect(sys.argv[1])
rest = b""


def call(method, more=False, **parameters):
    """A call is a JSON object and a NUL byte, as is its answer."""
    global rest
    call = {"method": method, "parameters": parameters, "more": more}
    control.sendall(json.dumps(call).encode() + b"\0")
    while b"\0" not in rest:
        part = control.recv(65536)
        if not part:
            sys.exit("the daemon has hung up")
        rest += part
    answer, _, rest = rest.partition(b"\0")
    return json.loads(answer)


call("io.cairn.Daemon.GetStatus")
status = time.monotonic()
# A daemon answers before its store is open, and says so.
while "error" in (answer := call("io.cairn.Data.Fetch", more=True, entity=sys.argv[2], limit=1)):
    if time.monotonic() - begun > 30:
        sys.exit(f"{answer}")
    time.sleep(0.001)
print(round((status - begun) * 1000), round((time.monotonic() - begun) * 1000))
