// SPDX-License-Identifier: MIT OR Apache-2.0
//! Components and template modules as their equivalent interfaces; what of IDL 4 and of other
//! compilers is read besides.

use orbium_idl::model::{ConstValue, DefinitionKind, Model};
use orbium_idl::{Compilation, Options, compile_source};

fn compiled(text: &str) -> Compilation {
    compile_source(&Options::new(), "c.idl", text)
}

fn model(text: &str) -> Model {
    let compilation = compiled(text);
    let diagnostics = compilation.to_string();
    compilation.model.unwrap_or_else(|| panic!("{diagnostics}"))
}

/// Repository ids of what the file itself defines, in order.
fn ids(model: &Model) -> Vec<&str> {
    let own = model.definitions().filter(|it| it.in_main_file);
    own.map(|it| it.repository_id.as_str()).collect()
}

/// Conformance: IDL - components: equivalent interfaces - with the built-in Components.idl, in the model
#[test]
fn components_are_interfaces_of_the_model() {
    let model = model(
        "#include <Components.idl>
         interface Valve {};
         component Pump { provides Valve outlet; uses Valve drain; };
         home PumpHome manages Pump {};",
    );
    for name in [
        "::Pump::provide_outlet",
        "::Pump::connect_drain",
        "::PumpHomeImplicit::create",
        "::PumpHomeExplicit",
        "::Components::CCMObject::get_all_ports",
    ] {
        assert!(model.lookup(name).is_some(), "{name}");
    }
    let home = model.lookup("::PumpHome").unwrap();
    assert!(matches!(home.kind, DefinitionKind::Interface(_)));
    let ccm_home = model.lookup("::Components::CCMHome").unwrap();
    assert_eq!(ccm_home.repository_id, "IDL:omg.org/Components/CCMHome:1.0");
}

/// The finder of homes had an operation by another name than every ORB with components serves.
///
/// Conformance: IDL - components: equivalent interfaces - finders of homes and configurators have the operations of other ORBs
#[test]
fn finders_and_configurators_have_the_operations_of_other_orbs() {
    let model = model("#include <Components.idl>\ninterface I {};");
    for name in [
        "HomeFinder::find_home_by_component_type",
        "HomeFinder::find_home_by_home_type",
        "HomeFinder::find_home_by_name",
        "Configurator::configure",
        "StandardConfigurator::set_configuration",
        "HomeConfiguration::disable_home_configuration",
    ] {
        let operation = model.lookup(&format!("::Components::{name}")).unwrap();
        let id = format!("IDL:omg.org/Components/{name}:1.0").replace("::", "/");
        assert_eq!(operation.repository_id, id);
    }
    assert!(
        model
            .lookup("::Components::HomeFinder::find_home_by_type")
            .is_none()
    );
}

/// AXCIOMA's connectors have attributes by the names of operations for events, and are compiled without these.
///
/// Conformance: IDL - components: equivalent interfaces - components without events, by `CCM_NOEVENT`
#[test]
fn components_may_be_without_events() {
    let text = "#include <Components.idl>
        connector Base { attribute boolean publish; attribute boolean subscribe; };";
    let shown = compiled(text).to_string();
    assert!(shown.contains("`subscribe`"), "{shown}");

    let options = Options::new().define("CCM_NOEVENT", "");
    let compilation = compile_source(&options, "c.idl", text);
    assert!(compilation.diagnostics.is_empty(), "{compilation}");
    let model = compilation.model.unwrap();
    assert!(model.lookup("::Base::subscribe").is_some());
}

// Pragmas and the ends of files stand between tokens, and an expansion changes how many there are.
#[test]
fn pragmas_behind_a_component_hold_for_what_follows() {
    let model = model(
        "#include <Components.idl>
         #pragma prefix \"a\"
         component C { uses multiple Object all; };
         #pragma prefix \"b\"
         interface I {};",
    );
    let ids = ids(&model);
    assert!(
        ids.contains(&"IDL:a/C:1.0") && ids.contains(&"IDL:b/I:1.0"),
        "{ids:?}"
    );
}

/// Conformance: IDL - components: equivalent interfaces - a mistake is reported at the port
#[test]
fn mistakes_are_reported_where_they_are() {
    let shown =
        compiled("#include <Components.idl>\ncomponent C { provides Valve outlet; };").to_string();
    assert!(
        shown.contains("c.idl:2:24: error: `Valve` is not declared"),
        "{shown}"
    );
    let shown =
        compiled("connector X { provides Object data; };\nporttype P { provides Object o; };")
            .to_string();
    let warning =
        "c.idl:1:11: warning: the connector `X` is left out: its interface needs `Components.idl`";
    assert!(
        shown.starts_with(warning) && !shown.contains("error"),
        "{shown}"
    );
    let shown = compiled("#include <Components.idl>\nconnector X { uses Valve v; };").to_string();
    assert!(
        shown.contains("c.idl:2:20: error: `Valve` is not declared"),
        "{shown}"
    );
}

/// Conformance: IDL - components: equivalent interfaces - connectors, in the model
#[test]
fn connectors_are_interfaces_of_the_model() {
    let compilation = compiled(
        "#include <Components.idl>
         module Typed<typename T, sequence<T> Many> {
           interface Writer { void write_all(in Many all); };
           interface Control { attribute boolean enabled; };
           porttype Write { uses Writer data; uses multiple Control observers; };
           connector Base { attribute string topic; };
           connector Event : Base { mirrorport Write supplier; };
         };
         struct Reading { long value; };
         typedef sequence<Reading> Readings;
         module Typed<Reading, Readings> Sensor;
         component Source { port Sensor::Write out_; };",
    );
    assert!(compilation.diagnostics.is_empty(), "{compilation}");
    let model = compilation.model.unwrap();
    let event = model.lookup("::Sensor::Event").unwrap();
    assert_eq!(event.repository_id, "IDL:Sensor/Event:1.0");
    for name in [
        "::Sensor::Event::provide_supplier_data",
        "::Sensor::Event::provide_supplier_observers",
        "::Sensor::Base::topic",
        "::Source::connect_out__data",
        "::Source::get_connections_out__observers",
    ] {
        assert!(model.lookup(name).is_some(), "{name}");
    }
}

