// SPDX-License-Identifier: MIT OR Apache-2.0
// omni-contexts server --ior-dir DIR: serves a desk; omni-contexts client --desk REF: calls one, and prints the answers.
#include "exceptions.h"
#include "options.h"
#include "publish.h"

#include "contexts.hh"

#include <iostream>
#include <map>
#include <mutex>
#include <string>

namespace {

std::map<std::string, std::string> properties(CORBA::Context_ptr context)
{
    std::map<std::string, std::string> found;
    CORBA::NVList_var values;
    try {
        context->get_values("", 0, "*", values.out());
    } catch (const CORBA::BAD_CONTEXT&) {
        return found;  // there are none
    }
    for (CORBA::ULong i = 0; i < values->count(); ++i) {
        CORBA::NamedValue_ptr item = values->item(i);
        const char* value = "";
        *item->value() >>= value;
        found[item->name()] = value;
    }
    return found;
}

std::string shown(CORBA::Context_ptr context)
{
    std::string text;
    for (const auto& [name, value] : properties(context))
        text += (text.empty() ? "" : " ") + name + "=" + value;
    return text;
}

class Desk : public POA_Contexts::Desk {
public:
    char* greet(const char* words, CORBA::Context_ptr context) override
    {
        const std::string text = shown(context);
        if (*words == '\0')
            throw Contexts::Refused(text.c_str());
        return CORBA::string_dup((words + (" " + text)).c_str());
    }

    CORBA::Long exchange(char*& words, CORBA::Context_ptr context) override
    {
        CORBA::string_free(words);
        words = CORBA::string_dup(shown(context).c_str());
        return static_cast<CORBA::Long>(properties(context).size());
    }

    void note(CORBA::Long number, CORBA::Context_ptr context) override
    {
        const std::lock_guard<std::mutex> guard(lock_);
        noted_ = std::to_string(number) + " " + shown(context);
    }

    char* noted() override
    {
        const std::lock_guard<std::mutex> guard(lock_);
        return CORBA::string_dup(noted_.c_str());
    }

private:
    std::mutex lock_;
    std::string noted_;
};

int serve(CORBA::ORB_ptr orb, const std::string& dir)
{
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(object);
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    PortableServer::Servant_var<Desk> servant(new Desk);
    PortableServer::ObjectId_var id = poa->activate_object(servant);
    Contexts::Desk_var desk = servant->_this();
    publish(orb, desk, dir + "/desk.ior");
    std::cout << "READY" << std::endl;
    orb->run();
    return 0;
}

/// A child of the default context: what that has, and a name.
CORBA::Context_ptr session(CORBA::ORB_ptr orb)
{
    CORBA::Context_var context, child;
    orb->get_default_context(context.out());
    CORBA::Any value;
    for (const auto& [name, text] : {std::pair("site", "lab"), std::pair("secret", "x")}) {
        value <<= text;
        context->set_one_value(name, value);
    }
    context->create_child("session", child.out());
    for (const auto& [name, text] : {std::pair("user.name", "anna"), std::pair("user.role", "operator")}) {
        value <<= text;
        child->set_one_value(name, value);
    }
    return child._retn();
}

int call(CORBA::ORB_ptr orb, std::string reference)
{
    std::ifstream file(reference);
    if (file)
        file >> reference;
    CORBA::Object_var object = orb->string_to_object(reference.c_str());
    Contexts::Desk_var desk = Contexts::Desk::_unchecked_narrow(object);
    CORBA::Context_var context = session(orb);
    CORBA::String_var text = desk->greet("hello", context);
    std::cout << "greet " << text.in() << std::endl;
    try {
        text = desk->greet("", context);
        return 1;
    } catch (const Contexts::Refused& refused) {
        std::cout << "refused " << refused.why.in() << std::endl;
    }
    text = CORBA::string_dup("");
    const CORBA::Long count = desk->exchange(text.inout(), context);
    std::cout << "exchange " << count << " " << text.in() << std::endl;
    desk->note(7, context);
    // The note is served before what comes behind it on the connection.
    text = desk->noted();
    std::cout << "noted " << text.in() << std::endl;
    return 0;
}

}  // namespace

int main(int argc, char** argv)
{
    const std::string role = argc > 1 ? argv[1] : "";
    std::string dir, desk;
    const Options options(argc - 1, argv + 1, [&](const std::string& name, const std::string& value) {
        if (name == "--ior-dir")
            return dir = value, 2;
        if (name == "--desk")
            return desk = value, 2;
        return 0;
    });
    const bool serves = role == "server" && !dir.empty();
    if (!serves && (role != "client" || desk.empty())) {
        std::cerr << "usage: omni-contexts server --ior-dir DIR\n"
                     "   or  omni-contexts client --desk REF\n"
                     "       either with [--giop 1.0|1.1] [-ORB options]\n";
        return 2;
    }
    int status = 1;
    try {
        CORBA::ORB_var orb = options.init();
        status = serves ? serve(orb, dir) : call(orb, desk);
    } catch (const CORBA::SystemException& e) {
        std::cerr << "omni-contexts: " << describe(e) << std::endl;
    }
    std::quick_exit(status);  // the ORB is not waited for
}
