// SPDX-License-Identifier: MIT OR Apache-2.0
//! Read access of clients: descriptions, look-ups and primitive types.

use orbium::{Interface, cdr::TCKind};
use orbium_ifr::corba::interface_def::FullInterfaceDescription;
use orbium_ifr::corba::{
    AttributeMode, Container, DefinitionKind, InterfaceDef, InterfaceDescription, ParameterMode,
    PrimitiveKind, StructDef, TypeDescription,
};

use crate::served::{Served, names, narrowed};

const IDL: &str = "
    module M {
      struct Point { long x; sequence<double, 4> weights; };
      exception Refused { string why; };
      interface Base { readonly attribute Point origin; };
      interface Plotter : Base {
        Point move(in Point to, out boolean done) raises (Refused);
        attribute string<8> label;
      };
    };";

/// Conformance: ORB - Interface Repository - `lookup_id`, `describe_interface`
#[test]
fn an_interface_is_described_with_what_it_inherits() {
    let served = Served::with(IDL);
    let plotter: InterfaceDef = served.find("IDL:M/Plotter:1.0");
    let FullInterfaceDescription {
        name,
        id,
        defined_in,
        version,
        operations,
        attributes,
        base_interfaces,
        r#type,
    } = plotter.describe_interface().unwrap();
    assert_eq!((&*name, &*id), ("Plotter", "IDL:M/Plotter:1.0"));
    assert_eq!((&*defined_in, &*version), ("IDL:M:1.0", "1.0"));
    assert_eq!(base_interfaces, ["IDL:M/Base:1.0"]);
    assert_eq!(r#type.kind(), TCKind::ObjRef);

    let [operation] = &operations[..] else {
        panic!("{operations:?}");
    };
    assert_eq!(operation.name, "move");
    assert_eq!(operation.result.id(), "IDL:M/Point:1.0");
    assert_eq!(operation.exceptions[0].id, "IDL:M/Refused:1.0");
    assert_eq!(
        operation.exceptions[0].r#type.member(0).unwrap().name(),
        "why"
    );
    let modes: Vec<_> = operation.parameters.iter().map(|it| it.mode).collect();
    assert_eq!(modes, [ParameterMode::ParamIn, ParameterMode::ParamOut]);
    let done = operation.parameters[1].type_def.as_ref().unwrap();
    assert_eq!(done.r#type().unwrap().kind(), TCKind::Boolean);

    let attributes: Vec<_> = attributes.iter().map(|it| (&*it.name, it.mode)).collect();
    assert_eq!(
        attributes,
        [
            ("label", AttributeMode::AttrNormal),
            ("origin", AttributeMode::AttrReadonly)
        ]
    );
}

/// Conformance: ORB - Interface Repository - types and their TypeCodes
#[test]
fn a_struct_has_members_with_their_types() {
    let served = Served::with(IDL);
    let point: StructDef = served.find("IDL:M/Point:1.0");
    let code = point.r#type().unwrap();
    assert_eq!((code.kind(), code.name()), (TCKind::Struct, "Point"));
    let members = point.members().unwrap();
    let [x, weights] = &members[..] else {
        panic!("{members:?}");
    };
    assert_eq!((&*x.name, x.r#type.kind()), ("x", TCKind::Long));
    assert_eq!(
        (weights.r#type.kind(), weights.r#type.length()),
        (TCKind::Sequence, 4)
    );
    let sequence = weights.type_def.as_ref().unwrap();
    assert_eq!(sequence.def_kind().unwrap(), DefinitionKind::DkSequence);
    assert_eq!(sequence.r#type().unwrap(), weights.r#type);
}

/// Conformance: ORB - Interface Repository - `lookup`, `lookup_name`, `contents`, `describe_contents`
#[test]
fn names_are_looked_up_in_scopes() {
    let served = Served::with(IDL);
    let root = served.remote();
    assert!(root.lookup("M::Nothing").unwrap().is_none());
    assert!(root.lookup("").unwrap().is_none());
    assert!(root.lookup("::").unwrap().is_none());
    let module: Container = narrowed(root.lookup("M").unwrap());
    let plotter = module.lookup("Plotter").unwrap().unwrap();
    assert_eq!(plotter.absolute_name().unwrap(), "::M::Plotter");
    assert_eq!(
        plotter.describe().unwrap().kind,
        DefinitionKind::DkInterface
    );
    let origin = module.lookup("Plotter::origin").unwrap().unwrap();
    assert_eq!(origin.absolute_name().unwrap(), "::M::Base::origin");
    let same = module.lookup("::M::Base::origin").unwrap().unwrap();
    assert!(same.as_object().is_equivalent(origin.as_object()));
    let defined_in = origin.defined_in().unwrap().unwrap();
    assert_eq!(defined_in.def_kind().unwrap(), DefinitionKind::DkInterface);

    let all = DefinitionKind::DkAll;
    let found = root.lookup_name("label", -1, all, true).unwrap();
    assert_eq!(names(&found), ["label"]);
    assert!(root.lookup_name("label", 1, all, true).unwrap().is_empty());
    let twice = root.lookup_name("origin", -1, all, false).unwrap();
    assert_eq!(names(&twice), ["origin"]);

    let contents = module.contents(all, true).unwrap();
    assert_eq!(names(&contents), ["Point", "Refused", "Base", "Plotter"]);
    let typedefs = module.contents(DefinitionKind::DkTypedef, true).unwrap();
    assert_eq!(names(&typedefs), ["Point"]);

    let described = module.describe_contents(all, true, 2).unwrap();
    let kinds: Vec<_> = described.iter().map(|it| it.kind).collect();
    assert_eq!(
        kinds,
        [DefinitionKind::DkStruct, DefinitionKind::DkException]
    );
    let point: TypeDescription = described[0].value.extract().unwrap();
    assert_eq!(point.defined_in, "IDL:M:1.0");
    let last = module
        .describe_contents(all, true, -1)
        .unwrap()
        .pop()
        .unwrap();
    let plotter: InterfaceDescription = last.value.extract().unwrap();
    assert_eq!(plotter.base_interfaces, ["IDL:M/Base:1.0"]);
}

/// Conformance: ORB - Interface Repository - `is_a` of definitions
#[test]
fn an_interface_is_its_bases() {
    let served = Served::with(IDL);
    let plotter: InterfaceDef = served.find("IDL:M/Plotter:1.0");
    for (id, expected) in [
        ("IDL:M/Plotter:1.0", true),
        ("IDL:M/Base:1.0", true),
        ("IDL:omg.org/CORBA/Object:1.0", true),
        ("IDL:M/Point:1.0", false),
        ("IDL:Unknown:1.0", false),
    ] {
        assert_eq!(plotter.is_a(id).unwrap(), expected, "{id}");
    }
}

#[test]
fn primitive_types_are_there_once() {
    let served = Served::with(IDL);
    let root = served.remote();
    let long = root.get_primitive(PrimitiveKind::PkLong).unwrap().unwrap();
    assert_eq!(long.kind().unwrap(), PrimitiveKind::PkLong);
    assert_eq!(long.r#type().unwrap().kind(), TCKind::Long);
    assert_eq!(long.def_kind().unwrap(), DefinitionKind::DkPrimitive);
    let again = root.get_primitive(PrimitiveKind::PkLong).unwrap().unwrap();
    assert!(long.as_object().is_equivalent(again.as_object()));
}
