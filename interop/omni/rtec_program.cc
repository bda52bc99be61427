// SPDX-License-Identifier: MIT OR Apache-2.0
// omni-rtec consume ELEMENTS CHANNEL: a consumer of a real-time event channel, with the subscription of these elements;
// omni-rtec supply ELEMENTS CHANNEL: a supplier that publishes events of them;
// omni-rtec observe - CHANNEL: an observer of the channel.
// ELEMENTS: TYPE:SOURCE[:PERIOD],… in the order of the dependencies (8:2,16:1,17:2 is a conjunction of two). Prints a line for each call
// that the channel makes, and one for each line of standard input, which is a command:
// suspend, resume, disconnect, connect ELEMENTS, push TYPE:SOURCE:NUMBER:TEXT ….
#include "exceptions.h"
#include "options.h"

#include "RtecEventChannel.hh"

#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace Admin = RtecEventChannelAdmin;

/// Of threads of the ORB, too.
void print(const std::string& line)
{
    static std::mutex mutex;
    const std::lock_guard<std::mutex> lock(mutex);
    std::cout << line << std::endl;
}

std::vector<std::string> split(const std::string& text, char separator)
{
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);)
        parts.push_back(part);
    return parts;
}

RtecEventComm::Event element(const std::string& text)
{
    const std::vector<std::string> parts = split(text, ':');
    RtecEventComm::Event event = {};
    event.header.type = std::stoi(parts.at(0));
    event.header.source = std::stoi(parts.at(1));
    event.header.creation_time = parts.size() > 2 ? std::stoull(parts[2]) : 0;
    event.header.ttl = 1;
    return event;
}

/// An event with a number as its any and a text as its payload.
RtecEventComm::Event event(const std::string& text)
{
    const std::vector<std::string> parts = split(text, ':');
    RtecEventComm::Event event = element(parts.at(0) + ':' + parts.at(1));
    event.data.any_value <<= static_cast<CORBA::Long>(std::stoi(parts.at(2)));
    const std::string payload = parts.size() > 3 ? parts[3] : "";
    event.data.payload.length(static_cast<CORBA::ULong>(payload.size()));
    for (CORBA::ULong i = 0; i < payload.size(); ++i)
        event.data.payload[i] = static_cast<CORBA::Octet>(payload[i]);
    return event;
}

/// As `event` reads it; "-" for an event without a number.
std::string describe(const RtecEventComm::Event& event)
{
    std::ostringstream text;
    text << event.header.type << ':' << event.header.source << ':';
    CORBA::Long number = 0;
    if (event.data.any_value >>= number)
        text << number;
    else
        text << '-';
    text << ':';
    for (CORBA::ULong i = 0; i < event.data.payload.length(); ++i)
        text << static_cast<char>(event.data.payload[i]);
    return text.str();
}

Admin::ConsumerQOS subscription(const std::string& elements)
{
    const std::vector<std::string> texts = split(elements, ',');
    Admin::ConsumerQOS qos = {};
    qos.dependencies.length(static_cast<CORBA::ULong>(texts.size()));
    for (CORBA::ULong i = 0; i < texts.size(); ++i) {
        qos.dependencies[i].event = element(texts[i]);
        qos.dependencies[i].rt_info = 0;
    }
    return qos;
}

Admin::SupplierQOS publications(const std::string& elements)
{
    const std::vector<std::string> texts = split(elements, ',');
    Admin::SupplierQOS qos = {};
    qos.publications.length(static_cast<CORBA::ULong>(texts.size()));
    for (CORBA::ULong i = 0; i < texts.size(); ++i) {
        qos.publications[i].event = element(texts[i]);
        qos.publications[i].dependency_info.dependency_type = RtecBase::ONE_WAY_CALL;
        qos.publications[i].dependency_info.enabled = RtecBase::DEPENDENCY_ENABLED;
    }
    return qos;
}

class Consumer : public POA_RtecEventComm::PushConsumer {
public:
    void push(const RtecEventComm::EventSet& data) override
    {
        std::string line = "events";
        for (CORBA::ULong i = 0; i < data.length(); ++i)
            line += ' ' + describe(data[i]);
        print(line);
    }
    void disconnect_push_consumer() override { print("disconnected"); }
};

class Supplier : public POA_RtecEventComm::PushSupplier {
public:
    void disconnect_push_supplier() override { print("disconnected"); }
};

class Observer : public POA_RtecEventChannelAdmin::Observer {
public:
    void update_consumer(const Admin::ConsumerQOS& sum) override
    {
        std::string line = "consumers";
        for (CORBA::ULong i = 0; i < sum.dependencies.length(); ++i)
            line += header(sum.dependencies[i].event);
        print(line);
    }
    void update_supplier(const Admin::SupplierQOS& sum) override
    {
        std::string line = "suppliers";
        for (CORBA::ULong i = 0; i < sum.publications.length(); ++i)
            line += header(sum.publications[i].event);
        print(line);
    }

private:
    static std::string header(const RtecEventComm::Event& event)
    {
        return ' ' + std::to_string(event.header.type) + ':' + std::to_string(event.header.source);
    }
};

/// A connection to the channel, and what commands do with it.
class Connection {
public:
    virtual ~Connection() = default;
    virtual void connect(const std::string& elements) = 0;
    virtual void suspend() { throw CORBA::NO_IMPLEMENT(); }
    virtual void resume() { throw CORBA::NO_IMPLEMENT(); }
    virtual void push(const std::vector<std::string>&) { throw CORBA::NO_IMPLEMENT(); }
    virtual void disconnect() = 0;
};

