// SPDX-License-Identifier: MIT OR Apache-2.0
//! A client of another ORB that knows CORBA's own IDL alone, and walks the Interface Repository.

use std::collections::HashSet;
use std::path::Path;

use orbium::cdr::TypeRef;
use orbium::{Config, Interface as _, TypeCode, cdr::TCKind};
use orbium_demo::serve;
use orbium_dynamic::{Definitions, Direction, Signature};
use orbium_idl::model::{Definition, DefinitionKind as Kind, InterfaceKind};
use orbium_idl::{Options, compile};
use orbium_ifr::InterfaceRepository;
use orbium_ifr::corba::DefinitionKind;

use crate::programs::{self, available};
use crate::{Tested, listening};

/// The number of a definition's kind in CORBA; `None` for parts of others.
fn kind(definition: &Definition) -> Option<DefinitionKind> {
    Some(match &definition.kind {
        Kind::Module(_) => DefinitionKind::DkModule,
        Kind::Constant(_) => DefinitionKind::DkConstant,
        Kind::Struct(_) => DefinitionKind::DkStruct,
        Kind::Union(_) => DefinitionKind::DkUnion,
        Kind::Enum(_) => DefinitionKind::DkEnum,
        Kind::Alias(_) => DefinitionKind::DkAlias,
        Kind::Exception(_) => DefinitionKind::DkException,
        Kind::Interface(it) if it.kind == InterfaceKind::Abstract => {
            DefinitionKind::DkAbstractInterface
        }
        Kind::Interface(_) => DefinitionKind::DkInterface,
        Kind::Operation(_) => DefinitionKind::DkOperation,
        Kind::Attribute(_) => DefinitionKind::DkAttribute,
        Kind::ValueType(_) => DefinitionKind::DkValue,
        Kind::ValueBox(_) => DefinitionKind::DkValueBox,
        _ => return None,
    })
}

/// A type as it is used: those with an id by it.
fn used(code: TypeRef<'_>) -> String {
    let kind = code.kind() as u32;
    let content = || code.content_type().map_or_else(String::new, used);
    match code.kind() {
        TCKind::String | TCKind::WString => format!("{kind}<{}>", code.length()),
        TCKind::Sequence | TCKind::Array => format!("{kind}<{},{}>", content(), code.length()),
        TCKind::Fixed => format!("{kind}<{},{}>", code.digits(), code.scale()),
        it if it.has_id() => format!("{kind} {}", code.id()),
        _ => kind.to_string(),
    }
}

/// A type with its members.
fn whole(code: &TypeCode) -> String {
    let mut members = Vec::new();
    match code.kind() {
        TCKind::Alias | TCKind::ValueBox => {
            members.extend(code.content_type().map(|it| used(it.as_ref())));
        }
        TCKind::Enum => members.extend(code.members().map(|it| it.name().to_owned())),
        _ => {
            if let Some(discriminator) = code.discriminator_type() {
                let default = code.default_index().map_or(-1, |it| it as i64);
                members.push(format!("{} {default}", used(discriminator.as_ref())));
            }
            for member in code.members() {
                let used = member.type_code().map_or_else(String::new, used);
                members.push(format!("{used} {}", member.name()));
            }
        }
    }
    format!("{}{{{}}}", used(code.as_ref()), members.join(","))
}

/// The line of an operation.
fn operation(signature: &Signature) -> String {
    let parameters = signature.parameters.iter().map(|it| {
        let mode = match it.direction {
            Direction::In => 0,
            Direction::Out => 1,
            Direction::InOut => 2,
        };
        format!("{mode} {} {}", it.name, used(it.code.as_ref()))
    });
    let parameters: Vec<_> = parameters.collect();
    let raises: Vec<_> = signature.exceptions.iter().map(TypeCode::id).collect();
    format!(
        "{}{} {}({})[{}]",
        if signature.oneway { "oneway " } else { "" },
        signature.name,
        used(signature.returns.as_ref()),
        parameters.join(","),
        raises.join(",")
    )
}

/// The lines that the program has to print of an interface.
fn described(definitions: &Definitions, interface: &Definition, lines: &mut HashSet<String>) {
    let id = &interface.repository_id;
    for feature in definitions.model().all_features(interface.id) {
        let feature = &definitions.model()[feature];
        let read = definitions.signature(interface.id, &feature.name, false);
        let read = read.expect("a signature");
        lines.insert(match &feature.kind {
            Kind::Attribute(attribute) => {
                let mode = if attribute.readonly { "readonly " } else { "" };
                let ty = used(read.returns.as_ref());
                format!("{id} {mode}attribute {} {ty}", feature.name)
            }
            _ => format!("{id} {}", operation(&read)),
        });
    }
}

/// Conformance: ORB - Interface Repository - JacORB's client sees every construct of `kitchen.idl`
/// Conformance: ORB - `_interface`
#[test]
fn jacorb_walks_the_repository() -> Tested {
    let program = "jacorb-definitions";
    if !available(&[program]) {
        return Ok(());
    }
    let orb = listening(Config::default())?;
    let served = serve(&orb)?;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../idl/kitchen.idl");
    let kitchen = || compile(&Options::new(), &path).model.ok_or("bad IDL");
    let repository = InterfaceRepository::in_memory(&orb)?;
    repository.load(&kitchen()?)?;
    let definitions = Definitions::new(kitchen()?);

    let arguments = [
        orb.object_to_string(&repository.reference()),
        orb.object_to_string(served.peer.as_object()),
    ];
    let (code, output) = programs::run(program, &arguments)?;
    assert_eq!(code, 0, "{output}");
    let printed: HashSet<&str> = output.lines().collect();
    let mut expected = HashSet::from(["object IDL:orbium.test/Kitchen/Peer:1.0".to_owned()]);
    for definition in definitions.model().definitions() {
        let Some(kind) = kind(definition) else {
            continue;
        };
        let kind = kind as u32;
        let id = &definition.repository_id;
        let start = format!("{kind} {id} {}", definition.scoped_name());
        match definitions.type_of(definition.id) {
            Ok(code) => expected.insert(format!("{start} {}", whole(&code))),
            Err(_) => {
                let found = output.lines().any(|line| line.starts_with(&start));
                assert!(found, "{start} is missing in\n{output}");
                continue;
            }
        };
        if matches!(definition.kind, Kind::Interface(_)) {
            described(&definitions, definition, &mut expected);
        }
    }
    assert!(expected.len() > 50, "{expected:#?}");
    for line in &expected {
        assert!(printed.contains(&**line), "{line} is missing in\n{output}");
    }
    orb.shutdown(true)?;
    Ok(())
}
