// SPDX-License-Identifier: MIT OR Apache-2.0
//! Repositories that do not tell the truth.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use orbium::cdr::Type;
use orbium::{Any, Config, Interface, ObjectRef, Orb, SystemException, TypeCode};
use orbium_dynamic::{DynamicImplementation, ServerRequest, Signature, dynamic_servant};
use orbium_ifr::corba::container::Description;
use orbium_ifr::corba::{
    Contained, DefinitionKind, Initializer, InterfaceDescription, ModuleDescription,
    OperationDescription, OperationMode, ParameterDescription, ParameterMode, Repository,
    TypeDescription, ValueDescription, ValueMember,
};
use orbium_ifr::{ExportError, idl_of, sound_idl_of};

/// Every container of a repository.
struct Liar<F> {
    /// What the nth call of `describe_contents` returns; the references in it lead to `own`.
    contents: F,
    own: Arc<OnceLock<ObjectRef>>,
    calls: AtomicU32,
}

impl<F> DynamicImplementation for Liar<F>
where
    F: Fn(u32, &ObjectRef) -> Vec<Description> + Send + Sync + 'static,
{
    fn primary_interface(&self) -> String {
        "IDL:omg.org/CORBA/Repository:1.0".to_owned()
    }

    fn invoke(&self, request: &mut ServerRequest<'_, '_>) -> Result<(), SystemException> {
        if request.operation() == "_get_initializers" {
            request.arguments(&[])?;
            return request.set_result(Any::new(&Vec::<Initializer>::new()).unwrap());
        }
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let contents = (self.contents)(call, self.own.get().unwrap());
        let describe_contents = Signature::new("describe_contents")
            .with_in("limit_type", Type::ULONG)
            .with_in("exclude_inherited", Type::BOOLEAN)
            .with_in("max_returned_objs", Type::LONG);
        request.arguments(&describe_contents.parameters)?;
        request.set_result(Any::new(&contents).unwrap())
    }
}

/// What reading a repository with these contents ends with.
fn read<F>(contents: F) -> Result<String, ExportError>
where
    F: Fn(u32, &ObjectRef) -> Vec<Description> + Send + Sync + 'static,
{
    read_by(contents, idl_of)
}

/// The same, as `read` reads it.
fn read_by<F, T>(contents: F, read: impl FnOnce(&Repository) -> T) -> T
where
    F: Fn(u32, &ObjectRef) -> Vec<Description> + Send + Sync + 'static,
{
    let config = Config {
        endpoints: vec!["iiop://127.0.0.1:0".parse().unwrap()],
        ..Config::default()
    };
    let orb = Orb::new(config).unwrap();
    let own = Arc::new(OnceLock::new());
    let liar = Liar {
        contents,
        own: own.clone(),
        calls: AtomicU32::new(0),
    };
    let poa = orb.root_poa();
    let object = poa.activate_servant(&dynamic_servant(liar).unwrap());
    let object = object.unwrap();
    own.set(object.clone()).unwrap();
    poa.manager().activate().unwrap();
    let client = Orb::builder().build().unwrap();
    let repository: Repository = client.resolve(&orb.object_to_string(&object)).unwrap();
    let read = read(&repository);
    client.shutdown(true).unwrap();
    orb.shutdown(true).unwrap();
    read
}

fn described(kind: DefinitionKind, own: &ObjectRef, value: Any) -> Description {
    Description {
        contained_object: Some(Contained::from_object(own.clone())),
        kind,
        value,
    }
}

fn module(own: &ObjectRef, name: &str, id: &str) -> Description {
    let value = ModuleDescription {
        name: name.to_owned(),
        id: id.to_owned(),
        defined_in: String::new(),
        version: "1.0".to_owned(),
    };
    described(DefinitionKind::DkModule, own, Any::new(&value).unwrap())
}

