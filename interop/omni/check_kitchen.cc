// SPDX-License-Identifier: MIT OR Apache-2.0
// The echo operations of kitchen.idl.
#include "checks.h"

#include <cmath>
#include <cstdint>
#include <limits>

namespace {

// Result and copy are the first argument, the inout argument comes back as it was.
void echo_scalars(World& world, const Kitchen::Scalars& sent)
{
    Kitchen::Scalars copy, both = specimen::scalars(9);
    const Kitchen::Scalars got = world.peer->echo_scalars(sent, copy, both);
    require(same(got, sent), "the result differs");
    require(same(copy, sent), "the copy differs");
    require(same(both, specimen::scalars(9)), "the inout argument differs");
}

Kitchen::Scalars largest()
{
    Kitchen::Scalars v;
    v.b = true;
    v.c = 0x7f;
    v.o = 0xff;
    v.s = 0x7fff;
    v.us = 0xffff;
    v.l = 0x7fffffff;
    v.ul = 0xffffffff;
    v.ll = std::numeric_limits<CORBA::LongLong>::max();
    v.ull = std::numeric_limits<CORBA::ULongLong>::max();
    v.f = std::numeric_limits<CORBA::Float>::max();
    v.d = std::numeric_limits<CORBA::Double>::infinity();
    v.w = 0xfffd;
    return v;
}

Kitchen::Scalars smallest()
{
    Kitchen::Scalars v;
    v.b = false;
    v.c = 0;
    v.o = 0;
    v.s = -0x8000;
    v.us = 0;
    v.l = std::numeric_limits<CORBA::Long>::min();
    v.ul = 0;
    v.ll = std::numeric_limits<CORBA::LongLong>::min();
    v.ull = 0;
    v.f = std::numeric_limits<CORBA::Float>::denorm_min();
    v.d = -0.0;
    v.w = 0;
    return v;
}

Kitchen::Scalars not_a_number()
{
    Kitchen::Scalars v = specimen::scalars(1);
    const std::uint32_t f = 0x7fc12345;
    const std::uint64_t d = 0xfff8123456789abc;
    std::memcpy(&v.f, &f, sizeof f);
    std::memcpy(&v.d, &d, sizeof d);
    return v;
}

// A char beyond ASCII does not exist in every transmission code set (one octet of UTF-8 cannot be one).
void char_latin1(World& world)
{
    Kitchen::Scalars sent = specimen::scalars(1);
    sent.c = static_cast<CORBA::Char>(0xe5);
    try {
        echo_scalars(world, sent);
    } catch (const CORBA::DATA_CONVERSION&) {
        throw Skip("the transmission code set has no such char");
    }
}

void echo_string(World& world, const std::string& sent)
{
    const std::string inout = "in and out";
    CORBA::String_var both = inout.c_str(), copy;
    CORBA::String_var got = world.peer->echo_string(sent.c_str(), copy.out(), both.inout());
    require(sent == got.in(), "the result differs: " + std::string(got.in()).substr(0, 80));
    require(sent == copy.in(), "the copy differs: " + std::string(copy.in()).substr(0, 80));
    expect(std::string(both.in()), inout, "the inout argument");
}

void echo_wstring(World& world, const std::wstring& sent)
{
    CORBA::WString_var got = world.peer->echo_wstring(sent.c_str());
    require(sent == got.in(), "the result differs");
}

void echo_mixed(World& world, const Kitchen::Mixed& sent)
{
    Kitchen::Mixed_var got = world.peer->echo_mixed(sent);
    require(same(got.in(), sent), "the result differs");
}

Kitchen::Mixed at_the_bounds()
{
    Kitchen::Mixed v = specimen::mixed(3);
    v.name = std::string(32, 'n').c_str();
    v.wide = std::wstring(16, L'\u03a9').c_str();
    v.few.length(16);
    for (CORBA::ULong i = 0; i < 16; ++i)
        v.few[i] = static_cast<CORBA::Long>(i) - 8;
    v.list.length(0);
    v.flags.length(0);
    return v;
}

void echo_mixeds(World& world, CORBA::ULong length)
{
    Kitchen::Mixeds sent;
    sent.length(length);
    for (CORBA::ULong i = 0; i < length; ++i)
        sent[i] = specimen::mixed(static_cast<CORBA::Long>(i));
    Kitchen::Mixeds_var got = world.peer->echo_mixeds(sent);
    expect(got->length(), length, "the length");
    require(same_items(sent, got.in()), "the content differs");
}

void echo_tree(World& world, const Kitchen::Node& sent)
{
    Kitchen::Node_var got = world.peer->echo_tree(sent);
    require(same(got.in(), sent), "the result differs");
}

Kitchen::Node bush()
{
    Kitchen::Node root;
    root.name = "root";
    root.children.length(200);
    for (CORBA::ULong i = 0; i < 200; ++i)
        root.children[i] = specimen::tree(i % 4);
    return root;
}

void echo_table(World& world, CORBA::ULong rows)
{
    Kitchen::Table sent;
    sent.length(rows);
    for (CORBA::ULong i = 0; i < rows; ++i) {
        sent[i].length(i % 5);
        for (CORBA::ULong j = 0; j < i % 5; ++j)
            sent[i][j] = std::string(j * 7, static_cast<char>('a' + j)).c_str();
    }
    Kitchen::Table_var got = world.peer->echo_table(sent);
    expect(got->length(), rows, "the length");
    require(same_items(sent, got.in()), "the content differs");
}

void echo_matrix(World& world)
{
    const Kitchen::Matrix sent = {{1, -2, 3}, {-0x7fffffff, 0x7fffffff, 0}};
    Kitchen::Matrix_var got = world.peer->echo_matrix(sent);
    require(std::memcmp(got.in(), sent, sizeof sent) == 0, "the result differs");
}

void echo_money(World& world, const char* amount)
{
    const Kitchen::Money sent(CORBA::Fixed{amount});
    const Kitchen::Money got = world.peer->echo_money(sent);
    if (got != sent) {
        CORBA::String_var text = got.NP_asString();
        throw std::runtime_error(std::string("the result is ") + text.in());
    }
}

template <class U, class Echo> void echo_union(const U& sent, Echo echo)
{
    typename U::_var_type got = echo(sent);
    expect(static_cast<int>(got->_d()), static_cast<int>(sent._d()), "the discriminator");
    require(same(got.in(), sent), "the value differs");
}

void by_colour(World& world, const Kitchen::ByColour& sent)
{
    echo_union(sent, [&](const Kitchen::ByColour& v) { return world.peer->echo_by_colour(v); });
}

void by_bool(World& world, const Kitchen::ByBool& sent)
{
    echo_union(sent, [&](const Kitchen::ByBool& v) { return world.peer->echo_by_bool(v); });
}

void by_char(World& world, const Kitchen::ByChar& sent)
{
    echo_union(sent, [&](const Kitchen::ByChar& v) { return world.peer->echo_by_char(v); });
}

void by_long(World& world, const Kitchen::ByLong& sent)
{
    echo_union(sent, [&](const Kitchen::ByLong& v) { return world.peer->echo_by_long(v); });
}

void by_char_default(World& world, char discriminator)
{
    Kitchen::ByChar sent;
    sent.d(2.75);
    sent._d(discriminator);
    by_char(world, sent);
}

void by_long_default(World& world, CORBA::Long discriminator)
{
    Kitchen::ByLong sent;
    CORBA::Any held;
    held <<= CORBA::Long(4711);
    sent.other(held);
    sent._d(discriminator);
    by_long(world, sent);
}

void add_unions(const std::function<void(const char*, Needs, std::function<void(World&)>)>& add)
{
    add("by_colour_red", NOTHING, [](World& w) {
        Kitchen::ByColour v;
        v.l(-5);
        by_colour(w, v);
    });
    for (Kitchen::Colour colour : {Kitchen::green, Kitchen::blue})
        add(colour == Kitchen::green ? "by_colour_green" : "by_colour_blue", NOTHING, [colour](World& w) {
            Kitchen::ByColour v;
            v.text("paint");
            v._d(colour);
            by_colour(w, v);
        });
    add("by_bool_true", WIDE, [](World& w) {
        Kitchen::ByBool v;
        v.m(specimen::mixed(4));
        by_bool(w, v);
    });
    add("by_bool_false", NOTHING, [](World& w) {
        Kitchen::ByBool v;
        v._default();
        by_bool(w, v);
    });
    add("by_char_a", NOTHING, [](World& w) {
        Kitchen::ByChar v;
        v.o(200);
        by_char(w, v);
    });
    add("by_char_b", NOTHING, [](World& w) {
        Kitchen::ByChar v;
        Kitchen::Nodes nodes;
        nodes.length(2);
        nodes[0] = specimen::tree(3);
        nodes[1].name = "";
        v.tree(nodes);
        by_char(w, v);
    });
    add("by_char_default", NOTHING, [](World& w) { by_char_default(w, 0); });
    add("by_char_default_kept", NOTHING, [](World& w) { by_char_default(w, 'z'); });
    add("by_long_neg", NOTHING, [](World& w) {
        Kitchen::ByLong v;
        v.neg("negative");
        by_long(w, v);
    });
    add("by_long_scalars", WIDE, [](World& w) {
        Kitchen::ByLong v;
        v.s(specimen::scalars(5));
        by_long(w, v);
    });
    add("by_long_default", NOTHING, [](World& w) { by_long_default(w, 0); });
    add("by_long_default_kept", NOTHING, [](World& w) { by_long_default(w, 123456); });
}

}  // namespace

