// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every construct of `kitchen.idl`.

use std::collections::HashMap;

use orbium::{TypeCode, cdr::TCKind};
use orbium_dynamic::Definitions;
use orbium_ifr::corba::{
    ConstantDef, Container, DefinitionKind, ExtValueDef, IdlType, UnionDef, ValueDef,
};

use crate::served::{Served, model, narrowed};

pub(crate) const KITCHEN: &str = include_str!("../../../orbium-demo/idl/kitchen.idl");

/// The TypeCodes are those that the compiler makes of the same IDL, recursive ones too.
#[test]
fn every_definition_of_the_kitchen_is_there_with_its_type() {
    let served = Served::with(KITCHEN);
    let definitions = Definitions::new(model(KITCHEN));
    let mut compared = 0;
    for definition in definitions.model().definitions() {
        let found = served
            .remote()
            .lookup_id(&definition.repository_id)
            .unwrap();
        let found = found.unwrap_or_else(|| panic!("{} is there", definition.repository_id));
        assert_eq!(found.absolute_name().unwrap(), definition.scoped_name());
        found.describe().unwrap();
        let Ok(expected) = definitions.type_of(definition.id) else {
            continue;
        };
        let actual = match found.def_kind().unwrap() {
            DefinitionKind::DkException => {
                let exception: orbium_ifr::corba::ExceptionDef = narrowed(Some(found));
                exception.r#type().unwrap()
            }
            _ => narrowed::<IdlType>(Some(found)).r#type().unwrap(),
        };
        assert!(actual.equal(&expected), "{actual} {expected}");
        compared += 1;
    }
    assert!(compared > 25, "{compared}");
}

fn constants(served: &Served) -> HashMap<String, TypeCode> {
    let module: Container = served.find("IDL:orbium.test/Kitchen:1.0");
    let constants = module.contents(DefinitionKind::DkConstant, true).unwrap();
    let constants = constants.into_iter().map(|it| {
        let constant: ConstantDef = narrowed(it);
        (
            constant.name().unwrap(),
            constant.value().unwrap().type_code().clone(),
        )
    });
    constants.collect()
}

#[test]
fn constants_have_their_values() {
    let served = Served::with(KITCHEN);
    let types = constants(&served);
    assert_eq!(types["A_BOOL"].kind(), TCKind::Boolean);
    assert_eq!(
        types["FAVOURITE"].id(),
        "IDL:orbium.test/Kitchen/Colour:1.0"
    );
    let value = |name: &str| {
        let id = format!("IDL:orbium.test/Kitchen/{name}:1.0");
        served.find::<ConstantDef>(&id).value().unwrap()
    };
    assert_eq!(value("A_SHORT").extract::<i16>().unwrap(), -1);
    assert_eq!(value("A_MASK").extract::<u32>().unwrap(), 0xff08);
    assert_eq!(value("A_DOUBLE").extract::<f64>().unwrap(), 1.5e-3);
    assert_eq!(
        value("A_STRING").extract::<String>().unwrap(),
        "tab\tquote\"hexAoctA"
    );
    assert_eq!(value("A_WSTRING").extract_wstring().unwrap(), "w\u{e9}");
    assert_eq!(value("A_CHAR").extract::<orbium::Char>().unwrap().0, b'\n');
    assert_eq!(
        value("A_WCHAR").extract::<orbium::WChar>().unwrap().0,
        0x20ac
    );
    assert_eq!(value("FAVOURITE").decode_as::<u32>().unwrap(), 2);
}

#[test]
fn unions_have_a_member_for_each_label() {
    let served = Served::with(KITCHEN);
    let union: UnionDef = served.find("IDL:orbium.test/Kitchen/ByColour:1.0");
    let members = union.members().unwrap();
    let names: Vec<_> = members.iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["l", "text", "text"]);
    assert_eq!(members[1].label.type_code().name(), "Colour");
    let union: UnionDef = served.find("IDL:orbium.test/Kitchen/ByChar:1.0");
    let default = union.members().unwrap().pop().unwrap();
    assert_eq!(default.label.extract::<u8>().unwrap(), 0);
    assert_eq!(union.discriminator_type().unwrap().kind(), TCKind::Char);
}

#[test]
fn values_have_state_bases_and_factories() {
    let served = Served::with(KITCHEN);
    let labelled: ValueDef = served.find("IDL:orbium.test/Kitchen/Labelled:1.0");
    let described = labelled.describe_value().unwrap();
    assert_eq!(described.base_value, "IDL:orbium.test/Kitchen/Point:1.0");
    let members: Vec<_> = described
        .members
        .iter()
        .map(|it| (&*it.name, it.access))
        .collect();
    assert_eq!(members, [("text", 1), ("hidden", 0)]);
    assert_eq!(described.initializers[0].name, "create");
    assert_eq!(described.initializers[0].members.len(), 3);
    let base = described.r#type.as_ref().concrete_base_type().unwrap();
    assert_eq!(base.name(), "Point");
    assert!(labelled.is_a("IDL:orbium.test/Kitchen/Point:1.0").unwrap());
    assert!(labelled.is_a("IDL:omg.org/CORBA/ValueBase:1.0").unwrap());

    let chain: ExtValueDef = served.find("IDL:orbium.test/Kitchen/Chain:1.0");
    let code = chain.describe_ext_value().unwrap().r#type;
    let next = code.member(0).unwrap().type_code().unwrap();
    assert_eq!(next.to_type_code(), code);
}
