// SPDX-License-Identifier: MIT OR Apache-2.0
//! Contents of the model: constants, types, bases, comments, places, repository ids.

use std::path::Path;

use orbium_idl::model::{
    AnnotationValue, ConstValue, Constant, Definition, DefinitionKind, Direction, Fixed,
    InterfaceKind, Model, Type, ValueKind,
};
use orbium_idl::{Options, compile, compile_source};

fn model(text: &str) -> Model {
    let compilation = compile_source(&Options::new(), "m.idl", text);
    match compilation.model {
        Some(model) => model,
        None => panic!("{compilation}"),
    }
}

fn kitchen() -> Model {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../idl/kitchen.idl");
    compile(&Options::new(), &file).model.expect("a model")
}

fn find<'a>(model: &'a Model, name: &str) -> &'a Definition {
    model
        .lookup(name)
        .unwrap_or_else(|| panic!("{name} is not there"))
}

fn constant<'a>(model: &'a Model, name: &str) -> &'a Constant {
    match &find(model, name).kind {
        DefinitionKind::Constant(constant) => constant,
        other => panic!("{other:?}"),
    }
}

#[test]
fn constants_have_their_values() {
    let model = kitchen();
    let value = |name: &str| constant(&model, &format!("Kitchen::{name}")).value.clone();
    assert_eq!(value("A_SHORT"), ConstValue::Integer(-1));
    assert_eq!(value("A_MASK"), ConstValue::Integer(0xFF08));
    assert_eq!(value("A_DOUBLE"), ConstValue::Float(1.5e-3));
    assert_eq!(
        value("A_STRING"),
        ConstValue::String("tab\tquote\"hexAoctA".to_owned())
    );
    assert_eq!(value("A_WSTRING"), ConstValue::WString(vec![0x77, 0xe9]));
    assert_eq!(value("A_BOOL"), ConstValue::Boolean(true));
    assert_eq!(value("A_CHAR"), ConstValue::Char(10));
    assert_eq!(value("A_WCHAR"), ConstValue::WChar(0x20ac));
    let colour = find(&model, "Kitchen::Colour").id;
    assert_eq!(
        value("FAVOURITE"),
        ConstValue::Enumerator {
            of: colour,
            index: 2
        }
    );
}

/// Conformance: IDL - constant expressions
#[test]
fn expressions_are_evaluated_by_the_rules_of_their_type() {
    let integer = |text: &str| match constant(&model(&format!("const {text};")), "X").value {
        ConstValue::Integer(value) => value,
        ref other => panic!("{other:?}"),
    };
    for (text, expected) in [
        ("long X = 1 + 2 * 3 - 8 / 3", 5),
        ("long X = -7 / 2", -3),
        ("long X = ~5", -6),
        ("unsigned long X = ~0", 0xffff_ffff),
        ("unsigned long long X = ~0", 0xffff_ffff_ffff_ffff),
        ("octet X = 0x0f | 0xf0 ^ 0x3c & 0xff", 0xcf),
        ("unsigned long X = 1 << 40 >> 20", 1 << 20),
        ("long X = -(3 - 5)", 2),
        ("long long X = -9223372036854775808", i128::from(i64::MIN)),
        (
            "unsigned long long X = 18446744073709551615",
            i128::from(u64::MAX),
        ),
        ("long X = - - 1", 1),
        ("int8 X = -128", -128),
    ] {
        assert_eq!(integer(text), expected, "{text}");
    }
    let model = model(
        "const double D = 1.0 / 4.0 + 2e1; const float F = 0.1;
         const double E = D * 2.0; const string<4> S = \"a\" \"b\"; const string T = S; const string U = \"\\xA\" \"B\";",
    );
    assert_eq!(constant(&model, "D").value, ConstValue::Float(20.25));
    assert_eq!(constant(&model, "E").value, ConstValue::Float(40.5));
    assert_eq!(
        constant(&model, "F").value,
        ConstValue::Float(f64::from(0.1f32))
    );
    assert_eq!(
        constant(&model, "T").value,
        ConstValue::String("ab".to_owned())
    );
    assert_eq!(
        constant(&model, "U").value,
        ConstValue::String("\nB".to_owned())
    );
}

