// SPDX-License-Identifier: MIT OR Apache-2.0
// omni-values server --ior-dir DIR: echoes values; omni-values client --echo REF: runs the checks of values.
#include "exceptions.h"
#include "options.h"
#include "publish.h"
#include "values.h"

#include <fstream>
#include <iostream>

namespace {

PortableServer::POA_ptr root(CORBA::ORB_ptr orb)
{
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    register_factories(orb);
    return poa._retn();
}

int serve(CORBA::ORB_ptr orb, const std::string& dir)
{
    PortableServer::POA_var poa = root(orb);
    PortableServer::Servant_var<EchoServant> servant(new EchoServant([orb] { orb->shutdown(false); }));
    PortableServer::ObjectId_var id = poa->activate_object(servant);
    Values::Echo_var echo = servant->_this();
    publish(orb, echo, dir + "/echo.ior");
    std::cout << "READY" << std::endl;
    orb->run();
    return 0;
}

std::string failure(const ValueCheck& check, Values::Echo_ptr echo, PortableServer::POA_ptr poa)
{
    try {
        check.run(echo, poa);
        return "";
    } catch (const CORBA::SystemException& e) {
        return describe(e);
    } catch (const CORBA::Exception& e) {
        return std::string("unexpected ") + e._rep_id();
    } catch (const std::exception& e) {
        return e.what();
    }
}

int call(CORBA::ORB_ptr orb, std::string reference, const std::string& only)
{
    omniORB::setClientCallTimeout(30000);
    PortableServer::POA_var poa = root(orb);
    std::ifstream file(reference);
    if (file)
        file >> reference;
    CORBA::Object_var object = orb->string_to_object(reference.c_str());
    Values::Echo_var echo = Values::Echo::_unchecked_narrow(object);
    int passed = 0, failed = 0;
    for (const ValueCheck& check : value_checks()) {
        if (!only.empty() && check.name != only)
            continue;
        const std::string reason = failure(check, echo, poa);
        ++(reason.empty() ? passed : failed);
        std::cout << (reason.empty() ? "ok " + check.name : "FAIL " + check.name + ": " + reason) << std::endl;
    }
    std::cout << passed << " passed, " << failed << " failed" << std::endl;
    return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv)
{
    const std::string role = argc > 1 ? argv[1] : "";
    std::string dir, reference, only;
    const Options options(argc - 1, argv + 1, [&](const std::string& name, const std::string& value) {
        if (name == "--ior-dir")
            return dir = value, 2;
        if (name == "--echo")
            return reference = value, 2;
        if (name == "--only")
            return only = value, 2;
        return 0;
    });
    const bool serves = role == "server" && !dir.empty();
    if (!serves && (role != "client" || reference.empty())) {
        std::cerr << "usage: omni-values server --ior-dir DIR   or   omni-values client --echo REF [--only NAME]\n"
                     "       either with [--giop 1.0|1.1] [-ORB options]\n";
        return 2;
    }
    int status = 1;
    try {
        CORBA::ORB_var orb = options.init();
        status = serves ? serve(orb, dir) : call(orb, reference, only);
    } catch (const CORBA::SystemException& e) {
        std::cerr << "omni-values: " << describe(e) << std::endl;
    }
    std::quick_exit(status);  // nobody waits for the ORB to clean up
}
