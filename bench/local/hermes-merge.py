"""Times Hermes' own joining of batch files: the loop of its installed batch_runner, taken out of its
source and run on a folder that holds batch_N.jsonl. Prints one JSON object: seconds, bytes."""

import importlib.util
import json
import os
import sys
import textwrap
import time
from pathlib import Path
from types import SimpleNamespace

FIRST = "Combine ALL batch files in directory"
LAST = "✅ Combined"

folder = Path(sys.argv[1])
lines = Path(importlib.util.find_spec("batch_runner").origin).read_text().split("\n")
start = next(i for i, line in enumerate(lines) if FIRST in line)
end = next(i for i, line in enumerate(lines) if LAST in line)
loop = compile(textwrap.dedent("\n".join(lines[start : end + 1])), "hermes", "exec")
with open(folder / "batch_0.jsonl", encoding="utf-8") as first:
    tools = set(json.loads(first.readline())["tool_stats"])
names = {"self": SimpleNamespace(output_dir=folder), "json": json, "ALL_POSSIBLE_TOOLS": tools}
names["print"] = lambda *words: None

begun = time.perf_counter()
exec(loop, names)
seconds = time.perf_counter() - begun
written = os.path.getsize(folder / "trajectories.jsonl")
print(json.dumps({"seconds": seconds, "bytes": written}))