/// Conformance: IDL - constant expressions
#[test]
fn fixed_constants_are_exact_and_find_their_own_type() {
    let model = model(
        "const fixed A = 123.4500d; const fixed B = 1.0d / 3.0d; const fixed C = A * 2.0d - 0.9d;
         typedef fixed<6,2> Money; const Money D = A;",
    );
    let of = |name: &str| {
        (
            constant(&model, name).ty.clone(),
            constant(&model, name).value.clone(),
        )
    };
    let fixed = |unscaled, scale| ConstValue::Fixed(Fixed { unscaled, scale });
    assert_eq!(
        of("A"),
        (
            Type::Fixed {
                digits: 5,
                scale: 2
            },
            fixed(12345, 2)
        )
    );
    assert_eq!(
        of("B"),
        (
            Type::Fixed {
                digits: 31,
                scale: 31
            },
            fixed(3_333_333_333_333_333_333_333_333_333_333, 31)
        )
    );
    assert_eq!(
        of("C"),
        (
            Type::Fixed {
                digits: 3,
                scale: 0
            },
            fixed(246, 0)
        )
    );
    assert_eq!(of("D").1, fixed(12345, 2));
}

#[test]
fn types_keep_bounds_and_dimensions() {
    let model = kitchen();
    let alias = |name: &str| match &find(&model, &format!("Kitchen::{name}")).kind {
        DefinitionKind::Alias(alias) => model.type_name(&alias.ty),
        other => panic!("{other:?}"),
    };
    assert_eq!(alias("ShortName"), "string<32>");
    assert_eq!(alias("ShortWide"), "wstring<16>");
    assert_eq!(alias("Table"), "sequence<::Kitchen::Strings>");
    assert_eq!(alias("BoundedLongs"), "sequence<long, 16>");
    assert_eq!(alias("Matrix"), "long[2][3]");
    assert_eq!(alias("Money"), "fixed<10, 2>");
}

#[test]
fn interfaces_know_their_bases_and_features() {
    let model = kitchen();
    let peer = find(&model, "::Kitchen::Peer");
    let DefinitionKind::Interface(interface) = &peer.kind else {
        panic!("{peer:?}")
    };
    assert_eq!(interface.kind, InterfaceKind::Plain);
    assert!(!interface.forward_only);
    let names = |ids: &[orbium_idl::model::DefId]| {
        ids.iter()
            .map(|id| model[*id].name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&interface.bases), ["Base", "Other"]);
    assert_eq!(names(&model.all_bases(peer.id)), ["Base", "Other"]);
    let features = names(&model.all_features(peer.id));
    assert_eq!(&features[..4], ["ident", "label", "shade", "ping"]);
    assert!(features.contains(&"interface".to_owned()));
    let escaped = find(&model, "Kitchen::Peer::interface");
    let DefinitionKind::Operation(operation) = &escaped.kind else {
        panic!("{escaped:?}")
    };
    let parameters: Vec<_> = operation
        .parameters
        .iter()
        .map(|p| (p.name.as_str(), p.direction))
        .collect();
    assert_eq!(
        parameters,
        [("module", Direction::In), ("select", Direction::In)]
    );
    assert_eq!(
        escaped.repository_id,
        "IDL:orbium.test/Kitchen/Peer/interface:1.0"
    );
}

/// Conformance: IDL - scopes
#[test]
fn bases_are_listed_once_in_depth_first_order() {
    let model = model(
        "interface R {}; interface A : R {}; interface B : R {}; interface C : A, B {}; interface D : C, R {};",
    );
    let names: Vec<&str> = model
        .all_bases(find(&model, "D").id)
        .iter()
        .map(|id| &*model[*id].name)
        .collect();
    assert_eq!(names, ["C", "A", "R", "B"]);
}

