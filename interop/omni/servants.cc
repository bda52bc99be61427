// SPDX-License-Identifier: MIT OR Apache-2.0
#include "servants.h"

#include <omniORB4/callHandle.h>

#include <chrono>
#include <cstring>
#include <thread>

namespace {

constexpr CORBA::Long LARGEST_ROOT = 1290;  // whose cube fits a long

// Cubes wrap, as unsigned arithmetic does; signed overflow would be undefined.
template <class T> T cube(T v)
{
    const auto wide = static_cast<CORBA::ULong>(v);
    return static_cast<T>(wide * wide * wide);
}

Cubit::Many cube(const Cubit::Many& v)
{
    Cubit::Many result;
    result.o = cube(v.o);
    result.l = cube(v.l);
    result.s = cube(v.s);
    return result;
}

}  // namespace

void CubeServant::noop() { ++calls_; }

void CubeServant::post(CORBA::Long) { ++calls_; }

CORBA::Octet CubeServant::cube_octet(CORBA::Octet v)
{
    ++calls_;
    return cube(v);
}

CORBA::Short CubeServant::cube_short(CORBA::Short v)
{
    ++calls_;
    return cube(v);
}

CORBA::Long CubeServant::cube_long(CORBA::Long v)
{
    ++calls_;
    if (v > LARGEST_ROOT || v < -LARGEST_ROOT)
        throw Cubit::TooBig(LARGEST_ROOT, "the cube does not fit a long");
    return cube(v);
}

Cubit::Many CubeServant::cube_many(const Cubit::Many& v)
{
    ++calls_;
    return cube(v);
}

Cubit::Oneof CubeServant::cube_union(const Cubit::Oneof& v)
{
    ++calls_;
    Cubit::Oneof result(v);  // keeps the discriminator of the default arm
    switch (v._d()) {
    case 1: result.o(cube(v.o())); break;
    case 2: result.s(cube(v.s())); break;
    case 3: result.l(cube(v.l())); break;
    default: result.m() = cube(v.m());
    }
    return result;
}

void CubeServant::cube_longs(const Cubit::Longs& v, Cubit::Longs_out cubes)
{
    ++calls_;
    cubes = new Cubit::Longs(v);
    for (CORBA::ULong i = 0; i < v.length(); ++i)
        (*cubes)[i] = cube(v[i]);
}

Cubit::Octets* CubeServant::echo_octets(const Cubit::Octets& v)
{
    ++calls_;
    return new Cubit::Octets(v);
}

Cubit::Longs* CubeServant::echo_longs(const Cubit::Longs& v)
{
    ++calls_;
    return new Cubit::Longs(v);
}

Cubit::Manys* CubeServant::echo_manys(const Cubit::Manys& v)
{
    ++calls_;
    return new Cubit::Manys(v);
}

CORBA::ULongLong CubeServant::calls() { return ++calls_; }

void CubeServant::shutdown()
{
    ++calls_;
    on_shutdown_();
}

// omniORB may hand the pipelined oneways of one connection to several threads, so that stop_timer
// could overtake a send. It reads the messages themselves in order, and calls _dispatch before it
// reads the arguments: what has arrived by then is what stop_timer has to wait for.
CORBA::Boolean ReceiverServant::_dispatch(omniCallHandle& call)
{
    if (std::strncmp(call.operation_name(), "send_", 5) == 0) {
        std::lock_guard<std::mutex> lock(mutex_);
        ++arrived_;
    }
    return POA_Ttcp::Receiver::_dispatch(call);
}

void ReceiverServant::wait_for_sends(std::unique_lock<std::mutex>& lock)
{
    const auto before = arrived_;
    // A send whose arguments could not be read is never added: do not wait for ever.
    changed_.wait_for(lock, std::chrono::seconds(10), [&] { return added_ >= before; });
}

template <class S, class F> void ReceiverServant::add(const S& v, F value)
{
    CORBA::ULongLong sum = 0;
    for (CORBA::ULong i = 0; i < v.length(); ++i)
        sum += value(v[i]);
    std::lock_guard<std::mutex> lock(mutex_);
    ++tally_.calls;
    tally_.elements += v.length();
    tally_.checksum += sum;
    ++added_;
    changed_.notify_all();
}

