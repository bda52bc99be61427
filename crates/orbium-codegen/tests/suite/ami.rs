// SPDX-License-Identifier: MIT OR Apache-2.0
//! Asynchronous forms: by annotation, by options, and by default.

use orbium_codegen::{Generated, Options, generate};

fn generated(idl: &str, options: &Options) -> Generated {
    let compilation = orbium_idl::compile_source(&orbium_idl::Options::new(), "a.idl", idl);
    let diagnostics = compilation.to_string();
    assert_eq!(diagnostics, "");
    generate(&compilation.model.unwrap(), options).unwrap()
}

/// The names of all asynchronous forms, in order.
fn forms(idl: &str, options: &Options) -> Vec<String> {
    let code = generated(idl, options).code;
    let forms = code.split("async ").skip(1).filter_map(|form| {
        let end = form.find(|c: char| !c.is_alphanumeric() && c != '_')?;
        Some(form[..end].to_owned())
    });
    forms.collect()
}

fn unasked(idl: &str) -> Vec<String> {
    forms(idl, &Options::new("a.idl"))
}

fn asked(idl: &str) -> Vec<String> {
    forms(idl, &Options::new("a.idl").asynchronous(true))
}

const PLAIN: &str = "module M { interface I { void f(); attribute long a; oneway void g(); };
                     local interface L { void h(); }; };";

#[test]
fn nothing_is_asynchronous_unless_asked_for() {
    assert_eq!(unasked(PLAIN), [""; 0]);
    assert!(
        !generated(PLAIN, &Options::new("a.idl"))
            .code
            .contains("async ")
    );
}

#[test]
fn operations_with_a_reply_have_an_asynchronous_form() {
    assert_eq!(asked(PLAIN), ["f_async", "a_async", "set_a_async"]);
}

#[test]
fn an_annotation_asks_for_what_is_inside() {
    let within = |before_module, before_interface, before_operation| {
        unasked(&format!(
            "{before_module} module M {{ {before_interface} interface I {{
                {before_operation} void f(); readonly attribute long a; }}; }};"
        ))
    };
    assert_eq!(within("@ami", "", ""), ["f_async", "a_async"]);
    assert_eq!(within("", "@ami", ""), ["f_async", "a_async"]);
    assert_eq!(within("", "", "@ami"), ["f_async"]);
    assert_eq!(within("@ami(TRUE)", "", ""), ["f_async", "a_async"]);
    assert_eq!(within("@ami(value = TRUE)", "", ""), ["f_async", "a_async"]);
    assert_eq!(within("@ami", "", "@ami(FALSE)"), ["a_async"]);
    assert_eq!(within("@ami", "@ami(FALSE)", ""), [""; 0]);
    assert_eq!(within("@ami", "@ami(FALSE)", "@ami"), ["f_async"]);
}

#[test]
fn an_annotation_goes_before_the_options() {
    let idl = "interface I { @ami(FALSE) void f(); void g(); };
               @ami(FALSE) interface J { void h(); @ami void i(); };";
    assert_eq!(asked(idl), ["g_async", "i_async"]);
}

#[test]
fn an_annotation_of_one_opening_of_a_module_holds_for_all() {
    let idl = "module M { interface I { void f(); }; };
               @ami module M { interface J { void g(); }; };";
    assert_eq!(unasked(idl), ["f_async", "g_async"]);
}

#[test]
fn a_forward_declaration_asks_too() {
    for idl in [
        "@ami interface I; interface I { void f(); };",
        "interface I; @ami interface I; interface I { void f(); };",
        "interface I { void f(); }; @ami interface I;",
    ] {
        assert_eq!(unasked(idl), ["f_async"], "{idl}");
    }
}

#[test]
fn inherited_operations_are_asynchronous_where_they_were_declared_so() {
    let idl = "@ami interface B { void f(); };
               interface C : B { void g(); };
               @ami interface D : C { void h(); };";
    // Of B, whose reference those of C and D lead to, and of D.
    assert_eq!(unasked(idl), ["f_async", "h_async"]);
}

#[test]
fn names_of_operations_go_first() {
    let idl = "interface B { void f(); void f_async(); };
               interface D : B { void f_async_(); void f_async__async(); };";
    let names = asked(idl);
    let (base, derived) = names.split_at(2);
    assert_eq!(base, ["f_async_", "f_async_async"]);
    // Of `f_async_`, which keeps its underscore apart, and of `f_async__async`.
    assert_eq!(derived, ["f_async_async_", "f_async_async_async"]);
}

#[test]
fn an_annotation_that_says_nothing_here_is_reported() {
    let idl = "@ami module M {
        @ami(\"yes\") interface I { @ami oneway void f(); @ami void g(@ami in long a); };
        @ami local interface L { @ami void h(); };
        @ami struct S { @ami long a; }; };";
    let generated = generated(idl, &Options::new("a.idl"));
    let messages: Vec<&str> = generated
        .warnings
        .iter()
        .filter_map(|warning| warning.message.strip_prefix("annotation `@ami` of "))
        .filter_map(|rest| rest.strip_suffix(" has no effect"))
        .collect();
    let wanted = [
        "`::M::I`",
        "`::M::I::f`",
        "parameter `a` of `::M::I::g`",
        "`::M::L`",
        "`::M::L::h`",
        "`::M::S`",
        "`::M::S::a`",
    ];
    assert_eq!(messages, wanted);
    assert!(generated.code.contains("async g_async,"));
}

#[test]
fn structs_of_the_synchronous_form_keep_their_names() {
    let idl = "interface I { long f(inout long a); long f_async(out long a); };";
    let with = generated(idl, &Options::new("a.idl").asynchronous(true)).code;
    assert!(with.contains("pub struct IFAsyncResults { pub result: i32, pub a: i32 }"));
    assert!(with.contains("pub struct IFAsyncResults_ {"));
    let without = generated(idl, &Options::new("a.idl")).code;
    let name = "fn f_async() -> Result<IFAsyncResults> = \"f_async\"";
    assert!(without.contains(name) && with.contains(name));
}

/// The names of the operations of two handlers may be equal: the generator searched for a table of
/// them without end.
#[test]
fn handlers_with_two_operations_of_one_name_are_left_out() {
    for bases in [
        "interface A { readonly attribute string name; }; interface B { string get_name(); };",
        "interface A { void f(); }; interface B { void f_excep(); };",
    ] {
        let idl = format!(
            "{bases} interface Both : A, B {{ void own(); }}; interface Heir : Both {{ void more(); }};"
        );
        let Generated { code, warnings } = generated(&idl, &Options::new("a.idl").handlers(true));
        let messages: Vec<_> = warnings.iter().map(|it| it.message.as_str()).collect();
        let [first, second] = messages.as_slice() else {
            panic!("{messages:?}");
        };
        for (message, name) in [(first, "Both"), (second, "Heir")] {
            let start = format!("interface `::AMI_{name}Handler` is left out: its operations `::");
            assert!(message.starts_with(&start), "{message}");
        }
        for (name, wanted) in [("AmiAHandler", true), ("AmiBothHandler", false)] {
            assert_eq!(
                code.contains(&format!("pub struct {name}")),
                wanted,
                "{name}"
            );
        }
        // The interfaces have their other asynchronous forms.
        assert!(code.contains("async own_async") && !code.contains("sendc_own"));
    }
}
