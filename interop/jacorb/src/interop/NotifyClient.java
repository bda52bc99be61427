// SPDX-License-Identifier: MIT OR Apache-2.0
package interop;

import java.util.Arrays;
import java.util.Properties;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.omg.CORBA.Any;
import org.omg.CORBA.IntHolder;
import org.omg.CORBA.ORB;
import org.omg.CosNotification.EventHeader;
import org.omg.CosNotification.EventType;
import org.omg.CosNotification.FixedEventHeader;
import org.omg.CosNotification.Property;
import org.omg.CosNotification.StructuredEvent;
import org.omg.CosNotification.UnsupportedQoS;
import org.omg.CosNotifyChannelAdmin.ClientType;
import org.omg.CosNotifyChannelAdmin.ConsumerAdmin;
import org.omg.CosNotifyChannelAdmin.EventChannel;
import org.omg.CosNotifyChannelAdmin.EventChannelHelper;
import org.omg.CosNotifyChannelAdmin.ProxyPullSupplier;
import org.omg.CosNotifyChannelAdmin.ProxyPullSupplierHelper;
import org.omg.CosNotifyChannelAdmin.SequenceProxyPushConsumer;
import org.omg.CosNotifyChannelAdmin.SequenceProxyPushConsumerHelper;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPullConsumer;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPullConsumerHelper;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPullSupplier;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPullSupplierHelper;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPushConsumer;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPushConsumerHelper;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPushSupplier;
import org.omg.CosNotifyChannelAdmin.StructuredProxyPushSupplierHelper;
import org.omg.CosNotifyChannelAdmin.SupplierAdmin;
import org.omg.CosNotifyComm.StructuredPullSupplierPOA;
import org.omg.CosNotifyComm.StructuredPushConsumer;
import org.omg.CosNotifyComm.StructuredPushConsumerHelper;
import org.omg.CosNotifyComm.StructuredPushConsumerPOA;
import org.omg.CosNotifyComm.StructuredPullSupplierHelper;
import org.omg.CosNotifyFilter.ConstraintExp;
import org.omg.CosNotifyFilter.Filter;
import org.omg.CosNotifyFilter.InvalidConstraint;
import org.omg.CosNotifyFilter.MappingConstraintPair;
import org.omg.CosNotifyFilter.MappingFilter;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;
import org.omg.PortableServer.Servant;

/** A client of a notification channel, whose reference is its argument; prints a line for each check. */
public final class NotifyClient {
    private static final long PATIENCE = 60;

    private final ORB orb;
    private final POA poa;
    private final EventChannel channel;
    private final ConsumerAdmin consumers;
    private final SupplierAdmin suppliers;

    private NotifyClient(ORB orb, String reference) throws Exception {
        this.orb = orb;
        poa = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        poa.the_POAManager().activate();
        channel = EventChannelHelper.narrow(orb.string_to_object(reference));
        consumers = channel.default_consumer_admin();
        suppliers = channel.default_supplier_admin();
    }

    private interface Check {
        void run() throws Exception;
    }

    private static void check(String name, Check check) {
        try {
            check.run();
            System.out.println("ok " + name);
        } catch (Exception error) {
            System.out.println("FAIL " + name + ": " + error);
            error.printStackTrace();
        }
        System.out.flush();
    }

    private static void same(Object expected, Object found) {
        if (!expected.equals(found)) {
            throw new IllegalStateException(expected + " expected, " + found + " found");
        }
    }

    /** Runs all checks. */
    public static void main(String[] args) throws Exception {
        Properties properties = new Properties();
        properties.put("org.omg.CORBA.ORBClass", "org.jacorb.orb.ORB");
        properties.put("org.omg.CORBA.ORBSingletonClass", "org.jacorb.orb.ORBSingleton");
        properties.put("jacorb.log.default.verbosity", "0");
        properties.put("OAIAddr", "127.0.0.1");
        ORB orb = ORB.init(new String[0], properties);
        NotifyClient client = new NotifyClient(orb, args[0]);
        check("structured_push", client::structuredPush);
        check("any_pull", client::anyPull);
        check("sequence_push", client::sequencePush);
        check("constraints", client::constraints);
        check("qos", client::qos);
        check("pulled_supplier", client::pulledSupplier);
        check("mapping_filter", client::mappingFilter);
        orb.shutdown(true);
    }

