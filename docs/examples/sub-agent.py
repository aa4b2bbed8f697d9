#!/usr/bin/env python3
"""A sub-agent without a model: it counts the words of its task, and of what its tools give it.

A line `/tool Name {json}` in the task has it call that tool. Check it with
`cortex sub-agent check -- python3 sub-agent.py`.
"""
import json, os, queue, re, sys, threading, time

inbox = queue.Queue()  # what the main thread waits for
output = threading.Lock()  # a line must not be written into another


def say(**message):
    with output:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def listen():
    """Hears everything as soon as it comes, also while the main thread works."""
    for line in sys.stdin.buffer:  # whole lines, however long they are and in however many pieces they come
        message = json.loads(line)
        if message.get("type") == "ping":
            say(type="pong")
        elif message.get("type") == "cancel":
            break
        else:
            inbox.put(message)  # what is of no known type is put there too, and nobody takes it
    os._exit(0)  # cancelled, or the parent is gone: nobody waits for an answer


def wait_for(kind, id=None):
    while True:
        message = inbox.get()
        if message.get("type") == kind and message.get("id") == id:
            return message


def call_tool(name, arguments, id):
    """Cortex makes the call: it checks what this sub-agent may do, and writes it down."""
    say(type="tool_request", id=id, name=name, arguments=arguments)
    return wait_for("tool_result", id)["text"]


threading.Thread(target=listen, daemon=True).start()
say(type="ready", version=2)
init = wait_for("init")
started = time.monotonic()
task = init["config"]["instruction"]
tools = [tool["name"] for tool in init["agentConfig"].get("tools") or []]

sentences = [f"The task has {len(task.split())} words."]
say(type="chunk", delta=sentences[0])
for number, (name, arguments) in enumerate(re.findall(r"^/tool (\w+) (\{.*\})$", task, re.MULTILINE)):
    if name in tools:
        text = call_tool(name, json.loads(arguments), f"call-{number}")
        sentences.append(f"{name} gave {len(text.split())} words: {text[:200]}")
        say(type="chunk", delta=" " + sentences[-1])

duration = round((time.monotonic() - started) * 1000)
usage = {"tokensIn": 0, "tokensOut": 0, "costUsd": 0, "durationMs": duration}
say(type="done", result={"success": True, "response": " ".join(sentences), **usage})
os._exit(0)  # the thread that listens would keep Python from ending in order
