// SPDX-License-Identifier: MIT OR Apache-2.0
// omni-client FILE OPERATION CALLS SIZE [untimed] [-ORB options]: a closed loop of one operation on the
// reference in FILE, with one reading of the clock per call, or none when untimed. Prints one line of JSON.
// dii_noop and dii_cube_long are noop and cube_long by the dynamic invocation interface, a new request for each.
#include "cubit.hh"
#include "ttcp.hh"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Run {
    std::string operation;
    unsigned long calls;
    CORBA::ULong size;
    bool timed;
};

std::uint64_t now()
{
    using namespace std::chrono;
    return static_cast<std::uint64_t>(duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count());
}

void require(bool held, const char* what)
{
    if (!held)
        throw std::runtime_error(what);
}

void report(const Run& run, std::vector<std::uint64_t>& samples, std::uint64_t total)
{
    std::sort(samples.begin(), samples.end());
    const auto at = [&](double part) {
        return samples.empty() ? std::uint64_t{0} : samples[static_cast<std::size_t>(part * double(samples.size()))];
    };
    std::printf("{\"op\":\"%s\",\"calls\":%lu,\"median_ns\":%llu,\"p99_ns\":%llu,\"seconds\":%.9f}\n",
                run.operation.c_str(), run.calls, static_cast<unsigned long long>(at(0.5)),
                static_cast<unsigned long long>(at(0.99)), double(total) / 1e9);
}

template <class Call> void loop(const Run& run, Call call)
{
    std::vector<std::uint64_t> samples;
    if (!run.timed) {
        for (unsigned long i = 0; i < run.calls; ++i)
            call();
        return report(run, samples, 0);
    }
    samples.resize(run.calls);
    const std::uint64_t begin = now();
    std::uint64_t before = begin;
    for (unsigned long i = 0; i < run.calls; ++i) {
        call();
        const std::uint64_t after = now();
        samples[i] = after - before;
        before = after;
    }
    report(run, samples, before - begin);
}

