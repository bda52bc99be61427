// SPDX-License-Identifier: MIT OR Apache-2.0
//! The catalogue of invalid input: one small file per rule of the language.

/// A file with one mistake.
pub(crate) struct Case {
    /// Number of the rule.
    pub(crate) number: &'static str,
    /// The file. A `§`, which is not part of it, stands before the place to be reported.
    pub(crate) marked: &'static str,
    /// Words that the first diagnostic must contain, in its message or help.
    pub(crate) says: &'static [&'static str],
    /// A warning only: there is a model.
    pub(crate) warning: bool,
    /// omniidl rejects it too. It does not know the words of CORBA 3.
    pub(crate) peers: bool,
}

impl Case {
    /// The file without the mark.
    pub(crate) fn text(&self) -> String {
        self.marked.replace('§', "")
    }
}

const fn rejected(
    number: &'static str,
    marked: &'static str,
    says: &'static [&'static str],
) -> Case {
    Case {
        number,
        marked,
        says,
        warning: false,
        peers: true,
    }
}

const fn here_only(
    number: &'static str,
    marked: &'static str,
    says: &'static [&'static str],
) -> Case {
    Case {
        number,
        marked,
        says,
        warning: false,
        peers: false,
    }
}

const fn warned(number: &'static str, marked: &'static str, says: &'static [&'static str]) -> Case {
    Case {
        number,
        marked,
        says,
        warning: true,
        peers: false,
    }
}