/// Conformance: IDL - template modules - in the model
#[test]
fn template_modules_are_instantiated() {
    let model = model(
        "module Typed<typename T, const unsigned long N> { typedef sequence<T, N> Seq; struct S { T t; }; };
         module Typed<sequence<long>, 4> Lists;
         struct Use { Lists::Seq all; Lists::S one; };",
    );
    assert_eq!(
        ids(&model),
        [
            "IDL:Lists:1.0",
            "IDL:Lists/Seq:1.0",
            "IDL:Lists/S:1.0",
            "IDL:Use:1.0"
        ]
    );
}

/// Conformance: IDL - constants - fixed without the suffix, with a warning
#[test]
fn fixed_constants_may_lack_their_suffix() {
    let compilation = compiled("const fixed A = 1.50; const fixed B = A * 2 + .25d;");
    let shown = compilation.to_string();
    let first = "c.idl:1:17: warning: the fixed point literal `1.50` is read as `1.50d`";
    assert!(shown.starts_with(first), "{shown}");
    assert!(shown.contains("`2` is read as `2d`"), "{shown}");
    let model = compilation.model.unwrap();
    let DefinitionKind::Constant(b) = &model.lookup("::B").unwrap().kind else {
        panic!("no constant");
    };
    let ConstValue::Fixed(value) = &b.value else {
        panic!("{:?}", b.value);
    };
    assert_eq!(value.to_string(), "3.25");
}

/// Conformance: IDL - constants - fixed without the suffix, with a warning
#[test]
fn constants_of_named_fixed_types_may_lack_their_suffix() {
    let compilation = compiled(
        "typedef fixed<31, 20> Money; typedef Money Price;
         const Price A = -12345678901.12345678901234567890; const Money B = 2 * A; const Money C = 7;",
    );
    let shown = compilation.to_string();
    assert!(shown.contains("`7` is read as `7d`"), "{shown}");
    let model = compilation.model.unwrap();
    for (name, expected) in [
        ("::A", "-12345678901.1234567890123456789"),
        ("::B", "-24691357802.2469135780246913578"),
        ("::C", "7"),
    ] {
        let DefinitionKind::Constant(it) = &model.lookup(name).unwrap().kind else {
            panic!("no constant");
        };
        let ConstValue::Fixed(value) = &it.value else {
            panic!("{:?}", it.value);
        };
        assert_eq!(value.to_string(), expected);
    }
    // An exponent is no part of a fixed point literal.
    let shown = compiled("typedef fixed<5, 2> F; const F X = 1e2;").to_string();
    assert!(shown.contains("a fixed point value is needed"), "{shown}");
}

/// IDL for TAO includes parts of module CORBA by TAO's names of them, and did not compile.
///
/// Conformance: IDL - files of TAO with sequences of module CORBA
#[test]
fn parts_of_corba_have_the_file_names_of_tao() {
    let model = model(
        "#include \"tao/LongSeq.pidl\"
         #include <tao/StringSeq.pidl>
         #include <tao/orb_types.pidl>
         struct S { CORBA::LongSeq numbers; CORBA::StringSeq texts; CORBA::PolicyType type; };",
    );
    assert!(model.lookup("::S").is_some());
    for unknown in ["tao/PI/PI.pidl", "LongSequence.pidl", "Seq.pidl"] {
        let shown = compiled(&format!("#include \"{unknown}\"")).to_string();
        assert!(shown.contains("file not found"), "{unknown}: {shown}");
    }
}

#[test]
fn names_of_before_corba_3_are_left_alone() {
    let options = Options {
        pre_corba3: true,
        ..Options::new()
    };
    let text = "module Components {}; typedef long component; struct S { component home; };";
    let compilation = compile_source(&options, "c.idl", text);
    assert!(
        !compilation.to_string().contains("not-mapped"),
        "{compilation}"
    );
}

/// Words of components and templates in any order: something is read or reported, nothing else.
/// `ORBIUM_ROUNDS` makes it a longer run.
#[test]
fn any_order_of_words_ends() {
    const WORDS: [&str; 40] = [
        "component",
        "home",
        "eventtype",
        "porttype",
        "connector",
        "port",
        "mirrorport",
        "alias",
        "module",
        "typename",
        "provides",
        "uses",
        "multiple",
        "emits",
        "publishes",
        "consumes",
        "manages",
        "primarykey",
        "factory",
        "finder",
        "supports",
        "abstract",
        "attribute",
        "long",
        "A",
        "B",
        "C",
        "{",
        "}",
        "{",
        "}",
        ";",
        ";",
        ":",
        "<",
        ">",
        ">>",
        "::",
        "(",
        ")",
    ];
    let rounds = std::env::var("ORBIUM_ROUNDS").map_or(200, |it| it.parse().unwrap());
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..rounds {
        let mut text = "#include <Components.idl>\n".to_owned();
        for _ in 0..40 {
            // xorshift64: the same words in every run.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            text.push_str(WORDS[(state % 40) as usize]);
            text.push(' ');
        }
        let compilation = compiled(&text);
        assert!(
            compilation.model.is_some() || !compilation.diagnostics.is_empty(),
            "{text}"
        );
    }
}
