// SPDX-License-Identifier: MIT OR Apache-2.0
// The agreed sample values of interop/README.md and equality for every type of kitchen.idl.
#pragma once

#include "cubit.hh"
#include "kitchen.hh"
#include "ttcp.hh"

#include <cstring>
#include <string>
#include <vector>

namespace specimen {

Kitchen::Scalars scalars(CORBA::Long n);
Kitchen::Mixed mixed(CORBA::Long n);
Kitchen::Node tree(unsigned depth);
Kitchen::Refused refused();

/// The value of every octet of a bulk test: not constant, and not a divisor of any buffer size.
inline CORBA::Octet bulk(unsigned i) { return static_cast<CORBA::Octet>(i % 251); }

/// The minor code and completion of every exception raised by `system_exception`.
constexpr CORBA::ULong MINOR = 42;
constexpr CORBA::CompletionStatus COMPLETED = CORBA::COMPLETED_MAYBE;

/// The names `system_exception` has to know, as in the CORBA module.
const std::vector<std::string>& system_exceptions();
/// Raises the exception called `name`; BAD_PARAM with minor code 1 when there is none.
[[noreturn]] void raise(const std::string& name);

}  // namespace specimen

// Equality. Floating point is compared by bits, so that the payload of a NaN counts.
template <class T> bool same_bits(const T& a, const T& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

inline bool same(CORBA::Octet a, CORBA::Octet b) { return a == b; }
inline bool same(CORBA::Short a, CORBA::Short b) { return a == b; }
inline bool same(CORBA::Long a, CORBA::Long b) { return a == b; }
inline bool same(CORBA::Double a, CORBA::Double b) { return same_bits(a, b); }
bool same(const char* a, const char* b);
bool same(const CORBA::WChar* a, const CORBA::WChar* b);
bool same(const Cubit::Many& a, const Cubit::Many& b);
bool same(const Cubit::Oneof& a, const Cubit::Oneof& b);
bool same(const Ttcp::BinStruct& a, const Ttcp::BinStruct& b);
bool same(const Kitchen::Scalars& a, const Kitchen::Scalars& b);
bool same(const Kitchen::Node& a, const Kitchen::Node& b);
bool same(const Kitchen::Mixed& a, const Kitchen::Mixed& b);
bool same(const Kitchen::ByColour& a, const Kitchen::ByColour& b);
bool same(const Kitchen::ByBool& a, const Kitchen::ByBool& b);
bool same(const Kitchen::ByChar& a, const Kitchen::ByChar& b);
bool same(const Kitchen::ByLong& a, const Kitchen::ByLong& b);
bool same(const Kitchen::Strings& a, const Kitchen::Strings& b);
/// Anys that hold a long: enough for the default arm of ByLong.
bool same_long(const CORBA::Any& a, const CORBA::Any& b);

/// Equality of sequences whose elements have a `same`.
template <class S> bool same_items(const S& a, const S& b)
{
    if (a.length() != b.length())
        return false;
    for (CORBA::ULong i = 0; i < a.length(); ++i)
        if (!same(a[i], b[i]))
            return false;
    return true;
}
