// SPDX-License-Identifier: MIT OR Apache-2.0
//! Round trips of IDL text: the written text compiles to the same definitions.

use orbium_dynamic::{Definitions, Signature};
use orbium_idl::{Options, compile_source};

use crate::samples;

fn compiled(text: &str) -> Definitions {
    let text = if text.contains("CORBA::TypeCode") {
        format!("#include <orb.idl>\n{text}")
    } else {
        text.to_owned()
    };
    let compilation = compile_source(&Options::new(), "text.idl", &text);
    let errors = compilation.to_string();
    Definitions::new(
        compilation
            .model
            .unwrap_or_else(|| panic!("{errors}\n{text}")),
    )
}

/// Everything that a caller sees of a signature.
fn shown(signature: &Signature) -> String {
    let codes = signature.parameters.iter().map(|it| it.code.clone());
    let codes = codes
        .chain([signature.returns.clone()])
        .chain(signature.exceptions.clone());
    let codes: Vec<_> = codes
        .map(|it| (it.id().to_owned(), it.to_string()))
        .collect();
    format!("{signature:?} {codes:?}")
}

/// Writes an interface, compiles that, and compares every operation.
pub(crate) fn survives(definitions: &Definitions, interface: &str) -> String {
    let id = definitions.interface(interface).unwrap();
    let text = definitions.idl_of(id);
    let again = compiled(&text);
    let again_id = again.interface(&definitions.model()[id].repository_id);
    let again_id = again_id.unwrap_or_else(|| panic!("another id in {text}"));
    let names = definitions.operation_names(id);
    assert_eq!(names, again.operation_names(again_id));
    for name in names {
        for writes in [false, true] {
            let one = definitions.signature(id, name, writes);
            let other = again.signature(again_id, name, writes);
            match (one, other) {
                (Ok(one), Ok(other)) => {
                    let codes = one.parameters.iter().zip(&other.parameters);
                    assert!(
                        codes.clone().all(|(a, b)| a.code.equal(&b.code)),
                        "{name}: {text}"
                    );
                    assert!(one.returns.equal(&other.returns), "{name}: {text}");
                    assert_eq!(shown(&one), shown(&other));
                }
                (one, other) => assert_eq!(one.err(), other.err()),
            }
        }
    }
    assert_eq!(again.idl_of(again_id), text);
    text
}

#[test]
fn an_interface_with_every_type_survives() {
    let text = survives(&samples::definitions(), "All::Thing");
    assert!(text.starts_with("#pragma prefix \"test\"\n"), "{text}");
    assert!(
        text.contains("readonly attribute ::All::Colour shade;"),
        "{text}"
    );
}

#[test]
fn the_interfaces_of_the_project_survive() {
    for (file, interfaces) in [
        (
            "kitchen.idl",
            &["Kitchen::Peer", "Kitchen::Base", "Kitchen::Values"][..],
        ),
        ("cubit.idl", &["Cubit::Cube"]),
        ("ttcp.idl", &["Ttcp::Receiver"]),
    ] {
        let path = format!("{}/../../idl/{file}", env!("CARGO_MANIFEST_DIR"));
        let definitions = compiled(&std::fs::read_to_string(path).unwrap());
        for interface in interfaces {
            survives(&definitions, interface);
        }
    }
}

#[test]
fn nested_types_ids_and_keywords_survive() {
    let text = "
        module A { interface Late { oneway void sleep(); }; typedef long Odd; };
        #pragma ID A::Odd \"DCE:1234:1\"
        module B {
          /* What it is for,\n in two lines. */
          interface _interface : A::Late {
            struct _In { enum Kind { _any, other } one; Kind more[2]; A::Odd number; };
            struct Tree; typedef sequence<Tree> Trees; struct Tree { Trees below; };
            union Choice switch (char) { case '\\'': case 'x': _In a; default: boolean b; };
            exception _Out { Choice why; };
            attribute _In one getraises (_Out);
            Tree grow(in A::Late _in, inout Choice c) raises (_Out) context (\"user\");
          };
        };
    ";
    let written = survives(&compiled(text), "B::interface");
    assert!(
        written.contains("#pragma ID Odd \"DCE:1234:1\""),
        "{written}"
    );
    assert!(written.contains("// What it is for,"), "{written}");
}

#[test]
fn other_interfaces_are_named_alone() {
    let definitions = compiled(
        "interface Other { void nothing_to_see(); }; struct Unused { long x; }; \
         interface Main { Other find(); };",
    );
    let text = survives(&definitions, "Main");
    assert!(text.contains("interface Other;"), "{text}");
    assert!(
        !text.contains("nothing_to_see") && !text.contains("Unused"),
        "{text}"
    );
}

/// The list of keywords was a copy that lacked `manages`: what was printed did not compile.
#[test]
fn names_that_are_keywords_are_escaped() {
    let definitions = compiled("interface Staff { void _manages(in long _Home, in string map); };");
    let text = survives(&definitions, "Staff");
    assert!(
        text.contains("_manages(in long _Home, in string map)"),
        "{text}"
    );
}

/// An array of a type that a member defines, and state of types that a value defines: what was
/// printed did not compile.
#[test]
fn types_that_members_and_values_define_survive() {
    let definitions = compiled(
        "module M {
           struct S { struct T { long a; } all[2]; enum E { x, y } grid[3][2], one; T last; };
           union U switch (long) { case 1: struct Inner { S first; } four[4]; default: Inner other; };
           valuetype V {
             typedef sequence<long> Longs;
             struct Tree; typedef sequence<Tree> Trees; struct Tree { Trees below; };
             struct Part { Longs values; };
             public Longs all;
             private Part pair[2];
             public Tree root;
           };
           interface I { U turn(in S first, in V second); };
         };",
    );
    let text = survives(&definitions, "M::I");
    assert!(text.contains("struct T { long a; } all[2];"), "{text}");
    assert!(text.contains("typedef sequence<long> Longs;"), "{text}");
}
