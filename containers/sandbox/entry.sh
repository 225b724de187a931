#!/.talaria/busybox sh
# Entry of every sandbox container, whatever the image: first takes everything out of the environment
# that is nobody's business in there, for /proc/1/environ too, then starts the daemon and stays, since
# the first process of a container has to reap the orphans of the others.
# With `listen` it is reached by a socket, else by its standard input and output.
secret_names() {
  set -f
  IFS='
'
  # A line inside of a value may look the same: what it names is not there, or is as secret.
  for line in $(export -p); do
    name=${line#export }
    name=${name%%=*}
    case "$name" in
      '' | [0-9]* | *[!A-Za-z0-9_]*) ;;
      AWS_* | ECS_* | TALARIA_* | GITHUB_* | OPENAI_* | *KEY* | *TOKEN* | *SECRET* | *PASSWORD* | *CREDENTIAL*)
        echo "$name"
        ;;
    esac
  done
}
if [ "$1" != clean ]; then
  # shellcheck disable=SC2046
  unset -v $(secret_names) _
  exec /.talaria/busybox sh /.talaria/entry.sh clean "$@"
fi
socket=
[ "$2" != listen ] || socket=/.talaria-io/sandbox.sock
for loader in /.talaria/ld-linux-*; do break; done
/.talaria/busybox env -i UV_THREADPOOL_SIZE=2 "$loader" --library-path /.talaria/lib \
  /.talaria/node --no-warnings --max-semi-space-size=1 /.talaria/daemon.mjs ${socket:+"$socket"}
