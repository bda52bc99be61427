// SPDX-License-Identifier: MIT OR Apache-2.0
// What the checks of the omniORB client share.
#pragma once

#include "servants.h"

#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

/// The object references under test and the client's own side.
struct World {
    CORBA::ORB_var orb;
    PortableServer::POA_var poa;
    Cubit::Cube_var cube;
    Ttcp::Receiver_var receiver;
    Kitchen::Peer_var peer;
    unsigned giop_minor = 2;
    bool shutdown = false;
};

/// What a message has to carry for a check to make sense.
enum Needs {
    NOTHING = 0,
    WIDE = 1,      // wchar or wstring
    CODE_SET = 2,  // a negotiated code set for char data
};

struct Check {
    std::string name;
    Needs needs;
    std::function<void(World&)> run;
};
using Checks = std::vector<Check>;

void add_cubit(Checks& checks);
void add_ttcp(Checks& checks);
void add_kitchen(Checks& checks);
void add_calls(Checks& checks);
void add_any(Checks& checks);
void add_object(Checks& checks);
void add_deadlines(Checks& checks);

/// Thrown by a check that cannot be made here.
struct Skip : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline void require(bool condition, const std::string& otherwise)
{
    if (!condition)
        throw std::runtime_error(otherwise);
}

/// Requires two printable values to be equal.
template <class A, class B> void expect(const A& got, const B& want, const std::string& what)
{
    if (got == want)
        return;
    std::ostringstream text;
    text << what << " is " << got << " instead of " << want;
    throw std::runtime_error(text.str());
}
