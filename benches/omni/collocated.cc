// SPDX-License-Identifier: MIT OR Apache-2.0
// omni-collocated CALLS [-ORB options]: an empty call of a servant of the same process, the median of 99 repetitions of
// CALLS. omni-collocated-direct is the same with stubs and an adapter for omniORB's short cut, past the adapter. Prints one
// line of JSON.
#include "cubit.hh"

#ifdef SHORTCUT
#include <omniORB4/omniPolicy.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

namespace {

class CubeServant final : public POA_Cubit::Cube {
public:
    void noop() override { calls_.fetch_add(1, std::memory_order_relaxed); }
    void post(CORBA::Long) override {}
    CORBA::Octet cube_octet(CORBA::Octet v) override { return v; }
    CORBA::Short cube_short(CORBA::Short v) override { return v; }
    CORBA::Long cube_long(CORBA::Long v) override { return v; }
    Cubit::Many cube_many(const Cubit::Many& v) override { return v; }
    Cubit::Oneof cube_union(const Cubit::Oneof& v) override { return v; }
    void cube_longs(const Cubit::Longs& v, Cubit::Longs_out cubes) override { cubes = new Cubit::Longs(v); }
    Cubit::Octets* echo_octets(const Cubit::Octets& v) override { return new Cubit::Octets(v); }
    Cubit::Longs* echo_longs(const Cubit::Longs& v) override { return new Cubit::Longs(v); }
    Cubit::Manys* echo_manys(const Cubit::Manys& v) override { return new Cubit::Manys(v); }
    CORBA::ULongLong calls() override { return calls_; }
    void shutdown() override {}

private:
    std::atomic<CORBA::ULongLong> calls_{0};
};

PortableServer::POA_ptr adapter(CORBA::ORB_ptr orb)
{
    CORBA::Object_var object = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var root = PortableServer::POA::_narrow(object);
    PortableServer::POAManager_var manager = root->the_POAManager();
    manager->activate();
#ifdef SHORTCUT
    CORBA::PolicyList policies(1);
    policies.length(1);
    policies[0] = omniPolicy::create_local_shortcut_policy(omniPolicy::LOCAL_CALLS_SHORTCUT);
    return root->create_POA("direct", manager, policies);
#else
    return root._retn();
#endif
}

double nanoseconds(Cubit::Cube_ptr cube, unsigned long calls)
{
    using clock = std::chrono::steady_clock;
    std::vector<double> each;
    for (int i = 0; i < 99; ++i) {
        const clock::time_point begun = clock::now();
        for (unsigned long call = 0; call < calls; ++call)
            cube->noop();
        each.push_back(std::chrono::duration<double, std::nano>(clock::now() - begun).count() / double(calls));
    }
    std::nth_element(each.begin(), each.begin() + 49, each.end());
    return each[49];
}

}  // namespace

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    if (argc != 2) {
        std::cerr << "usage: omni-collocated CALLS [-ORB options]\n";
        return 2;
    }
    PortableServer::POA_var poa = adapter(orb);
    PortableServer::Servant_var<CubeServant> servant(new CubeServant);
    PortableServer::ObjectId_var id = poa->activate_object(servant);
    CORBA::Object_var object = poa->id_to_reference(id);
    Cubit::Cube_var cube = Cubit::Cube::_narrow(object);
    const unsigned long calls = std::stoul(argv[1]);
    const double median = nanoseconds(cube, calls);
    if (cube->calls() != 99 * calls) {
        std::cerr << "omni-collocated: calls were lost\n";
        return 1;
    }
    std::printf("{\"op\":\"noop\",\"calls\":%lu,\"median_ns\":%.2f}\n", calls, median);
    orb->destroy();
} catch (const CORBA::Exception& e) {
    std::cerr << "omni-collocated: " << e._name() << '\n';
    return 1;
}
