#!/usr/bin/env python3
"""Calls methods of a Varlink service through Python's stock client, which knows of it what it tells of itself.

    drive.py SOCKET < CALLS

Each line of CALLS is a call: {"method": …, "parameters": {…}, "replies": n}. With "replies" the call asks for
more, and ends after so many. "$name" in a parameter is what an earlier call with "keep": {"name": [path]}
answered there. Each line of the output is what came of a call: {"method": …, "replies": […]} or
{"method": …, "error": …, "parameters": {…}}; the first line is {"methods": […]}, all that the service offers.
"""
import json
import sys

import varlink
from varlink.scanner import Interface, _Method


def filled(value, kept):
    if isinstance(value, dict):
        return {key: filled(member, kept) for key, member in value.items()}
    if isinstance(value, list):
        return [filled(member, kept) for member in value]
    return kept.get(value[1:], value) if isinstance(value, str) and value.startswith("$") else value


client = varlink.Client("unix:" + sys.argv[1])
interfaces = {name: client.get_interface(name) for name in client.get_interfaces()}
# The client has an interface of every service inside; what this service tells of it must be readable, too.
with client.open("org.varlink.service") as connection:
    text = connection.GetInterfaceDescription("org.varlink.service")["description"]
interfaces["org.varlink.service"] = Interface(text)
methods = [
    f"{name}.{member.name}"
    for name, interface in interfaces.items()
    for member in interface.members.values()
    if isinstance(member, _Method)
]
print(json.dumps({"methods": methods}), flush=True)

kept = {}
for line in sys.stdin:
    call = json.loads(line)
    name, _, method = call["method"].rpartition(".")
    outcome = {"method": call["method"]}
    parameters = filled(call.get("parameters", {}), kept)
    with client.open(name) as connection:
        try:
            if "replies" in call:
                replies = []
                for reply in getattr(connection, method)(**parameters, _more=True):
                    replies.append(reply)
                    if len(replies) == call["replies"]:
                        break
            else:
                replies = [getattr(connection, method)(**parameters)]
            outcome["replies"] = replies
            for keep, path in call.get("keep", {}).items():
                found = replies[0]
                for step in path:
                    found = found[step]
                kept[keep] = found
        except varlink.VarlinkError as error:
            outcome["error"] = error.error()
            outcome["parameters"] = error.parameters()
    print(json.dumps(outcome), flush=True)
