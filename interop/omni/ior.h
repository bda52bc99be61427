// SPDX-License-Identifier: MIT OR Apache-2.0
// Just enough of a stringified reference to point at an object that is not there.
#pragma once

#include <string>

namespace ior {

struct Profile {
    unsigned minor;  // of the IIOP version
    std::string host;
    unsigned port;     // 0 when nothing is served over TCP
    std::string path;  // then, of the Unix-domain socket
    std::string key;
    bool tls = false;  // the port is served over TLS, and none is without
};

/// The first IIOP profile of "IOR:…"; throws std::runtime_error when there is none.
Profile parse(const std::string& text);

/// "corbaloc:iiop:1.M@host:port/key" (ssliop over TLS), or "corbaloc:omniunix:1.M@path:/key" when only the path is known, with the
/// key escaped and M the smaller of the two minor versions.
std::string corbaloc(const Profile& profile, unsigned minor);

}  // namespace ior
