// SPDX-License-Identifier: MIT OR Apache-2.0
// Servants that answer when their caller has given up. omniORB tells nobody of its time-outs: it shuts the connection,
// which a server notices when it answers.
#include "checks.h"

#include <chrono>
#include <future>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

constexpr CORBA::ULong PATIENCE = 200;  // milliseconds, as all below
constexpr CORBA::ULong LATE = 700;

/// A reference of its own to the same object, whose calls are given up after so long.
Kitchen::Peer_ptr within(World& world, CORBA::ULong milliseconds)
{
    CORBA::String_var text = world.orb->object_to_string(world.peer);
    CORBA::Object_var object = world.orb->string_to_object(text);
    omniORB::setClientCallTimeout(object, milliseconds);
    return Kitchen::Peer::_unchecked_narrow(object);
}

/// A call whose answer comes too late.
void given_up(World& world, CORBA::ULong late)
{
    Kitchen::Peer_var peer = within(world, PATIENCE);
    try {
        peer->slow(late);
    } catch (const CORBA::TIMEOUT& e) {
        // MAYBE; on a busy machine the request may not have been sent in time.
        require(e.completed() != CORBA::COMPLETED_YES, "the completion status is YES");
        return;
    }
    throw std::runtime_error("TIMEOUT was not raised");
}

/// Calls, each with its own answer, until the late one has come too.
void go_on(Kitchen::Peer_ptr peer, Clock::time_point end)
{
    for (CORBA::Long i = 1; i < 3 || Clock::now() < end; ++i) {
        expect(peer->match(i, 1000), i + 1000, "an answer afterwards");
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

void in_time(World& world)
{
    Kitchen::Peer_var peer = within(world, 30000);
    expect(peer->slow(50), 50, "the answer");
}

void late_servant(World& world)
{
    const auto end = Clock::now() + std::chrono::milliseconds(LATE + 200);
    given_up(world, LATE);
    go_on(world.peer, end);
}

/// Who gives up takes nothing from those who do not.
void beside_others(World& world)
{
    auto slow = [&world] { return world.peer->slow(LATE / 2); };
    auto patient = std::async(std::launch::async, slow);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until the server is busy with it
    given_up(world, LATE);
    expect(patient.get(), CORBA::Long(LATE / 2), "the answer of the other thread");
}

/// One after the other, and many at once.
void again_and_again(World& world)
{
    std::vector<std::future<void>> threads;
    const auto end = Clock::now() + std::chrono::milliseconds(2 * PATIENCE + LATE);
    for (int thread = 0; thread < 4; ++thread)
        threads.push_back(std::async(std::launch::async, [&world] {
            for (int call = 0; call < 2; ++call)
                given_up(world, LATE / 2);
        }));
    for (auto& thread : threads)
        thread.get();
    go_on(world.peer, end);
}

}  // namespace

void add_deadlines(Checks& checks)
{
    checks.push_back({"deadline.in_time", NOTHING, in_time});
    checks.push_back({"deadline.late_servant", NOTHING, late_servant});
    checks.push_back({"deadline.beside_others", NOTHING, beside_others});
    checks.push_back({"deadline.again_and_again", NOTHING, again_and_again});
}
