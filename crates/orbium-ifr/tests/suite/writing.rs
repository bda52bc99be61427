// SPDX-License-Identifier: MIT OR Apache-2.0
//! Write access of clients, and the refusals of the repository.

use orbium::{Any, ExceptionKind, Interface, SystemException, TypeCode, cdr::TCKind};
use orbium_ifr::corba::{
    AliasDef, AttributeMode, ConstantDef, Contained, Container, DefinitionKind, EnumDef,
    ExceptionDef, ExtInterfaceDef, IdlType, InterfaceDef, ModuleDef, OperationMode,
    ParameterDescription, ParameterMode, PrimitiveKind, Repository, SequenceDef, StructDef,
    StructMember, UnionMember,
};
use orbium_ifr::idl_of;

use crate::served::{Served, model, names, narrowed};

/// Kind and minor code, without the vendor part.
pub(crate) fn refused<T: std::fmt::Debug>(
    answer: Result<T, SystemException>,
) -> (ExceptionKind, u32) {
    let exception = answer.unwrap_err();
    (exception.kind, exception.minor & 0xfff)
}

pub(crate) const BAD_PARAM: ExceptionKind = ExceptionKind::BadParam;
const BAD_INV_ORDER: ExceptionKind = ExceptionKind::BadInvOrder;

fn ty<I: Interface>(of: &I) -> IdlType {
    IdlType::from_object(of.as_object().clone())
}

pub(crate) fn primitive(root: &Repository, kind: PrimitiveKind) -> IdlType {
    ty(&root.get_primitive(kind).unwrap().unwrap())
}

pub(crate) fn member(name: &str, ty: &IdlType) -> StructMember {
    StructMember {
        name: name.to_owned(),
        r#type: TypeCode::default(),
        type_def: Some(ty.clone()),
    }
}

fn module(root: &Repository, name: &str) -> ModuleDef {
    let id = format!("IDL:{name}:1.0");
    root.create_module(&id, name, "1.0").unwrap().unwrap()
}

/// Conformance: ORB - Interface Repository - writing: `create_`, setters, `move`, `destroy`
#[test]
fn definitions_are_created_one_by_one() {
    let served = Served::empty();
    let root = served.remote();
    let m = module(&root, "M");
    let long = primitive(&root, PrimitiveKind::PkLong);
    let string = primitive(&root, PrimitiveKind::PkString);

    let sequence = root.create_sequence(4, Some(&long)).unwrap().unwrap();
    let array = root.create_array(3, Some(&ty(&sequence))).unwrap().unwrap();
    let members = [member("text", &string), member("rows", &ty(&array))];
    let point = m
        .create_struct("IDL:M/P:1.0", "P", "1.0", &members)
        .unwrap()
        .unwrap();
    let bad = m
        .create_exception("IDL:M/Bad:1.0", "Bad", "1.0", &[member("at", &ty(&point))])
        .unwrap()
        .unwrap();
    let labels = ["one".to_owned(), "two".to_owned()];
    let kind = m
        .create_enum("IDL:M/K:1.0", "K", "1.0", &labels)
        .unwrap()
        .unwrap();
    let code = kind.r#type().unwrap();
    let case = |label: Any, name: &str| UnionMember {
        name: name.to_owned(),
        label,
        r#type: TypeCode::default(),
        type_def: Some(long.clone()),
    };
    let one = Any::with_type(code.clone(), &1u32).unwrap();
    let cases = [case(one, "second"), case(Any::from(0u8), "other")];
    let union = m.create_union("IDL:M/U:1.0", "U", "1.0", Some(&ty(&kind)), &cases);
    assert_eq!(union.unwrap().unwrap().members().unwrap().len(), 2);
    m.create_constant("IDL:M/N:1.0", "N", "1.0", Some(&long), &Any::from(7i32))
        .unwrap();
    m.create_alias(
        "IDL:M/A:1.0",
        "A",
        "1.0",
        Some(&ty(&root.create_fixed(9, 2).unwrap().unwrap())),
    )
    .unwrap();

    let base = m
        .create_abstract_interface("IDL:M/B:1.0", "B", "1.0", &[])
        .unwrap()
        .unwrap();
    let base = InterfaceDef::from_object(base.as_object().clone());
    let interface = m
        .create_interface("IDL:M/I:1.0", "I", "1.0", &[Some(base)])
        .unwrap()
        .unwrap();
    let parameter = ParameterDescription {
        name: "it".to_owned(),
        r#type: TypeCode::default(),
        type_def: Some(ty(&point)),
        mode: ParameterMode::ParamInout,
    };
    interface
        .create_operation(
            "IDL:M/I/op:1.0",
            "op",
            "1.0",
            Some(&long),
            OperationMode::OpNormal,
            &[parameter],
            &[Some(bad.clone())],
            &["user".to_owned()],
        )
        .unwrap();
    let extended: ExtInterfaceDef = interface.as_object().narrow().unwrap();
    let raises = [Some(bad)];
    extended
        .create_ext_attribute(
            "IDL:M/I/at:1.0",
            "at",
            "1.0",
            Some(&long),
            AttributeMode::AttrNormal,
            &raises,
            &[],
        )
        .unwrap();
    let value = m
        .create_value(
            "IDL:M/V:1.0",
            "V",
            "1.0",
            false,
            false,
            None,
            false,
            &[],
            &[],
            &[],
        )
        .unwrap()
        .unwrap();
    value
        .create_value_member("IDL:M/V/next:1.0", "next", "1.0", Some(&ty(&value)), 1)
        .unwrap();
    m.create_value_box("IDL:M/X:1.0", "X", "1.0", Some(&long))
        .unwrap();
    m.create_native("IDL:M/C:1.0", "C", "1.0").unwrap();
    m.create_local_interface("IDL:M/L:1.0", "L", "1.0", &[])
        .unwrap();

    let text = idl_of(&root).unwrap();
    let expected = "module M {
        struct P { string text; sequence<long, 4> rows[3]; };
        exception Bad { P at; };
        enum K { one, two };
        union U switch (K) { case two: long second; default: long other; };
        const long N = 7;
        typedef fixed<9, 2> A;
        abstract interface B { };
        interface I : B {
            long op(inout P it) raises (Bad) context (\"user\");
            attribute long at getraises (Bad);
        };
        valuetype V { public V next; };
        valuetype X long;
        native C;
        local interface L { };
    };";
    let other = Served::with(expected);
    assert_eq!(idl_of(&other.remote()).unwrap(), text);
}