fn interface(own: &ObjectRef) -> Description {
    let value = InterfaceDescription {
        name: "I".to_owned(),
        id: "IDL:I:1.0".to_owned(),
        defined_in: String::new(),
        version: "1.0".to_owned(),
        base_interfaces: Vec::new(),
    };
    described(DefinitionKind::DkInterface, own, Any::new(&value).unwrap())
}

fn operation(own: &ObjectRef, parameter: &str, context: &str) -> Description {
    let value = OperationDescription {
        name: "f".to_owned(),
        id: "IDL:I/f:1.0".to_owned(),
        defined_in: "IDL:I:1.0".to_owned(),
        version: "1.0".to_owned(),
        result: Type::VOID.into(),
        mode: OperationMode::OpNormal,
        contexts: vec![context.to_owned()],
        parameters: vec![ParameterDescription {
            name: parameter.to_owned(),
            r#type: Type::LONG.into(),
            type_def: None,
            mode: ParameterMode::ParamIn,
        }],
        exceptions: Vec::new(),
    };
    described(DefinitionKind::DkOperation, own, Any::new(&value).unwrap())
}

/// Another operation, of which all is well.
fn sound_operation(own: &ObjectRef) -> Description {
    let described = operation(own, "a", "");
    let mut value: OperationDescription = described.value.extract().unwrap();
    value.name = "g".to_owned();
    value.id = "IDL:I/g:1.0".to_owned();
    value.contexts.clear();
    self::described(DefinitionKind::DkOperation, own, Any::new(&value).unwrap())
}

fn ty(
    own: &ObjectRef,
    kind: DefinitionKind,
    (name, id): (&str, &str),
    code: TypeCode,
) -> Description {
    let value = TypeDescription {
        name: name.to_owned(),
        id: id.to_owned(),
        defined_in: String::new(),
        version: "1.0".to_owned(),
        r#type: code,
    };
    described(kind, own, Any::new(&value).unwrap())
}

/// The description of a valuetype with these bases.
fn value(own: &ObjectRef, name: &str, base: &str, abstract_bases: &[&str]) -> Description {
    let value = ValueDescription {
        name: name.to_owned(),
        id: format!("IDL:{name}:1.0"),
        is_abstract: false,
        is_custom: false,
        defined_in: String::new(),
        version: "1.0".to_owned(),
        supported_interfaces: Vec::new(),
        abstract_base_values: abstract_bases.iter().map(|it| (*it).to_owned()).collect(),
        is_truncatable: false,
        base_value: base.to_owned(),
    };
    described(DefinitionKind::DkValue, own, Any::new(&value).unwrap())
}

/// A state member of the valuetype `V`.
fn state(own: &ObjectRef, name: &str, code: TypeCode) -> Description {
    let value = ValueMember {
        name: name.to_owned(),
        id: "IDL:V/m:1.0".to_owned(),
        defined_in: "IDL:V:1.0".to_owned(),
        version: "1.0".to_owned(),
        r#type: code,
        type_def: None,
        access: 1,
    };
    described(
        DefinitionKind::DkValueMember,
        own,
        Any::new(&value).unwrap(),
    )
}

fn structure(member: &str) -> TypeCode {
    TypeCode::structure("IDL:S:1.0", "S", [(member, TypeCode::from(Type::LONG))])
}

/// Conformance: ORB - Interface Repository - repositories that lie
#[test]
fn a_module_that_contains_itself_is_an_error() {
    let read = read(|_, own| vec![module(own, "M", "IDL:M:1.0")]);
    assert_eq!(read, Err(ExportError::Repeated("IDL:M:1.0".to_owned())));
}

#[test]
fn modules_without_end_are_an_error() {
    let read = read(|call, own| vec![module(own, "M", &format!("IDL:{call}:1.0"))]);
    assert_eq!(read, Err(ExportError::TooLarge));
}

