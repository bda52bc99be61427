// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import Ttcp.BinStruct;
import Ttcp.ReceiverPOA;
import Ttcp.Tally;

/**
 * Ttcp::Receiver. Its adapter has the single thread model, so that requests are served in the order of their
 * arrival, stop_timer after the sends before it.
 */
final class ReceiverServant extends ReceiverPOA {
    private long calls;
    private long elements;
    private long checksum;

    private void add(int length, long sum) {
        ++calls;
        elements += length;
        checksum += sum;
    }

    /** What one struct adds to the checksum. */
    static long integer(BinStruct v) {
        return v.s + (v.c & 0xff) + (long) v.l + (v.o & 0xff) + Double.doubleToRawLongBits(v.d);
    }

    @Override public void send_shorts(short[] v) {
        long sum = 0;
        for (short x : v)
            sum += x;
        add(v.length, sum);
    }

    @Override public void send_chars(char[] v) {
        long sum = 0;
        for (char x : v)
            sum += x & 0xff;
        add(v.length, sum);
    }

    @Override public void send_longs(int[] v) {
        long sum = 0;
        for (int x : v)
            sum += x;
        add(v.length, sum);
    }

    @Override public void send_octets(byte[] v) {
        long sum = 0;
        for (byte x : v)
            sum += x & 0xff;
        add(v.length, sum);
    }

    @Override public void send_doubles(double[] v) {
        long sum = 0;
        for (double x : v)
            sum += Double.doubleToRawLongBits(x);
        add(v.length, sum);
    }

    @Override public void send_structs(BinStruct[] v) {
        long sum = 0;
        for (BinStruct x : v)
            sum += integer(x);
        add(v.length, sum);
    }

    @Override public Tally stop_timer() {
        return new Tally(calls, elements, checksum);
    }

    @Override public void start_timer() {
        calls = 0;
        elements = 0;
        checksum = 0;
    }

    @Override public BinStruct[] echo_structs(BinStruct[] v) {
        return v;
    }
}
