#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Starts a JacORB peer; interop/build.sh fills in the names. The flags shorten the start of the machine.
# Without a logging back-end slf4j complains once on standard error: harmless.
exec java -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -XX:SharedArchiveFile='@DIR@/peer.jsa' \
    -cp '@DIR@/peer.jar:@DIR@/lib/*' @MAIN@ "$@"