    private StructuredEvent event(int number) {
        Any value = orb.create_any();
        value.insert_long(number);
        EventType type = new EventType("Telecom", "Alarm");
        EventHeader header = new EventHeader(new FixedEventHeader(type, "lost"), new Property[0]);
        Any body = orb.create_any();
        body.insert_string("body " + number);
        return new StructuredEvent(header, new Property[] {new Property("severity", value)}, body);
    }

    private static int severity(StructuredEvent event) {
        return event.filterable_data[0].value.extract_long();
    }

    private Filter filter(String constraint) throws Exception {
        Filter filter = channel.default_filter_factory().create_filter("EXTENDED_TCL");
        filter.add_constraints(new ConstraintExp[] {new ConstraintExp(new EventType[0], constraint)});
        return filter;
    }

    private StructuredProxyPushConsumer supplier() throws Exception {
        StructuredProxyPushConsumer supplier =
                StructuredProxyPushConsumerHelper.narrow(
                        suppliers.obtain_notification_push_consumer(
                                ClientType.STRUCTURED_EVENT, new IntHolder()));
        supplier.connect_structured_push_supplier(null);
        return supplier;
    }

    private StructuredProxyPullSupplier puller() throws Exception {
        StructuredProxyPullSupplier proxy =
                StructuredProxyPullSupplierHelper.narrow(
                        consumers.obtain_notification_pull_supplier(
                                ClientType.STRUCTURED_EVENT, new IntHolder()));
        return proxy;
    }

    private org.omg.CORBA.Object object(Servant servant) throws Exception {
        return poa.servant_to_reference(servant);
    }

    /** Puts what it is pushed into a queue. */
    private static final class Consumer extends StructuredPushConsumerPOA {
        final BlockingQueue<StructuredEvent> events = new LinkedBlockingQueue<>();

        @Override
        public void push_structured_event(StructuredEvent event) {
            events.add(event);
        }

        @Override
        public void disconnect_structured_push_consumer() {}

        @Override
        public void offer_change(EventType[] added, EventType[] removed) {}
    }

    private void structuredPush() throws Exception {
        Consumer consumer = new Consumer();
        StructuredProxyPushSupplier proxy =
                StructuredProxyPushSupplierHelper.narrow(
                        consumers.obtain_notification_push_supplier(
                                ClientType.STRUCTURED_EVENT, new IntHolder()));
        proxy.add_filter(filter("$severity > 3 and $domain_name == 'Telecom'"));
        StructuredPushConsumer reference = StructuredPushConsumerHelper.narrow(object(consumer));
        proxy.connect_structured_push_consumer(reference);
        StructuredProxyPushConsumer supplier = supplier();
        for (int number = 0; number < 10; number++) {
            supplier.push_structured_event(event(number));
        }
        for (int number = 4; number < 10; number++) {
            StructuredEvent event = consumer.events.poll(PATIENCE, TimeUnit.SECONDS);
            same(number, severity(event));
            same("body " + number, event.remainder_of_body.extract_string());
        }
        proxy.suspend_connection();
        supplier.push_structured_event(event(20));
        same(0, consumer.events.size());
        proxy.resume_connection();
        same(20, severity(consumer.events.poll(PATIENCE, TimeUnit.SECONDS)));
        proxy.disconnect_structured_push_supplier();
        supplier.disconnect_structured_push_consumer();
    }

    private void anyPull() throws Exception {
        ProxyPullSupplier puller =
                ProxyPullSupplierHelper.narrow(
                        consumers.obtain_notification_pull_supplier(
                                ClientType.ANY_EVENT, new IntHolder()));
        puller.connect_any_pull_consumer(null);
        org.omg.CosNotifyChannelAdmin.ProxyPushConsumer supplier =
                org.omg.CosNotifyChannelAdmin.ProxyPushConsumerHelper.narrow(
                        suppliers.obtain_notification_push_consumer(
                                ClientType.ANY_EVENT, new IntHolder()));
        supplier.connect_any_push_supplier(null);
        Any any = orb.create_any();
        any.insert_double(2.5);
        supplier.push(any);
        same(2.5, puller.pull().extract_double());
        supplier.disconnect_push_consumer();
        puller.disconnect_pull_supplier();
    }