#[test]
fn unions_have_evaluated_labels() {
    let model = kitchen();
    let union = find(&model, "Kitchen::ByLong");
    let DefinitionKind::Union(by_long) = &union.kind else {
        panic!("{union:?}")
    };
    let labels: Vec<_> = by_long
        .cases
        .iter()
        .map(|c| (c.labels.clone(), c.is_default))
        .collect();
    let integer = |value| vec![ConstValue::Integer(value)];
    assert_eq!(
        labels,
        [
            (integer(-1), false),
            (integer(16), false),
            (Vec::new(), true)
        ]
    );
    assert_eq!(by_long.default_case(), Some(2));
    let colours = find(&model, "Kitchen::ByColour");
    let DefinitionKind::Union(by_colour) = &colours.kind else {
        panic!("{colours:?}")
    };
    assert_eq!(by_colour.cases[1].labels.len(), 2);
    assert!(matches!(
        model
            .resolve_named(&by_colour.discriminator)
            .map(|d| &d.kind),
        Some(DefinitionKind::Enum(_))
    ));
}

#[test]
fn recursion_and_locality_are_found() {
    let model = kitchen();
    let recursive = |name: &str| model.is_recursive(find(&model, &format!("Kitchen::{name}")).id);
    assert!(recursive("Node") && recursive("Nodes") && recursive("Chain"));
    assert!(!recursive("Mixed") && !recursive("ByChar") && !recursive("Peer"));
    let local = self::model(
        "local interface L {}; struct S { sequence<L> ls; }; interface I {}; struct T { I other; };",
    );
    assert!(local.is_local(find(&local, "S").id) && local.is_local(find(&local, "L").id));
    assert!(!local.is_local(find(&local, "T").id));
}

/// Conformance: IDL - values and components, understood though not mapped
#[test]
fn value_types_have_state_and_factories() {
    let model = kitchen();
    let labelled = find(&model, "Kitchen::Labelled");
    let DefinitionKind::ValueType(value) = &labelled.kind else {
        panic!("{labelled:?}")
    };
    assert_eq!(value.kind, ValueKind::Plain);
    let members: Vec<_> = value
        .members
        .iter()
        .map(|m| (m.public, m.member.name.as_str()))
        .collect();
    assert_eq!(members, [(true, "text"), (false, "hidden")]);
    assert_eq!(value.factories[0].name, "create");
    assert_eq!(value.factories[0].parameters.len(), 3);
    assert_eq!(model[value.bases[0]].name, "Point");
    let boxed = find(&model, "Kitchen::BoxedText");
    assert!(matches!(&boxed.kind, DefinitionKind::ValueBox(b) if b.ty == Type::String(None)));
}

