#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Calls within a process, requests that are built at run time, and interceptors that do nothing, beside omniORB's and
# JacORB's, in turns on one processor: `benches/object-model.sh [REPETITIONS [CALLS]]`, 9 and 10,000 by default, after
#
#     cargo build --release -p orbium-cli -p orbium-bench -p orbium-bench-scale && sh interop/build.sh jacorb
#
# omniORB's programs are built here if omniORB is installed. What is not there is left out, and a line says so.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
repetitions=${1:-9}
calls=${2:-10000}
target=${CARGO_TARGET_DIR:-$here/../target}
release=$target/${PROFILE:-release}
omni=$target/bench/omni
jacorb=$target/interop/jacorb-intercepted
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill $server 2>/dev/null; rm -rf "$folder"' EXIT

last=$(taskset -pc $$ | sed 's/.*[^0-9]//')
[ "$(id -u)" != 0 ] || renice -n -10 $$ >/dev/null
on="taskset -c $last"

orbs=orbium
if command -v omniidl >/dev/null && pkg-config --exists omniDynamic4; then
    mkdir -p "$omni"
    make -s -C "$omni" -f "$here/omni/Makefile" SRC="$here/omni" IDL="$here/../idl"
    orbs="orbium omniORB"
else
    echo "omniORB is left out: it is not installed"
fi
[ -x "$jacorb" ] || echo "JacORB is left out: sh interop/build.sh jacorb makes its program"

# The median of a file of numbers.
median() {
    sort -g "$1" | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}
# Nanoseconds of the call in the middle, of a program that prints JSON.
nanoseconds() { "$@" | tr ',{}' '\n\n\n' | sed -n 's/^ *"median_ns": *//p'; }
row() { printf '%-52s %10s %10s\n' "$1" "$2" "$(median "$folder/$3")"; }

# start FILE PROGRAM…: a server that is there when the file is.
start() {
    file=$1
    shift
    rm -f "$file"
    "$@" >/dev/null 2>&1 &
    server=$!
    until [ -s "$file" ]; do
        kill -0 $server
        sleep 0.05
    done
}
stop() {
    kill $server
    wait $server 2>/dev/null || true
    server=
}

# dynamic ORB OPERATION [ARGUMENT]: the medians of the stub and of requests; their ratio.
dynamic() {
    cube=$folder/$1/cube.ior
    if [ "$1" = orbium ]; then
        stub=$(nanoseconds $on "$release/orbium" demo call --json --ref "$cube" --op "$2" --calls "$calls")
        built=$(nanoseconds $on "$release/orbium" call --json --repeat "$calls" --idl "$here/../idl/cubit.idl" "$cube" "$2" ${3:-})
    else
        stub=$(nanoseconds $on "$omni/omni-client" "$cube" "$2" "$calls" 0)
        built=$(nanoseconds $on "$omni/omni-client" "$cube" "dii_$2" "$calls" 0)
    fi
    echo "$built $stub" | awk '{ print $1 / $2 }' >>"$folder/$1-$2"
}

# intercepted ORB COUNT: the median of an empty call with so many interceptors on either side.
intercepted() {
    file=$folder/intercepted.ior
    if [ "$1" = orbium ]; then
        start "$file" $on "$release/orbium-bench-scale" serve narrow 1 "$file" "$2" empty
        nanoseconds $on "$release/orbium-bench-scale" time narrow "$calls" "$file" "$2" empty
    else
        start "$file" $on "$jacorb" serve "$2" "$calls" "$file"
        nanoseconds $on "$jacorb" call "$2" "$calls" "$file" 2>/dev/null
    fi
    stop
}

for repetition in $(seq "$repetitions"); do
    echo "repetition $repetition of $repetitions" >&2
    $on "$release/orbium-bench" collocated --calls 5000 >"$folder/table"
    for way in 'through the POA' direct marshalled; do
        sed -n "s/^$way *noop *\([0-9.]*\) ns.*/\1/p" "$folder/table" >>"$folder/collocated $way"
    done
    for orb in $orbs; do
        mkdir -p "$folder/$orb"
        if [ $orb = orbium ]; then
            start "$folder/$orb/receiver.ior" $on "$release/orbium" demo serve --endpoint iiop://127.0.0.1:0 --ior-dir "$folder/$orb"
        else
            nanoseconds $on "$omni/omni-collocated" 5000 >>"$folder/omniORB through the POA"
            nanoseconds $on "$omni/omni-collocated-direct" 5000 >>"$folder/omniORB direct"
            start "$folder/$orb/receiver.ior" $on "$omni/omni-server" "$folder/$orb" -ORBendPoint giop:tcp:127.0.0.1:0
        fi
        dynamic $orb noop
        dynamic $orb cube_long 7
        stop
    done
    for orb in orbium JacORB; do
        [ $orb = orbium ] || [ -x "$jacorb" ] || continue
        without=$(intercepted $orb 0)
        with=$(intercepted $orb 4)
        echo "$without" | awk '{ print $1 / 1000 }' >>"$folder/$orb without"
        echo "$with $without" | awk '{ print ($1 - $2) / 1000 }' >>"$folder/$orb added"
    done
done

printf '%-52s %10s %10s\n' figure ORB median
for way in 'through the POA' direct marshalled; do
    row "collocated empty call, $way, ns" orbium "collocated $way"
    [ ! -e "$folder/omniORB $way" ] || row "collocated empty call, $way, ns" omniORB "omniORB $way"
done
for operation in noop cube_long; do
    for orb in $orbs; do
        row "$operation by a request built at run time, over stub" $orb "$orb-$operation"
    done
done
for orb in orbium JacORB; do
    [ -e "$folder/$orb without" ] || continue
    row "empty call without interceptors, µs" $orb "$orb without"
    row "four interceptors on either side, µs more" $orb "$orb added"
done
