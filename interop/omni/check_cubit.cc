// SPDX-License-Identifier: MIT OR Apache-2.0
// The checks of cubit.idl.
#include "checks.h"

#include <chrono>
#include <thread>

namespace {

constexpr CORBA::ULong FIVE_MEGABYTES = 5 * 1024 * 1024;

void echo_octets(World& world, CORBA::ULong length)
{
    Cubit::Octets sent;
    sent.length(length);
    for (CORBA::ULong i = 0; i < length; ++i)
        sent[i] = specimen::bulk(i);
    Cubit::Octets_var got = world.cube->echo_octets(sent);
    expect(got->length(), length, "the length");
    require(same_items(sent, got.in()), "the content differs");
}

void echo_longs(World& world, CORBA::ULong length)
{
    Cubit::Longs sent;
    sent.length(length);
    for (CORBA::ULong i = 0; i < length; ++i)
        sent[i] = static_cast<CORBA::Long>(i * 2654435761U);
    Cubit::Longs_var got = world.cube->echo_longs(sent);
    expect(got->length(), length, "the length");
    require(same_items(sent, got.in()), "the content differs");
}

void echo_manys(World& world, CORBA::ULong length)
{
    Cubit::Manys sent;
    sent.length(length);
    for (CORBA::ULong i = 0; i < length; ++i) {
        sent[i].o = specimen::bulk(i);
        sent[i].l = -static_cast<CORBA::Long>(i);
        sent[i].s = static_cast<CORBA::Short>(i);
    }
    Cubit::Manys_var got = world.cube->echo_manys(sent);
    expect(got->length(), length, "the length");
    require(same_items(sent, got.in()), "the content differs");
}

void cube_longs(World& world, CORBA::ULong length)
{
    Cubit::Longs sent;
    sent.length(length);
    for (CORBA::ULong i = 0; i < length; ++i)
        sent[i] = static_cast<CORBA::Long>(i % 1291) * (i % 2 == 0 ? 1 : -1);
    Cubit::Longs_var got;
    world.cube->cube_longs(sent, got.out());
    expect(got->length(), length, "the length");
    for (CORBA::ULong i = 0; i < length; ++i)
        expect(got[i], sent[i] * sent[i] * sent[i], "element " + std::to_string(i));
}

void too_big(World& world, CORBA::Long v)
{
    try {
        world.cube->cube_long(v);
    } catch (const Cubit::TooBig& e) {
        expect(e.limit, 1290, "the limit");
        require(e.why[0] != '\0', "why is empty");
        return;
    }
    throw std::runtime_error("TooBig was not raised");
}

void cube_many(World& world)
{
    Cubit::Many sent;
    sent.o = 6;
    sent.l = -1290;
    sent.s = 31;
    const Cubit::Many got = world.cube->cube_many(sent);
    expect(int(got.o), 216, "o");
    expect(got.l, -2146689000, "l");
    expect(got.s, 29791, "s");
}

void cube_union(World& world, const Cubit::Oneof& sent, const Cubit::Oneof& want)
{
    const Cubit::Oneof got = world.cube->cube_union(sent);
    expect(got._d(), want._d(), "the discriminator");
    require(same(got, want), "the value differs");
}

void cube_union_default(World& world, CORBA::Long discriminator)
{
    Cubit::Oneof sent, want;
    sent.m(Cubit::Many{3, 4, 5});
    sent._d(discriminator);
    want.m(Cubit::Many{27, 64, 125});
    want._d(discriminator);
    cube_union(world, sent, want);
}

// Each look at the attribute is a request as well; posts may be served later than a look.
void post(World& world)
{
    constexpr int POSTS = 5;
    const CORBA::ULongLong start = world.cube->calls();
    for (int i = 0; i < POSTS; ++i)
        world.cube->post(i);
    CORBA::ULongLong looks = 0, now = 0;
    do {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        now = world.cube->calls();
        ++looks;
    } while (now - start < looks + POSTS && looks < 2500);
    expect(now - start - looks, CORBA::ULongLong(POSTS), "the number of posts served");
}

void calls(World& world)
{
    const CORBA::ULongLong start = world.cube->calls();
    world.cube->noop();
    world.cube->cube_octet(1);
    expect(world.cube->calls() - start, CORBA::ULongLong(3), "the number of requests served");
}

}  // namespace

void add_cubit(Checks& checks)
{
    auto add = [&checks](const char* name, std::function<void(World&)> run) {
        checks.push_back({std::string("cubit.") + name, NOTHING, std::move(run)});
    };
    add("noop", [](World& w) { w.cube->noop(); });
    add("post", post);
    add("calls", calls);
    add("cube_octet", [](World& w) { expect(int(w.cube->cube_octet(6)), 216, "6 cubed"); });
    add("cube_octet_wraps", [](World& w) { expect(int(w.cube->cube_octet(7)), 343 - 256, "7 cubed"); });
    add("cube_short", [](World& w) { expect(w.cube->cube_short(-31), -29791, "-31 cubed"); });
    add("cube_long", [](World& w) { expect(w.cube->cube_long(1290), 2146689000, "1290 cubed"); });
    add("cube_long_negative", [](World& w) { expect(w.cube->cube_long(-3), -27, "-3 cubed"); });
    add("too_big", [](World& w) { too_big(w, 1291); });
    add("too_big_max", [](World& w) { too_big(w, 0x7fffffff); });
    add("cube_many", cube_many);
    add("cube_union_octet", [](World& w) {
        Cubit::Oneof sent, want;
        sent.o(5);
        want.o(125);
        cube_union(w, sent, want);
    });
    add("cube_union_short", [](World& w) {
        Cubit::Oneof sent, want;
        sent.s(-9);
        want.s(-729);
        cube_union(w, sent, want);
    });
    add("cube_union_long", [](World& w) {
        Cubit::Oneof sent, want;
        sent.l(1000);
        want.l(1000000000);
        cube_union(w, sent, want);
    });
    add("cube_union_default", [](World& w) { cube_union_default(w, 0); });
    add("cube_union_default_kept", [](World& w) { cube_union_default(w, -77); });
    add("cube_longs", [](World& w) { cube_longs(w, 100); });
    add("cube_longs_empty", [](World& w) { cube_longs(w, 0); });
    add("cube_longs_large", [](World& w) { cube_longs(w, 100000); });
    for (CORBA::ULong length : {0U, 1U, 1023U, 8192U, 65536U, FIVE_MEGABYTES})
        add(("echo_octets_" + std::to_string(length)).c_str(), [length](World& w) { echo_octets(w, length); });
    for (CORBA::ULong length : {0U, 1U, 1000U, 300000U})
        add(("echo_longs_" + std::to_string(length)).c_str(), [length](World& w) { echo_longs(w, length); });
    for (CORBA::ULong length : {0U, 1U, 3U, 1000U, 100000U})
        add(("echo_manys_" + std::to_string(length)).c_str(), [length](World& w) { echo_manys(w, length); });
    add("shutdown", [](World& w) {
        if (!w.shutdown)
            throw Skip("only with --shutdown");
        w.cube->shutdown();
    });
}
