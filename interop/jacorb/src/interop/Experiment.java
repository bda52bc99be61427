// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import Cubit.Cube;
import Cubit.CubeHelper;
import Cubit.CubePOA;
import Cubit.LongsHolder;
import Cubit.Many;
import Cubit.Oneof;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.omg.CORBA.NO_IMPLEMENT;
import org.omg.CORBA.ORB;
import org.omg.CORBA.SystemException;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

/**
 * jacorb-experiment server|client [--object NAME=REF]… [-Dproperty=value]: JacORB's side of `orbium-bench inversion`,
 * `threads` and `locks`. Understands the lines that orbium's own processes understand; crates/orbium-cli says which.
 */
public final class Experiment {
    private static final long BUSY = 1_000_000;
    private static final long HIGH_PERIOD = 50_000_000;
    private static final long LOW_PERIOD = 100_000_000;
    private static final int WARM_UP = 50;

    private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    private final Map<String, Cube> objects = new HashMap<>();

    private Experiment() {}

    /** Runs until the input ends. */
    public static void main(String[] args) throws Exception {
        new Experiment().run(args);
        Runtime.getRuntime().halt(0);
    }

    private void run(String[] args) throws Exception {
        Map<String, String> references = new HashMap<>();
        String[] rest = new String[args.length - 1];
        System.arraycopy(args, 1, rest, 0, rest.length);
        Options options = new Options(rest, (name, value) -> {
            if (!name.equals("--object"))
                return 0;
            String[] parts = value.split("=", 2);
            references.put(parts[0], parts[1]);
            return 2;
        });
        ORB orb = options.init();
        if (args[0].equals("server")) {
            serve(orb);
            return;
        }
        references.forEach((name, text) -> objects.put(name, CubeHelper.narrow(orb.string_to_object(text))));
        out.println("READY");
        BufferedReader in = input();
        for (String line = in.readLine(); line != null; line = in.readLine())
            out.println(obey(line.split(" ")));
    }

    private static BufferedReader input() {
        return new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    }

    private void serve(ORB orb) throws Exception {
        POA root = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        for (String name : new String[] {"high", "low", "busy-high", "busy-low"}) {
            Servant servant = new Servant(name.startsWith("busy"));
            out.println(name + " " + orb.object_to_string(root.servant_to_reference(servant)));
        }
        root.the_POAManager().activate();
        out.println("READY");
        BufferedReader in = input();
        while (in.readLine() != null)
            out.println("null"); // nothing is counted here
    }

    private String obey(String[] words) throws Exception {
        int first = Integer.parseInt(words[1]);
        long second = Long.parseLong(words[2]);
        switch (words[0]) {
            case "paced":
                return pacing("", first, second, LOW_PERIOD);
            case "saturated":
                return pacing("busy-", first, second, 0);
            case "load":
                return load(first, second);
            case "calls":
                return calls(first, second);
            default:
                throw new IOException("unknown: " + words[0]);
        }
    }

    /** What a thread has measured. */
    private static final class Found {
        final List<Long> nanoseconds = new ArrayList<>();
        long failed;
    }