#[test]
fn names_of_too_many_octets_are_an_error() {
    let read = read(|call, own| {
        let name = "M".repeat(2000);
        let leaves = (0..500).map(|leaf| {
            let id = format!("IDL:{call}/{leaf}:1.0");
            let code = TypeCode::native(&id, &name);
            ty(own, DefinitionKind::DkNative, (&name, &id), code)
        });
        let module = module(own, &name, &format!("IDL:{call}:1.0"));
        leaves.chain([module]).collect()
    });
    assert_eq!(read, Err(ExportError::TooLarge));
}

fn assert_invalid(read: &Result<String, ExportError>, what: &str) {
    assert!(
        matches!(read, Err(ExportError::Invalid(_))),
        "{what}: {read:?}"
    );
}

/// Names and ids become a part of the text, which could be any other text.
#[test]
fn names_and_ids_that_are_none_are_errors() {
    for (name, id) in [
        ("", "IDL:M:1.0"),
        ("M { };\n#include \"x\"\n module N", "IDL:M:1.0"),
        ("M\u{1b}[2J", "IDL:M:1.0"),
        ("M", ""),
        ("M", "M"),
        ("M", "IDL:M\"\n#include \"x\"\n\":1.0"),
        ("M", "IDL:M\":1.0"),
        ("M", "IDL:M\\:1.0"),
    ] {
        let read = read(move |_, own| vec![module(own, name, id)]);
        assert_invalid(&read, name);
    }
    for member in ["", "a; }; struct T { long b", "a\n#include \"x\"\n"] {
        let code = structure(member);
        let kind = DefinitionKind::DkStruct;
        let all = move |call, own: &ObjectRef| match call {
            0 => vec![ty(own, kind, ("S", "IDL:S:1.0"), code.clone())],
            _ => Vec::new(),
        };
        assert_invalid(&read(all), member);
    }
    for parameter in ["", "a, in long b"] {
        let all = move |call, own: &ObjectRef| match call {
            0 => vec![interface(own)],
            _ => vec![operation(own, parameter, "c")],
        };
        assert_invalid(&read(all), parameter);
    }
}

#[test]
fn a_context_is_a_string_whatever_is_in_it() {
    let contents = |call, own: &ObjectRef| match call {
        0 => vec![interface(own)],
        _ => vec![operation(own, "a", "\"); oneway void g(); //\n")],
    };
    let text = read(contents).unwrap();
    let one_line = text
        .lines()
        .any(|line| line.contains("context (\"\\\"); oneway"));
    assert!(
        one_line && !text.contains("\n#") && text.lines().count() == 4,
        "{text}"
    );
}

#[test]
fn kinds_that_are_not_those_of_the_types_are_errors() {
    use DefinitionKind as Kind;
    let codes = [
        structure("a"),
        TypeCode::enumeration("IDL:S:1.0", "S", ["a"]),
        TypeCode::alias("IDL:S:1.0", "S", TypeCode::from(Type::LONG)),
        TypeCode::sequence(structure("a"), 0),
        Type::LONG.into(),
    ];
    for kind in [
        Kind::DkUnion,
        Kind::DkException,
        Kind::DkValueBox,
        Kind::DkOperation,
        Kind::DkAll,
    ] {
        for code in &codes {
            let code = code.clone();
            let what = format!("{kind:?} {code}");
            let read = read(move |call, own| match call {
                0 => vec![ty(own, kind, ("S", "IDL:S:1.0"), code.clone())],
                _ => Vec::new(),
            });
            assert_invalid(&read, &what);
        }
    }
    for kind in [Kind::DkStruct, Kind::DkEnum, Kind::DkAlias] {
        let read = read(move |call, own| match call {
            0 => vec![ty(own, kind, ("S", "IDL:S:1.0"), Type::LONG.into())],
            _ => Vec::new(),
        });
        assert_invalid(&read, "a long");
    }
}

#[test]
fn descriptions_of_nothing_are_errors() {
    let no_object = read(|_, own| {
        let mut module = module(own, "M", "IDL:M:1.0");
        module.contained_object = None;
        vec![module]
    });
    assert_invalid(&no_object, "no object");
    for value in [Any::from(1), Any::from("M"), Any::default()] {
        let read =
            read(move |_, own| vec![described(DefinitionKind::DkModule, own, value.clone())]);
        assert_invalid(&read, "no description");
    }
}

