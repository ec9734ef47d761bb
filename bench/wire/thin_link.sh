#!/bin/sh
# Runs a command in its own network namespace. Its loopback carries MBIT Mbit/s each way between
# 127.0.0.1 and 127.0.0.2, with a queue of 50 ms in each direction, like a home router's. Needs root;
# leaves nothing behind.
#
# usage: bench/wire/thin_link.sh MBIT COMMAND [ARGUMENT...]
set -eu
if [ $# -lt 2 ]; then sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2; fi
mbit=$1
shift
exec unshare --net sh -c '
  set -eu
  mbit=$1
  shift
  ip link set lo mtu 1500 up
  tc qdisc add dev lo root handle 1: htb
  for end in 1 2; do
    tc class add dev lo parent 1: classid 1:$end htb rate "${mbit}mbit" burst 16kb cburst 16kb \
      quantum 1514
    tc qdisc add dev lo parent 1:$end bfifo limit $((mbit * 6250))
    tc filter add dev lo parent 1: protocol ip u32 match ip dst 127.0.0.$end/32 flowid 1:$end
  done
  exec "$@"' thin_link "$mbit" "$@"
