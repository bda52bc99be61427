// SPDX-License-Identifier: MIT OR Apache-2.0
// An any that holds every type there is.
#include "checks.h"

#include <omniORB4/omniORB.h>

namespace {

using Any = CORBA::Any;

/// Sends an any and requires the type of the answer to be the one sent.
CORBA::Any* echo(World& world, const Any& sent)
{
    CORBA::Any_var got = world.peer->echo_any(sent);
    CORBA::TypeCode_var sent_type = sent.type(), got_type = got->type();
    require(got_type->equal(sent_type), "the TypeCode differs");
    return got._retn();
}

/// A value that is extracted by value.
template <class T> void plain(World& world, T sent)
{
    Any any;
    any <<= sent;
    CORBA::Any_var got = echo(world, any);
    T value;
    require(got.in() >>= value, "the value cannot be extracted");
    require(same_bits(value, sent), "the value differs");
}

/// boolean, octet, char and wchar, which C++ cannot tell from other types.
template <class From, class To, class T> void wrapped(World& world, T sent)
{
    Any any;
    any <<= From(sent);
    CORBA::Any_var got = echo(world, any);
    T value;
    require(got.in() >>= To(value), "the value cannot be extracted");
    require(value == sent, "the value differs");
}

/// A constructed value with a `same`.
template <class T> void constructed(World& world, const T& sent)
{
    Any any;
    any <<= sent;
    CORBA::Any_var got = echo(world, any);
    const T* value;
    require(got.in() >>= value, "the value cannot be extracted");
    require(same(*value, sent), "the value differs");
}

template <class T> void sequence(World& world, const T& sent)
{
    Any any;
    any <<= sent;
    CORBA::Any_var got = echo(world, any);
    const T* value;
    require(got.in() >>= value, "the value cannot be extracted");
    require(same_items(*value, sent), "the value differs");
}

void string(World& world)
{
    Any any;
    any <<= "text";
    CORBA::Any_var got = echo(world, any);
    const char* value;
    require(got.in() >>= value, "the value cannot be extracted");
    require(same(value, "text"), "the value differs");
}

void string_bounded(World& world)
{
    Any any;
    any <<= Any::from_string("bounded", 32);
    CORBA::Any_var got = echo(world, any);
    const char* value;
    require(got.in() >>= Any::to_string(value, 32), "the value cannot be extracted");
    require(same(value, "bounded"), "the value differs");
}

void wstring(World& world)
{
    Any any;
    any <<= L"wide \u20ac";
    CORBA::Any_var got = echo(world, any);
    const CORBA::WChar* value;
    require(got.in() >>= value, "the value cannot be extracted");
    require(same(value, L"wide \u20ac"), "the value differs");
}

void wstring_bounded(World& world)
{
    Any any;
    any <<= Any::from_wstring(L"wide", 16);
    CORBA::Any_var got = echo(world, any);
    const CORBA::WChar* value;
    require(got.in() >>= Any::to_wstring(value, 16), "the value cannot be extracted");
    require(same(value, L"wide"), "the value differs");
}

void null(World& world) { CORBA::Any_var got = echo(world, Any()); }

void enumeration(World& world)
{
    Any any;
    any <<= Kitchen::blue;
    CORBA::Any_var got = echo(world, any);
    Kitchen::Colour value;
    require(got.in() >>= value, "the value cannot be extracted");
    expect(value, Kitchen::blue, "the value");
}

void array(World& world)
{
    Kitchen::Matrix sent = {{1, 2, 3}, {4, 5, 6}};
    Any any;
    any <<= Kitchen::Matrix_forany(sent, false);
    CORBA::Any_var got = echo(world, any);
    Kitchen::Matrix_forany value;
    require(got.in() >>= value, "the value cannot be extracted");
    require(std::memcmp(value.in(), sent, sizeof sent) == 0, "the value differs");
}

void array_octet(World& world)
{
    Kitchen::Uuid sent = {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 255};
    Any any;
    any <<= Kitchen::Uuid_forany(sent, false);
    CORBA::Any_var got = echo(world, any);
    Kitchen::Uuid_forany value;
    require(got.in() >>= value, "the value cannot be extracted");
    require(std::memcmp(value.in(), sent, sizeof sent) == 0, "the value differs");
}

void fixed(World& world, const char* amount, bool alias)
{
    const CORBA::Fixed sent(amount);
    Any any;
    any <<= Any::from_fixed(sent, 10, 2);
    if (alias)
        any.type(Kitchen::_tc_Money);
    CORBA::Any_var got = echo(world, any);
    CORBA::Fixed value;
    require(got.in() >>= Any::to_fixed(value, 10, 2), "the value cannot be extracted");
    require(value == sent, "the value differs");
}

void object(World& world)
{
    Any any;
    any <<= world.peer.in();
    CORBA::Any_var got = echo(world, any);
    Kitchen::Peer_ptr value;
    require(got.in() >>= value, "the reference cannot be extracted");
    require(value->_is_equivalent(world.peer), "the reference differs");
    value->ping();
}

void object_nil(World& world)
{
    Any any;
    any <<= Kitchen::Peer::_nil();
    CORBA::Any_var got = echo(world, any);
    Kitchen::Peer_ptr value;
    require(got.in() >>= value, "the reference cannot be extracted");
    require(CORBA::is_nil(value), "the reference is not nil");
}

void objects(World& world)
{
    Kitchen::Peers sent;
    sent.length(2);
    sent[0] = Kitchen::Peer::_duplicate(world.peer);
    Any any;
    any <<= sent;
    CORBA::Any_var got = echo(world, any);
    const Kitchen::Peers* value;
    require(got.in() >>= value, "the value cannot be extracted");
    expect(value->length(), 2U, "the length");
    require(world.peer->_is_equivalent((*value)[0]) && CORBA::is_nil((*value)[1]), "the references differ");
}

void nested(World& world, int levels)
{
    Any any;
    any <<= CORBA::Long(77);
    for (int i = 0; i < levels; ++i) {
        const Any inner(any);
        any <<= inner;
    }
    CORBA::Any_var got = echo(world, any);
    const Any* value = &got.in();
    for (int i = 0; i < levels; ++i)
        require(*value >>= value, "the any cannot be extracted");
    CORBA::Long number = 0;
    require((*value >>= number) && number == 77, "the value differs");
}

void typecode(World& world, CORBA::TypeCode_ptr sent)
{
    Any any;
    any <<= sent;
    CORBA::Any_var got = echo(world, any);
    CORBA::TypeCode_ptr value;
    require(got.in() >>= value, "the TypeCode cannot be extracted");
    require(value->equal(sent), "the TypeCode held differs");
}

/// A struct type that the other side has never seen, made at run time.
void unknown_type(World& world)
{
    CORBA::StructMemberSeq members;
    members.length(3);
    members[0].name = "flag";
    members[0].type = CORBA::TypeCode::_duplicate(CORBA::_tc_octet);
    members[1].name = "size";
    members[1].type = CORBA::TypeCode::_duplicate(CORBA::_tc_double);
    members[2].name = "names";
    members[2].type = CORBA::TypeCode::_duplicate(Kitchen::_tc_Strings);
    CORBA::TypeCode_var type = world.orb->create_struct_tc("IDL:orbium.test/Unseen:1.0", "Unseen", members);

    CORBA::Object_var found = world.orb->resolve_initial_references("DynAnyFactory");
    DynamicAny::DynAnyFactory_var factory = DynamicAny::DynAnyFactory::_narrow(found);
    DynamicAny::DynAny_var value = factory->create_dyn_any_from_type_code(type);
    value->insert_octet(5);
    value->next();
    value->insert_double(2.5);
    value->next();
    Any names;
    names <<= specimen::mixed(0).list;
    DynamicAny::DynAny_var list = value->current_component();
    list->from_any(names);

    CORBA::Any_var sent = value->to_any();
    CORBA::Any_var got = echo(world, sent);
    DynamicAny::DynAny_var again = factory->create_dyn_any(got);
    require(again->equal(value), "the value differs");
    value->destroy();
    again->destroy();
}

}  // namespace

