// SPDX-License-Identifier: MIT OR Apache-2.0
// omni-client: runs the checks of interop/README.md against a server and prints a line for each.
#include "checks.h"
#include "exceptions.h"
#include "options.h"

#include <algorithm>
#include <fstream>
#include <iostream>

namespace {

struct Selection {
    std::vector<std::string> only, skip;
    bool list = false;

    static bool matches(const std::vector<std::string>& patterns, const std::string& name)
    {
        return std::any_of(patterns.begin(), patterns.end(), [&name](const std::string& pattern) {
            if (!pattern.empty() && pattern.back() == '*')
                return name.compare(0, pattern.size() - 1, pattern, 0, pattern.size() - 1) == 0;
            return pattern == name;
        });
    }

    bool wants(const std::string& name) const { return (only.empty() || matches(only, name)) && !matches(skip, name); }
};

struct References {
    std::string cube, receiver, peer;
};

/// A reference as given, or the content of the file so named.
CORBA::Object_ptr resolve(CORBA::ORB_ptr orb, std::string reference)
{
    std::ifstream file(reference);
    if (file)
        file >> reference;
    return orb->string_to_object(reference.c_str());
}

// omniORB would repeat a call that ended in TRANSIENT for ever.
CORBA::Boolean never_retry_transient(void*, CORBA::ULong, const CORBA::TRANSIENT&) { return false; }
CORBA::Boolean never_retry_failure(void*, CORBA::ULong, const CORBA::COMM_FAILURE&) { return false; }
CORBA::Boolean never_retry(void*, CORBA::ULong, const CORBA::SystemException&) { return false; }

/// The reason why a check failed, or nothing. Lets Skip pass.
std::string failure(const Check& check, World& world)
{
    try {
        check.run(world);
        return "";
    } catch (const Skip&) {
        throw;
    } catch (const CORBA::DATA_CONVERSION& e) {
        if (check.needs == CODE_SET && world.giop_minor < 2)
            throw Skip("no code set was negotiated: omniORB publishes none below GIOP 1.2");
        return describe(e);
    } catch (const CORBA::SystemException& e) {
        return describe(e);
    } catch (const CORBA::Exception& e) {
        return std::string("unexpected ") + e._rep_id();
    } catch (const std::exception& e) {
        return e.what();
    }
}

std::string cannot_carry(const Check& check, const World& world)
{
    if (check.needs == WIDE && world.giop_minor < 2)
        return world.giop_minor == 0 ? "GIOP 1.0 has no wide characters" : "omniORB has wide characters only at GIOP 1.2";
    if (check.needs == CODE_SET && world.giop_minor < 1)
        return "GIOP 1.0 negotiates no code set";
    return "";
}

int run(const Checks& checks, const Selection& selection, World& world)
{
    int passed = 0, failed = 0;
    for (const Check& check : checks) {
        if (!selection.wants(check.name))
            continue;
        std::string skip = cannot_carry(check, world), reason;
        if (skip.empty()) {
            try {
                reason = failure(check, world);
            } catch (const Skip& e) {
                skip = e.what();
            }
        }
        if (!skip.empty())
            std::cout << "skip " << check.name << ": " << skip << std::endl;
        else if (reason.empty())
            ++passed, std::cout << "ok " << check.name << std::endl;
        else
            ++failed, std::cout << "FAIL " << check.name << ": " << reason << std::endl;
    }
    std::cout << passed << " passed, " << failed << " failed" << std::endl;
    return failed == 0 ? 0 : 1;
}

int connect_and_run(const Options& options, const References& references, const Checks& checks, const Selection& selection,
                    World& world)
{
    world.giop_minor = options.giop_minor();
    world.orb = options.init();
    omniORB::installTransientExceptionHandler(nullptr, never_retry_transient);
    omniORB::installCommFailureExceptionHandler(nullptr, never_retry_failure);
    omniORB::installSystemExceptionHandler(nullptr, never_retry);
    omniORB::setClientCallTimeout(30000);

    world.poa = options.adapter(world.orb);
    PortableServer::POAManager_var manager = world.poa->the_POAManager();
    manager->activate();

    CORBA::Object_var object = resolve(world.orb, references.cube);
    world.cube = Cubit::Cube::_unchecked_narrow(object);
    object = resolve(world.orb, references.receiver);
    world.receiver = Ttcp::Receiver::_unchecked_narrow(object);
    object = resolve(world.orb, references.peer);
    world.peer = Kitchen::Peer::_unchecked_narrow(object);
    return run(checks, selection, world);
}

}  // namespace

int main(int argc, char** argv)
{
    Selection selection;
    References references;
    World world;
    bool deadlines = false;
    const Options options(argc, argv, [&](const std::string& name, const std::string& value) {
        if (name == "--list")
            return selection.list = true, 1;
        if (name == "--shutdown")
            return world.shutdown = true, 1;
        if (name == "--deadlines")
            return deadlines = true, 1;
        if (name == "--cube")
            return references.cube = value, 2;
        if (name == "--receiver")
            return references.receiver = value, 2;
        if (name == "--peer")
            return references.peer = value, 2;
        if (name == "--only")
            return selection.only.push_back(value), 2;
        if (name == "--skip")
            return selection.skip.push_back(value), 2;
        return 0;
    });

    Checks checks;
    add_ttcp(checks);
    add_kitchen(checks);
    add_any(checks);
    add_calls(checks);
    add_object(checks);
    if (deadlines)
        add_deadlines(checks);
    add_cubit(checks);  // last, for it ends with shutdown
    if (selection.list) {
        for (const Check& check : checks)
            std::cout << check.name << '\n';
        return 0;
    }
    if (references.cube.empty() || references.receiver.empty() || references.peer.empty()) {
        std::cerr << "usage: omni-client --cube REF --receiver REF --peer REF [--only NAME] [--skip NAME] [--shutdown]\n"
                     "                   [--deadlines] [--giop 1.0|1.1] [--bidirectional] [-ORB options]   or   omni-client --list\n";
        return 2;
    }
    int status = 1;
    try {
        status = connect_and_run(options, references, checks, selection, world);
    } catch (const CORBA::SystemException& e) {
        std::cerr << "omni-client: " << describe(e) << std::endl;
    }
    std::quick_exit(status);  // nobody waits for the ORB to clean up
}
