// SPDX-License-Identifier: MIT OR Apache-2.0
// omni-values serve FILE [-ORB options]; omni-values call tree|any CALLS FILE [-ORB options]: echoes a tree of 1,000
// values, or 256 BinStruct in an any. benches/values is the same.
#include "ttcp.hh"
#include "values.hh"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include <csignal>
#include <thread>

namespace {

constexpr CORBA::ULong NODES = 1000, CHILDREN = 10, STRUCTS = 256;

class TreeFactory : public CORBA::ValueFactoryBase {
    CORBA::ValueBase* create_for_unmarshal() override { return new OBV_Values::Tree; }
};

template <class V> V* shared(V* v)
{
    CORBA::add_ref(v);
    return v;
}

class EchoServant final : public POA_Values::Echo {
    char* describe() override { return CORBA::string_dup("echo"); }
    Values::Point* echo_point(Values::Point* v) override { return shared(v); }
    Values::Two* echo_two(const Values::Two& v) override { return new Values::Two(v); }
    Values::Point* echo_points(Values::Point* v, Values::Point*&, Values::Point_out copy) override
    {
        copy = shared(v);
        return shared(v);
    }
    Values::Chain* echo_chain(Values::Chain* v) override { return shared(v); }
    Values::Tree* echo_tree(Values::Tree* v) override { return shared(v); }
    Values::Text* echo_text(Values::Text* v) override { return shared(v); }
    Values::Numbers* echo_numbers(Values::Numbers* v) override { return shared(v); }
    CORBA::Any* echo_any(const CORBA::Any& v) override { return new CORBA::Any(v); }
    CORBA::ValueBase* echo_base(CORBA::ValueBase* v) override { return shared(v); }
    Values::Describable_ptr echo_describable(Values::Describable_ptr v) override { return Values::Describable::_duplicate(v); }
    char* description(Values::Describable_ptr) override { return CORBA::string_dup(""); }
    void shutdown() override {}
};

void serve(CORBA::ORB_ptr orb, const std::string& file)
{
    sigset_t signals;  // blocked before the ORB makes threads, so that only ours receives them
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
    PortableServer::Servant_var<EchoServant> servant(new EchoServant);
    PortableServer::ObjectId_var id = poa->activate_object(servant);
    CORBA::Object_var object = poa->id_to_reference(id);
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    CORBA::String_var ior = orb->object_to_string(object);
    std::ofstream(file + ".tmp") << ior.in() << '\n';
    if (std::rename((file + ".tmp").c_str(), file.c_str()) != 0)
        throw std::runtime_error("cannot write " + file);
    int signal;
    sigwait(&signals, &signal);
}

// The value of that number, with all below it: children of n are from 10 n + 1 on.
Values::Tree* tree(CORBA::ULong n)
{
    Values::Trees children;
    for (CORBA::ULong child = CHILDREN * n + 1; child <= CHILDREN * (n + 1) && child < NODES; ++child) {
        children.length(children.length() + 1);
        children[children.length() - 1] = tree(child);
    }
    return new OBV_Values::Tree(("node " + std::to_string(n)).c_str(), children);
}

CORBA::ULong count(Values::Tree* tree)
{
    CORBA::ULong all = 1;
    for (CORBA::ULong i = 0; i < tree->children().length(); ++i)
        all += count(tree->children()[i]);
    return all;
}

void echo_trees(Values::Echo_ptr echo, unsigned long calls)
{
    Values::Tree_var sent = tree(0), echoed = echo->echo_tree(sent);
    if (!echoed.in() || count(echoed) != NODES)
        throw std::runtime_error("another tree came back");
    for (unsigned long i = 0; i < calls; ++i)
        Values::Tree_var again = echo->echo_tree(sent);
}

void extract(const CORBA::Any& any)
{
    const Ttcp::Structs* structs;
    if (!(any >>= structs) || structs->length() != STRUCTS)
        throw std::runtime_error("other structs came back");
}

void echo_anys(Values::Echo_ptr echo, unsigned long calls)
{
    Ttcp::Structs structs;
    structs.length(STRUCTS);
    for (CORBA::ULong i = 0; i < STRUCTS; ++i) {
        structs[i].s = static_cast<CORBA::Short>(i);
        structs[i].c = static_cast<CORBA::Char>('a' + i % 26);
        structs[i].l = static_cast<CORBA::Long>(i) * 7;
        structs[i].o = static_cast<CORBA::Octet>(i);
        structs[i].d = i * 0.5;
    }
    CORBA::Any sent;
    sent <<= structs;
    for (unsigned long i = 0; i <= calls; ++i) {
        CORBA::Any_var echoed = echo->echo_any(sent);
        extract(echoed);
    }
}

void call(CORBA::ORB_ptr orb, const std::string& what, unsigned long calls, const std::string& file)
{
    std::string reference;
    std::ifstream(file) >> reference;
    CORBA::Object_var object = orb->string_to_object(reference.c_str());
    Values::Echo_var echo = Values::Echo::_narrow(object);
    if (CORBA::is_nil(echo))
        throw std::runtime_error("not a Values::Echo");
    if (what == "tree")
        echo_trees(echo, calls);
    else
        echo_anys(echo, calls);
}

}  // namespace

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    CORBA::ValueFactoryBase_var factory(new TreeFactory);
    CORBA::ValueFactoryBase_var replaced(orb->register_value_factory(Values::Tree::_PD_repoId, factory));
    const std::string role = argc > 1 ? argv[1] : "";
    if (role == "serve" && argc == 3)
        serve(orb, argv[2]);
    else if (role == "call" && argc == 5)
        call(orb, argv[2], std::stoul(argv[3]), argv[4]);
    else
        throw std::runtime_error("usage: omni-values serve FILE | call tree|any CALLS FILE");
    orb->destroy();
} catch (const CORBA::Exception& e) {
    std::cerr << "omni-values: " << e._name() << '\n';
    return 1;
} catch (const std::exception& e) {
    std::cerr << "omni-values: " << e.what() << '\n';
    return 1;
}