void add_kitchen(Checks& checks)
{
    auto add = [&checks](const char* name, Needs needs, std::function<void(World&)> run) {
        checks.push_back({std::string("kitchen.") + name, needs, std::move(run)});
    };
    add("scalars", WIDE, [](World& w) { echo_scalars(w, specimen::scalars(1)); });
    add("scalars_max", WIDE, [](World& w) { echo_scalars(w, largest()); });
    add("scalars_min", WIDE, [](World& w) { echo_scalars(w, smallest()); });
    add("scalars_nan", WIDE, [](World& w) { echo_scalars(w, not_a_number()); });
    add("char_latin1", WIDE, char_latin1);
    add("string", NOTHING, [](World& w) { echo_string(w, "Hello, world"); });
    add("string_empty", NOTHING, [](World& w) { echo_string(w, ""); });
    add("string_latin1", CODE_SET, [](World& w) { echo_string(w, "gr\u00fc\u00dfe \u00e5\u00e9\u00f1"); });
    add("string_unicode", CODE_SET, [](World& w) { echo_string(w, "gr\u00fc\u00dfe \u2014 \u03a9 \u6f22\u5b57"); });
    add("string_beyond_bmp", CODE_SET, [](World& w) { echo_string(w, "clef \U0001d11e"); });
    add("string_5mb", NOTHING, [](World& w) {
        std::string text(5 * 1024 * 1024, 'x');
        for (std::size_t i = 0; i < text.size(); ++i)
            text[i] = static_cast<char>(' ' + i % 95);
        echo_string(w, text);
    });
    add("wstring", WIDE, [](World& w) { echo_wstring(w, L"Hello, world"); });
    add("wstring_empty", WIDE, [](World& w) { echo_wstring(w, L""); });
    add("wstring_unicode", WIDE, [](World& w) { echo_wstring(w, L"gr\u00fc\u00dfe \u2014 \u03a9 \u6f22\u5b57"); });
    // omniORB's WChar is a UTF-16 unit, so a character beyond the BMP takes two of them.
    add("wstring_surrogates", WIDE, [](World& w) { echo_wstring(w, {L'<', wchar_t(0xd834), wchar_t(0xdd1e), L'>'}); });
    add("wstring_large", WIDE, [](World& w) { echo_wstring(w, std::wstring(100000, L'\u6f22')); });
    add("mixed", WIDE, [](World& w) { echo_mixed(w, specimen::mixed(1)); });
    add("mixed_bounds", WIDE, [](World& w) { echo_mixed(w, at_the_bounds()); });
    add("mixeds_empty", NOTHING, [](World& w) { echo_mixeds(w, 0); });
    add("mixeds", WIDE, [](World& w) { echo_mixeds(w, 3); });
    add("mixeds_large", WIDE, [](World& w) { echo_mixeds(w, 500); });
    add("tree_leaf", NOTHING, [](World& w) { echo_tree(w, specimen::tree(0)); });
    add("tree_deep", NOTHING, [](World& w) { echo_tree(w, specimen::tree(50)); });
    add("tree_broad", NOTHING, [](World& w) { echo_tree(w, bush()); });
    add("table_empty", NOTHING, [](World& w) { echo_table(w, 0); });
    add("table", NOTHING, [](World& w) { echo_table(w, 23); });
    add("matrix", NOTHING, echo_matrix);
    add("money_zero", NOTHING, [](World& w) { echo_money(w, "0"); });
    add("money", NOTHING, [](World& w) { echo_money(w, "1234.50"); });
    add("money_max", NOTHING, [](World& w) { echo_money(w, "99999999.99"); });
    add("money_min", NOTHING, [](World& w) { echo_money(w, "-99999999.99"); });
    add("money_cent", NOTHING, [](World& w) { echo_money(w, "-0.01"); });
    add_unions(add);
}
