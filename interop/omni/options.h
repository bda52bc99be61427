// SPDX-License-Identifier: MIT OR Apache-2.0
// The command line of both programs: ours is taken, everything else goes to the ORB after our defaults.
#pragma once

#include <omniORB4/CORBA.h>

#include <functional>
#include <string>
#include <vector>

class Options {
public:
    /// `own` is asked for each option with the argument after it ("" when there is none) and says how
    /// many arguments it took: 0 when the option is not its own.
    Options(int argc, char** argv, const std::function<int(const std::string&, const std::string&)>& own);

    /// Starts the ORB. Throws INITIALIZE when an option is unknown to it.
    CORBA::ORB_ptr init() const;

    /// The adapter for the objects of a program: the root adapter, or one with BidirectionalPolicy BOTH.
    PortableServer::POA_ptr adapter(CORBA::ORB_ptr orb) const;

    /// The minor number of the largest GIOP version allowed.
    unsigned giop_minor() const { return giop_minor_; }

private:
    std::vector<std::string> orb_;
    unsigned giop_minor_ = 2;
    bool bidirectional_ = false;
};
