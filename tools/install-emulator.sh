#!/usr/bin/env bash
# Puts an AWS emulator (MiniStack, from PyPI) into .cache/emulator, where tests and the demo look for it.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=.cache/emulator
version=1.5.33
[ -x "$folder/bin/python" ] || python3 -m venv "$folder"
"$folder/bin/python" -c 'import docker, ministack' 2>/dev/null ||
  "$folder/bin/pip" install -q "ministack[full]==$version" 'docker==7.2.0'
echo "$PWD/$folder/bin/ministack"