fn missing(id: &str) -> Result<String, ExportError> {
    Err(ExportError::Missing(id.to_owned()))
}

/// Conformance: ORB - Interface Repository - value types that are half there
#[test]
fn missing_bases_of_values_are_errors() {
    let base = read(|call, own| match call {
        0 => vec![value(own, "V", "IDL:Lost:1.0", &[])],
        _ => Vec::new(),
    });
    assert_eq!(base, missing("IDL:Lost:1.0"));
    let abstract_base = read(|call, own| match call {
        0 => vec![value(own, "V", "", &["IDL:Lost:1.0"])],
        _ => Vec::new(),
    });
    assert_eq!(abstract_base, missing("IDL:Lost:1.0"));
    let ring = read(|call, own| match call {
        0 => vec![
            value(own, "V", "IDL:W:1.0", &[]),
            value(own, "W", "IDL:V:1.0", &[]),
        ],
        _ => Vec::new(),
    });
    assert!(matches!(ring, Err(ExportError::Circular(_))), "{ring:?}");
}

/// Conformance: ORB - Interface Repository - value types that are half there
#[test]
fn members_of_values_that_are_no_idl_are_errors() {
    let with_member = |name: &'static str, code: TypeCode| {
        read(move |call, own| match call {
            0 => vec![value(own, "V", "", &[])],
            1 => vec![state(own, name, code.clone())],
            _ => Vec::new(),
        })
    };
    let lost = TypeCode::value("IDL:Lost:1.0", "Lost", 0, None, []);
    assert_eq!(with_member("m", lost), missing("IDL:Lost:1.0"));
    let boxed = TypeCode::value_box("IDL:Lost:1.0", "Lost", Type::LONG.into());
    assert_eq!(with_member("m", boxed), missing("IDL:Lost:1.0"));
    for name in ["", "m; long n", "m\n#include \"x\"\n"] {
        assert_invalid(&with_member(name, Type::LONG.into()), name);
    }
    // What a member says of its own type does not count.
    let inner = TypeCode::sequence(TypeCode::recursive("IDL:V:1.0"), 0);
    let other = TypeCode::value("IDL:V:1.0", "W", 0, None, [("n", inner, true)]);
    let text = with_member("m", TypeCode::sequence(other, 0)).unwrap();
    assert!(text.contains("public sequence<::V> m;"), "{text}");
}

/// `orbium call` read the whole repository, and one definition that makes no IDL failed it for
/// every interface.
#[test]
fn sound_definitions_are_read_without_the_broken_ones() {
    let contents = |call: u32, own: &ObjectRef| match call {
        // An interface, a type with a bad name, and one that needs what is not there.
        0 => vec![
            interface(own),
            ty(
                own,
                DefinitionKind::DkAlias,
                ("not a name", "IDL:X:1.0"),
                TypeCode::alias("IDL:X:1.0", "not a name", Type::LONG.into()),
            ),
            ty(
                own,
                DefinitionKind::DkAlias,
                ("Needing", "IDL:Needing:1.0"),
                TypeCode::alias(
                    "IDL:Needing:1.0",
                    "Needing",
                    TypeCode::alias("IDL:Missing:1.0", "Missing", Type::LONG.into()),
                ),
            ),
        ],
        // Its operations: a parameter of the first has a bad name.
        1 => vec![operation(own, "a b", ""), sound_operation(own)],
        _ => Vec::new(),
    };
    assert!(read_by(contents, idl_of).is_err());
    let read = read_by(contents, sound_idl_of).unwrap();
    assert_eq!(
        read.text.split_whitespace().collect::<Vec<_>>().join(" "),
        "interface I; interface I { void g(in long a); };"
    );
    assert_eq!(read.left_out.len(), 3, "{:?}", read.left_out);
}
