#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Starts a program of GlassFish's ORB; interop/build.sh fills in the names. Its management beans do not
# understand every class of a JDK after 8, and are to say nothing of it.
exec java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto \
    -Dorg.glassfish.gmbal.no.multipleUpperBoundsException=true \
    -cp '@DIR@/classes:@DIR@/lib/*' @MAIN@ "$@"
