#!/.talaria/busybox sh
# Entry of every sandbox container, whatever the image: first takes everything out of the environment
# that is nobody's business in there, for /proc/1/environ too, then starts the daemon and stays, since
# the first process of a container has to reap the orphans of the others.
if [ "$1" != clean ]; then
  drop=
  for name in $(/.talaria/busybox env | /.talaria/busybox sed -n 's/^\([A-Za-z_][A-Za-z0-9_]*\)=.*/\1/p'); do
    case "$name" in
      AWS_* | ECS_* | TALARIA_* | GITHUB_* | OPENAI_* | *KEY* | *TOKEN* | *SECRET* | *PASSWORD* | *CREDENTIAL*)
        drop="$drop -u $name"
        ;;
    esac
  done
  # shellcheck disable=SC2086
  exec /.talaria/busybox env $drop /.talaria/busybox sh /.talaria/entry.sh clean
fi
for loader in /.talaria/ld-linux-*; do break; done
/.talaria/busybox env -i UV_THREADPOOL_SIZE=2 "$loader" --library-path /.talaria/lib \
  /.talaria/node --no-warnings --max-semi-space-size=1 /.talaria/daemon.mjs
