#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# usage: interop/pairs.sh [OUTDIR]
#
# Runs the foreign clients against the foreign servers, at each GIOP version, to validate the peers themselves;
# 1.2/64 is GIOP 1.2 with every message cut into fragments of 64 octets on its way.
# Prints a matrix and every failure that EXPECTED.md does not list; exit code 1 when there is one.
# VERSIONS="1.2" or PEERS="omni" in the environment select.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../target/interop}
logs=$out/pairs
versions=${VERSIONS:-1.2 1.2/64 1.1 1.0}
peers=${PEERS:-omni jacorb}
unexpected=0

for peer in $peers refragment; do
    "$here/build.sh" "$peer" "$out" || exit
done
mkdir -p "$logs"
rm -f "$logs"/*.log "$logs"/*.bad

# Starts a program that puts references into a directory, and waits for it to be ready or to end.
start() {
    dir=$1
    shift
    rm -rf "$dir"
    mkdir -p "$dir"
    : >"$dir/out"
    "$@" "$dir" >"$dir/out" 2>"$dir/err" &
    started=$!
    while kill -0 $started 2>/dev/null && ! grep -q READY "$dir/out"; do
        sleep 0.05
    done
}

# The failures in a log that EXPECTED.md does not list for this client, server and version.
judge() {
    awk -v client="$1" -v server="$2" -v version="$3" '
        function means(pattern, name,    n) {
            n = length(pattern)
            if (substr(pattern, n) == "*")
                return substr(name, 1, n - 1) == substr(pattern, 1, n - 1)
            return pattern == name
        }
        NR == FNR {
            count = split($0, cell, / *\| */)
            if (count > 6 && means(cell[2], client) && means(cell[3], server) && means(cell[4], version))
                expected = expected " " cell[5]
            next
        }
        /^FAIL / {
            name = substr($2, 1, length($2) - 1)
            count = split(expected, pattern, " ")
            for (i = 1; i <= count; ++i)
                if (means(pattern[i], name))
                    next
            print
        }
    ' "$here/EXPECTED.md" "$4"
}

printf '%-8s %-8s %-7s %7s %8s %10s %7s\n' client server GIOP passed expected unexpected skipped
for version in $versions; do
    giop=${version%/*}
    option=
    [ "$giop" = 1.2 ] || option="--giop $giop"
    for server_peer in $peers; do
        for client in $peers; do
            name=$client-$server_peer-$(echo "$version" | tr / -)
            log=$logs/$name.log
            start "$logs/$name.iors" "$out/$server_peer-server" $option --ior-dir
            server=$started
            relay=
            if [ "$version" != "$giop" ]; then
                start "$logs/$name.relayed" "$out/refragment" --size "${version#*/}" "$dir"
                relay=$started
            fi
            "$out/$client-client" --cube "$dir/cube.ior" --receiver "$dir/receiver.ior" --peer "$dir/peer.ior" \
                --shutdown $option >"$log" 2>"$log.err"
            kill $server $relay 2>/dev/null
            wait $server || echo "FAIL server: ended with $?" >>"$log"
            tail -n 2 "$log" | grep -q ' passed, ' || echo "FAIL client: did not finish" >>"$log"
            judge "$client" "$server_peer" "$giop" "$log" >"$logs/$name.bad"
            bad=$(grep -c . "$logs/$name.bad")
            failed=$(grep -c '^FAIL ' "$log")
            printf '%-8s %-8s %-7s %7d %8d %10d %7d\n' "$client" "$server_peer" "$version" \
                "$(grep -c '^ok ' "$log")" $((failed - bad)) "$bad" "$(grep -c '^skip ' "$log")"
            unexpected=$((unexpected + bad))
            cat "$logs/$name.bad"
        done
    done
done
[ $unexpected = 0 ]
