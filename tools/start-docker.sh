#!/usr/bin/env bash
# Starts a Docker daemon, as root, where none answers; waits until it does.
set -euo pipefail
log=${1:-/var/log/talaria-dockerd.log}
docker version >/dev/null 2>&1 && exit 0

# A daemon that was killed leaves its number behind, and the next one refuses to start.
pid=$(cat /var/run/docker.pid 2>/dev/null || true)
if [ -n "$pid" ] && [ "$(cat "/proc/$pid/comm" 2>/dev/null || true)" != dockerd ]; then
  rm -f /var/run/docker.pid
fi

setsid nohup dockerd >"$log" 2>&1 </dev/null &
for _ in $(seq 120); do
  docker version >/dev/null 2>&1 && exit 0
  sleep 0.5
done
echo "no answer from dockerd in 60 s; the end of $log:" >&2
tail -n 20 "$log" >&2
exit 1
