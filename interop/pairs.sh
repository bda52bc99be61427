#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# usage: interop/pairs.sh [OUTDIR]
#
# Runs the foreign clients against the foreign servers, at each GIOP version, to validate the peers themselves.
# Prints a matrix and every failure that EXPECTED.md does not list; exit code 1 when there is one.
# VERSIONS="1.2" or PEERS="omni" in the environment select.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../target/interop}
logs=$out/pairs
versions=${VERSIONS:-1.2 1.1 1.0}
peers=${PEERS:-omni jacorb}
unexpected=0

for peer in $peers; do
    "$here/build.sh" "$peer" "$out" || exit
done
mkdir -p "$logs"
rm -f "$logs"/*.log "$logs"/*.bad

# Starts a server and waits, without a fixed time, for it to serve or to end.
start() {
    dir=$logs/$2.iors
    rm -rf "$dir"
    mkdir -p "$dir"
    : >"$dir/out"
    "$out/$1-server" --ior-dir "$dir" $3 >"$dir/out" 2>"$dir/err" &
    server=$!
    while kill -0 $server 2>/dev/null && ! grep -q READY "$dir/out"; do
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

printf '%-8s %-8s %-5s %7s %8s %10s %7s\n' client server GIOP passed expected unexpected skipped
for version in $versions; do
    option=
    [ "$version" = 1.2 ] || option="--giop $version"
    for server_peer in $peers; do
        for client in $peers; do
            name=$client-$server_peer-$version
            log=$logs/$name.log
            start "$server_peer" "$name" "$option"
            "$out/$client-client" --cube "$dir/cube.ior" --receiver "$dir/receiver.ior" --peer "$dir/peer.ior" \
                --shutdown $option >"$log" 2>"$log.err"
            kill $server 2>/dev/null
            wait $server || echo "FAIL server: ended with $?" >>"$log"
            tail -n 2 "$log" | grep -q ' passed, ' || echo "FAIL client: did not finish" >>"$log"
            judge "$client" "$server_peer" "$version" "$log" >"$logs/$name.bad"
            bad=$(grep -c . "$logs/$name.bad")
            failed=$(grep -c '^FAIL ' "$log")
            printf '%-8s %-8s %-5s %7d %8d %10d %7d\n' "$client" "$server_peer" "$version" \
                "$(grep -c '^ok ' "$log")" $((failed - bad)) "$bad" "$(grep -c '^skip ' "$log")"
            unexpected=$((unexpected + bad))
            cat "$logs/$name.bad"
        done
    done
done
[ $unexpected = 0 ]
