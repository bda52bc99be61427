#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# usage: interop/build.sh omni|jacorb|glassfish|refragment [OUTDIR]      (OUTDIR: target/interop in the repository)
#
# Builds OUTDIR/omni-server, omni-client, omni-forwarder, omni-values, omni-handlers, omni-contexts, omni-pulls, omni-rtec, omni-experiment and
# omni-experiment-counted, or
# OUTDIR/jacorb-server, jacorb-client, jacorb-forwarder, jacorb-values, jacorb-experiment, jacorb-interceptors,
# jacorb-intercepted, jacorb-handlers, jacorb-names,
# jacorb-notify, jacorb-notify-client and jacorb-definitions, or OUTDIR/glassfish-names, glassfish-values and glassfish-templates, or OUTDIR/refragment.
# Exit code 0: built or up to date; 3: the peer is not available here, one line says what is missing.
# Installs nothing, unless ORBIUM_INSTALL_PEERS=1 and we are root on a system with apt-get.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
peer=${1:-}
mkdir -p "${2:-$here/../target/interop}"
out=$(cd "${2:-$here/../target/interop}" && pwd)
idl=$here/../idl

unavailable() {
    echo "$peer: not available: $1"
    exit 3
}

install() {
    if [ "${ORBIUM_INSTALL_PEERS:-0}" = 1 ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >&2
    fi
}

have() {
    for program; do
        command -v "$program" >/dev/null || return 1
    done
}

build_omni() {
    have g++ make pkg-config omniidl && pkg-config --exists omniDynamic4 ||
        install g++ make pkg-config omniidl libomniorb4-dev || unavailable "the packages could not be installed"
    for program in g++ make pkg-config omniidl; do
        have $program || unavailable "$program is missing"
    done
    pkg-config --exists omniDynamic4 || unavailable "the omniORB 4 headers (libomniorb4-dev) are missing"
    mkdir -p "$out/omni"
    make -s -C "$out/omni" -f "$here/omni/Makefile" SRC="$here/omni" IDL="$idl" -j "${ORBIUM_JOBS:-2}"
    for program in server client forwarder values handlers contexts pulls rtec experiment experiment-counted; do
        ln -sf "omni/omni-$program" "$out/omni-$program"
    done
}

# A build is up to date when the stamp is newer than every source.
current() {
    [ -f "$1" ] && [ -z "$(find "$here/$peer" "$here/java" "$here/build.sh" "$here/templates.idl" "$idl" "$here/../crates/orbium-notification/idl" -type f -newer "$1" | head -n 1)" ]
}

# Writes a script that starts the values' program: the directory of the build, and the options of the machine.
launch_values() {
    sed -e "s|@DIR@|$1|g" -e "s|@OPTIONS@|$2|" "$here/java/launcher.sh" >"$out/$peer-values"
    chmod +x "$out/$peer-values"
}

build_jacorb() {
    have java javac mvn || install openjdk-17-jdk-headless maven || unavailable "the packages could not be installed"
    for program in java javac; do
        have $program || unavailable "$program is missing"
    done
    dir=$out/jacorb
    mkdir -p "$dir"
    ! current "$dir/stamp" || return 0
    if ! cmp -s "$here/jacorb/pom.xml" "$dir/pom.xml"; then
        have mvn || unavailable "mvn is missing"
        rm -rf "$dir/lib"
        mvn -q -B -f "$here/jacorb/pom.xml" dependency:copy-dependencies -DoutputDirectory="$dir/lib" >"$dir/mvn.log" 2>&1 ||
            unavailable "Maven cannot fetch JacORB (see $dir/mvn.log)"
        cp "$here/jacorb/pom.xml" "$dir/pom.xml"
    fi
    rm -rf "$dir/gen" "$dir/classes"
    mkdir -p "$dir/gen" "$dir/classes"
    for file in "$idl/cubit" "$idl/ttcp" "$idl/kitchen" "$idl/values" "$idl/further" "$idl/packed" "$idl/alarms" \
        "$here/templates"; do
        java -cp "$dir/lib/*" org.jacorb.idl.parser "-I$idl" -d "$dir/gen" "$file.idl" >"$dir/idl.log" 2>&1 || {
            cat "$dir/idl.log"
            exit 1
        }
    done
    java -cp "$dir/lib/*" org.jacorb.idl.parser -ami_callback -d "$dir/gen" "$idl/handlers.idl" >"$dir/idl.log" 2>&1 || {
        cat "$dir/idl.log"
        exit 1
    }
    find "$dir/gen" -name '*.java' >"$dir/generated.txt"
    javac -nowarn -Xlint:none -proc:none -d "$dir/classes" -cp "$dir/lib/*" @"$dir/generated.txt" 2>"$dir/javac.log" || {
        cat "$dir/javac.log"
        exit 1
    }
    # Our own sources with all warnings, against the generated classes.
    find "$here/jacorb/src" "$here/java/src" -name '*.java' >"$dir/sources.txt"
    javac -Xlint:all -Werror -proc:none -d "$dir/classes" -cp "$dir/classes:$dir/lib/*" @"$dir/sources.txt"
    # Only classes of JAR files can be archived.
    jar --create --file "$dir/peer.jar" -C "$dir/classes" .
    for role in Server Client Experiment Names Definitions Forwarder Interceptors Handlers Notify NotifyClient; do
        launcher=$out/jacorb-$(echo $role | sed 's/\(.\)Client$/\1-client/' | tr SCENDFIH scendfih)
        sed -e "s|@DIR@|$dir|g" -e "s|@MAIN@|interop.$role|" "$here/jacorb/launcher.sh" >"$launcher"
        chmod +x "$launcher"
    done
    # What is measured has both compilers of the machine.
    sed -e "s|@DIR@|$dir|g" -e "s|@MAIN@|interop.Intercepted|" -e 's/-XX:TieredStopAtLevel=1 //' "$here/jacorb/launcher.sh" \
        >"$out/jacorb-intercepted"
    chmod +x "$out/jacorb-intercepted"
    launch_values "$dir" "-Dorg.omg.CORBA.ORBClass=org.jacorb.orb.ORB \
-Dorg.omg.CORBA.ORBSingletonClass=org.jacorb.orb.ORBSingleton -Djacorb.log.default.verbosity=0 -Djacorb.retries=0 \
-DOAIAddr=127.0.0.1 -Djavax.rmi.CORBA.UtilClass=interop.RmiUtil"
    archive_jacorb
    touch "$dir/stamp"
}

# Lets a client call a server, and archives the classes that were loaded: a machine that finds them there starts in two
# thirds of the processor time. Without the archive it loads them as ever.
archive_jacorb() {
    local server tries=0
    rm -rf "$dir/peer.jsa" "$dir/iors"
    mkdir "$dir/iors"
    "$out/jacorb-server" --ior-dir "$dir/iors" >"$dir/archive.log" 2>&1 &
    server=$!
    until [ -e "$dir/iors/peer.ior" ] || [ $((tries += 1)) -gt 300 ]; do
        sleep 0.1
    done
    sed 's|-XX:SharedArchiveFile=|-XX:ArchiveClassesAtExit=|' "$out/jacorb-client" >"$dir/archiving-client"
    timeout 60 sh "$dir/archiving-client" --cube "file://$dir/iors/cube.ior" --receiver "file://$dir/iors/receiver.ior" \
        --peer "file://$dir/iors/peer.ior" >>"$dir/archive.log" 2>&1 || true
    kill "$server"
    wait "$server" || true
}

build_glassfish() {
    have java javac mvn || install openjdk-17-jdk-headless maven || unavailable "the packages could not be installed"
    for program in java javac; do
        have $program || unavailable "$program is missing"
    done
    dir=$out/glassfish
    mkdir -p "$dir"
    ! current "$dir/stamp" || return 0
    if ! cmp -s "$here/glassfish/pom.xml" "$dir/pom.xml"; then
        have mvn || unavailable "mvn is missing"
        rm -rf "$dir/lib"
        mvn -q -B -f "$here/glassfish/pom.xml" dependency:copy-dependencies -DoutputDirectory="$dir/lib" \
            >"$dir/mvn.log" 2>&1 || unavailable "Maven cannot fetch GlassFish's ORB (see $dir/mvn.log)"
        cp "$here/glassfish/pom.xml" "$dir/pom.xml"
    fi
    rm -rf "$dir/gen" "$dir/classes" "$dir/src"
    mkdir -p "$dir/gen" "$dir/classes" "$dir/src"
    # This ORB takes the name of the class of a value from its repository id: the prefix is a package.
    for file in "$idl/values" "$idl/further" "$idl/packed" "$idl/alarms" "$here/templates"; do
        java -cp "$dir/lib/*" com.sun.tools.corba.ee.idl.toJavaPortable.Compile -fall -i "$idl" \
            -pkgPrefix Values orbium.test -pkgPrefix Further orbium.test -pkgPrefix Packed orbium.test \
            -pkgPrefix Alarms orbium.test \
            -td "$dir/gen" "$file.idl" >"$dir/idl.log" 2>&1 || {
            cat "$dir/idl.log"
            exit 1
        }
    done
    for source in "$here"/java/src/interop/*.java; do
        sed -E 's/\b(Values|Further|Packed|Alarms)\.([A-Z])/orbium.test.\1.\2/g' "$source" >"$dir/src/$(basename "$source")"
    done
    # The default factories want implementations of their own; the program registers its factories.
    find "$dir/gen" -name '*.java' ! -name '*DefaultFactory.java' >"$dir/generated.txt"
    javac -nowarn -Xlint:none -proc:none -d "$dir/classes" -cp "$dir/lib/*" @"$dir/generated.txt" 2>"$dir/javac.log" || {
        cat "$dir/javac.log"
        exit 1
    }
    javac -Xlint:all,-classfile,-path -Werror -proc:none -d "$dir/classes" -cp "$dir/classes:$dir/lib/*" \
        "$here"/glassfish/src/interop/*.java "$dir"/src/*.java
    for role in Names Templates; do
        launcher=$out/glassfish-$(echo $role | tr NT nt)
        sed -e "s|@DIR@|$dir|g" -e "s|@MAIN@|interop.$role|" "$here/glassfish/launcher.sh" >"$launcher"
        chmod +x "$launcher"
    done
    launch_values "$dir" "-Dorg.omg.CORBA.ORBClass=com.sun.corba.ee.impl.orb.ORBImpl \
-Dorg.omg.CORBA.ORBSingletonClass=com.sun.corba.ee.impl.orb.ORBSingleton -Dcom.sun.corba.ee.ORBServerHost=127.0.0.1 \
-Dorg.glassfish.gmbal.no.multipleUpperBoundsException=true"
    touch "$dir/stamp"
}

build_refragment() {
    have g++ || install g++ || unavailable "the package could not be installed"
    have g++ || unavailable "g++ is missing"
    source=$here/refragment/refragment.cc
    [ -n "$(find "$out/refragment" -newer "$source" 2>/dev/null)" ] ||
        g++ -std=c++17 -O1 -Wall -Wextra -o "$out/refragment" "$source" -lpthread
}

# Two builds of the same peer at the same time take turns.
if have flock; then
    exec 9>"$out/.$peer.lock"
    flock 9
fi

case $peer in
omni) build_omni ;;
jacorb) build_jacorb ;;
glassfish) build_glassfish ;;
refragment) build_refragment ;;
*)
    echo "usage: $0 omni|jacorb|glassfish|refragment [OUTDIR]" >&2
    exit 2
    ;;
esac
