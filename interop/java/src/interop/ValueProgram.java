// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import Values.Echo;
import Values.EchoHelper;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.omg.CORBA.ORB;
import org.omg.CORBA.SystemException;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

/**
 * PEER-values server --ior-dir DIR: echoes values; PEER-values client --echo REF: runs the checks of values; PEER-values codebase
 * REF ID…: asks a code base for value types.
 */
public final class ValueProgram {
    private ValueProgram() {}

    /** Exit code 0 when all went well, 1 when a check failed, 2 for a wrong command line. */
    public static void main(String[] args) throws Exception {
        boolean serves = args.length == 3 && args[0].equals("server") && args[1].equals("--ior-dir");
        boolean calls = (args.length == 3 || args.length == 5 && args[3].equals("--only"))
                && args[0].equals("client") && args[1].equals("--echo");
        boolean asks = args.length >= 3 && args[0].equals("codebase");
        if (!serves && !calls && !asks) {
            System.err.println("usage: PEER-values server --ior-dir DIR   or   PEER-values client --echo REF [--only NAME]"
                    + "   or   PEER-values codebase REF ID...");
            System.exit(2);
        }
        ORB orb = ORB.init(new String[0], System.getProperties());
        POA poa = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        poa.the_POAManager().activate();
        ValueTypes.register(orb);
        int status = 0;
        if (serves)
            serve(orb, poa, Path.of(args[2]));
        else if (asks)
            new CodeBaseQuestions(orb, args[1]).ask(List.of(args).subList(2, args.length));
        else
            status = call(orb, poa, args[2], args.length == 5 ? args[4] : "");
        Runtime.getRuntime().halt(status); // nobody waits for the ORB to clean up
    }

    private static void serve(ORB orb, POA poa, Path directory) throws Exception {
        // Not in the thread of the request, which could not end then.
        EchoServant echo = new EchoServant(() -> new Thread(() -> orb.shutdown(true)).start());
        publish(orb, poa.servant_to_reference(echo), directory.resolve("echo.ior"));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0)));
        System.out.println("READY");
        System.out.flush();
        orb.run();
    }

    /** Writes the reference under another name first, so that a reader never sees half of it. */
    private static void publish(ORB orb, org.omg.CORBA.Object object, Path path) throws IOException {
        Path unfinished = path.resolveSibling(path.getFileName() + ".tmp");
        Files.writeString(unfinished, orb.object_to_string(object) + "\n");
        Files.move(unfinished, path, StandardCopyOption.ATOMIC_MOVE);
    }

    private static int call(ORB orb, POA poa, String reference, String only) throws IOException {
        if (Files.exists(Path.of(reference)))
            reference = Files.readString(Path.of(reference)).trim();
        Echo echo = EchoHelper.unchecked_narrow(orb.string_to_object(reference));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        int passed = 0;
        int failed = 0;
        for (ValueChecks.Check check : new ValueChecks(orb, poa, echo).all) {
            if (!only.isEmpty() && !only.equals(check.name()))
                continue;
            String reason = failure(check);
            if (reason == null) {
                ++passed;
                out.println("ok " + check.name());
            } else {
                ++failed;
                out.println("FAIL " + check.name() + ": " + reason);
                reconnect(echo);
            }
        }
        out.println(passed + " passed, " + failed + " failed");
        return failed == 0 ? 0 : 1;
    }

    /** After a broken connection an ORB may lose one more call to it: better this one than the next check's. */
    private static void reconnect(Echo echo) {
        try {
            echo._non_existent();
        } catch (SystemException e) {
            return;
        }
    }

    private static String failure(ValueChecks.Check check) {
        try {
            check.body().run();
            return null;
        } catch (ValueChecks.Failure e) {
            return e.getMessage();
        } catch (Exception | StackOverflowError | LinkageError e) {
            return "unexpected " + e.toString().replace('\n', ' ');
        }
    }
}
