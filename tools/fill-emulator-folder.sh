#!/bin/sh
# Puts the sandbox runtime of a worker image where tasks on an emulator find it: an emulator starts a
# task's containers in no order. Usage: fill-emulator-folder.sh <worker image> <emulatorFolder>
set -eu
container=$(docker create "$1")
trap 'docker rm "$container" >/dev/null' EXIT
docker cp "$container:/runtime" "$2/runtime" >/dev/null
