// SPDX-License-Identifier: MIT OR Apache-2.0
// omni-pulls connect FORM CHANNEL: makes a proxy of a notification channel that a consumer pulls from, and prints its reference.
// omni-pulls pull FORM PROXY: for each line of standard input (pull, try) pulls, and prints what it got:
// number, place in the stream, number of the delivery, events dropped before. FORM: structured, or any (COS Event).
#include "exceptions.h"
#include "options.h"

#include "CosNotification.hh"

#include <functional>
#include <iostream>
#include <string>

namespace {

namespace Admin = CosNotifyChannelAdmin;

/// The value of a field that every event here has, or of one that it may have.
CORBA::ULongLong field(const CosNotification::PropertySeq& fields, const char* name)
{
    for (CORBA::ULong i = 0; i < fields.length(); ++i) {
        CORBA::ULongLong value = 0;
        CORBA::Long number = 0;
        if (std::string(fields[i].name) != name)
            continue;
        if (fields[i].value >>= value)
            return value;
        if (fields[i].value >>= number)
            return static_cast<CORBA::ULongLong>(number);
    }
    return 0;
}

void print(const CosNotification::StructuredEvent& event)
{
    const CosNotification::PropertySeq& header = event.header.variable_header;
    std::cout << field(event.filterable_data, "number") << ' ' << field(header, "StreamSequence") << ' '
              << field(header, "DeliveryNumber") << ' ' << field(header, "EventsDropped") << std::endl;
}

void print(const CORBA::Any& any)
{
    const CosNotification::StructuredEvent* event = nullptr;
    if (any >>= event)
        print(*event);
    else
        std::cout << "no structured event" << std::endl;
}

CORBA::Object_ptr connect(CORBA::Object_ptr object, bool is_structured)
{
    Admin::EventChannel_var channel = Admin::EventChannel::_narrow(object);
    if (!is_structured) {
        CosEventChannelAdmin::ConsumerAdmin_var admin = channel->for_consumers();
        CosEventChannelAdmin::ProxyPullSupplier_var proxy = admin->obtain_pull_supplier();
        proxy->connect_pull_consumer(CosEventComm::PullConsumer::_nil());
        return CORBA::Object::_duplicate(proxy);
    }
    Admin::ConsumerAdmin_var admin = channel->default_consumer_admin();
    Admin::ProxyID id = 0;
    Admin::ProxySupplier_var any = admin->obtain_notification_pull_supplier(Admin::STRUCTURED_EVENT, id);
    Admin::StructuredProxyPullSupplier_var proxy = Admin::StructuredProxyPullSupplier::_narrow(any);
    proxy->connect_structured_pull_consumer(CosNotifyComm::StructuredPullConsumer::_nil());
    return CORBA::Object::_duplicate(proxy);
}

/// Pulls once, and says whether there was an event.
bool pull_structured(CosNotifyComm::StructuredPullSupplier_ptr proxy, bool waits)
{
    CORBA::Boolean has_event = true;
    CosNotification::StructuredEvent_var event =
        waits ? proxy->pull_structured_event() : proxy->try_pull_structured_event(has_event);
    if (has_event)
        print(event.in());
    return has_event;
}

bool pull_any(CosEventComm::PullSupplier_ptr proxy, bool waits)
{
    CORBA::Boolean has_event = true;
    CORBA::Any_var any = waits ? proxy->pull() : proxy->try_pull(has_event);
    if (has_event)
        print(any.in());
    return has_event;
}

/// An exception is a line, too: the channel may be killed.
void serve(const std::function<bool(bool)>& pull)
{
    for (std::string line; std::getline(std::cin, line);) {
        try {
            if (!pull(line == "pull"))
                std::cout << "nothing" << std::endl;
        } catch (const CORBA::SystemException& e) {
            std::cout << "exception " << describe(e) << std::endl;
        }
    }
}

int run(CORBA::ORB_ptr orb, const std::string& act, bool is_structured, const std::string& reference)
{
    CORBA::Object_var object = orb->string_to_object(reference.c_str());
    if (act == "connect") {
        CORBA::Object_var proxy = connect(object, is_structured);
        CORBA::String_var text = orb->object_to_string(proxy);
        std::cout << text.in() << std::endl;
    } else if (is_structured) {
        CosNotifyComm::StructuredPullSupplier_var proxy = CosNotifyComm::StructuredPullSupplier::_unchecked_narrow(object);
        serve([&](bool waits) { return pull_structured(proxy, waits); });
    } else {
        CosEventComm::PullSupplier_var proxy = CosEventComm::PullSupplier::_unchecked_narrow(object);
        serve([&](bool waits) { return pull_any(proxy, waits); });
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv)
{
    const std::string act = argc > 1 ? argv[1] : "", form = argc > 2 ? argv[2] : "";
    if (argc < 4 || (act != "connect" && act != "pull") || (form != "structured" && form != "any")) {
        std::cerr << "usage: omni-pulls connect|pull structured|any REFERENCE [-ORB options]\n";
        return 2;
    }
    const std::string reference = argv[3];
    int status = 1;
    try {
        const Options options(argc - 3, argv + 3, [](const std::string&, const std::string&) { return 0; });
        CORBA::ORB_var orb = options.init();
        status = run(orb, act, form == "structured", reference);
    } catch (const CORBA::SystemException& e) {
        std::cerr << "omni-pulls: " << describe(e) << std::endl;
    } catch (const CORBA::UserException& e) {
        std::cerr << "omni-pulls: " << e._name() << std::endl;
    }
    std::quick_exit(status);  // the ORB is not waited for
}
