"""Makes tool calls with Hermes' own tools: cases as JSON on standard input, results into a file.

Run by compare.mjs with the Python of a venv that has hermes-agent==0.19.0. Its working directory is
the folder in which the calls shall happen.
"""

import json
import os
import sys
import tempfile
import time

FOLDER = os.getcwd()
os.environ.update(TERMINAL_ENV="local", TERMINAL_CWD=FOLDER, HERMES_HOME=tempfile.mkdtemp())

from model_tools import handle_function_call  # noqa: E402
from tools.todo_tool import TodoStore, todo_tool  # noqa: E402


def main() -> None:
    store = TodoStore()
    session = "none"
    results = []
    for case in json.load(sys.stdin):
        args = {
            key: value.replace("$SESSION", session) if isinstance(value, str) else value
            for key, value in case["args"].items()
        }
        started = time.monotonic()
        if case["tool"] == "todo":
            text = todo_tool(args.get("todos"), args.get("merge", False), store)
        else:
            text = handle_function_call(case["tool"], args, task_id="default")
        result = json.loads(text)
        seconds = time.monotonic() - started
        if "session_id" in result and case["tool"] == "terminal":
            session = result["session_id"]
        after = None
        if case.get("look"):
            looked = handle_function_call("terminal", {"command": case["look"]}, task_id="default")
            after = json.loads(looked)["output"]
        results.append({"result": result, "after": after, "seconds": seconds})
        time.sleep(case.get("pause", 0))
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(results, file)


main()
# Its background threads would keep the process.
os._exit(0)