void add_any(Checks& checks)
{
    auto add = [&checks](const char* name, std::function<void(World&)> run, Needs needs = NOTHING) {
        checks.push_back({std::string("any.") + name, needs, std::move(run)});
    };
    add("null", null);
    add("boolean", [](World& w) { wrapped<Any::from_boolean, Any::to_boolean>(w, CORBA::Boolean(true)); });
    add("char", [](World& w) { wrapped<Any::from_char, Any::to_char>(w, CORBA::Char('q')); });
    add("octet", [](World& w) { wrapped<Any::from_octet, Any::to_octet>(w, CORBA::Octet(250)); });
    add("wchar", [](World& w) { wrapped<Any::from_wchar, Any::to_wchar>(w, CORBA::WChar(0x20ac)); }, WIDE);
    add("short", [](World& w) { plain(w, CORBA::Short(-32768)); });
    add("ushort", [](World& w) { plain(w, CORBA::UShort(65535)); });
    add("long", [](World& w) { plain(w, CORBA::Long(-70000)); });
    add("ulong", [](World& w) { plain(w, CORBA::ULong(4000000000U)); });
    add("longlong", [](World& w) { plain(w, CORBA::LongLong(-5000000000LL)); });
    add("ulonglong", [](World& w) { plain(w, CORBA::ULongLong(0xfedcba9876543210ULL)); });
    add("float", [](World& w) { plain(w, CORBA::Float(1.5e-30F)); });
    add("double", [](World& w) { plain(w, CORBA::Double(-2.5e300)); });
    add("string", string);
    add("string_bounded", string_bounded);
    add("wstring", wstring, WIDE);
    add("wstring_bounded", wstring_bounded, WIDE);
    add("enum", enumeration);
    add("struct", [](World& w) { constructed(w, Cubit::Many{1, -2, 3}); });
    add("struct_scalars", [](World& w) { constructed(w, specimen::scalars(7)); }, WIDE);
    add("struct_mixed", [](World& w) { constructed(w, specimen::mixed(8)); }, WIDE);
    add("struct_recursive", [](World& w) { constructed(w, specimen::tree(5)); });
    add("union", [](World& w) { constructed(w, specimen::refused().detail); });
    add("union_default", [](World& w) {
        Kitchen::ByChar v;
        v.d(0.125);
        v._d('y');
        constructed(w, v);
    });
    add("union_without_member", [](World& w) {
        Kitchen::ByBool v;
        v._default();
        constructed(w, v);
    });
    add("sequence", [](World& w) { constructed(w, specimen::mixed(0).list); });
    add("sequence_bounded", [](World& w) { sequence(w, specimen::mixed(6).few); });
    add("sequence_structs", [](World& w) { sequence(w, specimen::refused().evidence); }, WIDE);
    add("array", array);
    add("array_octet", array_octet);
    add("fixed", [](World& w) { fixed(w, "-99999999.99", false); });
    add("fixed_alias", [](World& w) { fixed(w, "12.34", true); });
    add("object", object);
    add("object_nil", object_nil);
    add("object_sequence", objects);
    add("any", [](World& w) { nested(w, 1); });
    add("any_deep", [](World& w) { nested(w, 10); });
    add("typecode", [](World& w) { typecode(w, CORBA::_tc_long); });
    add("typecode_struct", [](World& w) { typecode(w, Kitchen::_tc_Mixed); });
    add("typecode_union", [](World& w) { typecode(w, Kitchen::_tc_ByLong); });
    add("typecode_recursive", [](World& w) { typecode(w, Kitchen::_tc_Node); });
    add("typecode_interface", [](World& w) { typecode(w, Kitchen::_tc_Peer); });
    add("typecode_exception", [](World& w) { typecode(w, Kitchen::_tc_Refused); });
    add("unknown_type", unknown_type);
    add("exception", [](World&) { throw Skip("omniORB encodes it in its own way"); });
}
