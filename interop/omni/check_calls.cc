// SPDX-License-Identifier: MIT OR Apache-2.0
// Call-backs, exceptions, attributes and names of kitchen.idl.
#include "checks.h"

#include <atomic>
#include <thread>

namespace {

void make_peers(World& world, CORBA::ULong n)
{
    Kitchen::Peers_var peers = world.peer->make_peers(n);
    expect(peers->length(), n, "the number");
    for (CORBA::ULong i = 0; i < n; ++i)
        peers[i]->label(("peer " + std::to_string(i)).c_str());
    for (CORBA::ULong i = 0; i < n; ++i) {
        CORBA::String_var label = peers[i]->label();
        expect(std::string(label.in()), "peer " + std::to_string(i), "the label of new object " + std::to_string(i));
        expect(peers[i]->match(2, 3), 5, "the sum");
    }
}

void call_back(World& world, CORBA::Long depth)
{
    PeerServant* servant = new PeerServant(world.poa);
    Kitchen::Peer_var target = activate<Kitchen::Peer>(world.poa, servant);
    world.peer->call_back(target, depth);
    expect(servant->called_back(), static_cast<unsigned>((depth + 1) / 2), "the number of call-backs");
    PortableServer::ObjectId_var id = world.poa->reference_to_id(target);
    world.poa->deactivate_object(id);
}

void call_back_itself(World& world)
{
    Kitchen::Peers_var peers = world.peer->make_peers(1);
    world.peer->call_back(peers[0u], 6);
}

void refuse_bare(World& world)
{
    try {
        world.peer->refuse(true);
    } catch (const Kitchen::Empty&) {
        return;
    }
    throw std::runtime_error("Empty was not raised");
}

void refuse(World& world)
{
    const Kitchen::Refused want = specimen::refused();
    try {
        world.peer->refuse(false);
    } catch (const Kitchen::Refused& e) {
        expect(std::string(e.why), std::string(want.why), "why");
        expect(e.detail._d(), want.detail._d(), "the discriminator of the detail");
        require(same(e.detail, want.detail), "the detail differs");
        expect(e.evidence.length(), want.evidence.length(), "the length of the evidence");
        require(same_items(e.evidence, want.evidence), "the evidence differs");
        return;
    }
    throw std::runtime_error("Refused was not raised");
}

void system_exception(World& world, const std::string& name)
{
    try {
        world.peer->system_exception(name.c_str());
    } catch (const CORBA::SystemException& e) {
        expect(std::string(e._name()), name, "the name");
        expect(e.minor(), specimen::MINOR, "the minor code");
        expect(e.completed(), specimen::COMPLETED, "the completion status");
        return;
    }
    throw std::runtime_error("nothing was raised");
}

void unknown_exception(World& world)
{
    try {
        world.peer->system_exception("NO_SUCH_EXCEPTION");
    } catch (const CORBA::BAD_PARAM& e) {
        expect(e.minor(), 1U, "the minor code");
        expect(e.completed(), CORBA::COMPLETED_NO, "the completion status");
        return;
    }
    throw std::runtime_error("nothing was raised");
}

// A slow request must not hold up, or be taken for, the others of the same connection.
void concurrent(World& world)
{
    std::atomic<int> wrong{0};
    auto guarded = [&wrong](const std::function<bool()>& call) {
        try {
            wrong += call() ? 0 : 1;
        } catch (const CORBA::Exception&) {
            ++wrong;
        }
    };
    std::vector<std::thread> threads;
    threads.emplace_back([&] { guarded([&] { return world.peer->slow(300) == 300; }); });
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 50; ++i)
                guarded([&] { return world.peer->match(t * 1000, i) == t * 1000 + i; });
        });
    for (std::thread& thread : threads)
        thread.join();
    expect(wrong.load(), 0, "the number of wrong answers");
}

void label(World& world, const char* text)
{
    world.peer->label(text);
    CORBA::String_var got = world.peer->label();
    expect(std::string(got.in()), std::string(text), "the label");
}

void ident(World& world)
{
    Kitchen::Uuid_var id = world.peer->ident();
    for (int i = 0; i < 16; ++i)
        expect(int(id[i]), i, "octet " + std::to_string(i));
}

void through_bases(World& world)
{
    Kitchen::Base_var base = Kitchen::Base::_narrow(world.peer);
    Kitchen::Other_var other = Kitchen::Other::_narrow(world.peer);
    require(!CORBA::is_nil(base) && !CORBA::is_nil(other), "cannot be narrowed to a base");
    base->ping();
    expect(base->shade(), Kitchen::blue, "the shade");
    Kitchen::Uuid_var id = other->ident();
    expect(int(id[15]), 15, "the last octet");
}

}  // namespace

void add_calls(Checks& checks)
{
    auto add = [&checks](const std::string& name, std::function<void(World&)> run, Needs needs = NOTHING) {
        checks.push_back({name, needs, std::move(run)});
    };
    add("kitchen.ping", [](World& w) { w.peer->ping(); });
    add("kitchen.ident", ident);
    add("kitchen.through_bases", through_bases);
    add("kitchen.label", [](World& w) { label(w, "plain"); });
    add("kitchen.label_unicode", [](World& w) { label(w, "\u03a9 \u6f22"); }, CODE_SET);
    add("kitchen.shade", [](World& w) { expect(w.peer->shade(), Kitchen::blue, "the shade"); });
    add("kitchen.make_peers_none", [](World& w) { make_peers(w, 0); });
    add("kitchen.make_peers", [](World& w) { make_peers(w, 20); });
    add("kitchen.call_back_0", [](World& w) { call_back(w, 0); });
    add("kitchen.call_back_1", [](World& w) { call_back(w, 1); });
    add("kitchen.call_back_10", [](World& w) { call_back(w, 10); });
    add("kitchen.call_back_itself", call_back_itself);
    add("kitchen.refuse_bare", refuse_bare);
    add("kitchen.refuse", refuse, WIDE);
    for (const std::string& name : specimen::system_exceptions())
        add("system." + name, [name](World& w) { system_exception(w, name); });
    add("system.unknown_name", unknown_exception);
    add("kitchen.notify", [](World& w) {
        for (int i = 0; i < 10; ++i)
            w.peer->notify("something happened");
        w.peer->ping();
    });
    add("kitchen.slow", [](World& w) { expect(w.peer->slow(200), 200, "the answer"); });
    add("kitchen.concurrent", concurrent);
    add("kitchen.interface", [](World& w) { expect(w.peer->interface(40, "ab"), 42, "the sum"); });
    add("kitchen.match", [](World& w) { expect(w.peer->match(-5, 8), 3, "the sum"); });
}
