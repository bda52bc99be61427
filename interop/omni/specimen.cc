// SPDX-License-Identifier: MIT OR Apache-2.0
#include "specimen.h"

#include <cwchar>

namespace specimen {

Kitchen::Scalars scalars(CORBA::Long n)
{
    Kitchen::Scalars v;
    v.b = n % 2 == 1;
    v.c = static_cast<CORBA::Char>('a' + n % 26);
    v.o = static_cast<CORBA::Octet>(128 + n % 128);
    v.s = static_cast<CORBA::Short>(-n);
    v.us = static_cast<CORBA::UShort>(65535 - n);
    v.l = -70000 - n;
    v.ul = 4000000000U + n;
    v.ll = -5000000000LL - n;
    v.ull = 0x8000000000000000ULL + n;
    v.f = n + 0.5F;
    v.d = -n - 0.25;
    v.w = 0x20AC;
    return v;
}

Kitchen::Mixed mixed(CORBA::Long n)
{
    Kitchen::Mixed v;
    const std::string number = std::to_string(n);
    v.name = ("name-" + number).c_str();
    v.wide = (L"wide-\u20ac-" + std::wstring(number.begin(), number.end())).c_str();
    v.shade = static_cast<Kitchen::Colour>(n % 3);
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 3; ++j)
            v.m[i][j] = n * 100 + i * 10 + j;
    for (int i = 0; i < 16; ++i)
        v.id[i] = static_cast<CORBA::Octet>(n + i);
    v.list.length(3);
    v.list[0] = "one";
    v.list[1] = "";
    v.list[2] = "three";
    v.few.length(2);
    v.few[0] = n;
    v.few[1] = -n;
    v.flags.length(3);
    v.flags[0] = v.flags[2] = true;
    v.flags[1] = false;
    v.inner = scalars(n);
    return v;
}

Kitchen::Node tree(unsigned depth)
{
    Kitchen::Node node;
    node.name = ("depth " + std::to_string(depth)).c_str();
    if (depth > 0) {
        node.children.length(depth % 2 + 1);
        node.children[0] = tree(depth - 1);
        if (depth % 2 == 1)
            node.children[1].name = "leaf";
    }
    return node;
}

Kitchen::Refused refused()
{
    Kitchen::Refused e;
    e.why = "refused";
    e.detail.text("detail");
    e.detail._d(Kitchen::blue);
    e.evidence.length(2);
    e.evidence[0] = mixed(1);
    e.evidence[1] = mixed(2);
    return e;
}

const std::vector<std::string>& system_exceptions()
{
#define NAME(exception) #exception,
    static const std::vector<std::string> names = {OMNIORB_FOR_EACH_SYS_EXCEPTION(NAME)};
#undef NAME
    return names;
}

void raise(const std::string& name)
{
#define RAISE(exception)     \
    if (name == #exception) \
        throw CORBA::exception(MINOR, COMPLETED);
    OMNIORB_FOR_EACH_SYS_EXCEPTION(RAISE)
#undef RAISE
    throw CORBA::BAD_PARAM(1, CORBA::COMPLETED_NO);
}

}  // namespace specimen

bool same(const char* a, const char* b) { return std::strcmp(a, b) == 0; }

bool same(const CORBA::WChar* a, const CORBA::WChar* b) { return std::wcscmp(a, b) == 0; }

bool same(const Cubit::Many& a, const Cubit::Many& b) { return a.o == b.o && a.l == b.l && a.s == b.s; }

bool same(const Cubit::Oneof& a, const Cubit::Oneof& b)
{
    if (a._d() != b._d())
        return false;
    switch (a._d()) {
    case 1: return a.o() == b.o();
    case 2: return a.s() == b.s();
    case 3: return a.l() == b.l();
    default: return same(a.m(), b.m());
    }
}

bool same(const Ttcp::BinStruct& a, const Ttcp::BinStruct& b)
{
    return a.s == b.s && a.c == b.c && a.l == b.l && a.o == b.o && same_bits(a.d, b.d);
}

bool same(const Kitchen::Scalars& a, const Kitchen::Scalars& b)
{
    return a.b == b.b && a.c == b.c && a.o == b.o && a.s == b.s && a.us == b.us && a.l == b.l && a.ul == b.ul
        && a.ll == b.ll && a.ull == b.ull && same_bits(a.f, b.f) && same_bits(a.d, b.d) && a.w == b.w;
}

bool same(const Kitchen::Node& a, const Kitchen::Node& b)
{
    return same(a.name, b.name) && same_items(a.children, b.children);
}

bool same(const Kitchen::Mixed& a, const Kitchen::Mixed& b)
{
    if (a.flags.length() != b.flags.length())
        return false;
    for (CORBA::ULong i = 0; i < a.flags.length(); ++i)
        if (a.flags[i] != b.flags[i])
            return false;
    return same(a.name, b.name) && same(a.wide, b.wide) && a.shade == b.shade && same_bits(a.m, b.m)
        && same_bits(a.id, b.id) && same(a.list, b.list) && same_items(a.few, b.few) && same(a.inner, b.inner);
}

bool same(const Kitchen::ByColour& a, const Kitchen::ByColour& b)
{
    if (a._d() != b._d())
        return false;
    return a._d() == Kitchen::red ? a.l() == b.l() : same(a.text(), b.text());
}

bool same(const Kitchen::ByBool& a, const Kitchen::ByBool& b)
{
    return a._d() == b._d() && (!a._d() || same(a.m(), b.m()));
}

bool same(const Kitchen::ByChar& a, const Kitchen::ByChar& b)
{
    if (a._d() != b._d())
        return false;
    switch (a._d()) {
    case 'a': return a.o() == b.o();
    case 'b': return same_items(a.tree(), b.tree());
    default: return same_bits(a.d(), b.d());
    }
}

bool same_long(const CORBA::Any& a, const CORBA::Any& b)
{
    CORBA::Long x, y;
    return (a >>= x) && (b >>= y) && x == y;
}

bool same(const Kitchen::ByLong& a, const Kitchen::ByLong& b)
{
    if (a._d() != b._d())
        return false;
    switch (a._d()) {
    case -1: return same(a.neg(), b.neg());
    case 16: return same(a.s(), b.s());
    default: return same_long(a.other(), b.other());
    }
}

bool same(const Kitchen::Strings& a, const Kitchen::Strings& b)
{
    if (a.length() != b.length())
        return false;
    for (CORBA::ULong i = 0; i < a.length(); ++i)
        if (!same(static_cast<const char*>(a[i]), static_cast<const char*>(b[i])))
            return false;
    return true;
}
