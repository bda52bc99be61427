// SPDX-License-Identifier: MIT OR Apache-2.0
//! Valid IDL that compilers are known to reject by mistake, and the constructs of the language.

use std::path::Path;

use orbium_idl::{Options, compile, compile_source};

/// Accepted without any finding.
const CLEAN: &[(&str, &str)] = &[
    (
        "one definition inherited along two paths",
        "interface R { typedef long T; void f(); }; interface A : R {}; interface B : R {};
         interface C : A, B { void g(in T x); };",
    ),
    (
        "an inherited type and exception defined anew",
        "interface A { typedef long T; exception E {}; }; interface B : A { typedef short T; exception E { T x; }; };",
    ),
    ("a keyword escaped", "typedef long _interface; struct _struct { _interface _long; };"),
    (
        "an enum defined in the switch of a union",
        "union U switch (enum E { a, b }) { case a: long x; case b: short y; }; enum F { a, b };",
    ),
    ("default beside labels", "union U switch (long) { case 1: default: long x; case 2: short y; };"),
    ("a struct defined in a case", "union U switch (long) { case 1: struct S { long x; } part; };"),
    ("a struct defined in a typedef", "typedef struct S { long x; } T, U[3]; struct V { S one; T two; U three; };"),
    (
        "an interface in its own sequence",
        "interface I; typedef sequence<I> Is; interface I { Is all(); void add(in I other); };",
    ),
    ("a string over several lines", "const string S = \"one \"\n   \"two \"\n   \"three\";"),
    ("a label in parentheses", "union U switch (long) { case (1+2): long x; case 1 << 4: short y; };"),
    (
        "a constant of a base as array size",
        "interface A { const long N = 3; }; interface B : A { typedef long X[N]; typedef long Y[A::N]; typedef long Z[B::N]; };",
    ),
    ("a forward declared struct completed later", "struct S; struct S; struct T { long x; }; struct S { T part; };"),
    ("a parameter named like an attribute", "interface I { attribute long x; void f(in long x); void g(in long f); };"),
    (
        "recursion through a sequence of its own",
        "struct N; typedef sequence<N> Ns; struct N { Ns kids; }; struct M { sequence<M> kids; };",
    ),
    ("recursion of a union", "union U; typedef sequence<U> Us; union U switch (long) { case 1: Us all; default: long x; };"),
    ("a value containing itself", "valuetype V { public V next; private sequence<V> all; };"),
    (
        "a module whose name is used inside and outside again",
        "typedef long T; module M { interface I { typedef T U; }; typedef short T; };",
    ),
    ("a name after :: is not bound", "module A { typedef long T; }; module B { typedef A::T T; };"),
    ("a name from file scope is not bound", "module A { typedef long T; }; module B { typedef ::A::T U; typedef long A; };"),
    (
        "a full name frees the parameter's name",
        "module A { typedef long T; }; interface I { void f(in ::A::T t, in long a); };",
    ),
    ("a type of a base through the heir", "interface A { typedef long T; }; interface B : A {}; struct S { B::T x; };"),
    ("a base named through a typedef", "interface A {}; typedef A B; interface C : B {};"),
    (
        "value types of every kind",
        "abstract valuetype A { void f(); }; valuetype B : A { public long x; factory make(in long x); };
         valuetype C : truncatable B { private string s; }; custom valuetype D : B {};
         abstract interface I {}; interface J {}; valuetype E supports J, I {}; valuetype Box sequence<B>;",
    ),
    (
        "local interfaces may use and inherit anything",
        "interface P {}; abstract interface Q {}; local interface L : P, Q {}; local interface M : L { void f(in L x); };",
    ),
    (
        "attributes that raise",
        "exception E {}; interface I { readonly attribute long a raises(E); attribute long b getraises(E) setraises(E);
         attribute long c setraises(E); };",
    ),
    ("contexts", "interface I { void f() context(\"a.b_c*\", \"d\"); };"),
    ("a closed > > of sequences", "typedef sequence<sequence<long> > S; typedef sequence<sequence<long, 2>, 3> T;"),
    ("one prefix twice", "#pragma prefix \"a\"\nmodule M { typedef long T; };\n#pragma prefix \"a\"\nmodule M { typedef long U; };"),
    ("CORBA::TypeCode without include", "interface I { void f(in CORBA::TypeCode t); };"),
    ("CORBA::TypeCode with include", "#include <orb.idl>\ninterface I { CORBA::TypeCode f(in CORBA::StringSeq s); };"),
    ("integer names of IDL 4", "struct S { int8 a; uint8 b; int16 c; uint16 d; int32 e; uint32 f; int64 g; uint64 h; };"),
    ("such a name declared by the file itself", "typedef short int32; typedef int32 X;"),
    ("unknown pragmas", "#pragma hh #include \"x.h\"\n#pragma whatever don't care\ninterface I {};"),
    ("annotations that are known", "@final struct S { @key @id(3) long x; @optional @range(min=1, max=9) long y; };"),
    ("every type", "struct Every { float a; double b; long double c; short d; unsigned short e; long f; unsigned long g;
        long long h; unsigned long long i; char j; wchar k; boolean l; octet m; any n; Object o; ValueBase p; string q;
        string<4> r; wstring s; wstring<4> t; fixed<5,2> u; sequence<octet> v; long w[2][3]; };"),
];