/// Conformance: IDL - scopes
#[test]
fn a_reopened_module_is_one_with_everything_in_order() {
    let model = model(
        "module M { interface I; typedef long A; }; typedef long B; module M { interface I {}; typedef long C; };",
    );
    let names = |ids: &[orbium_idl::model::DefId]| {
        ids.iter()
            .map(|id| model[*id].name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(model.top_level()), ["M", "B"]);
    assert_eq!(names(model.contents(find(&model, "M").id)), ["A", "I", "C"]);
    assert_eq!(find(&model, "M::I").location.column, 81);
}

/// Conformance: IDL - scopes
#[test]
fn types_defined_in_place_belong_to_the_scope_they_stand_in() {
    let model = model(
        "struct S { enum E { a } kind; struct T { long x; } part; }; union U switch (enum F { b }) { case b: long x; };
         typedef union V switch (long) { case 1: long x; } W[2];",
    );
    for (name, parent) in [
        ("S::E", Some("S")),
        ("S::T", Some("S")),
        ("U::F", Some("U")),
        ("V", None),
    ] {
        let definition = find(&model, name);
        assert_eq!(
            definition.parent.map(|p| model[p].name.as_str()),
            parent,
            "{name}"
        );
    }
    let w = find(&model, "W");
    assert!(matches!(&w.kind, DefinitionKind::Alias(a) if model.type_name(&a.ty) == "::V[2]"));
}

// Where one line had no star, all others kept theirs; so did the ends of boxes.
#[test]
fn stars_of_comment_lines_go() {
    let text = "
        /** Opens.
         * Twice *this*,
           without a star,
         *   deeper
         **/
        struct A { long one; };
        /*******************
         * In a box.       *
         * Two lines.      *
         *******************/
        struct B { long two; };
        /*** Short ***/
        struct C { long three; };";
    let compilation = orbium_idl::compile_source(&orbium_idl::Options::new(), "c.idl", text);
    let model = compilation.model.expect("valid IDL");
    let doc = |name: &str| {
        model
            .lookup(name)
            .and_then(|d| d.doc.clone())
            .unwrap_or_default()
    };
    for name in ["A", "B", "C"] {
        assert!(
            !doc(name).replace("*this*", "").contains('*'),
            "{}",
            doc(name)
        );
    }
    assert!(doc("A").starts_with("Opens.") && doc("A").contains("deeper"));
    assert_eq!(doc("B"), "In a box.\nTwo lines.");
    assert_eq!(doc("C"), "Short");
}

#[test]
fn comments_belong_to_what_they_stand_at() {
    let model = model(
        "// About the module,\n// in two lines.\nmodule M {\n\n  // Not attached.\n\n  /** A struct.\n   *  With stars.\n   */\n  struct S {\n    long a; // trailing a\n    /// above b\n    long b, c;\n  };\n  /* plain */ typedef long T;\n  enum E {\n    one, // first\n         // goes on\n    two  //!< second\n  };\n  interface I { void f(); /* says f */ void g(); };\n};\n",
    );
    let doc = |name: &str| find(&model, name).doc.clone();
    assert_eq!(
        doc("M").as_deref(),
        Some("About the module,\nin two lines.")
    );
    assert_eq!(doc("M::S").as_deref(), Some("A struct.\nWith stars."));
    assert_eq!(doc("M::T").as_deref(), Some("plain"));
    assert_eq!(doc("M::I::f").as_deref(), Some("says f"));
    let DefinitionKind::Struct(s) = &find(&model, "M::S").kind else {
        panic!("no struct")
    };
    let docs: Vec<_> = s.members.iter().map(|m| m.doc.as_deref()).collect();
    assert_eq!(docs, [Some("trailing a"), Some("above b"), Some("above b")]);
    let DefinitionKind::Enum(e) = &find(&model, "M::E").kind else {
        panic!("no enum")
    };
    let docs: Vec<_> = e.enumerators.iter().map(|m| m.doc.as_deref()).collect();
    assert_eq!(docs, [Some("first\ngoes on"), Some("second")]);
}

/// Conformance: IDL - annotations reported
#[test]
fn annotations_keep_their_arguments() {
    let model = model(
        "const long N = 4; @extensibility(FINAL) struct S { @id(N * 2) @range(min = -1, max = N) long x; };
         interface I { @deadline(5) void f(@optional in long a); };",
    );
    let s = find(&model, "S");
    let extensibility = s
        .annotation("extensibility")
        .and_then(|a| a.parameter("value"));
    assert_eq!(
        extensibility,
        Some(&AnnotationValue::Name("FINAL".to_owned()))
    );
    let DefinitionKind::Struct(body) = &s.kind else {
        panic!("{s:?}")
    };
    let [id, range] = body.members[0].annotations.as_slice() else {
        panic!("{body:?}")
    };
    assert_eq!(
        id.parameter("value"),
        Some(&AnnotationValue::Const(ConstValue::Integer(8)))
    );
    assert_eq!(
        range.parameter("min"),
        Some(&AnnotationValue::Const(ConstValue::Integer(-1)))
    );
    assert!(find(&model, "I::f").annotation("deadline").is_some());
    let DefinitionKind::Operation(f) = &find(&model, "I::f").kind else {
        panic!("no operation")
    };
    assert_eq!(f.parameters[0].annotations[0].name, "optional");
}

#[test]
fn idempotent_operations_and_attributes_are_known() {
    let model = model(
        "const boolean NO = FALSE;
         interface I {
           @idempotent void a();
           @idempotent(TRUE) void b();
           @idempotent(value = NO) void c();
           void d();
           @idempotent attribute long e, f;
         };",
    );
    let known = ["a", "b", "c", "d", "e", "f"].map(|name| {
        let definition = find(&model, &format!("I::{name}"));
        definition.is_idempotent()
    });
    assert_eq!(known, [true, true, false, false, true, true]);
}

#[test]
fn annotations_of_all_openings_of_a_module_are_kept() {
    let model =
        model("@ami module M { const long A = 1; }; @ami(FALSE) module M { const long B = 2; };");
    let annotations = &find(&model, "M").annotations;
    let values: Vec<_> = annotations.iter().map(|a| a.parameter("value")).collect();
    let last = AnnotationValue::Const(ConstValue::Boolean(false));
    assert_eq!(values, [None, Some(&last)]);
}

/// Conformance: IDL - repository ids, pragmas, `typeid`, `typeprefix`
#[test]
fn repository_ids_follow_pragmas_and_scopes() {
    let model = model(
        "typedef long Plain;
#pragma prefix \"p\"
module M {
  typedef long T;
#pragma prefix \"q\"
  typedef long U;
  interface I { struct S { long x; }; void op(); };
#pragma prefix \"\"
  typedef long N;
#pragma version U 2.3
#pragma ID T \"DCE:700dc518-0110-11ce-ac8f-0800090b5d3e:1\"
#pragma ID T \"DCE:700dc518-0110-11ce-ac8f-0800090b5d3e:1\"
};
typedef long After;
#pragma version M::I::op 1.7
#pragma prefix \"\"
typedef long Last;
",
    );
    for (name, id) in [
        ("Plain", "IDL:Plain:1.0"),
        ("M", "IDL:p/M:1.0"),
        ("M::T", "DCE:700dc518-0110-11ce-ac8f-0800090b5d3e:1"),
        ("M::U", "IDL:q/U:2.3"),
        ("M::I", "IDL:q/I:1.0"),
        ("M::I::S", "IDL:q/I/S:1.0"),
        ("M::I::op", "IDL:q/I/op:1.7"),
        ("M::N", "IDL:M/N:1.0"),
        ("After", "IDL:p/After:1.0"),
        ("Last", "IDL:Last:1.0"),
    ] {
        assert_eq!(find(&model, name).repository_id, id, "{name}");
    }
}

/// Conformance: IDL - repository ids, pragmas, `typeid`, `typeprefix`
#[test]
fn typeid_and_typeprefix_set_ids() {
    let model = model(
        "module M { typedef long Before; interface I {}; typeid I \"RMI:I:0000000000000000\"; };
         module N { module M { typedef long T; }; };
         typeprefix M \"om.g\"; typeprefix N::M \"deep\";
         module M { typedef long After; };",
    );
    for (name, id) in [
        ("M", "IDL:om.g/M:1.0"),
        ("M::Before", "IDL:om.g/M/Before:1.0"),
        ("M::I", "RMI:I:0000000000000000"),
        ("M::After", "IDL:om.g/M/After:1.0"),
        ("N", "IDL:N:1.0"),
        ("N::M", "IDL:deep/N/M:1.0"),
        ("N::M::T", "IDL:deep/N/M/T:1.0"),
    ] {
        assert_eq!(find(&model, name).repository_id, id, "{name}");
    }
}

/// Conformance: IDL - values and components, understood though not mapped
#[test]
fn unmapped_constructs_are_in_the_model() {
    let model = model(
        "interface I {}; eventtype Ev { public long x; };
         component C supports I { provides I p; uses multiple I u; emits Ev e; attribute long a; };
         home H manages C { factory make(in long x); };",
    );
    let construct = |name: &str| match &find(&model, name).kind {
        DefinitionKind::Unmapped(unmapped) => unmapped.construct,
        other => panic!("{other:?}"),
    };
    assert_eq!([construct("C"), construct("H")], ["component", "home"]);
    assert_eq!(find(&model, "C::a").path, ["C", "a"]);
    let DefinitionKind::ValueType(event) = &find(&model, "Ev").kind else {
        panic!("an event type is a value type");
    };
    assert!(event.event && event.members.len() == 1);
}

/// Those of a repeated forward declaration of a struct, union or value type were dropped.
#[test]
fn annotations_of_all_declarations_are_kept() {
    for (declared, defined) in [
        ("interface X", "interface X {}"),
        ("valuetype X", "valuetype X {}"),
        ("struct X", "struct X { long a; }"),
        ("union X", "union X switch (long) { case 0: long a; }"),
    ] {
        let text = format!(
            "@key(1) {declared}; @key(2) {declared}; @key(3) {defined}; @key(4) {declared};"
        );
        let model = model(&text);
        let annotations = &model.lookup("X").unwrap().annotations;
        assert_eq!(annotations.len(), 4, "{text}");
    }
}
