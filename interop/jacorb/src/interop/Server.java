// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.omg.CORBA.ORB;
import org.omg.CORBA.Policy;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;
import org.omg.PortableServer.ThreadPolicyValue;

/** jacorb-server --ior-dir DIR [--giop 1.0|1.1] [-Dproperty=value]: serves cubit.idl, ttcp.idl and kitchen.idl. */
public final class Server {
    private Server() {}

    /** Runs until SIGTERM or Cube::shutdown. */
    public static void main(String[] args) throws Exception {
        String[] directory = {""};
        Options options = new Options(args, (name, value) -> {
            if (!name.equals("--ior-dir"))
                return 0;
            directory[0] = value;
            return 2;
        });
        if (directory[0].isEmpty()) {
            System.err.println("usage: jacorb-server --ior-dir DIR [--giop 1.0|1.1] [-Dproperty=value]");
            System.exit(2);
        }
        serve(options.init(), Path.of(directory[0]));
        Runtime.getRuntime().halt(0);
    }

    private static void serve(ORB orb, Path directory) throws Exception {
        POA root = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        POA ordered = root.create_POA("ordered", root.the_POAManager(), new Policy[] {
            root.create_thread_policy(ThreadPolicyValue.SINGLE_THREAD_MODEL),
            root.create_implicit_activation_policy(
                    org.omg.PortableServer.ImplicitActivationPolicyValue.IMPLICIT_ACTIVATION)
        });
        // Not in the thread of the request, which could not be answered then.
        CubeServant cube = new CubeServant(() -> new Thread(() -> orb.shutdown(true)).start());
        root.the_POAManager().activate();

        publish(orb, root.servant_to_reference(cube), directory.resolve("cube.ior"));
        publish(orb, ordered.servant_to_reference(new ReceiverServant()), directory.resolve("receiver.ior"));
        publish(orb, root.servant_to_reference(new PeerServant(root)), directory.resolve("peer.ior"));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0)));
        System.out.println("READY");
        System.out.flush();
        orb.run();
    }

    /** Writes the reference under another name first, so that a reader never sees half of it. */
    static void publish(ORB orb, org.omg.CORBA.Object object, Path path) throws IOException {
        Path unfinished = path.resolveSibling(path.getFileName() + ".tmp");
        Files.writeString(unfinished, orb.object_to_string(object) + "\n");
        Files.move(unfinished, path, StandardCopyOption.ATOMIC_MOVE);
    }
}
