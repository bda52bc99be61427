// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import Cubit.Cube;
import Cubit.CubeHelper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import org.omg.CORBA.LocalObject;
import org.omg.CORBA.ORB;
import org.omg.PortableInterceptor.ClientRequestInfo;
import org.omg.PortableInterceptor.ClientRequestInterceptor;
import org.omg.PortableInterceptor.ORBInitInfo;
import org.omg.PortableInterceptor.ORBInitInfoPackage.DuplicateName;
import org.omg.PortableInterceptor.ORBInitializer;
import org.omg.PortableInterceptor.ServerRequestInfo;
import org.omg.PortableInterceptor.ServerRequestInterceptor;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

/**
 * jacorb-intercepted serve|call INTERCEPTORS CALLS FILE [-Dproperty=value]: a cube with its reference in FILE, and a client
 * that calls its noop, each with so many interceptors that do nothing. The client prints the median of the times as JSON.
 */
public final class Intercepted extends LocalObject
        implements ORBInitializer, ClientRequestInterceptor, ServerRequestInterceptor {
    private static final long serialVersionUID = 1;
    private static final AtomicInteger MADE = new AtomicInteger();
    private static int count;

    private final String name = "nothing " + MADE.incrementAndGet();

    /** The ORB makes one, as an initializer. */
    public Intercepted() {}

    @Override public void pre_init(ORBInitInfo info) {
        try {
            for (int i = 0; i < count; ++i) {
                Intercepted one = new Intercepted();
                info.add_client_request_interceptor(one);
                info.add_server_request_interceptor(one);
            }
        } catch (DuplicateName error) {
            throw new IllegalStateException(error);
        }
    }

    @Override public void post_init(ORBInitInfo info) {}

    @Override public String name() {
        return name;
    }

    @Override public void destroy() {}

    @Override public void send_request(ClientRequestInfo request) {}

    @Override public void send_poll(ClientRequestInfo request) {}

    @Override public void receive_reply(ClientRequestInfo reply) {}

    @Override public void receive_exception(ClientRequestInfo reply) {}

    @Override public void receive_other(ClientRequestInfo reply) {}

    @Override public void receive_request_service_contexts(ServerRequestInfo request) {}

    @Override public void receive_request(ServerRequestInfo request) {}

    @Override public void send_reply(ServerRequestInfo reply) {}

    @Override public void send_exception(ServerRequestInfo reply) {}

    @Override public void send_other(ServerRequestInfo reply) {}

    private static void serve(ORB orb, Path file) throws Exception {
        POA poa = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        poa.the_POAManager().activate();
        Server.publish(orb, poa.servant_to_reference(new CubeServant(() -> {})), file);
        orb.run();
    }

    private static void call(Cube cube, int calls) {
        // Until the machine has compiled what a call runs through, on both sides.
        for (int i = 0; i < Math.max(20_000, calls); ++i)
            cube.noop();
        long[] samples = new long[calls];
        long before = System.nanoTime();
        for (int i = 0; i < calls; ++i) {
            cube.noop();
            long after = System.nanoTime();
            samples[i] = after - before;
            before = after;
        }
        Arrays.sort(samples);
        System.out.println("{\"calls\":" + calls + ",\"median_ns\":" + samples[calls / 2] + "}");
        System.out.flush();
    }

    /** A server runs until it is killed. */
    public static void main(String[] args) throws Exception {
        if (args.length < 4) {
            System.err.println("usage: jacorb-intercepted serve|call INTERCEPTORS CALLS FILE [-Dproperty=value]");
            System.exit(2);
        }
        count = Integer.parseInt(args[1]);
        if (count > 0)
            System.setProperty("org.omg.PortableInterceptor.ORBInitializerClass." + Intercepted.class.getName(), "");
        ORB orb = new Options(Arrays.copyOfRange(args, 4, args.length), (name, value) -> 0).init();
        Path file = Path.of(args[3]);
        if (args[0].equals("serve"))
            serve(orb, file);
        else
            call(CubeHelper.narrow(orb.string_to_object(Files.readString(file).trim())), Integer.parseInt(args[2]));
        Runtime.getRuntime().halt(0);
    }
}
