// SPDX-License-Identifier: MIT OR Apache-2.0
//! Signatures of operations, from a repository of any ORB.

use orbium::{Interface, SystemException, TypeCode};
use orbium_dynamic::{Direction, Parameter, Signature};

use crate::corba::{
    AttributeMode, ExceptionDescription, ExtAttributeDescription, InterfaceAttrExtension,
    InterfaceDef, OperationDescription, OperationMode, ParameterDescription, ParameterMode,
};

/// The signatures of an interface's operations, and of both accessors of its attributes, inherited
/// ones included, for [`Request`](orbium_dynamic::Request)s.
///
/// At most two calls, independent of the size of the repository: `describe_ext_interface`, or
/// `describe_interface` of repositories without exceptions of attributes (CORBA 2).
///
/// ```no_run
/// use orbium::{Interface, Orb};
/// use orbium_dynamic::Request;
/// use orbium_ifr::corba::{InterfaceDef, Repository};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let orb = Orb::builder().build()?;
/// let repository: Repository = orb.resolve("corbaloc:rir:/InterfaceRepository")?;
/// let found = repository.lookup_id("IDL:Greeter:1.0")?;
/// let greeter: InterfaceDef = found.ok_or("not there")?.as_object().narrow()?;
/// let signatures = orbium_ifr::signatures(&greeter)?;
/// let greet = signatures.iter().find(|it| it.wire_name == "greet").ok_or("no greet")?;
/// println!("greet returns {}", greet.returns);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Exceptions of the calls.
pub fn signatures(interface: &InterfaceDef) -> Result<Vec<Signature>, SystemException> {
    let extended = interface.as_object().narrow::<InterfaceAttrExtension>();
    let (operations, attributes) = match extended {
        Ok(extended) => {
            let described = extended.describe_ext_interface()?;
            (described.operations, described.attributes)
        }
        // It has no such extension; an unreachable repository raises its error below.
        Err(_) => {
            let described = interface.describe_interface()?;
            let attributes = described.attributes.into_iter();
            let without_exceptions = attributes.map(|it| ExtAttributeDescription {
                name: it.name,
                id: it.id,
                defined_in: it.defined_in,
                version: it.version,
                r#type: it.r#type,
                mode: it.mode,
                get_exceptions: Vec::new(),
                put_exceptions: Vec::new(),
            });
            (described.operations, without_exceptions.collect())
        }
    };
    let operations = operations.into_iter().map(operation);
    Ok(operations
        .chain(attributes.into_iter().flat_map(attribute))
        .collect())
}

fn operation(described: OperationDescription) -> Signature {
    Signature {
        wire_name: described.name.clone(),
        name: described.name,
        oneway: described.mode == OperationMode::OpOneway,
        parameters: described.parameters.into_iter().map(parameter).collect(),
        returns: described.result,
        exceptions: types(described.exceptions),
        contexts: described.contexts,
    }
}

fn parameter(described: ParameterDescription) -> Parameter {
    Parameter {
        name: described.name,
        direction: match described.mode {
            ParameterMode::ParamIn => Direction::In,
            ParameterMode::ParamOut => Direction::Out,
            ParameterMode::ParamInout => Direction::InOut,
        },
        code: described.r#type,
    }
}

/// The accessors: reading it, and writing it unless it is `readonly`.
fn attribute(described: ExtAttributeDescription) -> Vec<Signature> {
    let name = &described.name;
    let reading = Signature {
        exceptions: types(described.get_exceptions),
        ..Signature::new(&format!("_get_{name}")).returning(described.r#type.clone())
    };
    let writing = Signature {
        exceptions: types(described.put_exceptions),
        ..Signature::new(&format!("_set_{name}")).with_in("value", described.r#type)
    };
    match described.mode {
        AttributeMode::AttrReadonly => vec![reading],
        AttributeMode::AttrNormal => vec![reading, writing],
    }
}

fn types(exceptions: Vec<ExceptionDescription>) -> Vec<TypeCode> {
    exceptions.into_iter().map(|it| it.r#type).collect()
}