/// Conformance: ORB - Interface Repository - a repository id twice: BAD_PARAM 2
#[test]
fn a_repository_id_is_there_once() {
    let served = Served::empty();
    let root = served.remote();
    let m = module(&root, "M");
    let n = module(&root, "N");
    assert_eq!(
        refused(root.create_module("IDL:M:1.0", "Other", "1.0")),
        (BAD_PARAM, 2)
    );
    assert_eq!(refused(n.set_id("IDL:M:1.0")), (BAD_PARAM, 2));
    n.set_id("IDL:new/N:1.0").unwrap();
    assert!(root.lookup_id("IDL:N:1.0").unwrap().is_none());
    assert_eq!(m.id().unwrap(), "IDL:M:1.0");
    assert_eq!(n.id().unwrap(), "IDL:new/N:1.0");
}

/// Conformance: ORB - Interface Repository - a name twice, whatever its case: BAD_PARAM 3
#[test]
fn a_name_is_there_once_in_its_container() {
    let served = Served::empty();
    let root = served.remote();
    module(&root, "M");
    let n = module(&root, "N");
    assert_eq!(
        refused(root.create_module("IDL:x:1.0", "m", "1.0")),
        (BAD_PARAM, 3)
    );
    assert_eq!(refused(n.set_name("M")), (BAD_PARAM, 3));
    n.set_name("n").unwrap();
    assert_eq!(n.absolute_name().unwrap(), "::n");
}

