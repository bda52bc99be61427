// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import static interop.Checks.expect;

import Ttcp.BinStruct;
import Ttcp.Receiver;
import Ttcp.Tally;
import java.util.function.Consumer;
import java.util.function.IntToLongFunction;

/** The checks of ttcp.idl: floods, counted and summed on both sides. */
final class TtcpChecks {
    private static final int ELEMENTS = 5000;
    private static final int CALLS = 50;

    private TtcpChecks() {}

    static void add(Checks checks) {
        checks.add("ttcp.send_shorts", TtcpChecks::shorts);
        checks.add("ttcp.send_chars", TtcpChecks::chars);
        checks.add("ttcp.send_longs", TtcpChecks::longs);
        checks.add("ttcp.send_octets", TtcpChecks::octets);
        checks.add("ttcp.send_doubles", TtcpChecks::doubles);
        checks.add("ttcp.send_structs", TtcpChecks::structs);
        checks.add("ttcp.send_empty", w -> flood(w, 0, i -> 0, r -> r.send_structs(new BinStruct[0])));
        checks.add("ttcp.start_clears", TtcpChecks::startClears);
        for (int length : new int[] {0, 1, 2, 1000, 50000})
            checks.add("ttcp.echo_structs_" + length, w -> echoStructs(w, length));
    }

    // The values sent: both signs, all chars in ASCII, doubles with a fraction.
    private static short shortAt(int i) {
        return (short) (i * 13 - 20000);
    }

    private static char charAt(int i) {
        return (char) (' ' + i % 95);
    }

    private static int longAt(int i) {
        return i * 1000003 - 2000000000;
    }

    private static double doubleAt(int i) {
        return i * 1.75 - 4000.0;
    }

    private static BinStruct structAt(int i) {
        return new BinStruct(shortAt(i), charAt(i), longAt(i), Specimen.bulk(i), doubleAt(i));
    }

    private static BinStruct[] structs(int length) {
        BinStruct[] v = new BinStruct[length];
        for (int i = 0; i < length; ++i)
            v[i] = structAt(i);
        return v;
    }

    private static void flood(World world, int elements, IntToLongFunction value, Consumer<Receiver> send) {
        long sum = 0;
        for (int i = 0; i < elements; ++i)
            sum += value.applyAsLong(i);
        world.receiver().start_timer();
        for (int i = 0; i < CALLS; ++i)
            send.accept(world.receiver());
        Tally tally = world.receiver().stop_timer();
        expect(tally.calls, (long) CALLS, "calls");
        expect(tally.elements, (long) CALLS * elements, "elements");
        expect(tally.checksum, CALLS * sum, "the checksum");
    }

    private static void shorts(World world) {
        short[] v = new short[ELEMENTS];
        for (int i = 0; i < ELEMENTS; ++i)
            v[i] = shortAt(i);
        flood(world, ELEMENTS, TtcpChecks::shortAt, r -> r.send_shorts(v));
    }

    private static void chars(World world) {
        char[] v = new char[ELEMENTS];
        for (int i = 0; i < ELEMENTS; ++i)
            v[i] = charAt(i);
        flood(world, ELEMENTS, TtcpChecks::charAt, r -> r.send_chars(v));
    }

    private static void longs(World world) {
        int[] v = new int[ELEMENTS];
        for (int i = 0; i < ELEMENTS; ++i)
            v[i] = longAt(i);
        flood(world, ELEMENTS, TtcpChecks::longAt, r -> r.send_longs(v));
    }

    private static void octets(World world) {
        byte[] v = new byte[ELEMENTS];
        for (int i = 0; i < ELEMENTS; ++i)
            v[i] = Specimen.bulk(i);
        flood(world, ELEMENTS, i -> Specimen.bulk(i) & 0xff, r -> r.send_octets(v));
    }

    private static void doubles(World world) {
        double[] v = new double[ELEMENTS];
        for (int i = 0; i < ELEMENTS; ++i)
            v[i] = doubleAt(i);
        flood(world, ELEMENTS, i -> Double.doubleToRawLongBits(doubleAt(i)), r -> r.send_doubles(v));
    }

    private static void structs(World world) {
        BinStruct[] v = structs(ELEMENTS);
        flood(world, ELEMENTS, i -> ReceiverServant.integer(structAt(i)), r -> r.send_structs(v));
    }

    private static void startClears(World world) {
        world.receiver().send_octets(new byte[] {1, 2, 3});
        world.receiver().start_timer();
        expect(world.receiver().stop_timer(), new Tally(0, 0, 0), "the tally");
    }

    private static void echoStructs(World world, int length) {
        BinStruct[] sent = structs(length);
        BinStruct[] got = world.receiver().echo_structs(sent);
        expect(got.length, length, "the length");
        expect(got, sent, "the content");
    }
}
