// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import Cubit.CubePOA;
import Cubit.LongsHolder;
import Cubit.Many;
import Cubit.Oneof;
import Cubit.TooBig;
import java.util.concurrent.atomic.AtomicLong;

/** Cubit::Cube. Cubes wrap, except that of cube_long. */
class CubeServant extends CubePOA {
    private static final int LARGEST_ROOT = 1290; // whose cube fits a long

    private final AtomicLong calls = new AtomicLong();
    private final Runnable onShutdown;

    CubeServant(Runnable onShutdown) {
        this.onShutdown = onShutdown;
    }

    private static int cube(int v) {
        return v * v * v;
    }

    private static Many cube(Many v) {
        return new Many((byte) cube(v.o), cube(v.l), (short) cube(v.s));
    }

    @Override public void noop() {
        calls.incrementAndGet();
    }

    @Override public void post(int v) {
        calls.incrementAndGet();
    }

    @Override public byte cube_octet(byte v) {
        calls.incrementAndGet();
        return (byte) cube(v);
    }

    @Override public short cube_short(short v) {
        calls.incrementAndGet();
        return (short) cube(v);
    }

    @Override public int cube_long(int v) throws TooBig {
        calls.incrementAndGet();
        if (v > LARGEST_ROOT || v < -LARGEST_ROOT)
            throw new TooBig(LARGEST_ROOT, "the cube does not fit a long");
        return cube(v);
    }

    @Override public Many cube_many(Many v) {
        calls.incrementAndGet();
        return cube(v);
    }

    @Override public Oneof cube_union(Oneof v) {
        calls.incrementAndGet();
        Oneof result = new Oneof();
        switch (v.discriminator()) {
            case 1 -> result.o((byte) cube(v.o()));
            case 2 -> result.s((short) cube(v.s()));
            case 3 -> result.l(cube(v.l()));
            default -> result.m(v.discriminator(), cube(v.m()));
        }
        return result;
    }

    @Override public void cube_longs(int[] v, LongsHolder cubes) {
        calls.incrementAndGet();
        cubes.value = new int[v.length];
        for (int i = 0; i < v.length; ++i)
            cubes.value[i] = cube(v[i]);
    }

    @Override public byte[] echo_octets(byte[] v) {
        calls.incrementAndGet();
        return v;
    }

    @Override public int[] echo_longs(int[] v) {
        calls.incrementAndGet();
        return v;
    }

    @Override public Many[] echo_manys(Many[] v) {
        calls.incrementAndGet();
        return v;
    }

    @Override public long calls() {
        return calls.incrementAndGet();
    }

    @Override public void shutdown() {
        calls.incrementAndGet();
        onShutdown.run();
    }
}
