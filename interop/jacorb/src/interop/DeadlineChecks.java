// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import static interop.Checks.expect;
import static interop.Checks.require;

import Kitchen.Peer;
import Kitchen.PeerHelper;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jacorb.util.Time;
import org.omg.CORBA.Any;
import org.omg.CORBA.CompletionStatus;
import org.omg.CORBA.ORB;
import org.omg.CORBA.Policy;
import org.omg.CORBA.PolicyError;
import org.omg.CORBA.PolicyManager;
import org.omg.CORBA.PolicyManagerHelper;
import org.omg.CORBA.SetOverrideType;
import org.omg.CORBA.TIMEOUT;
import org.omg.Messaging.RELATIVE_RT_TIMEOUT_POLICY_TYPE;
import org.omg.Messaging.REQUEST_END_TIME_POLICY_TYPE;
import org.omg.TimeBase.UtcTHelper;

/**
 * The time policies of CORBA Messaging, which JacORB sends in a service context: with every call, and with some that
 * are late.
 */
final class DeadlineChecks {
    /** TimeBase::TimeT counts in 100 ns. */
    private static final long UNITS_PER_MILLISECOND = 10_000;

    private static final int AN_HOUR = 3_600_000;

    private DeadlineChecks() {}

    static void add(Checks checks) {
        checks.add("deadline.in_time", w -> expect(within(w, 30_000).slow(50), 50, "the answer"));
        checks.add("deadline.late_servant", DeadlineChecks::lateServant);
        checks.add("deadline.late_request", DeadlineChecks::lateRequest);
    }

    /** Every call of this ORB says that it has an hour. */
    static void bound(ORB orb) throws Exception {
        PolicyManager manager = PolicyManagerHelper.narrow(orb.resolve_initial_references("ORBPolicyManager"));
        manager.set_policy_overrides(new Policy[] {roundtrip(orb, AN_HOUR)}, SetOverrideType.ADD_OVERRIDE);
    }

    private static Policy roundtrip(ORB orb, int milliseconds) throws PolicyError {
        Any value = orb.create_any();
        value.insert_ulonglong(milliseconds * UNITS_PER_MILLISECOND);
        return orb.create_policy(RELATIVE_RT_TIMEOUT_POLICY_TYPE.value, value);
    }

    private static Policy requestEnd(ORB orb, int milliseconds) throws PolicyError {
        Any value = orb.create_any();
        UtcTHelper.insert(value, Time.corbaFuture(milliseconds * UNITS_PER_MILLISECOND));
        return orb.create_policy(REQUEST_END_TIME_POLICY_TYPE.value, value);
    }

    private static Peer under(World world, Policy policy) {
        org.omg.CORBA.Object bounded = world.peer()._set_policy_override(new Policy[] {policy}, SetOverrideType.ADD_OVERRIDE);
        return PeerHelper.unchecked_narrow(bounded);
    }

    private static Peer within(World world, int milliseconds) throws PolicyError {
        return under(world, roundtrip(world.orb(), milliseconds));
    }

    private static void lateServant(World world) throws Exception {
        try {
            within(world, 300).slow(1500);
        } catch (TIMEOUT e) {
            expect(world.peer().slow(1), 1, "the next answer");
            return;
        }
        throw new Checks.Failure("TIMEOUT was not raised");
    }

    /** What waits behind another call of the same connection beyond its end is not begun. */
    private static void lateRequest(World world) throws Exception {
        world.peer().label("as it was");
        ExecutorService other = Executors.newSingleThreadExecutor();
        try {
            Future<Integer> busy = other.submit(() -> world.peer().slow(1500));
            Thread.sleep(300); // until the server is busy
            Peer hurried = under(world, requestEnd(world.orb(), 300));
            try {
                hurried.label("too late");
                throw new Checks.Failure("TIMEOUT was not raised");
            } catch (TIMEOUT e) {
                require(e.completed == CompletionStatus.COMPLETED_NO, "the completion status is not NO");
            }
            expect(busy.get(), 1500, "the answer of the other call");
            expect(world.peer().label(), "as it was", "the label");
        } finally {
            other.shutdown();
        }
    }
}