namespace {

// Sign extension to 64 bits, then wrapping.
template <class T> CORBA::ULongLong integer(T v) { return static_cast<CORBA::ULongLong>(static_cast<CORBA::LongLong>(v)); }

CORBA::ULongLong bits(CORBA::Double v)
{
    CORBA::ULongLong bits;
    std::memcpy(&bits, &v, sizeof bits);
    return bits;
}

CORBA::ULongLong integer(const Ttcp::BinStruct& v)
{
    return integer(v.s) + integer(CORBA::Octet(v.c)) + integer(v.l) + integer(v.o) + bits(v.d);
}

}  // namespace

void ReceiverServant::send_shorts(const Ttcp::Shorts& v)
{
    add(v, [](CORBA::Short x) { return integer(x); });
}

void ReceiverServant::send_chars(const Ttcp::Chars& v)
{
    add(v, [](CORBA::Char x) { return integer(CORBA::Octet(x)); });
}

void ReceiverServant::send_longs(const Ttcp::Longs& v)
{
    add(v, [](CORBA::Long x) { return integer(x); });
}

void ReceiverServant::send_octets(const Ttcp::Octets& v)
{
    add(v, [](CORBA::Octet x) { return integer(x); });
}

void ReceiverServant::send_doubles(const Ttcp::Doubles& v)
{
    add(v, [](CORBA::Double x) { return bits(x); });
}

void ReceiverServant::send_structs(const Ttcp::Structs& v)
{
    add(v, [](const Ttcp::BinStruct& x) { return integer(x); });
}

Ttcp::Tally ReceiverServant::stop_timer()
{
    std::unique_lock<std::mutex> lock(mutex_);
    wait_for_sends(lock);
    return tally_;
}

void ReceiverServant::start_timer()
{
    std::unique_lock<std::mutex> lock(mutex_);
    wait_for_sends(lock);
    tally_ = Ttcp::Tally{0, 0, 0};
}

Ttcp::Structs* ReceiverServant::echo_structs(const Ttcp::Structs& v) { return new Ttcp::Structs(v); }

char* PeerServant::label()
{
    std::lock_guard<std::mutex> lock(mutex_);
    return CORBA::string_dup(label_.c_str());
}

void PeerServant::label(const char* v)
{
    std::lock_guard<std::mutex> lock(mutex_);
    label_ = v;
}

Kitchen::Uuid_slice* PeerServant::ident()
{
    Kitchen::Uuid_slice* id = Kitchen::Uuid_alloc();
    for (int i = 0; i < 16; ++i)
        id[i] = static_cast<CORBA::Octet>(i);
    return id;
}

Kitchen::Scalars PeerServant::echo_scalars(const Kitchen::Scalars& v, Kitchen::Scalars& copy, Kitchen::Scalars&)
{
    copy = v;
    return v;
}

char* PeerServant::echo_string(const char* v, CORBA::String_out copy, char*&)
{
    copy = CORBA::string_dup(v);
    return CORBA::string_dup(v);
}

Kitchen::Peers* PeerServant::make_peers(CORBA::ULong n)
{
    Kitchen::Peers_var peers = new Kitchen::Peers;
    peers->length(n);
    for (CORBA::ULong i = 0; i < n; ++i)
        peers[i] = activate<Kitchen::Peer>(poa_, new PeerServant(poa_));
    return peers._retn();
}

void PeerServant::call_back(Kitchen::Peer_ptr target, CORBA::Long depth)
{
    ++called_back_;
    if (depth > 0) {
        Kitchen::Peer_var self = _this();
        target->call_back(self, depth - 1);
    }
}

void PeerServant::refuse(CORBA::Boolean bare)
{
    if (bare)
        throw Kitchen::Empty();
    throw specimen::refused();
}

CORBA::Long PeerServant::slow(CORBA::ULong milliseconds)
{
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    return static_cast<CORBA::Long>(milliseconds);
}

CORBA::Long PeerServant::interface(CORBA::Long module, const char* select)
{
    return module + static_cast<CORBA::Long>(std::strlen(select));
}
