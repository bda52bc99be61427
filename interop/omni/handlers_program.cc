// SPDX-License-Identifier: MIT OR Apache-2.0
// omni-handlers handler --sink REF --ior-dir DIR: serves a reply handler, which reports to the sink what it takes;
// omni-handlers client --tank REF --handler REF --ior-dir DIR: calls the tank, with the handler for its replies.
#include "exceptions.h"
#include "options.h"
#include "publish.h"

#include "handlers.hh"

#include <iostream>
#include <string>

namespace {

class Handler : public POA_Handlers::AMI_TankHandler {
public:
    explicit Handler(Handlers::Sink_ptr sink) : sink_(Handlers::Sink::_duplicate(sink)) {}

    void get_label(const char* label) override { tell(std::string("label ") + label); }
    void set_label() override { tell("set_label"); }
    void level(CORBA::Long level, CORBA::Short turns, const char* unit) override
    {
        tell("level " + std::to_string(level) + " " + std::to_string(turns) + " " + unit);
    }
    void drain() override { tell("drain"); }

    void get_label_excep(Messaging::ExceptionHolder*) override { tell("get_label_excep"); }
    void set_label_excep(Messaging::ExceptionHolder*) override { tell("set_label_excep"); }
    void level_excep(Messaging::ExceptionHolder*) override { tell("level_excep"); }
    void drain_excep(Messaging::ExceptionHolder*) override { tell("drain_excep"); }

private:
    void tell(const std::string& what) { sink_->taken(what.c_str()); }

    Handlers::Sink_var sink_;
};

CORBA::Object_ptr read(CORBA::ORB_ptr orb, std::string reference)
{
    std::ifstream file(reference);
    if (file)
        file >> reference;
    return orb->string_to_object(reference.c_str());
}

int serve(CORBA::ORB_ptr orb, const std::string& sink_reference, const std::string& dir)
{
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    CORBA::Object_var found = read(orb, sink_reference);
    Handlers::Sink_var sink = Handlers::Sink::_unchecked_narrow(found);
    PortableServer::Servant_var<Handler> servant(new Handler(sink));
    PortableServer::ObjectId_var id = poa->activate_object(servant);
    Handlers::AMI_TankHandler_var handler = servant->_this();
    publish(orb, handler, dir + "/handler.ior");
    std::cout << "READY" << std::endl;
    orb->run();
    return 0;
}

int call(CORBA::ORB_ptr orb, const std::string& tank_reference, const std::string& handler_reference)
{
    CORBA::Object_var object = read(orb, tank_reference);
    Handlers::Tank_var tank = Handlers::Tank::_unchecked_narrow(object);
    object = read(orb, handler_reference);
    Handlers::AMI_TankHandler_var handler = Handlers::AMI_TankHandler::_narrow(object);
    if (CORBA::is_nil(handler))
        throw CORBA::INV_OBJREF();
    tank->sendc_set_label(handler, "of omniORB");
    tank->sendc_level(handler, 3, 4);
    tank->sendc_drain(handler);
    // The replies are passed on by threads of the ORB until this process is killed.
    std::cout << "READY" << std::endl;
    orb->run();
    return 0;
}

}  // namespace

int main(int argc, char** argv)
{
    const std::string role = argc > 1 ? argv[1] : "";
    std::string dir, sink, tank, handler;
    const Options options(argc - 1, argv + 1, [&](const std::string& name, const std::string& value) {
        if (name == "--ior-dir")
            return dir = value, 2;
        if (name == "--sink")
            return sink = value, 2;
        if (name == "--tank")
            return tank = value, 2;
        if (name == "--handler")
            return handler = value, 2;
        return 0;
    });
    const bool serves = role == "handler" && !dir.empty() && !sink.empty();
    if (!serves && (role != "client" || tank.empty() || handler.empty())) {
        std::cerr << "usage: omni-handlers handler --sink REF --ior-dir DIR\n"
                     "   or  omni-handlers client --tank REF --handler REF [--ior-dir DIR]\n"
                     "       either with [--giop 1.0|1.1] [-ORB options]\n";
        return 2;
    }
    int status = 1;
    try {
        CORBA::ORB_var orb = options.init();
        status = serves ? serve(orb, sink, dir) : call(orb, tank, handler);
    } catch (const CORBA::SystemException& e) {
        std::cerr << "omni-handlers: " << describe(e) << std::endl;
    }
    std::quick_exit(status);  // the ORB is not waited for
}
