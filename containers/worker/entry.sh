#!/runtime/busybox sh
# Entry of the worker image. `init` fills the task's volumes and ends; `agent` works on a batch.
set -eu
b=/runtime/busybox
case "${1:-agent}" in
  init)
    # The entry comes last and at once: where it is, all else is there.
    if [ ! -e /.talaria/entry.sh ]; then
      for file in /runtime/*; do
        [ "$file" = /runtime/entry.sh ] || $b cp -a "$file" /.talaria/
      done
      $b cp -a /runtime/entry.sh /.talaria/entry.sh.new
      $b mv /.talaria/entry.sh.new /.talaria/entry.sh
    fi
    # Images run as any user, and their daemons make their sockets here.
    for folder in /.talaria-io/*; do $b chmod 1777 "$folder"; done
    ;;
  agent)
    for loader in /runtime/ld-linux-*; do break; done
    exec "$loader" --library-path /runtime/lib /runtime/node --no-warnings /app/worker.mjs
    ;;
  *)
    echo "expected init or agent, got $1" >&2
    exit 2
    ;;
esac
