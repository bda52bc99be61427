// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import Cubit.CubeHelper;
import Kitchen.PeerHelper;
import Ttcp.ReceiverHelper;
import interop.Checks.Check;
import interop.Checks.Needs;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.omg.CORBA.CompletionStatus;
import org.omg.CORBA.ORB;
import org.omg.CORBA.SystemException;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

/** jacorb-client: runs the checks of interop/README.md against a server and prints a line for each. */
public final class Client {
    private final Map<String, String> references = new HashMap<>();
    private final List<String> only = new ArrayList<>();
    private final List<String> skip = new ArrayList<>();
    private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    private boolean list;
    private boolean shutdown;
    private boolean deadlines;

    private Client() {}

    /** Exit code 0 when every check passed, 1 when one failed, 2 for a wrong command line. */
    public static void main(String[] args) throws Exception {
        int status = new Client().run(args);
        Runtime.getRuntime().halt(status); // nobody waits for the ORB to clean up
    }

    private int take(String name, String value) {
        switch (name) {
            case "--list" -> {
                list = true;
                return 1;
            }
            case "--shutdown" -> {
                shutdown = true;
                return 1;
            }
            case "--deadlines" -> {
                deadlines = true;
                return 1;
            }
            case "--only" -> only.add(value);
            case "--skip" -> skip.add(value);
            case "--cube", "--receiver", "--peer" -> references.put(name, value);
            default -> {
                return 0;
            }
        }
        return 2;
    }

    private Checks checks() {
        Checks checks = new Checks();
        TtcpChecks.add(checks);
        KitchenChecks.add(checks);
        AnyChecks.add(checks);
        CallChecks.add(checks);
        ObjectChecks.add(checks);
        if (deadlines)
            DeadlineChecks.add(checks);
        CubitChecks.add(checks); // last, for it ends with shutdown
        return checks;
    }

    private int run(String[] args) throws Exception {
        Options options = new Options(args, this::take);
        if (list) {
            checks().all.forEach(check -> out.println(check.name()));
            return 0;
        }
        if (references.size() != 3) {
            System.err.println("usage: jacorb-client --cube REF --receiver REF --peer REF [--only NAME] [--skip NAME]");
            System.err.println("         [--deadlines] [--shutdown] [--giop 1.0|1.1] [-Dproperty=value]   or   jacorb-client --list");
            return 2;
        }
        ORB orb = options.init();
        POA poa = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        poa.the_POAManager().activate();
        if (deadlines)
            DeadlineChecks.bound(orb);
        int minor = options.giopMinor();
        World world = new World(orb, poa,
                CubeHelper.unchecked_narrow(resolve(orb, "--cube", minor)),
                ReceiverHelper.unchecked_narrow(resolve(orb, "--receiver", minor)),
                PeerHelper.unchecked_narrow(resolve(orb, "--peer", minor)), minor, shutdown);
        return runChecks(world);
    }

    /** A reference as given, or the content of the file so named. */
    private org.omg.CORBA.Object resolve(ORB orb, String which, int minor) throws Exception {
        String reference = references.get(which);
        if (!reference.contains(":") || Files.exists(Path.of(reference)))
            reference = Files.readString(Path.of(reference)).trim();
        if (minor < 2 && reference.startsWith("IOR:"))
            reference = Ior.parse(reference).downgraded(minor);
        return orb.string_to_object(reference);
    }

    private static boolean matches(List<String> patterns, String name) {
        return patterns.stream().anyMatch(pattern -> pattern.endsWith("*")
                ? name.startsWith(pattern.substring(0, pattern.length() - 1)) : name.equals(pattern));
    }

    private int runChecks(World world) {
        int passed = 0;
        int failed = 0;
        for (Check check : checks().all) {
            if (!only.isEmpty() && !matches(only, check.name()) || matches(skip, check.name()))
                continue;
            try {
                cannotCarry(check, world);
                String reason = failure(check, world);
                if (reason == null) {
                    ++passed;
                    out.println("ok " + check.name());
                } else {
                    ++failed;
                    out.println("FAIL " + check.name() + ": " + reason);
                    reconnect(world);
                }
            } catch (Checks.Skip e) {
                out.println("skip " + check.name() + ": " + e.getMessage());
            }
        }
        out.println(passed + " passed, " + failed + " failed");
        return failed == 0 ? 0 : 1;
    }

    /** After a broken connection JacORB may lose one more call to it: better this one than the next check's. */
    private static void reconnect(World world) {
        for (org.omg.CORBA.Object object : List.of(world.cube(), world.receiver(), world.peer())) {
            try {
                object._non_existent();
            } catch (SystemException e) {
                continue;
            }
        }
    }

    private static void cannotCarry(Check check, World world) {
        if (world.giopMinor() > 0)
            return;
        if (check.needs() == Needs.WIDE)
            throw new Checks.Skip("GIOP 1.0 has no wide characters");
        if (check.needs() == Needs.CODE_SET)
            throw new Checks.Skip("GIOP 1.0 negotiates no code set");
    }

    private static String failure(Check check, World world) {
        try {
            check.body().run(world);
            return null;
        } catch (Checks.Skip e) {
            throw e;
        } catch (Checks.Failure e) {
            return e.getMessage();
        } catch (SystemException e) {
            return describe(e);
        } catch (Exception | StackOverflowError e) {
            return "unexpected " + e;
        }
    }

    private static String describe(SystemException e) {
        String completed = e.completed == CompletionStatus.COMPLETED_YES ? "YES"
                : e.completed == CompletionStatus.COMPLETED_NO ? "NO" : "MAYBE";
        String message = e.getMessage() == null ? "" : " (" + e.getMessage().replace('\n', ' ') + ")";
        return e.getClass().getSimpleName() + " minor 0x" + Integer.toHexString(e.minor) + " completed " + completed + message;
    }
}
