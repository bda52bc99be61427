// SPDX-License-Identifier: MIT OR Apache-2.0
// Just enough of a stringified reference to point at an object that is not there.
#pragma once

#include <string>

namespace ior {

struct Profile {
    std::string host;
    unsigned port;
    std::string key;
};

/// The first IIOP profile of "IOR:…"; throws std::runtime_error when there is none.
Profile parse(const std::string& text);

/// "corbaloc:iiop:1.MINOR@host:port/key" with the key escaped.
std::string corbaloc(const Profile& profile, int minor);

}  // namespace ior