/// Conformance: IDL - what must be accepted
#[test]
fn valid_input_is_accepted_without_a_word() {
    let mut failures = String::new();
    for (what, text) in CLEAN {
        let compilation = compile_source(&Options::new(), "valid.idl", text);
        if compilation.model.is_none() || !compilation.diagnostics.is_empty() {
            failures.push_str(&format!("{what}:\n{compilation}\n"));
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// Conformance: IDL - what must be accepted
#[test]
fn doubtful_input_is_accepted_with_a_warning() {
    let cases = [
        ("", "empty-file"),
        ("interface A;", "never-defined"),
        (
            "valuetype V; interface I { void f(in V x); };",
            "never-defined",
        ),
        ("typedef long EventType;", "keyword-clash"),
        ("@wild(3) struct S { long x; };", "unknown-annotation"),
        ("const long X = -7 % 3;", "negative-remainder"),
        ("const string X = \"\\q\";", "unknown-escape"),
        ("native N; interface I { void f(in N x); };", "native-type"),
        ("component C { attribute long x; };", "not-mapped"),
        (
            "component C {}; home H manages C { factory f(in long x); };",
            "not-mapped",
        ),
        (
            "#include <orb.idl>
             interface Current : CORBA::Current { void begin(); }; interface More : Current {};",
            "implied-local",
        ),
        (
            "typedef fixed<5,2> F; const F X = 1.234d;",
            "truncated-fixed",
        ),
    ];
    for (text, code) in cases {
        let compilation = compile_source(&Options::new(), "doubtful.idl", text);
        assert!(compilation.model.is_some(), "{compilation}");
        assert!(
            compilation.warnings().any(|d| d.code == code),
            "{code}\n{compilation}"
        );
    }
}

/// Conformance: IDL - what must be accepted
#[test]
fn the_project_s_own_files_are_accepted_without_a_word() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../idl");
    for name in ["cubit.idl", "kitchen.idl", "ttcp.idl"] {
        let compilation = compile(&Options::new(), &folder.join(name));
        assert!(
            compilation.model.is_some() && compilation.diagnostics.is_empty(),
            "{compilation}"
        );
        assert_eq!(compilation.files(), [folder.join(name)]);
    }
}

/// Conformance: IDL - older IDL, IDL 4
#[test]
fn words_of_corba_3_are_identifiers_in_older_files() {
    let text = "interface component { void emits(in long home); }; typedef long import;";
    assert!(
        compile_source(&Options::new(), "old.idl", text)
            .model
            .is_none()
    );
    let old = Options {
        pre_corba3: true,
        ..Options::new()
    };
    let compilation = compile_source(&old, "old.idl", text);
    assert!(compilation.diagnostics.is_empty(), "{compilation}");
}

/// Conformance: IDL - older IDL, IDL 4
#[test]
fn idl_4_adds_what_it_says() {
    let idl4 = Options {
        idl4: true,
        ..Options::new()
    };
    let accepted = [
        "typedef sequence<sequence<long>> S;",
        "typedef sequence<sequence<long, 3>> S;",
        "typedef sequence<sequence<sequence<string<3>>>> S;\n#pragma prefix \"x\"\nstruct T { S all; };",
        "union U switch (octet) { case 1: long x; };",
        "enum E { a }; const E X = E::a;",
        "typedef int32 X;",
    ];
    for text in accepted {
        let compilation = compile_source(&idl4, "four.idl", text);
        assert!(compilation.diagnostics.is_empty(), "{compilation}");
        assert!(
            text.contains("int32")
                || text.contains(">>")
                || compile_source(&Options::new(), "three.idl", text)
                    .model
                    .is_none(),
            "{text}"
        );
    }
    for text in [
        "typedef map<long, string> M;",
        "bitset B { bitfield<3> a; };",
        "struct A { long x; }; struct B : A {};",
    ] {
        let compilation = compile_source(&idl4, "four.idl", text);
        assert!(
            compilation
                .errors()
                .next()
                .is_some_and(|d| d.code == "unsupported"),
            "{compilation}"
        );
    }
}

/// Conformance: IDL - annotations before every type, and with scoped names
#[test]
fn annotations_stand_before_every_type() {
    for text in [
        "typedef sequence<@unit(\"m\") long> S;",
        "typedef sequence<sequence<@unit(\"m\") long, 3>, 2> S;",
        "typedef @unit(\"m\") long S;",
        "module M { typedef long L; }; typedef sequence<@unit(\"m\") ::M::L> S;",
        "const @unit(\"m\") long S = 3;",
        "union U switch (@unit(\"m\") long) { case 1: long x; };",
        "interface I { void f(in @unit(\"m\") long x); };",
        "interface I { readonly attribute @unit(\"m\") long x; };",
        "valuetype V { public @unit(\"m\") long x; };",
    ] {
        let compilation = compile_source(&Options::new(), "annotated.idl", text);
        let codes: Vec<_> = compilation.diagnostics.iter().map(|it| it.code).collect();
        assert_eq!(
            codes,
            ["annotation-without-effect"],
            "{text}: {compilation}"
        );
        assert!(compilation.model.is_some(), "{text}: {compilation}");
        let plain = compile_source(
            &Options::new(),
            "plain.idl",
            &text.replace("@unit(\"m\") ", ""),
        );
        assert!(plain.diagnostics.is_empty(), "{plain}");
        let misplaced = text.replace("@unit(\"m\")", "@idempotent()");
        let compilation = compile_source(&Options::new(), "misplaced.idl", &misplaced);
        let codes: Vec<_> = compilation.errors().map(|it| it.code).collect();
        assert_eq!(
            codes,
            ["misplaced-annotation"],
            "{misplaced}: {compilation}"
        );
    }
    for text in [
        "@::X::y struct S { long x; };",
        "@X::y(1) struct S { long x; };",
        "struct S { @::y(a = 1) long x; };",
    ] {
        let compilation = compile_source(&Options::new(), "scoped.idl", text);
        let codes: Vec<_> = compilation.diagnostics.iter().map(|it| it.code).collect();
        assert_eq!(codes, ["unknown-annotation"], "{text}: {compilation}");
        assert!(compilation.model.is_some(), "{text}: {compilation}");
    }
    for text in ["@:: struct S { long x; };", "typedef sequence<@> S;"] {
        let compilation = compile_source(&Options::new(), "broken.idl", text);
        assert!(compilation.model.is_none(), "{text}: {compilation}");
    }
}

/// Conformance: IDL - IDL 4's bitset, bitmask and map are refused with what to write instead
#[test]
fn idl_4_types_without_a_form_in_corba_name_their_substitute() {
    let idl4 = Options {
        idl4: true,
        ..Options::new()
    };
    for (text, substitute) in [
        (
            "@bit_bound(8) bitmask B { @position(1) a, b };",
            "use an integer and constants",
        ),
        (
            "bitset B { bitfield<3> a; };",
            "use an integer and constants",
        ),
        (
            "typedef map<long, @x string, 8> M;",
            "structs of key and value",
        ),
    ] {
        let text = compile_source(&idl4, "four.idl", text).to_string();
        assert!(text.contains("has no form in CORBA"), "{text}");
        assert!(text.contains(substitute), "{text}");
    }
    for name in [
        "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
    ] {
        for options in [&idl4, &Options::new()] {
            let text =
                format!("typedef sequence<{name}, 4> S; struct T {{ sequence<{name}> x[2]; }};");
            let compilation = compile_source(options, "integers.idl", &text);
            assert!(compilation.diagnostics.is_empty(), "{text}: {compilation}");
        }
    }
}

/// Conformance: IDL - `>>` closes two brackets, with a warning before IDL 4; an error if strict
#[test]
fn two_brackets_may_be_closed_by_a_shift_token() {
    let strict = Options {
        strict: true,
        ..Options::new()
    };
    for text in [
        "typedef sequence<sequence<long>> S;",
        "typedef sequence<sequence<long, 3>> S;",
        "const long N = 3; typedef sequence<sequence<long, 1 + N>> S[2], T;",
        "typedef sequence<sequence<sequence<string<3>>>> S;",
    ] {
        let compilation = compile_source(&Options::new(), "shift.idl", text);
        let is_shift = |it: &orbium_idl::Diagnostic| it.code == "shift-token";
        assert!(compilation.model.is_some(), "{compilation}");
        assert!(
            compilation.diagnostics.iter().all(is_shift),
            "{compilation}"
        );
        assert!(!compilation.diagnostics.is_empty(), "{text}");
        let compilation = compile_source(&strict, "shift.idl", text);
        assert!(compilation.errors().all(is_shift), "{compilation}");
        assert!(compilation.model.is_none(), "{text}");
    }
    for text in [
        "typedef sequence<long, 8 >> 1> S;",
        "const long N = 1; typedef sequence<long, 8 >> N> S;",
        "const long N = 1; typedef string<8 >> N + 1> S;",
        "const long N = 1; struct S { string<(8 >> N)> text; };",
    ] {
        let compilation = compile_source(&Options::new(), "shift.idl", text);
        assert!(compilation.model.is_some(), "{compilation}");
        assert!(compilation.diagnostics.is_empty(), "{compilation}");
    }
}

/// OMG's Security service has a member `right` in its struct `Right`, which was refused although
/// names were to be taken leniently.
#[test]
fn members_named_like_the_type_around_them_are_for_the_lenient() {
    let text = "struct Right { string right; }; interface Open { void open(); };";
    let mut options = Options::new();
    let strict = compile_source(&options, "right.idl", text);
    assert!(strict.errors().all(|it| it.code == "enclosing-name") && strict.model.is_none());
    options.lenient_names = true;
    let lenient = compile_source(&options, "right.idl", text);
    assert_eq!(
        lenient
            .warnings()
            .filter(|it| it.code == "enclosing-name")
            .count(),
        2
    );
    assert!(lenient.model.is_some());
    // What others refer to must have another name all the same.
    let nested = compile_source(
        &options,
        "nested.idl",
        "interface I { struct i { long x; }; };",
    );
    assert!(nested.model.is_none());
}

/// A parameter, member or operation that is named like a type hid the type from what came behind it: `f(in Grid grid)` was taken
/// leniently, and `f(in Grid grid, in Grid other)` refused, with two errors more than strictly for each further `Grid`.
#[test]
fn types_are_found_behind_what_is_named_like_them() {
    let text = "typedef long Grid; struct Color { long c; };
        interface I { void f(in Grid grid, in Grid other); Color color(in Color color, in Color more); void g(in Color c); };
        interface D : I { void h(in Color c); };
        struct S { Color color; Color more; };
        struct Node { Grid node; sequence<Node> nodes; };";
    let mut options = Options::new();
    let strict = compile_source(&options, "names.idl", text);
    let codes = ["redefined-after-use", "enclosing-name"];
    assert!(strict.errors().all(|it| codes.contains(&it.code)));
    assert_eq!(strict.errors().count(), 5);
    options.lenient_names = true;
    let lenient = compile_source(&options, "names.idl", text);
    assert_eq!(
        lenient
            .warnings()
            .filter(|it| codes.contains(&it.code))
            .count(),
        5
    );
    let model = lenient.model.expect("nothing but warnings");
    assert!(model.definitions().count() > 0);
}