    private String pacing(String prefix, int lowClients, long milliseconds, long lowPeriod) throws Exception {
        Cube high = objects.get(prefix + "high");
        Cube low = objects.get(prefix + "low");
        CyclicBarrier barrier = new CyclicBarrier(lowClients + 1);
        AtomicBoolean ends = new AtomicBoolean();
        AtomicLong left = new AtomicLong(Math.max(1, milliseconds * 1_000_000 / HIGH_PERIOD));
        List<Found> found = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i <= lowClients; ++i) {
            Found own = new Found();
            found.add(own);
            boolean isHigh = i == 0;
            threads.add(new Thread(() -> {
                BooleanSupplier more = isHigh ? () -> left.decrementAndGet() > 0 : () -> !ends.get();
                periodic(own, isHigh ? high : low, isHigh ? HIGH_PERIOD : lowPeriod, barrier, more);
                if (isHigh)
                    ends.set(true);
            }));
        }
        for (Thread thread : threads)
            thread.start();
        for (Thread thread : threads)
            thread.join();
        List<Long> all = new ArrayList<>();
        long failed = 0;
        for (Found own : found) {
            failed += own.failed;
            if (own != found.get(0))
                all.addAll(own.nanoseconds);
        }
        return "{\"high\":" + list(found.get(0).nanoseconds) + ",\"low\":" + list(all) + ",\"failed\":" + failed
                + ",\"refused\":\"Java has no real-time threads\"}";
    }

    private static String list(List<Long> values) {
        return values.toString().replace(" ", "");
    }

    private static void periodic(Found found, Cube cube, long period, CyclicBarrier barrier, BooleanSupplier more) {
        await(barrier);
        call(found, cube);
        call(found, cube);
        await(barrier);
        long next = System.nanoTime();
        while (true) {
            long begin = System.nanoTime();
            if (call(found, cube))
                found.nanoseconds.add(System.nanoTime() - begin);
            if (!more.getAsBoolean())
                return;
            next += period;
            long now = System.nanoTime();
            if (next - now < 0)
                next = now;
            while (next - System.nanoTime() > 0)
                LockSupport.parkNanos(next - System.nanoTime());
        }
    }

    private static boolean call(Found found, Cube cube) {
        try {
            cube.cube_octet((byte) 7);
            return true;
        } catch (SystemException e) {
            ++found.failed;
            return false;
        }
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (InterruptedException | java.util.concurrent.BrokenBarrierException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Runs the work in so many threads at once, after each has warmed up. */
    private List<Thread> inThreads(int count, CyclicBarrier barrier, java.util.function.Consumer<Cube> work) {
        Cube cube = objects.get("high");
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; ++i) {
            Thread thread = new Thread(() -> {
                for (int made = 0; made < WARM_UP; ++made)
                    cube.noop();
                await(barrier);
                work.accept(cube);
            });
            threads.add(thread);
            thread.start();
        }
        await(barrier);
        return threads;
    }

    private String load(int count, long milliseconds) throws Exception {
        AtomicBoolean ends = new AtomicBoolean();
        AtomicLong calls = new AtomicLong();
        List<Thread> threads = inThreads(count, new CyclicBarrier(count + 1), cube -> {
            long own = 0;
            for (; !ends.get(); ++own)
                cube.noop();
            calls.addAndGet(own);
        });
        long begin = System.nanoTime();
        TimeUnit.MILLISECONDS.sleep(milliseconds);
        ends.set(true);
        long elapsed = System.nanoTime() - begin;
        for (Thread thread : threads)
            thread.join();
        return "{\"calls\":" + calls.get() + ",\"nanoseconds\":" + elapsed + "}";
    }

    private String calls(int count, long each) throws Exception {
        List<Thread> threads = inThreads(count, new CyclicBarrier(count + 1), cube -> {
            for (long made = 0; made < each; ++made)
                cube.noop();
        });
        for (Thread thread : threads)
            thread.join();
        return "{\"calls\":" + count * each + ",\"locks\":null}";
    }

    /** Cubes an octet, and may be busy for a millisecond. */
    private static final class Servant extends CubePOA {
        private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

        private final boolean isBusy;

        Servant(boolean isBusy) {
            this.isBusy = isBusy;
        }

        @Override public void noop() {}

        @Override public void post(int v) {}

        @Override public byte cube_octet(byte v) {
            if (isBusy) {
                long end = THREADS.getCurrentThreadCpuTime() + BUSY;
                while (THREADS.getCurrentThreadCpuTime() < end)
                    Thread.onSpinWait();
            }
            return (byte) (v * v * v);
        }

        @Override public short cube_short(short v) {
            throw new NO_IMPLEMENT();
        }

        @Override public int cube_long(int v) {
            throw new NO_IMPLEMENT();
        }

        @Override public Many cube_many(Many v) {
            throw new NO_IMPLEMENT();
        }

        @Override public Oneof cube_union(Oneof v) {
            throw new NO_IMPLEMENT();
        }

        @Override public void cube_longs(int[] v, LongsHolder cubes) {
            throw new NO_IMPLEMENT();
        }

        @Override public byte[] echo_octets(byte[] v) {
            throw new NO_IMPLEMENT();
        }

        @Override public int[] echo_longs(int[] v) {
            throw new NO_IMPLEMENT();
        }

        @Override public Many[] echo_manys(Many[] v) {
            throw new NO_IMPLEMENT();
        }

        @Override public long calls() {
            throw new NO_IMPLEMENT();
        }

        @Override public void shutdown() {
            throw new NO_IMPLEMENT();
        }
    }
}