/// Conformance: ORB - Interface Repository - a container of the wrong kind: BAD_PARAM 4
#[test]
fn a_struct_contains_no_interface() {
    let served = Served::with(
        "struct S { long a; }; interface I { void f(); }; module M { typedef long T; };",
    );
    let root = served.remote();
    let structure: StructDef = served.find("IDL:S:1.0");
    let refusal = structure.create_interface("IDL:x:1.0", "x", "1.0", &[]);
    assert_eq!(refused(refusal), (BAD_PARAM, 4));
    let f: Contained = narrowed(root.lookup("I::f").unwrap());
    let module: Container = served.find("IDL:M:1.0");
    assert_eq!(refused(f.r#move(Some(&module), "f", "1.0")), (BAD_PARAM, 4));
    // A module into itself.
    let m: Contained = served.find("IDL:M:1.0");
    assert_eq!(refused(m.r#move(Some(&module), "M", "1.0")), (BAD_PARAM, 4));
}

/// Conformance: ORB - Interface Repository - the name of an inherited definition: BAD_PARAM 5
#[test]
fn inherited_names_clash() {
    let served = Served::with(
        "interface Base { void f(); }; interface Derived : Base { }; interface Other { void f(); };",
    );
    let root = served.remote();
    let long = primitive(&root, PrimitiveKind::PkLong);
    let derived: InterfaceDef = served.find("IDL:Derived:1.0");
    let mode = AttributeMode::AttrNormal;
    let refusal = derived.create_attribute("IDL:x:1.0", "F", "1.0", Some(&long), mode);
    assert_eq!(refused(refusal), (BAD_PARAM, 5));
    let base: InterfaceDef = served.find("IDL:Base:1.0");
    let other: InterfaceDef = served.find("IDL:Other:1.0");
    let refusal = derived.set_base_interfaces(&[Some(base), Some(other)]);
    assert_eq!(refused(refusal), (BAD_PARAM, 5));
    assert_eq!(derived.base_interfaces().unwrap().len(), 1);
}

/// Conformance: ORB - Interface Repository - `destroy` of what others use: BAD_INV_ORDER 1
#[test]
fn definitions_in_use_are_not_destroyed() {
    let served = Served::with(
        "module M { struct S { long a; }; exception E { }; interface B { }; };
         typedef sequence<M::S> Ss; interface I : M::B { void f() raises (M::E); };",
    );
    let root = served.remote();
    for id in ["IDL:M/S:1.0", "IDL:M/E:1.0", "IDL:M/B:1.0", "IDL:M:1.0"] {
        let used: Contained = served.find(id);
        assert_eq!(refused(used.destroy()), (BAD_INV_ORDER, 1), "{id}");
    }
    let alias: AliasDef = served.find("IDL:Ss:1.0");
    let sequence: SequenceDef = alias
        .original_type_def()
        .unwrap()
        .unwrap()
        .as_object()
        .narrow()
        .unwrap();
    assert_eq!(refused(sequence.destroy()), (BAD_INV_ORDER, 1));
    alias.destroy().unwrap();
    // The sequence was of this typedef alone.
    assert_eq!(refused(sequence.bound()).0, ExceptionKind::ObjectNotExist);
    served.find::<Contained>("IDL:M/S:1.0").destroy().unwrap();
    served.find::<Contained>("IDL:I:1.0").destroy().unwrap();
    served.find::<Contained>("IDL:M:1.0").destroy().unwrap();
    assert!(
        root.contents(DefinitionKind::DkAll, true)
            .unwrap()
            .is_empty()
    );
    assert!(root.lookup_id("IDL:M/E:1.0").unwrap().is_none());
}

/// Conformance: ORB - Interface Repository - `destroy` of the repository or a primitive type: BAD_INV_ORDER 2
#[test]
fn the_repository_and_primitive_types_stay() {
    let served = Served::empty();
    let root = served.remote();
    assert_eq!(refused(root.destroy()), (BAD_INV_ORDER, 2));
    let long = primitive(&root, PrimitiveKind::PkLong);
    assert_eq!(refused(long.destroy()), (BAD_INV_ORDER, 2));
}

/// Conformance: ORB - Interface Repository - a oneway operation with results: BAD_PARAM 31
#[test]
fn oneway_operations_return_nothing() {
    let served = Served::with("interface I { }; exception E { };");
    let root = served.remote();
    let interface: InterfaceDef = served.find("IDL:I:1.0");
    let (long, void) = (
        primitive(&root, PrimitiveKind::PkLong),
        primitive(&root, PrimitiveKind::PkVoid),
    );
    let exception: ExceptionDef = served.find("IDL:E:1.0");
    let create = |result: &IdlType, raises: &[Option<ExceptionDef>]| {
        let mode = OperationMode::OpOneway;
        interface.create_operation(
            "IDL:I/f:1.0",
            "f",
            "1.0",
            Some(result),
            mode,
            &[],
            raises,
            &[],
        )
    };
    assert_eq!(refused(create(&long, &[])), (BAD_PARAM, 31));
    assert_eq!(
        refused(create(&void, &[Some(exception.clone())])),
        (BAD_PARAM, 31)
    );
    let operation = create(&void, &[]).unwrap().unwrap();
    assert_eq!(
        refused(operation.set_exceptions(&[Some(exception)])),
        (BAD_PARAM, 31)
    );
    assert!(operation.exceptions().unwrap().is_empty());
}

/// Conformance: ORB - Interface Repository - types and interfaces that contain themselves are refused
#[test]
fn types_end_somewhere() {
    let served =
        Served::with("struct S { long a; }; typedef long A; interface I { }; interface J : I { };");
    let root = served.remote();
    let structure: StructDef = served.find("IDL:S:1.0");
    let itself = member("self", &ty(&structure));
    assert_eq!(refused(structure.set_members(&[itself])), (BAD_PARAM, 13));
    let alias: AliasDef = served.find("IDL:A:1.0");
    assert_eq!(
        refused(alias.set_original_type_def(Some(&ty(&alias)))),
        (BAD_PARAM, 13)
    );
    let (i, j): (InterfaceDef, InterfaceDef) = (served.find("IDL:I:1.0"), served.find("IDL:J:1.0"));
    assert_eq!(refused(i.set_base_interfaces(&[Some(j)])), (BAD_PARAM, 13));
    // Through a sequence it may.
    let sequence = root
        .create_sequence(0, Some(&ty(&structure)))
        .unwrap()
        .unwrap();
    structure
        .set_members(&[member("all", &ty(&sequence))])
        .unwrap();
    let code = structure.r#type().unwrap();
    let inner = code
        .member(0)
        .unwrap()
        .type_code()
        .unwrap()
        .content_type()
        .unwrap();
    assert_eq!(inner.to_type_code(), code);
    assert_eq!(
        structure.members().unwrap()[0].r#type.kind(),
        TCKind::Sequence
    );
}

/// A type of 2¹⁰⁰ parts in a hundred small definitions: it would be sent as a tree.
#[test]
fn types_that_unfold_without_end_are_refused() {
    let served = Served::empty();
    let root = served.remote();
    let mut part = primitive(&root, PrimitiveKind::PkLong);
    let mut made = 0;
    let refusal = loop {
        let (id, name) = (format!("IDL:S{made}:1.0"), format!("S{made}"));
        let members = [member("a", &part), member("b", &part)];
        match root.create_struct(&id, &name, "1.0", &members) {
            Ok(created) => part = ty(&created.unwrap()),
            Err(exception) => break exception,
        }
        made += 1;
    };
    assert_eq!(refusal.kind, ExceptionKind::ImpLimit);
    assert!((10..20).contains(&made), "{made}");
}

#[test]
fn references_of_another_repository_are_refused() {
    let (one, other) = (
        Served::with("interface I { };"),
        Served::with("interface I { };"),
    );
    let foreign: InterfaceDef = other.find("IDL:I:1.0");
    let root = one.remote();
    let refusal = root.create_interface("IDL:J:1.0", "J", "1.0", &[Some(foreign)]);
    assert_eq!(refused(refusal).0, BAD_PARAM);
    let refusal = root.create_alias("IDL:A:1.0", "A", "1.0", None);
    assert_eq!(refused(refusal).0, BAD_PARAM);
}

#[test]
fn definitions_move_with_their_references() {
    let served =
        Served::with("module A { enum E { x }; typedef E T; }; module B { typedef long Z; };");
    let root = served.remote();
    let moved: EnumDef = served.find("IDL:A/E:1.0");
    let b: Container = served.find("IDL:B:1.0");
    moved.r#move(Some(&b), "F", "1.1").unwrap();
    assert_eq!(moved.absolute_name().unwrap(), "::B::F");
    assert_eq!(
        (moved.version().unwrap(), moved.id().unwrap()),
        ("1.1".into(), "IDL:A/E:1.0".into())
    );
    let alias: AliasDef = served.find("IDL:A/T:1.0");
    assert_eq!(alias.r#type().unwrap().content_type().unwrap().name(), "F");
    let contents = b.contents(DefinitionKind::DkAll, true).unwrap();
    assert_eq!(names(&contents), ["Z", "F"]);
    let found: EnumDef = narrowed(root.lookup("B::F").unwrap());
    assert!(found.as_object().is_equivalent(moved.as_object()));
}

#[test]
fn constants_keep_their_type() {
    let served = Served::with("const long N = 1; enum E { a, b };");
    let constant: ConstantDef = served.find("IDL:N:1.0");
    assert_eq!(refused(constant.set_value(&Any::from("text"))).0, BAD_PARAM);
    constant.set_value(&Any::from(2i32)).unwrap();
    assert_eq!(constant.value().unwrap().extract::<i32>().unwrap(), 2);
    let text = idl_of(&served.remote()).unwrap();
    assert!(text.contains("const long N = 2;"), "{text}");
    model(&text);
}
