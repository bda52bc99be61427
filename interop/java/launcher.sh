#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Starts the values' program of a Java ORB; interop/build.sh fills in where it is and how its ORB is chosen.
exec java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto @OPTIONS@ \
    -cp '@DIR@/classes:@DIR@/lib/*' interop.ValueProgram "$@"