    private void sequencePush() throws Exception {
        StructuredProxyPullSupplier puller = puller();
        puller.connect_structured_pull_consumer(null);
        SequenceProxyPushConsumer supplier =
                SequenceProxyPushConsumerHelper.narrow(
                        suppliers.obtain_notification_push_consumer(
                                ClientType.SEQUENCE_EVENT, new IntHolder()));
        supplier.connect_sequence_push_supplier(null);
        supplier.push_structured_events(new StructuredEvent[] {event(1), event(2), event(3)});
        for (int number = 1; number < 4; number++) {
            same(number, severity(puller.pull_structured_event()));
        }
        puller.disconnect_structured_pull_supplier();
    }

    private void constraints() throws Exception {
        Filter filter = filter("$severity == 7 or exist $.header.variable_header(Priority)");
        same(true, filter.match_structured(event(7)));
        same(false, filter.match_structured(event(8)));
        same(1, filter.get_all_constraints().length);
        try {
            filter("$severity ==");
            throw new IllegalStateException("half a constraint was accepted");
        } catch (InvalidConstraint expected) {
            same("$severity ==", expected.constr.constraint_expr);
        }
        filter.destroy();
    }

    private void qos() throws Exception {
        Any wrong = orb.create_any();
        wrong.insert_string("now");
        try {
            consumers.set_qos(new Property[] {new Property("MaxEventsPerConsumer", wrong)});
            throw new IllegalStateException("a text as a number was accepted");
        } catch (UnsupportedQoS expected) {
            same("MaxEventsPerConsumer", expected.qos_err[0].name);
        }
        Any most = orb.create_any();
        most.insert_long(100);
        consumers.set_qos(new Property[] {new Property("MaxEventsPerConsumer", most)});
        boolean isSet =
                Arrays.stream(consumers.get_qos())
                        .anyMatch(it -> it.name.equals("MaxEventsPerConsumer") && it.value.extract_long() == 100);
        same(true, isSet);
    }

    /** Has events to pull. */
    private final class Supplier extends StructuredPullSupplierPOA {
        private int next;

        @Override
        public StructuredEvent pull_structured_event() {
            if (next == 5) {
                throw new org.omg.CORBA.TIMEOUT();
            }
            next++;
            return event(next);
        }

        @Override
        public StructuredEvent try_pull_structured_event(org.omg.CORBA.BooleanHolder hasEvent) {
            hasEvent.value = next < 5;
            next += hasEvent.value ? 1 : 0;
            return event(next);
        }

        @Override
        public void disconnect_structured_pull_supplier() {}

        @Override
        public void subscription_change(EventType[] added, EventType[] removed) {}
    }

    private void pulledSupplier() throws Exception {
        StructuredProxyPullSupplier puller = puller();
        puller.connect_structured_pull_consumer(null);
        StructuredProxyPullConsumer proxy =
                StructuredProxyPullConsumerHelper.narrow(
                        suppliers.obtain_notification_pull_consumer(
                                ClientType.STRUCTURED_EVENT, new IntHolder()));
        proxy.connect_structured_pull_supplier(
                StructuredPullSupplierHelper.narrow(object(new Supplier())));
        for (int number = 1; number <= 5; number++) {
            same(number, severity(puller.pull_structured_event()));
        }
        proxy.disconnect_structured_pull_consumer();
        puller.disconnect_structured_pull_supplier();
    }

    private void mappingFilter() throws Exception {
        Any usual = orb.create_any();
        usual.insert_short((short) 1);
        Any urgent = orb.create_any();
        urgent.insert_short((short) 9);
        MappingFilter filter =
                channel.default_filter_factory().create_mapping_filter("EXTENDED_TCL", usual);
        ConstraintExp high = new ConstraintExp(new EventType[0], "$severity > 5");
        filter.add_mapping_constraints(
                new MappingConstraintPair[] {new MappingConstraintPair(high, urgent)});
        StructuredProxyPullSupplier puller = puller();
        puller.priority_filter(filter);
        puller.connect_structured_pull_consumer(null);
        StructuredProxyPushConsumer supplier = supplier();
        for (int number : new int[] {1, 9, 2, 8}) {
            supplier.push_structured_event(event(number));
        }
        for (int number : new int[] {9, 8, 1, 2}) {
            same(number, severity(puller.pull_structured_event()));
        }
        puller.disconnect_structured_pull_supplier();
        filter.destroy();
    }
}
