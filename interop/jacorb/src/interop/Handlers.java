// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import Handlers.AMI_TankHandler;
import Handlers.AMI_TankHandlerHelper;
import Handlers.AMI_TankHandlerPOA;
import Handlers.Empty;
import Handlers.Sink;
import Handlers.SinkHelper;
import Handlers.TankHelper;
import Handlers._TankStub;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jacorb.orb.ExceptionHolderImpl;
import org.omg.CORBA.ORB;
import org.omg.CORBA.SystemException;
import org.omg.CORBA.UserException;
import org.omg.Messaging.ExceptionHolder;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

/**
 * jacorb-handlers handler --sink REF --ior-dir DIR: serves a reply handler, which reports to the sink what it takes;
 * jacorb-handlers client --tank REF --sink REF --ior-dir DIR: calls the tank, with such a handler of its own, for JacORB's
 * calls hand their replies to servants of the same program alone.
 */
public final class Handlers extends AMI_TankHandlerPOA {
    private final Sink sink;

    /** The thread that brings a reply may not wait for another one of the same connection. */
    private final ExecutorService reports = Executors.newSingleThreadExecutor();

    private Handlers(Sink sink) {
        this.sink = sink;
    }

    private void tell(String what) {
        reports.execute(() -> sink.taken(what));
    }

    private void tell(String operation, ExceptionHolder holder) {
        try {
            holder.raise_exception();
        } catch (Empty raised) {
            tell(operation + " empty: " + raised.why);
        } catch (SystemException | UserException raised) {
            tell(operation + " " + raised.getClass().getSimpleName());
        }
    }

    @Override public void _get_label(String label) {
        tell("label " + label);
    }

    @Override public void _set_label() {
        tell("set_label");
    }

    @Override public void level(int level, short turns, String unit) {
        tell("level " + level + " " + turns + " " + unit);
    }

    @Override public void drain() {
        tell("drain");
    }

    @Override public void _get_label_excep(ExceptionHolder holder) {
        tell("get_label_excep", holder);
    }

    @Override public void _set_label_excep(ExceptionHolder holder) {
        tell("set_label_excep", holder);
    }

    @Override public void level_excep(ExceptionHolder holder) {
        tell("level_excep", holder);
    }

    @Override public void drain_excep(ExceptionHolder holder) {
        tell("drain_excep", holder);
    }

    private static void call(_TankStub tank, AMI_TankHandler handler) {
        tank.sendc_set_label(handler, "of JacORB");
        tank.sendc_level(handler, 3, (short) 4);
        tank.sendc_level(handler, -1, (short) 0);
        tank.sendc_level(handler, 0, (short) 0);
        tank.sendc_drain(handler);
    }

    private static org.omg.CORBA.Object read(ORB orb, String reference) throws java.io.IOException {
        boolean isFile = !reference.startsWith("IOR:") && !reference.startsWith("corbaloc:");
        return orb.string_to_object(isFile ? Files.readString(Path.of(reference)).trim() : reference);
    }

    /** Runs until it is killed. */
    public static void main(String[] args) throws Exception {
        Map<String, String> given = new HashMap<>();
        boolean serves = args.length > 0 && args[0].equals("handler");
        Options options = new Options(args.length == 0 ? args : List.of(args).subList(1, args.length).toArray(String[]::new),
                (name, value) -> {
                    if (!List.of("--ior-dir", "--sink", "--tank").contains(name))
                        return 0;
                    given.put(name.substring(2), value);
                    return 2;
                });
        if (!given.containsKey("sink") || !given.containsKey(serves ? "ior-dir" : "tank")) {
            System.err.println("usage: jacorb-handlers handler --sink REF --ior-dir DIR\n"
                    + "   or  jacorb-handlers client --tank REF --sink REF [--ior-dir DIR]");
            System.exit(2);
        }
        ORB orb = options.init();
        // The value that holds an exception, as JacORB has it.
        ((org.omg.CORBA_2_3.ORB) orb).register_value_factory("IDL:omg.org/Messaging/ExceptionHolder:1.0", in -> {
            ExceptionHolderImpl holder = new ExceptionHolderImpl((org.jacorb.orb.ORB) orb);
            holder._read(in);
            return holder;
        });
        POA poa = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        poa.the_POAManager().activate();
        Handlers servant = new Handlers(SinkHelper.narrow(read(orb, given.get("sink"))));
        AMI_TankHandler handler = AMI_TankHandlerHelper.narrow(poa.servant_to_reference(servant));
        if (serves)
            Server.publish(orb, handler, Path.of(given.get("ior-dir"), "handler.ior"));
        else
            call((_TankStub) TankHelper.narrow(read(orb, given.get("tank"))), handler);
        System.out.println("READY");
        System.out.flush();
        orb.run();
    }
}
