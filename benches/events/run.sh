#!/bin/sh
# Events per second and latencies of a channel of orbium and of one of omniEvents, with the same
# clients: `benches/events/run.sh [taskset -c 0]`, after
# `cargo build --release -p orbium-bench-events`. Arguments go before each program.
set -eu
bench=${CARGO_TARGET_DIR:-target}/release/orbium-bench-events
folder=$(mktemp -d)
port=${PORT:-21169}
names="-ORBInitRef NameService=corbaloc::127.0.0.1:1/NameService"
trap 'kill $serve $omni $scheduled 2>/dev/null; rm -rf "$folder"' EXIT
serve= omni= scheduled=

mkfifo "$folder/end"
"$@" "$bench" serve <"$folder/end" >"$folder/references" &
serve=$!
exec 8>"$folder/end"
until grep -qs '^relay' "$folder/references"; do sleep 0.1; done
reference() { awk -v name="$1" -v at="$2" '$1 == name { print $at }' "$folder/references"; }

echo "real-time channel of orbium:"
"$@" "$bench" rate --channel "$(reference channel 2)" --events 50000
echo "COS Event, orbium:"
"$@" "$bench" rate --cos "$(reference cos 2)" --events 5000
if command -v eventc >/dev/null; then
    "$@" /usr/sbin/omniEvents -f -p "$port" -l "$folder" -t "$folder/trace" $names 2>/dev/null &
    omni=$!
    sleep 3
    eventc -c 0 -q 100000 -i orbium $names "corbaloc::127.0.0.1:$port/omniEvents" 2>/dev/null
    echo "COS Event, omniEvents, cycle period 0:"
    "$@" "$bench" rate --cos "corbaloc::127.0.0.1:$port/orbium" --events 5000
fi
echo "one event at a time, and two calls in its place:"
"$@" "$bench" latency --channel "$(reference channel 2)" --relay "$(reference relay 2)" "$(reference relay 3)" --events 2000

# A channel that dispatches by a schedule, with 50 consumers.
mkfifo "$folder/end-scheduled"
"$@" "$bench" serve --scheduled <"$folder/end-scheduled" >"$folder/references-scheduled" &
scheduled=$!
exec 7>"$folder/end-scheduled"
until grep -qs '^relay' "$folder/references-scheduled"; do sleep 0.1; done
echo "the consumer of high priority, alone and among 50:"
"$@" "$bench" fan-out --channel "$(awk '$1 == "channel" { print $2 }' "$folder/references-scheduled")"
echo "the same with a thread per consumer:"
"$@" "$bench" fan-out --channel "$(reference channel 2)"
