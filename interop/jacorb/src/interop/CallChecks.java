// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import static interop.Checks.expect;
import static interop.Checks.require;

import Kitchen.Base;
import Kitchen.BaseHelper;
import Kitchen.Colour;
import Kitchen.Empty;
import Kitchen.OtherHelper;
import Kitchen.Peer;
import Kitchen.Refused;
import interop.Checks.Needs;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.omg.CORBA.BAD_PARAM;
import org.omg.CORBA.CompletionStatus;
import org.omg.CORBA.SystemException;

/** Call-backs, exceptions, attributes and names of kitchen.idl. */
final class CallChecks {
    private CallChecks() {}

    static void add(Checks checks) {
        checks.add("kitchen.ping", w -> w.peer().ping());
        checks.add("kitchen.ident", w -> ident(w.peer().ident()));
        checks.add("kitchen.through_bases", CallChecks::throughBases);
        checks.add("kitchen.label", w -> label(w, "plain"));
        checks.add("kitchen.label_unicode", Needs.CODE_SET, w -> label(w, "\u03a9 \u6f22"));
        checks.add("kitchen.shade", w -> expect(w.peer().shade(), Colour.blue, "the shade"));
        checks.add("kitchen.make_peers_none", w -> makePeers(w, 0));
        checks.add("kitchen.make_peers", w -> makePeers(w, 20));
        checks.add("kitchen.call_back_0", w -> callBack(w, 0));
        checks.add("kitchen.call_back_1", w -> callBack(w, 1));
        checks.add("kitchen.call_back_10", w -> callBack(w, 10));
        checks.add("kitchen.call_back_itself", w -> w.peer().call_back(w.peer().make_peers(1)[0], 6));
        checks.add("kitchen.refuse_bare", CallChecks::refuseBare);
        checks.add("kitchen.refuse", Needs.WIDE, CallChecks::refuse);
        for (String name : Specimen.SYSTEM_EXCEPTIONS)
            checks.add("system." + name, w -> systemException(w, name));
        checks.add("system.unknown_name", CallChecks::unknownException);
        checks.add("kitchen.notify", w -> {
            for (int i = 0; i < 10; ++i)
                w.peer()._notify("something happened");
            w.peer().ping();
        });
        checks.add("kitchen.slow", w -> expect(w.peer().slow(200), 200, "the answer"));
        checks.add("kitchen.concurrent", CallChecks::concurrent);
        checks.add("kitchen.interface", w -> expect(w.peer()._interface(40, "ab"), 42, "the sum"));
        checks.add("kitchen.match", w -> expect(w.peer().match(-5, 8), 3, "the sum"));
    }

    private static void ident(byte[] id) {
        expect(id.length, 16, "the length");
        for (int i = 0; i < 16; ++i)
            expect(id[i], (byte) i, "octet " + i);
    }

    private static void throughBases(World world) {
        Base base = BaseHelper.narrow(world.peer());
        base.ping();
        expect(base.shade(), Colour.blue, "the shade");
        ident(OtherHelper.narrow(world.peer()).ident());
    }

    private static void label(World world, String text) {
        world.peer().label(text);
        expect(world.peer().label(), text, "the label");
    }

    private static void makePeers(World world, int n) {
        Peer[] peers = world.peer().make_peers(n);
        expect(peers.length, n, "the number");
        for (int i = 0; i < n; ++i)
            peers[i].label("peer " + i);
        for (int i = 0; i < n; ++i) {
            expect(peers[i].label(), "peer " + i, "the label of new object " + i);
            expect(peers[i].match(2, 3), 5, "the sum");
        }
    }

    private static void callBack(World world, int depth) throws Exception {
        PeerServant servant = new PeerServant(world.poa());
        world.peer().call_back(PeerServant.activate(world.poa(), servant), depth);
        expect(servant.calledBack(), (depth + 1) / 2, "the number of call-backs");
        world.poa().deactivate_object(world.poa().servant_to_id(servant));
    }

    private static void refuseBare(World world) throws Refused {
        try {
            world.peer().refuse(true);
        } catch (Empty e) {
            return;
        }
        throw new Checks.Failure("Empty was not raised");
    }

    private static void refuse(World world) throws Empty {
        Refused want = Specimen.refused();
        try {
            world.peer().refuse(false);
        } catch (Refused e) {
            expect(e.why, want.why, "why");
            expect(e.detail, want.detail, "the detail");
            expect(e.evidence, want.evidence, "the evidence");
            return;
        }
        throw new Checks.Failure("Refused was not raised");
    }

    private static void systemException(World world, String name) {
        try {
            world.peer().system_exception(name);
        } catch (SystemException e) {
            expect(e.getClass().getSimpleName(), name, "the name");
            expect(e.minor, Specimen.MINOR, "the minor code");
            require(e.completed == Specimen.COMPLETED, "the completion status differs");
            return;
        }
        throw new Checks.Failure("nothing was raised");
    }

    private static void unknownException(World world) {
        try {
            world.peer().system_exception("NO_SUCH_EXCEPTION");
        } catch (BAD_PARAM e) {
            expect(e.minor, 1, "the minor code");
            require(e.completed == CompletionStatus.COMPLETED_NO, "the completion status differs");
            return;
        }
        throw new Checks.Failure("nothing was raised");
    }

    // A slow request must not hold up, or be taken for, the others of the same connection.
    private static void concurrent(World world) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(5);
        List<Callable<Boolean>> tasks = new ArrayList<>();
        tasks.add(() -> world.peer().slow(300) == 300);
        for (int t = 0; t < 4; ++t) {
            int base = t * 1000;
            tasks.add(() -> {
                for (int i = 0; i < 50; ++i)
                    if (world.peer().match(base, i) != base + i)
                        return false;
                return true;
            });
        }
        try {
            for (Future<Boolean> task : threads.invokeAll(tasks))
                require(task.get(), "a wrong answer");
        } finally {
            threads.shutdown();
        }
    }
}