/// Oneways until the receiver has accounted for every element.
template <class Send> void flood(const Run& run, Ttcp::Receiver_ptr receiver, Send send)
{
    receiver->start_timer();
    const std::uint64_t begin = now();
    for (unsigned long i = 0; i < run.calls; ++i)
        send();
    // Other threads of the server may still be adding.
    while (receiver->stop_timer().elements < CORBA::ULongLong(run.calls) * run.size)
        require(now() - begin < 60'000'000'000, "elements were lost");
    const std::uint64_t total = now() - begin;
    std::vector<std::uint64_t> none;
    report(run, none, total);
}

template <class Sequence> void resize(Sequence& v, CORBA::ULong size)
{
    v.length(size);
    std::memset(static_cast<void*>(v.get_buffer()), 0, size * sizeof *v.get_buffer());
}

void fill(Ttcp::Structs& v, CORBA::ULong size)
{
    resize(v, size);
    for (CORBA::ULong i = 0; i < size; ++i) {
        v[i].s = static_cast<CORBA::Short>(i);
        v[i].c = static_cast<CORBA::Char>('a' + i % 26);
        v[i].l = static_cast<CORBA::Long>(i) * 7;
        v[i].o = static_cast<CORBA::Octet>(i);
        v[i].d = i * 0.5;
    }
}

bool on_cube(const Run& run, CORBA::Object_ptr object)
{
    const std::string& op = run.operation;
    if (op != "noop" && op != "echo_octets" && op != "echo_manys" && op != "cube_long")
        return false;
    Cubit::Cube_var cube = Cubit::Cube::_narrow(object);
    require(!CORBA::is_nil(cube), "not a Cubit::Cube");
    if (op == "noop")
        loop(run, [&] { cube->noop(); });
    if (op == "cube_long") {
        require(cube->cube_long(7) == 343, "wrong cube");
        loop(run, [&] { cube->cube_long(7); });
    }
    if (op == "echo_octets") {
        Cubit::Octets v;
        resize(v, run.size);
        for (CORBA::ULong i = 0; i < run.size; ++i)
            v[i] = static_cast<CORBA::Octet>(i * 31);
        Cubit::Octets_var echo = cube->echo_octets(v);
        require(echo->length() == run.size && !std::memcmp(echo->get_buffer(), v.get_buffer(), run.size), "wrong echo");
        loop(run, [&] { Cubit::Octets_var result = cube->echo_octets(v); });
    }
    if (op == "echo_manys") {
        Cubit::Manys v;
        resize(v, run.size);
        for (CORBA::ULong i = 0; i < run.size; ++i)
            v[i].o = static_cast<CORBA::Octet>(i), v[i].l = static_cast<CORBA::Long>(i) * 7, v[i].s = 5;
        Cubit::Manys_var echo = cube->echo_manys(v);
        require(echo->length() == run.size, "wrong echo");
        for (CORBA::ULong i = 0; i < run.size; ++i)
            require(echo[i].o == v[i].o && echo[i].l == v[i].l && echo[i].s == v[i].s, "wrong echo");
        loop(run, [&] { Cubit::Manys_var result = cube->echo_manys(v); });
    }
    return true;
}

void finish(CORBA::Request_ptr request)
{
    request->invoke();
    require(!request->env()->exception(), "an exception");
}

bool dynamically(const Run& run, CORBA::Object_ptr object)
{
    if (run.operation == "dii_noop") {
        loop(run, [&] {
            CORBA::Request_var request = object->_request("noop");
            request->set_return_type(CORBA::_tc_void);
            finish(request);
        });
        return true;
    }
    if (run.operation != "dii_cube_long")
        return false;
    loop(run, [&] {
        CORBA::Request_var request = object->_request("cube_long");
        request->add_in_arg("v") <<= CORBA::Long(7);
        request->set_return_type(CORBA::_tc_long);
        finish(request);
        CORBA::Long cube = 0;
        require((request->return_value() >>= cube) && cube == 343, "wrong cube");
    });
    return true;
}

bool on_receiver(const Run& run, CORBA::Object_ptr object)
{
    if (run.operation != "echo_structs" && run.operation != "send_structs" && run.operation != "send_octets")
        return false;
    Ttcp::Receiver_var receiver = Ttcp::Receiver::_narrow(object);
    require(!CORBA::is_nil(receiver), "not a Ttcp::Receiver");
    if (run.operation == "send_octets") {
        Ttcp::Octets v;
        resize(v, run.size);
        for (CORBA::ULong i = 0; i < run.size; ++i)
            v[i] = static_cast<CORBA::Octet>(i * 31);
        flood(run, receiver, [&] { receiver->send_octets(v); });
        return true;
    }
    Ttcp::Structs v;
    fill(v, run.size);
    Ttcp::Structs_var echo = receiver->echo_structs(v);
    require(echo->length() == run.size, "wrong echo");
    for (CORBA::ULong i = 0; i < run.size; ++i)
        require(echo[i].s == v[i].s && echo[i].c == v[i].c && echo[i].l == v[i].l && echo[i].o == v[i].o &&
                    echo[i].d == v[i].d, "wrong echo");
    if (run.operation == "echo_structs")
        loop(run, [&] { Ttcp::Structs_var result = receiver->echo_structs(v); });
    else
        flood(run, receiver, [&] { receiver->send_structs(v); });
    return true;
}

}  // namespace

int main(int argc, char** argv)
try {
    CORBA::ORB_var orb = CORBA::ORB_init(argc, argv);
    if (argc < 5) {
        std::cerr << "usage: omni-client FILE OPERATION CALLS SIZE [untimed] [-ORB options]\n";
        return 2;
    }
    const Run run{argv[2], std::stoul(argv[3]), CORBA::ULong(std::stoul(argv[4])), argc == 5};
    std::string reference;
    std::ifstream(argv[1]) >> reference;
    CORBA::Object_var object = orb->string_to_object(reference.c_str());
    require(on_cube(run, object) || dynamically(run, object) || on_receiver(run, object), "no such operation here");
    orb->destroy();
} catch (const CORBA::Exception& e) {
    std::cerr << "omni-client: " << e._name() << '\n';
    return 1;
} catch (const std::exception& e) {
    std::cerr << "omni-client: " << e.what() << '\n';
    return 1;
}
