// SPDX-License-Identifier: MIT OR Apache-2.0
//! The implied IDL of reply handlers, in the model.

use std::path::Path;

use orbium_idl::model::{DefinitionKind, Direction, Model};
use orbium_idl::{Compilation, Memory, Options, compile_source, compile_with};

use super::{ReplyHandlers, add};

/// A model with reply handlers.
fn with_handlers(compilation: Compilation) -> (Model, ReplyHandlers) {
    let diagnostics = compilation.to_string();
    let mut model = compilation.model.unwrap_or_else(|| panic!("{diagnostics}"));
    let replies = add(&mut model);
    (model, replies)
}

fn model(text: &str) -> (Model, ReplyHandlers) {
    with_handlers(compile_source(&Options::new(), "h.idl", text))
}

/// The operations of a handler in IDL.
fn operations((model, replies): &(Model, ReplyHandlers), handler: &str) -> Vec<String> {
    let handler = model.lookup(handler).unwrap();
    assert!(replies.contains(handler.id));
    let mut shown = Vec::new();
    for id in model.contents(handler.id) {
        let DefinitionKind::Operation(operation) = &model[*id].kind else {
            panic!("{}", model[*id].name);
        };
        assert_eq!(model.type_name(&operation.result), "void");
        assert!(operation.raises.is_empty() && !operation.oneway);
        let mut parameters = Vec::new();
        for parameter in &operation.parameters {
            assert_eq!(parameter.direction, Direction::In);
            let ty = model.type_name(&parameter.ty);
            parameters.push(format!("{ty} {}", parameter.name));
        }
        shown.push(format!("{}({})", model[*id].name, parameters.join(", ")));
    }
    shown
}

const HOLDER: &str = "(::Messaging::ExceptionHolder excep_holder)";

/// Conformance: Messaging - reply handlers - the implied IDL of operations and attributes
#[test]
fn a_handler_takes_results_and_exceptions() {
    let handled = model(
        "module M {
           exception Empty {};
           interface Gauge {
             struct Reading { long level; };
             attribute string label;
             readonly attribute Reading last;
             long read(in string unit, inout long level, out Reading all) raises (Empty);
             void close(in long how);
             oneway void reset();
           };
         };",
    );
    let expected = [
        "get_label(string ami_return_val)".to_owned(),
        "set_label()".to_owned(),
        "get_last(::M::Gauge::Reading ami_return_val)".to_owned(),
        "read(long ami_return_val, long level, ::M::Gauge::Reading all)".to_owned(),
        "close()".to_owned(),
        format!("get_label_excep{HOLDER}"),
        format!("set_label_excep{HOLDER}"),
        format!("get_last_excep{HOLDER}"),
        format!("read_excep{HOLDER}"),
        format!("close_excep{HOLDER}"),
    ];
    assert_eq!(operations(&handled, "::M::AMI_GaugeHandler"), expected);
    let (model, replies) = handled;
    let label = model.lookup("::M::Gauge::label").unwrap().id;
    let of_label = replies.operations(label);
    let names: Vec<_> = of_label.iter().map(|it| &model[it.reply].name).collect();
    assert_eq!(names, ["get_label", "set_label"]);
    assert_eq!(model[of_label[1].exception].name, "set_label_excep");
    let reset = model.lookup("::M::Gauge::reset").unwrap().id;
    assert!(replies.operations(reset).is_empty());
}

