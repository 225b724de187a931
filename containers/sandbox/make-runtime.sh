#!/runtime/busybox sh
# Fills /runtime, where busybox is already, with the Node of the image this runs in: for the
# Dockerfiles of the sandbox runtime and of the worker.
set -eu
b=/runtime/busybox
node=$(command -v node)
$b mkdir -p /runtime/lib /runtime/bin
$b cp "$($b readlink -f "$node")" /runtime/node
for loader in /lib64/ld-linux-*.so.* /lib/ld-linux-*.so.*; do [ ! -e "$loader" ] || break; done
$b cp "$($b readlink -f "$loader")" "/runtime/${loader##*/}"
# Gives commands a terminal (util-linux); without it all but that works.
script=$(command -v script || true)
[ -z "$script" ] || $b cp "$($b readlink -f "$script")" /runtime/script
for program in /runtime/node ${script:+/runtime/script}; do "$loader" --list "$program"; done |
  $b sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' |
  while read -r library; do $b cp "$($b readlink -f "$library")" "/runtime/lib/${library##*/}"; done
for applet in $($b --list); do $b ln -s ../busybox "/runtime/bin/$applet"; done
"/runtime/${loader##*/}" --library-path /runtime/lib /runtime/node --version
