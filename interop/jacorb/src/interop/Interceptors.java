// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import static java.nio.charset.StandardCharsets.UTF_8;

import Cubit.Cube;
import Cubit.CubeHelper;
import Cubit.TooBig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.omg.CORBA.Any;
import org.omg.CORBA.BAD_PARAM;
import org.omg.CORBA.LocalObject;
import org.omg.CORBA.ORB;
import org.omg.CORBA.TCKind;
import org.omg.IOP.ServiceContext;
import org.omg.PortableInterceptor.ClientRequestInfo;
import org.omg.PortableInterceptor.ClientRequestInterceptor;
import org.omg.PortableInterceptor.InvalidSlot;
import org.omg.PortableInterceptor.ORBInitInfo;
import org.omg.PortableInterceptor.ORBInitInfoPackage.DuplicateName;
import org.omg.PortableInterceptor.ORBInitializer;
import org.omg.PortableInterceptor.ServerRequestInfo;
import org.omg.PortableInterceptor.ServerRequestInterceptor;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

/**
 * jacorb-interceptors --cube REF --ior-dir DIR: a cube that passes cube_long on to another one, and interceptors that
 * carry a service context: from the request by a slot to the request that is passed on, and from its reply to the reply.
 * Each writes its name behind what it has received.
 */
public final class Interceptors extends LocalObject
        implements ORBInitializer, ClientRequestInterceptor, ServerRequestInterceptor {
    private static final long serialVersionUID = 1;
    private static final int TAG = 0x4F524273;
    private static final String NAME = ", JacORB";

    /** What the last reply had; calls come one after the other. */
    private static volatile String replied = "nothing";

    private int slot;

    /** The ORB makes one. */
    public Interceptors() {}

    @Override public String name() {
        return "contexts";
    }

    @Override public void destroy() {}

    @Override public void pre_init(ORBInitInfo info) {
        try {
            slot = info.allocate_slot_id();
            info.add_client_request_interceptor(this);
            info.add_server_request_interceptor(this);
        } catch (DuplicateName error) {
            throw new IllegalStateException(error);
        }
    }

    @Override public void post_init(ORBInitInfo info) {}

    private static ServiceContext context(String text) {
        return new ServiceContext(TAG, (text + NAME).getBytes(UTF_8));
    }

    private static String text(ServiceContext context) {
        return new String(context.context_data, UTF_8);
    }

    @Override public void receive_request_service_contexts(ServerRequestInfo request) {
        try {
            Any received = ORB.init().create_any();
            received.insert_string(text(request.get_request_service_context(TAG)));
            request.set_slot(slot, received);
        } catch (BAD_PARAM none) {
            // A request without it.
        } catch (InvalidSlot error) {
            throw new IllegalStateException(error);
        }
    }

    @Override public void send_request(ClientRequestInfo request) {
        try {
            Any received = request.get_slot(slot);
            if (received.type().kind() == TCKind.tk_string)
                request.add_request_service_context(context(received.extract_string()), false);
        } catch (InvalidSlot error) {
            throw new IllegalStateException(error);
        }
    }

    private static void received(ClientRequestInfo reply) {
        try {
            replied = text(reply.get_reply_service_context(TAG));
        } catch (BAD_PARAM none) {
            replied = "nothing";
        }
    }

    private static void send(ServerRequestInfo reply) {
        reply.add_reply_service_context(context(replied), false);
    }

    @Override public void receive_reply(ClientRequestInfo reply) {
        received(reply);
    }

    @Override public void receive_exception(ClientRequestInfo reply) {
        received(reply);
    }

    @Override public void send_reply(ServerRequestInfo reply) {
        send(reply);
    }

    @Override public void send_exception(ServerRequestInfo reply) {
        send(reply);
    }

    @Override public void send_poll(ClientRequestInfo request) {}

    @Override public void receive_other(ClientRequestInfo reply) {}

    @Override public void receive_request(ServerRequestInfo request) {}

    @Override public void send_other(ServerRequestInfo reply) {}

    /** Runs until it is killed. */
    public static void main(String[] args) throws Exception {
        Map<String, String> given = new HashMap<>();
        Options options = new Options(args, (name, value) -> {
            if (!List.of("--ior-dir", "--cube").contains(name))
                return 0;
            given.put(name.substring(2), value);
            return 2;
        });
        if (given.size() != 2) {
            System.err.println("usage: jacorb-interceptors --cube REF --ior-dir DIR");
            System.exit(2);
        }
        System.setProperty("org.omg.PortableInterceptor.ORBInitializerClass." + Interceptors.class.getName(), "");
        ORB orb = options.init();
        Cube target = CubeHelper.narrow(orb.string_to_object(Files.readString(Path.of(given.get("cube"))).trim()));
        POA poa = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        poa.the_POAManager().activate();
        CubeServant front = new CubeServant(() -> {}) {
            @Override public int cube_long(int v) throws TooBig {
                return target.cube_long(v);
            }
        };
        Server.publish(orb, poa.servant_to_reference(front), Path.of(given.get("ior-dir"), "cube.ior"));
        System.out.println("READY");
        System.out.flush();
        orb.run();
    }
}
