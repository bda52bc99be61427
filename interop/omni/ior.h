// SPDX-License-Identifier: MIT OR Apache-2.0
// Just enough of a stringified reference to point at an object that is not there.
#pragma once

#include <string>

namespace ior {

struct Profile {
    unsigned minor;  // of the IIOP version
    std::string host;
    unsigned port;
    std::string key;
    bool tls = false;  // the port is served over TLS, and none is without
};

/// The first IIOP profile of "IOR:…"; throws std::runtime_error when there is none.
Profile parse(const std::string& text);

/// "corbaloc:iiop:1.M@host:port/key", or ssliop, with the key escaped and M the smaller of the two minor versions.
std::string corbaloc(const Profile& profile, unsigned minor);

}  // namespace ior
