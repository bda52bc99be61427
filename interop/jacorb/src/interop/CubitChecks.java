// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import static interop.Checks.expect;
import static interop.Checks.require;

import Cubit.LongsHolder;
import Cubit.Many;
import Cubit.Oneof;
import Cubit.TooBig;

/** The checks of cubit.idl. */
final class CubitChecks {
    private static final int FIVE_MEGABYTES = 5 * 1024 * 1024;

    private CubitChecks() {}

    static void add(Checks checks) {
        checks.add("cubit.noop", w -> w.cube().noop());
        checks.add("cubit.post", CubitChecks::post);
        checks.add("cubit.calls", CubitChecks::calls);
        checks.add("cubit.cube_octet", w -> expect(w.cube().cube_octet((byte) 6) & 0xff, 216, "6 cubed"));
        checks.add("cubit.cube_octet_wraps", w -> expect(w.cube().cube_octet((byte) 7) & 0xff, 343 - 256, "7 cubed"));
        checks.add("cubit.cube_short", w -> expect(w.cube().cube_short((short) -31), (short) -29791, "-31 cubed"));
        checks.add("cubit.cube_long", w -> expect(w.cube().cube_long(1290), 2146689000, "1290 cubed"));
        checks.add("cubit.cube_long_negative", w -> expect(w.cube().cube_long(-3), -27, "-3 cubed"));
        checks.add("cubit.too_big", w -> tooBig(w, 1291));
        checks.add("cubit.too_big_max", w -> tooBig(w, Integer.MAX_VALUE));
        checks.add("cubit.cube_many", w -> expect(w.cube().cube_many(new Many((byte) 6, -1290, (short) 31)),
                new Many((byte) 216, -2146689000, (short) 29791), "the result"));
        addUnions(checks);
        checks.add("cubit.cube_longs", w -> cubeLongs(w, 100));
        checks.add("cubit.cube_longs_empty", w -> cubeLongs(w, 0));
        checks.add("cubit.cube_longs_large", w -> cubeLongs(w, 100000));
        for (int length : new int[] {0, 1, 1023, 8192, 65536, FIVE_MEGABYTES})
            checks.add("cubit.echo_octets_" + length, w -> echoOctets(w, length));
        for (int length : new int[] {0, 1, 1000, 300000})
            checks.add("cubit.echo_longs_" + length, w -> echoLongs(w, length));
        for (int length : new int[] {0, 1, 3, 1000, 100000})
            checks.add("cubit.echo_manys_" + length, w -> echoManys(w, length));
        checks.add("cubit.shutdown", w -> {
            if (!w.shutdown())
                throw new Checks.Skip("only with --shutdown");
            w.cube().shutdown();
        });
    }

    private static void addUnions(Checks checks) {
        checks.add("cubit.cube_union_octet", w -> {
            Oneof sent = new Oneof();
            sent.o((byte) 5);
            expect(w.cube().cube_union(sent).o(), (byte) 125, "5 cubed");
        });
        checks.add("cubit.cube_union_short", w -> {
            Oneof sent = new Oneof();
            sent.s((short) -9);
            expect(w.cube().cube_union(sent).s(), (short) -729, "-9 cubed");
        });
        checks.add("cubit.cube_union_long", w -> {
            Oneof sent = new Oneof();
            sent.l(1000);
            expect(w.cube().cube_union(sent).l(), 1000000000, "1000 cubed");
        });
        checks.add("cubit.cube_union_default", w -> {
            Oneof sent = new Oneof();
            sent.m(new Many((byte) 3, 4, (short) 5));
            expect(w.cube().cube_union(sent).m(), new Many((byte) 27, 64, (short) 125), "the result");
        });
        checks.add("cubit.cube_union_default_kept", KitchenChecks::discriminatorLost);
    }

    // Each look at the attribute is a request as well; posts may be served later than a look.
    private static void post(World world) throws InterruptedException {
        final int posts = 5;
        long start = world.cube().calls();
        for (int i = 0; i < posts; ++i)
            world.cube().post(i);
        long looks = 0;
        long now;
        do {
            Thread.sleep(2);
            now = world.cube().calls();
            ++looks;
        } while (now - start < looks + posts && looks < 2500);
        expect(now - start - looks, (long) posts, "the number of posts served");
    }

    private static void calls(World world) {
        long start = world.cube().calls();
        world.cube().noop();
        world.cube().cube_octet((byte) 1);
        expect(world.cube().calls() - start, 3L, "the number of requests served");
    }

    private static void tooBig(World world, int v) {
        try {
            world.cube().cube_long(v);
        } catch (TooBig e) {
            expect(e.limit, 1290, "the limit");
            require(!e.why.isEmpty(), "why is empty");
            return;
        }
        throw new Checks.Failure("TooBig was not raised");
    }

    private static void cubeLongs(World world, int length) {
        int[] sent = new int[length];
        int[] want = new int[length];
        for (int i = 0; i < length; ++i) {
            sent[i] = i % 1291 * (i % 2 == 0 ? 1 : -1);
            want[i] = sent[i] * sent[i] * sent[i];
        }
        LongsHolder got = new LongsHolder();
        world.cube().cube_longs(sent, got);
        expect(got.value, want, "the result");
    }

    private static void echoOctets(World world, int length) {
        byte[] sent = new byte[length];
        for (int i = 0; i < length; ++i)
            sent[i] = Specimen.bulk(i);
        byte[] got = world.cube().echo_octets(sent);
        expect(got.length, length, "the length");
        require(java.util.Arrays.equals(got, sent), "the content differs");
    }

    private static void echoLongs(World world, int length) {
        int[] sent = new int[length];
        for (int i = 0; i < length; ++i)
            sent[i] = i * (int) 2654435761L;
        int[] got = world.cube().echo_longs(sent);
        expect(got.length, length, "the length");
        require(java.util.Arrays.equals(got, sent), "the content differs");
    }

    private static void echoManys(World world, int length) {
        Many[] sent = new Many[length];
        for (int i = 0; i < length; ++i)
            sent[i] = new Many(Specimen.bulk(i), -i, (short) i);
        Many[] got = world.cube().echo_manys(sent);
        expect(got.length, length, "the length");
        expect(got, sent, "the content");
    }
}
