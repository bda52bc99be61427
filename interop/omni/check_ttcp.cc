// SPDX-License-Identifier: MIT OR Apache-2.0
// The checks of ttcp.idl: floods, counted and summed on both sides.
#include "checks.h"

#include <cstring>

namespace {

constexpr CORBA::ULong ELEMENTS = 5000;  // more than one 8 KiB buffer of every type but octet and char
constexpr CORBA::ULong CALLS = 50;

/// The values sent: both signs, all chars in ASCII, doubles with a fraction.
CORBA::Short short_at(CORBA::ULong i) { return static_cast<CORBA::Short>(i * 13 - 20000); }
CORBA::Char char_at(CORBA::ULong i) { return static_cast<CORBA::Char>(' ' + i % 95); }
CORBA::Long long_at(CORBA::ULong i) { return static_cast<CORBA::Long>(i * 1000003U - 2000000000U); }
CORBA::Double double_at(CORBA::ULong i) { return i * 1.75 - 4000.0; }

Ttcp::BinStruct struct_at(CORBA::ULong i)
{
    return Ttcp::BinStruct{short_at(i), char_at(i), long_at(i), specimen::bulk(i), double_at(i)};
}

CORBA::ULongLong integer(CORBA::LongLong v) { return static_cast<CORBA::ULongLong>(v); }
CORBA::ULongLong bits(CORBA::Double v)
{
    CORBA::ULongLong bits;
    std::memcpy(&bits, &v, sizeof bits);
    return bits;
}

template <class S, class At> S filled(CORBA::ULong length, At at)
{
    S v;
    v.length(length);
    for (CORBA::ULong i = 0; i < length; ++i)
        v[i] = at(i);
    return v;
}

template <class Send> void flood(World& world, CORBA::ULong elements, CORBA::ULongLong checksum, Send send)
{
    world.receiver->start_timer();
    for (CORBA::ULong i = 0; i < CALLS; ++i)
        send();
    const Ttcp::Tally tally = world.receiver->stop_timer();
    expect(tally.calls, CORBA::ULongLong(CALLS), "calls");
    expect(tally.elements, CORBA::ULongLong(CALLS) * elements, "elements");
    expect(tally.checksum, CALLS * checksum, "the checksum");
}

template <class At> CORBA::ULongLong sum(At at)
{
    CORBA::ULongLong total = 0;
    for (CORBA::ULong i = 0; i < ELEMENTS; ++i)
        total += at(i);
    return total;
}

void shorts(World& world)
{
    const auto v = filled<Ttcp::Shorts>(ELEMENTS, short_at);
    flood(world, ELEMENTS, sum([](CORBA::ULong i) { return integer(short_at(i)); }),
          [&] { world.receiver->send_shorts(v); });
}

void chars(World& world)
{
    const auto v = filled<Ttcp::Chars>(ELEMENTS, char_at);
    flood(world, ELEMENTS, sum([](CORBA::ULong i) { return integer(char_at(i)); }),
          [&] { world.receiver->send_chars(v); });
}

void longs(World& world)
{
    const auto v = filled<Ttcp::Longs>(ELEMENTS, long_at);
    flood(world, ELEMENTS, sum([](CORBA::ULong i) { return integer(long_at(i)); }),
          [&] { world.receiver->send_longs(v); });
}

void octets(World& world)
{
    const auto v = filled<Ttcp::Octets>(ELEMENTS, specimen::bulk);
    flood(world, ELEMENTS, sum([](CORBA::ULong i) { return integer(specimen::bulk(i)); }),
          [&] { world.receiver->send_octets(v); });
}

void doubles(World& world)
{
    const auto v = filled<Ttcp::Doubles>(ELEMENTS, double_at);
    flood(world, ELEMENTS, sum([](CORBA::ULong i) { return bits(double_at(i)); }),
          [&] { world.receiver->send_doubles(v); });
}

void structs(World& world)
{
    const auto v = filled<Ttcp::Structs>(ELEMENTS, struct_at);
    const auto checksum = sum([](CORBA::ULong i) {
        const Ttcp::BinStruct s = struct_at(i);
        return integer(s.s) + integer(s.c) + integer(s.l) + integer(s.o) + bits(s.d);
    });
    flood(world, ELEMENTS, checksum, [&] { world.receiver->send_structs(v); });
}

void start_clears(World& world)
{
    world.receiver->send_octets(filled<Ttcp::Octets>(10, specimen::bulk));
    world.receiver->start_timer();
    const Ttcp::Tally tally = world.receiver->stop_timer();
    expect(tally.calls + tally.elements + tally.checksum, CORBA::ULongLong(0), "the tally");
}

void echo_structs(World& world, CORBA::ULong length)
{
    const auto sent = filled<Ttcp::Structs>(length, struct_at);
    Ttcp::Structs_var got = world.receiver->echo_structs(sent);
    expect(got->length(), length, "the length");
    require(same_items(sent, got.in()), "the content differs");
}

}  // namespace

void add_ttcp(Checks& checks)
{
    auto add = [&checks](const std::string& name, std::function<void(World&)> run) {
        checks.push_back({"ttcp." + name, NOTHING, std::move(run)});
    };
    add("send_shorts", shorts);
    add("send_chars", chars);
    add("send_longs", longs);
    add("send_octets", octets);
    add("send_doubles", doubles);
    add("send_structs", structs);
    add("send_empty", [](World& w) { flood(w, 0, 0, [&w] { w.receiver->send_structs(Ttcp::Structs()); }); });
    add("start_clears", start_clears);
    for (CORBA::ULong length : {0U, 1U, 2U, 1000U, 50000U})
        add("echo_structs_" + std::to_string(length), [length](World& w) { echo_structs(w, length); });
}