class ConsumerConnection : public Connection {
public:
    ConsumerConnection(Admin::EventChannel_ptr channel, PortableServer::POA_ptr poa)
    {
        PortableServer::Servant_var<Consumer> servant(new Consumer);
        PortableServer::ObjectId_var id = poa->activate_object(servant);
        consumer_ = servant->_this();
        Admin::ConsumerAdmin_var admin = channel->for_consumers();
        proxy_ = admin->obtain_push_supplier();
    }
    void connect(const std::string& elements) override
    {
        proxy_->connect_push_consumer(consumer_, subscription(elements));
    }
    void suspend() override { proxy_->suspend_connection(); }
    void resume() override { proxy_->resume_connection(); }
    void disconnect() override { proxy_->disconnect_push_supplier(); }

private:
    RtecEventComm::PushConsumer_var consumer_;
    Admin::ProxyPushSupplier_var proxy_;
};

class SupplierConnection : public Connection {
public:
    SupplierConnection(Admin::EventChannel_ptr channel, PortableServer::POA_ptr poa)
    {
        PortableServer::Servant_var<Supplier> servant(new Supplier);
        PortableServer::ObjectId_var id = poa->activate_object(servant);
        supplier_ = servant->_this();
        Admin::SupplierAdmin_var admin = channel->for_suppliers();
        proxy_ = admin->obtain_push_consumer();
    }
    void connect(const std::string& elements) override
    {
        proxy_->connect_push_supplier(supplier_, publications(elements));
    }
    void push(const std::vector<std::string>& texts) override
    {
        RtecEventComm::EventSet set;
        set.length(static_cast<CORBA::ULong>(texts.size()));
        for (CORBA::ULong i = 0; i < texts.size(); ++i)
            set[i] = event(texts[i]);
        proxy_->push(set);
    }
    void disconnect() override { proxy_->disconnect_push_consumer(); }

private:
    RtecEventComm::PushSupplier_var supplier_;
    Admin::ProxyPushConsumer_var proxy_;
};

class ObserverConnection : public Connection {
public:
    ObserverConnection(Admin::EventChannel_ptr channel, PortableServer::POA_ptr poa)
        : channel_(Admin::EventChannel::_duplicate(channel))
    {
        PortableServer::Servant_var<Observer> servant(new Observer);
        PortableServer::ObjectId_var id = poa->activate_object(servant);
        observer_ = servant->_this();
    }
    void connect(const std::string&) override { handle_ = channel_->append_observer(observer_); }
    void disconnect() override { channel_->remove_observer(handle_); }

private:
    Admin::EventChannel_var channel_;
    Admin::Observer_var observer_;
    Admin::Observer_Handle handle_ = 0;
};

/// Does it, and says how it ended.
template <class Act>
void answer(Act act)
{
    try {
        act();
        print("done");
    } catch (const CORBA::SystemException& e) {
        print(std::string("exception ") + e._name());
    } catch (const CORBA::UserException& e) {
        print(std::string("exception ") + e._name());
    }
}

void obey(Connection& connection, const std::string& line)
{
    std::vector<std::string> words = split(line, ' ');
    const std::string command = words.at(0);
    words.erase(words.begin());
    if (command == "connect")
        connection.connect(words.at(0));
    else if (command == "push")
        connection.push(words);
    else if (command == "suspend")
        connection.suspend();
    else if (command == "resume")
        connection.resume();
    else if (command == "disconnect")
        connection.disconnect();
    else
        throw CORBA::BAD_OPERATION();
}

int run(CORBA::ORB_ptr orb, PortableServer::POA_ptr poa, const std::string& role, const std::string& elements, const char* reference)
{
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    CORBA::Object_var object = orb->string_to_object(reference);
    Admin::EventChannel_var channel = Admin::EventChannel::_narrow(object);
    if (CORBA::is_nil(channel))
        throw CORBA::INV_OBJREF();
    std::unique_ptr<Connection> connection;
    if (role == "consume")
        connection = std::make_unique<ConsumerConnection>(channel, poa);
    else if (role == "supply")
        connection = std::make_unique<SupplierConnection>(channel, poa);
    else
        connection = std::make_unique<ObserverConnection>(channel, poa);
    answer([&] { connection->connect(elements); });
    for (std::string line; std::getline(std::cin, line);)
        answer([&] { obey(*connection, line); });
    return 0;
}

}  // namespace

int main(int argc, char** argv)
{
    const std::string role = argc > 1 ? argv[1] : "";
    if (argc < 4 || (role != "consume" && role != "supply" && role != "observe")) {
        std::cerr << "usage: omni-rtec consume|supply|observe ELEMENTS CHANNEL [-ORB options]\n";
        return 2;
    }
    int status = 1;
    try {
        const Options options(argc - 3, argv + 3, [](const std::string&, const std::string&) { return 0; });
        CORBA::ORB_var orb = options.init();
        PortableServer::POA_var poa = options.adapter(orb);
        status = run(orb, poa, role, argv[2], argv[3]);
    } catch (const CORBA::SystemException& e) {
        std::cerr << "omni-rtec: " << describe(e) << std::endl;
    } catch (const CORBA::UserException& e) {
        std::cerr << "omni-rtec: " << e._name() << std::endl;
    }
    std::quick_exit(status);  // the ORB is not waited for
}
