// SPDX-License-Identifier: MIT OR Apache-2.0
// How the servers tell their references.
#pragma once

#include <omniORB4/CORBA.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

/// Writes the reference under another name first, so that a reader never sees half of it.
inline void publish(CORBA::ORB_ptr orb, CORBA::Object_ptr object, const std::string& path)
{
    CORBA::String_var ior = orb->object_to_string(object);
    const std::string unfinished = path + ".tmp";
    std::ofstream(unfinished) << ior.in() << '\n';
    if (std::rename(unfinished.c_str(), path.c_str()) != 0)
        throw std::runtime_error("cannot write " + path);
}
