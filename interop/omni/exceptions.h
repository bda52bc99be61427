// SPDX-License-Identifier: MIT OR Apache-2.0
// What the clients print of an exception.
#pragma once

#include <omniORB4/CORBA.h>

#include <sstream>
#include <string>

inline std::string describe(const CORBA::SystemException& e)
{
    static const char* const completed[] = {"YES", "NO", "MAYBE"};
    std::ostringstream text;
    const char* minor = e.NP_minorString();
    text << e._name() << " minor 0x" << std::hex << e.minor();
    if (minor)
        text << " (" << minor << ")";
    text << " completed " << completed[e.completed() % 3];
    return text.str();
}