/// All cases.
pub(crate) const CASES: &[Case] = &[
    rejected(
        "1",
        "interface Foo { void §Attribute(); };",
        &["collides", "keyword `attribute`"],
    ),
    rejected(
        "2",
        "struct §interface { long a; };",
        &["keyword `interface`", "expected"],
    ),
    rejected(
        "3",
        "typedef long Foo; typedef short §foo;",
        &["redefinition", "differs only in case"],
    ),
    rejected(
        "4",
        "typedef long Foo; struct S { §foo x; };",
        &["differs in case", "`Foo`"],
    ),
    rejected(
        "5",
        "interface I { §Bar op(); };",
        &["`Bar` is not declared"],
    ),
    rejected(
        "6",
        "struct S { long a; short §A; };",
        &["member `A`", "differs only in case"],
    ),
    rejected(
        "6a",
        "struct S { long a; short §a; };",
        &["duplicate member `a`"],
    ),
    rejected(
        "7",
        "interface I { void op(in long a, in long §A); };",
        &["parameter `A`", "differs only in case"],
    ),
    rejected(
        "8",
        "interface I { void f(in long a); void §f(in short b); };",
        &["operations cannot be overloaded"],
    ),
    rejected(
        "9",
        "interface A { void f(); }; interface B : A { void §f(in long x); };",
        &["redefines", "inherited operation `f`"],
    ),
    rejected(
        "10",
        "interface A { attribute long x; }; interface B : A { attribute long §x; };",
        &["redefines", "inherited attribute `x`"],
    ),
    rejected(
        "11",
        "interface A { void f(); }; interface B { void f(); }; interface §C : A, B {};",
        &["inherited name clash", "`f`"],
    ),
    rejected(
        "12",
        "interface A {}; interface B : A, §A {};",
        &["listed twice"],
    ),
    rejected(
        "13",
        "interface A; interface B : §A {}; interface A {};",
        &["not fully defined"],
    ),
    rejected(
        "14",
        "interface A : §A {};",
        &["not declared", "inherit from itself"],
    ),
    rejected(
        "15",
        "struct S { long a; }; interface I : §S {};",
        &["not an interface"],
    ),
    warned(
        "16",
        "interface §A; interface B { void f(in A x); };",
        &["forward declared but never defined"],
    ),
    rejected(
        "17",
        "interface A { typedef long T; }; interface B { typedef short T; }; interface C : A, B { void f(in §T x); };",
        &["ambiguous", "`T`"],
    ),
    rejected(
        "18",
        "interface I { oneway §long f(); };",
        &["oneway", "must return void"],
    ),
    rejected(
        "19",
        "interface I { oneway void f(§out long x); };",
        &["oneway", "only `in`"],
    ),
    rejected(
        "20",
        "exception E {}; interface I { oneway void f() raises(§E); };",
        &["oneway", "may not raise"],
    ),
    rejected(
        "21",
        "struct S { long a; }; interface I { void f() raises(§S); };",
        &["not an exception"],
    ),
    rejected(
        "22",
        "exception E {}; interface I { void f(in §E e); };",
        &["exception", "not a type"],
    ),
    rejected(
        "23",
        "exception E {}; struct S { §E e; };",
        &["exception", "not a type"],
    ),
    rejected(
        "24",
        "union U switch(§float) { case 1: long a; };",
        &["illegal switch type"],
    ),
    rejected(
        "25",
        "union U switch(§octet) { case 1: long a; };",
        &["illegal switch type"],
    ),
    rejected(
        "26",
        "union U switch(long) { case 1: long a; case §1: short b; };",
        &["duplicate case label"],
    ),
    rejected(
        "27",
        "union U switch(long) { default: long a; §default: short b; };",
        &["second `default`"],
    ),
    rejected(
        "28",
        "union U switch(boolean) { case TRUE: long a; case FALSE: short b; §default: octet c; };",
        &["`default` is impossible"],
    ),
    rejected(
        "29",
        "enum E {x,y}; enum F {z}; union U switch(E) { case §z: long a; };",
        &["enumerator of another enum"],
    ),
    rejected(
        "30",
        "union U switch(short) { case §100000: long a; };",
        &["out of range", "too large"],
    ),
    rejected(
        "31",
        "union U switch(char) { case §0: long a; };",
        &["type mismatch", "character"],
    ),
    rejected("32", "const short X = §40000;", &["too large for `short`"]),
    rejected(
        "33",
        "const unsigned long X = §-1;",
        &["too small for `unsigned long`"],
    ),
    rejected("34", "const octet X = §300;", &["too large for `octet`"]),
    rejected(
        "35",
        "const long X = §1.5;",
        &["an integer is needed", "floating point"],
    ),
    rejected(
        "36",
        "const float X = §1;",
        &["a floating point value is needed", "an integer"],
    ),
    rejected("37", "const long X = 1 §/ 0;", &["division by zero"]),
    rejected(
        "38",
        "const long X = 1 §<< 64;",
        &["shift count", "out of range"],
    ),
    rejected(
        "39",
        "const string X = \"a\" §+ \"b\";",
        &["operator `+`", "not defined", "string"],
    ),
    rejected(
        "40",
        "const float X = 1.0 §| 2.0;",
        &["operator `|`", "not defined", "floating point"],
    ),
    rejected(
        "41",
        "struct S { long a; }; const §S X = 1;",
        &["illegal constant type"],
    ),
    rejected("42", "const §any X = 1;", &["illegal constant type"]),
    rejected(
        "43",
        "const string<3> X = §\"abcd\";",
        &["longer than its bound"],
    ),
    rejected(
        "44",
        "const string X = §L\"abc\";",
        &["a string is needed", "a wide string"],
    ),
    rejected(
        "45",
        "const char X = §'ab';",
        &["character literal", "too long"],
    ),
    rejected("46", "const string X = §\"a\\0b\";", &["NUL"]),
    rejected(
        "47",
        "const char X = §'\\u0041';",
        &["`\\u`", "wide literals only"],
    ),
    rejected(
        "48",
        "const char X = §'\\777';",
        &["octal escape", "too large"],
    ),
    rejected(
        "49",
        "const long long X = §99999999999999999999;",
        &["integer literal", "too large"],
    ),
    here_only(
        "49",
        "const long double X = §1e400;",
        &["too large", "`long double`", "the range of `double`"],
    ),
    rejected(
        "50",
        "typedef long T; const long X = §T;",
        &["not a constant"],
    ),
    rejected(
        "51",
        "enum E { a }; const E X = E::§a;",
        &["enum is not a scope"],
    ),
    rejected(
        "52",
        "const fixed X = §12345678901234567890123456789012d;",
        &["more than 31 digits"],
    ),
    rejected(
        "53",
        "typedef sequence<long, §0> S;",
        &["bound", "at least 1"],
    ),
    rejected("54", "typedef string<§0> S;", &["bound", "at least 1"]),
    rejected("55", "typedef long A[§0];", &["size", "at least 1"]),
    rejected(
        "55b",
        "typedef sequence<long,§-1> A;",
        &["bound", "at least 1"],
    ),
    rejected("56", "typedef fixed<§32,2> F;", &["at most 31 digits"]),
    rejected(
        "57",
        "typedef fixed<5,§6> F;",
        &["scale", "greater than the number of digits"],
    ),
    rejected("58", "struct §S {};", &["struct `S` is empty"]),
    rejected("59", "enum §E {};", &["enum `E` is empty"]),
    rejected("60", "module §M {};", &["module `M` is empty"]),
    rejected(
        "61",
        "enum E { a, b, §A };",
        &["enumerator `A`", "differs only in case"],
    ),
    rejected(
        "62",
        "enum E { a, b }; enum F { §b };",
        &["duplicate enumerator `b`"],
    ),
    rejected("63", "struct S { §S next; };", &["recursive"]),
    rejected(
        "64",
        "struct S; struct T { §S s; }; struct S { long a; };",
        &["incomplete type `S`"],
    ),
    rejected(
        "65",
        "interface I { void f(in long §a[3]); };",
        &["array declarator", "parameter"],
    ),
    rejected(
        "66",
        "interface I { void f(in §sequence<long> s); };",
        &["anonymous", "parameter"],
    ),
    rejected(
        "67",
        "interface I { void f(§long a); };",
        &["direction", "missing"],
    ),
    rejected("68", "interface I { void f()§ };", &["`;` expected"]),
    rejected(
        "69",
        "module M { struct §M { long a; }; };",
        &["name of the enclosing scope"],
    ),
    rejected(
        "70",
        "interface I { void §I(); };",
        &["name of the enclosing scope"],
    ),
    rejected(
        "71",
        "typedef long T; interface I { void f(in T x); typedef short §T; };",
        &["redefinition after use", "`T`"],
    ),
    rejected(
        "72",
        "module A { typedef long T; module B { typedef T U; typedef short §T; }; };",
        &["redefinition after use", "`T`"],
    ),
    rejected(
        "73",
        "typedef long T; interface I { void f(in T §t); };",
        &["parameter `t`", "clashes", "`T`"],
    ),
    rejected(
        "74",
        "interface I { void foo(); void §_foo(); };",
        &["operation `foo`", "twice"],
    ),
    rejected("75", "typedef long §__x;", &["malformed identifier"]),
    rejected(
        "76",
        "interface A {}; abstract interface B : §A {};",
        &["abstract", "may inherit only abstract"],
    ),
    rejected(
        "77",
        "local interface A {}; interface B : §A {};",
        &["local", "cannot inherit"],
    ),
    rejected(
        "78",
        "local interface L {}; interface I { void f(in §L x); };",
        &["local type"],
    ),
    rejected(
        "79",
        "valuetype A {}; valuetype B {}; valuetype C : A, §B {};",
        &["stateful base", "first"],
    ),
    rejected(
        "80",
        "valuetype A {}; custom valuetype B : §truncatable A {};",
        &["truncatable", "custom"],
    ),
    rejected(
        "81",
        "interface A {}; interface B {}; valuetype V supports A, §B {};",
        &["at most one interface that is not abstract"],
    ),
    rejected(
        "82",
        "abstract valuetype V { §public long x; };",
        &["abstract value type", "state"],
    ),
    rejected(
        "83",
        "valuetype A { public long x; }; valuetype B §A;",
        &["cannot be boxed"],
    ),
    rejected(
        "84",
        "valuetype A {}; abstract valuetype B : §A {};",
        &["abstract", "may inherit only abstract"],
    ),
    rejected(
        "85",
        "abstract interface A; interface §A {};",
        &["forward declaration and definition must agree"],
    ),
    rejected(
        "86",
        "typedef long M; module §M { typedef long T; };",
        &["redefinition", "typedef"],
    ),
    rejected(
        "87",
        "interface Foo {};\n#pragma ID Foo \"IDL:a:1.0\"\n§#pragma ID Foo \"IDL:b:1.0\"",
        &["repository id", "cannot be redefined"],
    ),
    warned(
        "88",
        "interface Foo {};\n§#pragma ID Foo \"bad\"",
        &["malformed"],
    ),
    rejected(
        "89",
        "interface Foo {};\n§#pragma version Foo x",
        &["malformed", "version"],
    ),
    rejected(
        "90",
        "#include §\"nope.idl\"\ninterface I {};",
        &["cannot include `nope.idl`", "not found"],
    ),
    rejected(
        "91",
        "interface I {};\n  §/* never closed\ninterface J {};\n",
        &["unterminated `/*`"],
    ),
    rejected(
        "91b",
        "const string X = §\"abc;\n",
        &["string literal", "not terminated"],
    ),
    rejected(
        "91c",
        "const char X = §'a;\n",
        &["character literal", "not terminated"],
    ),
    rejected(
        "91d",
        "interface I {};\n§#ifdef FOO\ninterface J {};\n",
        &["no `#endif`"],
    ),
    rejected(
        "92",
        "exception E {}; interface I { readonly attribute long x §setraises(E); };",
        &["readonly", "no `setraises`"],
    ),
    rejected(
        "93",
        "interface I { void f(in §void x); };",
        &["`void` is no type"],
    ),
    rejected("93b", "struct S { §void x; };", &["`void` is no type"]),
    rejected(
        "94",
        "module M { §void f(); };",
        &["definition expected", "operations", "interfaces"],
    ),
    rejected(
        "95",
        "struct S { §interface I {}; };",
        &["type expected", "`interface`"],
    ),
    rejected(
        "96",
        "interface I { void f() context(§\"1abc\"); };",
        &["malformed context name"],
    ),
    rejected(
        "97",
        "typedef unsigned §float F;",
        &["illegal type specifier"],
    ),
    rejected("97b", "typedef long §float F;", &["expected", "`float`"]),
    rejected("98", "interface I : §Object {};", &["`Object`", "base"]),
    rejected(
        "98a",
        "interface Foo {};\n#pragma version Foo 1.1\n§#pragma version Foo 1.2",
        &["version", "already set"],
    ),
    rejected("98b", "struct §A; interface I {};", &["never defined"]),
    rejected(
        "98c",
        "interface I { typedef long T; T §t(); };",
        &["`t` differs only in case", "`T`"],
    ),
    rejected(
        "98d",
        "interface A { void f(); }; valuetype V supports A { public long §f; };",
        &["redefines", "inherited operation `f`"],
    ),
    warned(
        "98e",
        "typedef sequence<sequence<long§>> S;",
        &["shift token", "> >"],
    ),
    rejected(
        "98f",
        "local interface L {}; abstract interface A : §L {};",
        &["abstract", "cannot inherit"],
    ),
    here_only(
        "99",
        "interface I {}; typeid I \"IDL:x:1.0\"; typeid I §\"IDL:y:1.0\";",
        &["typeid", "already set"],
    ),
    warned(
        "100",
        "#pragma prefix \"a\"\nmodule M { typedef long T; };\n#pragma prefix \"b\"\nmodule §M { typedef long U; };",
        &["inconsistent repository id"],
    ),
    here_only(
        "101",
        "exception E {}; interface I { attribute long a, b §getraises(E); };",
        &["single declarator"],
    ),
    warned(
        "102",
        "exception E {}; interface I { void f() raises(E, §E); };",
        &["listed twice"],
    ),
    rejected(
        "103",
        "valuetype V { factory f(§out long x); };",
        &["factory", "must be `in`"],
    ),
    rejected(
        "104",
        "custom valuetype C { public long x; }; valuetype D : §C { public long y; };",
        &["non-custom", "custom"],
    ),
    here_only(
        "105",
        "@bit_bound(§\"16\") enum E { a };",
        &["`@bit_bound` needs one integer from 1 to 64"],
    ),
    here_only(
        "105a",
        "§@bit_bound enum E { a };",
        &["`@bit_bound` needs one integer"],
    ),
    here_only(
        "105b",
        "@bit_bound(§65) enum E { a };",
        &["from 1 to 64, not 65"],
    ),
    here_only(
        "105c",
        "§@bit_bound(33) enum E { a };",
        &["`E` cannot have 33 bits: 32 are the most"],
    ),
    here_only(
        "105e",
        "§@idempotent struct S { long x; };",
        &["`@idempotent` belongs to an operation or an attribute"],
    ),
    here_only(
        "105f",
        "interface I { void f(§@idempotent in long x); };",
        &["`@idempotent` belongs to an operation or an attribute"],
    ),
    here_only(
        "105g",
        "interface I { @idempotent(§3) void f(); };",
        &["`@idempotent` takes no argument but `TRUE` or `FALSE`"],
    ),
    here_only(
        "105h",
        "interface I { §@idempotent(TRUE, FALSE) void f(); };",
        &["`@idempotent` takes no argument but `TRUE` or `FALSE`"],
    ),
    here_only(
        "105i",
        "§@idempotent interface I { void f(); };",
        &["`@idempotent` belongs to an operation or an attribute"],
    ),
    warned(
        "105j",
        "interface I { §@idempotent oneway void f(); };",
        &["no effect on a oneway operation", "remove it"],
    ),
    warned(
        "105k",
        "local interface I { §@idempotent attribute long a, b; };",
        &["no effect in a local interface"],
    ),
    here_only(
        "105l",
        "§@borrow struct S { long x; };",
        &["`@borrow` belongs to an operation or an attribute"],
    ),
    here_only(
        "105m",
        "interface I { @borrow(§3) long f(); };",
        &["`@borrow` takes no argument but `TRUE` or `FALSE`"],
    ),
    warned(
        "105n",
        "interface I { §@borrow oneway void f(); };",
        &["no effect on a oneway operation", "remove it"],
    ),
    warned(
        "105o",
        "interface I { §@borrow void f(in long a); };",
        &["no effect on an operation without results"],
    ),
    warned(
        "105p",
        "local interface I { §@borrow readonly attribute string a; };",
        &["no effect in a local interface"],
    ),
    here_only(
        "105q",
        "§@deferred struct S { long x; };",
        &["`@deferred` belongs to an operation or an attribute"],
    ),
    here_only(
        "105r",
        "interface I { @deferred(§3) long f(); };",
        &["`@deferred` takes no argument but `TRUE` or `FALSE`"],
    ),
    warned(
        "105s",
        "local interface I { §@deferred long f(); };",
        &["no effect in a local interface", "remove it"],
    ),
    warned(
        "105t",
        "interface I { @borrow §@deferred string f(); };",
        &["no effect beside `@borrow`"],
    ),
    here_only(
        "105d",
        "§@bit_bound(1) enum E { a, b, c };",
        &["3 enumerators of `E` do not fit 1 bit: 2 do"],
    ),
    warned(
        "106",
        "#pragma prefix \"x\"§;\ninterface I {};",
        &["`;` after `#pragma prefix` is ignored"],
    ),
    warned(
        "106a",
        "#include <orb.idl> §: 3\ninterface I {};",
        &["`:` after `#include` is ignored"],
    ),
    warned(
        "107",
        "native Oops; interface I { void f() raises(§Oops); };",
        &["native type `Oops` cannot travel"],
    ),
];
