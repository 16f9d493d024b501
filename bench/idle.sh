#!/bin/sh
# What a worker takes that has nothing to do, as it is built for use (make build): the share
# of a core over a minute (IDLE=SECONDS for another time), and memory. It has the settings of
# one with a model server, and its status page. The NATS server is that of another process.
# Fails above 1 % of a core or 40 MB. Linux only: it reads /proc.
set -eu
seconds=${IDLE:-60}
bin=${1:-bin}
dir=$(mktemp -d) server= idle=
trap 'kill $server $idle 2>/dev/null || true; wait; rm -rf "$dir"' EXIT
free() { ! grep -q "^ *[0-9]*: [0-9A-F]*:$(printf %04X "$1") " /proc/net/tcp /proc/net/tcp6; }
port=14222
until free "$port"; do port=$((port + 1)); done
export NATS_URL="nats://127.0.0.1:$port"
"$bin/worker" run --provider offline --embedded --store-dir "$dir" --listen "" 2>"$dir/server.log" & server=$!
ready() { # LOG
	for _ in $(seq 100); do
		grep -q msg=working "$1" && return
		sleep 0.1
	done
	cat "$1" >&2
	exit 1
}
ready "$dir/server.log"
"$bin/worker" run --rpm 60 --openai-base-url http://127.0.0.1:9/v1 --openai-api-key none --listen 127.0.0.1:0 2>"$dir/idle.log" & idle=$!
ready "$dir/idle.log"
sleep 5 # it has begun
ticks() { awk '{print $14 + $15}' "/proc/$idle/stat"; }
before=$(ticks)
sleep "$seconds"
used=$(($(ticks) - before))
awk -v used="$used" -v hz="$(getconf CLK_TCK)" -v seconds="$seconds" '
	/^VmRSS:/ {mb = $2 / 1024}
	END {
		core = 100 * used / hz / seconds
		printf "idle worker: %.2f %% of a core over %d s, %.1f MB\n", core, seconds, mb
		exit core >= 1 || mb >= 40
	}' "/proc/$idle/status"