/// Conformance: Messaging - reply handlers - bases, scope and repository ids
#[test]
fn handlers_inherit_as_their_interfaces_do() {
    let (model, _) = model(
        "#pragma prefix \"acme.com\"
         module M {
           abstract interface Shown { void show(); };
           local interface Here { void f(); };
           interface Late;
           interface A : Shown {}; interface B {}; interface C : A, B { void f(); };
           interface Late : C {};
           typeid C \"IDL:other/Name:2.0\";
           #pragma version B 3.1
         };
         interface Outside {};",
    );
    let bases = |name: &str| {
        let handler = model.lookup(name).unwrap().id;
        let names = model.bases(handler).iter();
        names.map(|it| model[*it].scoped_name()).collect::<Vec<_>>()
    };
    assert_eq!(bases("::M::AMI_AHandler"), ["::Messaging::ReplyHandler"]);
    let both = ["::M::AMI_AHandler", "::M::AMI_BHandler"];
    assert_eq!(bases("::M::AMI_CHandler"), both);
    assert_eq!(bases("::M::AMI_LateHandler"), ["::M::AMI_CHandler"]);
    for none in ["::M::AMI_ShownHandler", "::M::AMI_HereHandler"] {
        assert!(model.lookup(none).is_none(), "{none}");
    }
    let id = |name: &str| model.lookup(name).unwrap().repository_id.as_str();
    assert_eq!(id("::M::AMI_AHandler"), "IDL:acme.com/M/AMI_AHandler:1.0");
    assert_eq!(id("::M::AMI_BHandler"), "IDL:acme.com/M/AMI_BHandler:1.0");
    assert_eq!(id("::M::AMI_CHandler"), "IDL:M/AMI_CHandler:1.0");
    assert_eq!(
        id("::M::AMI_CHandler::f_excep"),
        "IDL:M/AMI_CHandler/f_excep:1.0"
    );
    assert_eq!(
        id("::AMI_OutsideHandler"),
        "IDL:acme.com/AMI_OutsideHandler:1.0"
    );
    assert_eq!(
        id("::Messaging::ExceptionHolder"),
        "IDL:omg.org/Messaging/ExceptionHolder:1.0"
    );
    // The handler follows its interface.
    let module = model.lookup("::M").unwrap().id;
    let names: Vec<_> = model
        .contents(module)
        .iter()
        .map(|it| &model[*it].name)
        .collect();
    let place = names.iter().position(|it| *it == "B").unwrap();
    assert_eq!(names[place + 1], "AMI_BHandler");
}

/// Conformance: Messaging - reply handlers - names that IDL has taken
#[test]
fn names_that_are_taken_are_avoided() {
    let handled = model(
        "module M {
           interface I { void op(); void OP_EXCEP(); void op_ami_excep(); attribute long x; void get_x(); };
           interface Heir : I { void x_excep(); void get_ami_x_excep(); };
           interface ami_ihandler {};
         };",
    );
    let expected = [
        "op()".to_owned(),
        "OP_EXCEP()".to_owned(),
        "op_ami_excep()".to_owned(),
        "get_ami_x(long ami_return_val)".to_owned(),
        "set_x()".to_owned(),
        "get_x()".to_owned(),
        format!("op_ami_ami_excep{HOLDER}"),
        format!("OP_EXCEP_excep{HOLDER}"),
        format!("op_ami_excep_excep{HOLDER}"),
        format!("get_ami_x_excep{HOLDER}"),
        format!("set_x_excep{HOLDER}"),
        format!("get_x_excep{HOLDER}"),
    ];
    assert_eq!(operations(&handled, "::M::AMI_AMI_IHandler"), expected);
    let of_heir = operations(&handled, "::M::AMI_HeirHandler");
    assert_eq!(of_heir[1], "ami_get_ami_x_excep()");
    assert_eq!(of_heir[2], format!("x_excep_excep{HOLDER}"));
}

/// Conformance: Messaging - reply handlers - what has none
#[test]
fn interfaces_of_included_files_have_handlers_as_far_as_needed() {
    let included = "interface Base { void f(); }; interface Unused { void g(); };";
    let messaging = "#pragma prefix \"omg.org\"
         module Messaging { interface ReplyHandler {}; valuetype ExceptionHolder {}; };";
    let own = "#include \"base.idl\"
         #include \"messaging.idl\"
         interface Own : Base { @ami(FALSE) void silent(); void loud(); };
         interface ByHand : Messaging::ReplyHandler { void h(); };";
    let loader = Memory::new()
        .with("base.idl", included)
        .with("messaging.idl", messaging)
        .with("own.idl", own);
    let handled = with_handlers(compile_with(&Options::new(), &loader, Path::new("own.idl")));
    let model = &handled.0;
    let base = model.lookup("::AMI_BaseHandler").unwrap();
    assert!(!base.in_main_file && model.lookup("::AMI_OwnHandler").unwrap().in_main_file);
    assert!(model.lookup("::AMI_UnusedHandler").is_none());
    assert!(model.lookup("::AMI_ByHandHandler").is_none());
    assert!(
        model
            .lookup("::Messaging::AMI_ReplyHandlerHandler")
            .is_none()
    );
    let expected = ["loud()".to_owned(), format!("loud_excep{HOLDER}")];
    assert_eq!(operations(&handled, "::AMI_OwnHandler"), expected);
    // The definitions of the file are used.
    let all = model.definitions();
    let holders = all.filter(|it| it.scoped_name() == "::Messaging::ExceptionHolder");
    assert_eq!(holders.count(), 1);
}
