// SPDX-License-Identifier: MIT OR Apache-2.0
#include "options.h"

#include <algorithm>

Options::Options(int argc, char** argv, const std::function<int(const std::string&, const std::string&)>& own)
{
    // A later option replaces an earlier one, so these can be overridden.
    orb_ = {"omni",
            "-ORBnativeCharCodeSet", "UTF-8",
            "-ORBgiopMaxMsgSize", "104857600",
            // Nested call-backs need a connection per level (the default is 5) ...
            "-ORBmaxGIOPConnectionPerServer", "64",
            // ... and a peer that multiplexes needs its next request noticed while one is served.
            "-ORBconnectionWatchPeriod", "2000"};
    bool has_endpoint = false;
    for (int i = 1; i < argc;) {
        const std::string name = argv[i];
        const std::string value = i + 1 < argc ? argv[i + 1] : "";
        int taken = own(name, value);
        if (taken == 0 && (name == "--giop" || name == "-ORBmaxGIOPVersion")) {
            giop_minor_ = value == "1.0" ? 0 : value == "1.1" ? 1 : 2;
            orb_.insert(orb_.end(), {"-ORBmaxGIOPVersion", value});
            // Below 1.1 no code set is negotiated, and with any native set but Latin-1 omniORB then
            // crashes on char data in an any.
            if (giop_minor_ == 0)
                orb_.insert(orb_.end(), {"-ORBnativeCharCodeSet", "ISO-8859-1"});
            taken = 2;
        }
        if (taken == 0 && name == "--bidirectional") {
            bidirectional_ = true;
            // The rules of both directions have to allow it too.
            orb_.insert(orb_.end(), {"-ORBofferBiDirectionalGIOP", "1", "-ORBacceptBiDirectionalGIOP", "1",
                                     "-ORBclientTransportRule", "* unix,ssl,tcp,bidir", "-ORBserverTransportRule",
                                     "* unix,ssl,tcp,bidir"});
            taken = 1;
        }
        if (taken == 0) {
            orb_.push_back(name);
            has_endpoint = has_endpoint || name == "-ORBendPoint";
            taken = 1;
        }
        i = std::min(i + taken, argc);
    }
    if (!has_endpoint)
        orb_.insert(orb_.end(), {"-ORBendPoint", "giop:tcp:127.0.0.1:0"});
}

CORBA::ORB_ptr Options::init() const
{
    std::vector<std::string> copy(orb_);
    std::vector<char*> argv;
    for (std::string& argument : copy)
        argv.push_back(&argument[0]);
    int argc = static_cast<int>(argv.size());
    argv.push_back(nullptr);
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv.data());
    if (argc > 1)  // ORB_init removes what it understands
        throw CORBA::INITIALIZE(0, CORBA::COMPLETED_NO);
    return orb._retn();
}

PortableServer::POA_ptr Options::adapter(CORBA::ORB_ptr orb) const
{
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var root = PortableServer::POA::_narrow(object);
    if (!bidirectional_)
        return root._retn();
    CORBA::Any both;
    both <<= BiDirPolicy::BOTH;
    CORBA::PolicyList policies(1);
    policies.length(1);
    policies[0u] = orb->create_policy(BiDirPolicy::BIDIRECTIONAL_POLICY_TYPE, both);
    PortableServer::POAManager_var manager = root->the_POAManager();
    return root->create_POA("bidirectional", manager, policies);
}
