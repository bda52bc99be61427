// SPDX-License-Identifier: MIT OR Apache-2.0
// omni-server DIR [-ORB options]: cubit.idl and ttcp.idl, served as fast as omniORB can, for measurements. The servers
// in interop/ are for correctness.
#include "cubit.hh"
#include "ttcp.hh"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>

namespace {

/// Copying a sequence of omniORB goes element by element, so a servant that cares fills a buffer of its own.
template <class Sequence> Sequence* duplicate(const Sequence& from)
{
    const CORBA::ULong length = from.length();
    auto* buffer = Sequence::allocbuf(length);
    std::memcpy(static_cast<void*>(buffer), from.get_buffer(), length * sizeof *buffer);
    return new Sequence(length, length, buffer, true);
}

template <class T> T cube(T v) { return static_cast<T>(v * v * v); }

class CubeServant final : public POA_Cubit::Cube {
public:
    explicit CubeServant(CORBA::ORB_ptr orb) : orb_(CORBA::ORB::_duplicate(orb)) {}

    void noop() override {}
    void post(CORBA::Long) override {}
    CORBA::Octet cube_octet(CORBA::Octet v) override { return cube(v); }
    CORBA::Short cube_short(CORBA::Short v) override { return cube(v); }
    CORBA::Long cube_long(CORBA::Long v) override { return cube(v); }
    Cubit::Many cube_many(const Cubit::Many& v) override
    {
        Cubit::Many result;
        result.o = cube(v.o);
        result.l = cube(v.l);
        result.s = cube(v.s);
        return result;
    }
    Cubit::Oneof cube_union(const Cubit::Oneof& v) override { return v; }
    void cube_longs(const Cubit::Longs& v, Cubit::Longs_out cubes) override { cubes = duplicate(v); }
    Cubit::Octets* echo_octets(const Cubit::Octets& v) override { return duplicate(v); }
    Cubit::Longs* echo_longs(const Cubit::Longs& v) override { return duplicate(v); }
    Cubit::Manys* echo_manys(const Cubit::Manys& v) override { return duplicate(v); }
    CORBA::ULongLong calls() override { return 0; }
    void shutdown() override { orb_->shutdown(false); }

private:
    CORBA::ORB_var orb_;
};

class ReceiverServant final : public POA_Ttcp::Receiver {
public:
    void send_shorts(const Ttcp::Shorts& v) override { add(v, [](CORBA::Short e) { return e; }); }
    void send_chars(const Ttcp::Chars& v) override { add(v, [](CORBA::Char e) { return e; }); }
    void send_longs(const Ttcp::Longs& v) override { add(v, [](CORBA::Long e) { return e; }); }
    void send_octets(const Ttcp::Octets& v) override { add(v, [](CORBA::Octet e) { return e; }); }
    void send_doubles(const Ttcp::Doubles& v) override { add(v, bits); }
    void send_structs(const Ttcp::Structs& v) override
    {
        add(v, [](const Ttcp::BinStruct& e) { return e.s + e.c + e.l + e.o + bits(e.d); });
    }
    Ttcp::Tally stop_timer() override { return {calls_, elements_, checksum_}; }
    void start_timer() override { calls_ = elements_ = checksum_ = 0; }
    Ttcp::Structs* echo_structs(const Ttcp::Structs& v) override { return duplicate(v); }

private:
    static CORBA::LongLong bits(CORBA::Double v)
    {
        CORBA::LongLong bits;
        std::memcpy(&bits, &v, sizeof bits);
        return bits;
    }

    /// The checksum is the same work that orbium's servant does.
    template <class Sequence, class Value> void add(const Sequence& v, Value value)
    {
        CORBA::ULongLong sum = 0;
        for (CORBA::ULong i = 0; i < v.length(); ++i)
            sum += static_cast<CORBA::ULongLong>(CORBA::LongLong(value(v[i])));
        checksum_ += sum;
        elements_ += v.length();
        ++calls_;
    }

    // More than one thread may serve the oneways of a connection.
    std::atomic<CORBA::ULongLong> calls_{0}, elements_{0}, checksum_{0};
};

void publish(CORBA::ORB_ptr orb, CORBA::Object_ptr object, const std::string& path)
{
    CORBA::String_var reference = orb->object_to_string(object);
    std::ofstream(path + ".tmp") << reference.in() << '\n';
    std::rename((path + ".tmp").c_str(), path.c_str());
}

}  // namespace

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    if (argc != 2) {
        std::cerr << "usage: omni-server DIR [-ORB options]\n";
        return 2;
    }
    CORBA::Object_var root = orb->resolve_initial_references("RootPOA");
    PortableServer::POA_var poa = PortableServer::POA::_narrow(root);
    PortableServer::Servant_var<CubeServant> cube(new CubeServant(orb));
    PortableServer::Servant_var<ReceiverServant> receiver(new ReceiverServant);
    PortableServer::ObjectId_var cube_id = poa->activate_object(cube), receiver_id = poa->activate_object(receiver);
    Cubit::Cube_var cube_reference = cube->_this();
    Ttcp::Receiver_var receiver_reference = receiver->_this();
    PortableServer::POAManager_var manager = poa->the_POAManager();
    manager->activate();
    const std::string dir = argv[1];
    publish(orb, cube_reference, dir + "/cube.ior");
    publish(orb, receiver_reference, dir + "/receiver.ior");
    orb->run();
    orb->destroy();
} catch (const CORBA::Exception& e) {
    std::cerr << "omni-server: " << e._name() << '\n';
    return 1;
}
