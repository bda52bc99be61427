// SPDX-License-Identifier: MIT OR Apache-2.0
//! Type definitions for a command: IDL, from files or a repository.

use std::path::PathBuf;

use clap::Args;
use orbium::{Interface, ObjectRef};
use orbium_dynamic::{Definitions, Signature};
use orbium_idl::model::{DefId, Model};
use orbium_ifr::corba::InterfaceDef;

use crate::failure::Failure;
use crate::idl::idl_files::FileArgs;
use crate::ifr;
use crate::object::reference;
use crate::output::printable;

/// The source of types: by default, the Interface Repository of the object's server.
#[derive(Debug, Args)]
pub(crate) struct DefinitionArgs {
    /// IDL file that defines the interface; may be repeated [default: the definitions of the
    /// object's server, if it has an Interface Repository]
    #[arg(long = "idl", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Interface Repository that has the interface, any ORB's: a reference as REF
    #[arg(long, value_name = "REF", conflicts_with = "files")]
    ifr: Option<String>,
    #[command(flatten)]
    options: FileArgs,
    /// The interface, by scoped name or repository id; that of the reference unless given
    #[arg(long, value_name = "NAME")]
    interface: Option<String>,
}

/// Definitions, with an interface among them.
pub(crate) struct Loaded {
    pub(crate) definitions: Definitions,
    pub(crate) interface: DefId,
    /// Whether there are only the interface and the types that it names: values may be of any type
    /// that its repository has.
    pub(crate) is_partial: bool,
}

impl DefinitionArgs {
    /// As [`DefinitionArgs::load`], without output to standard error.
    pub(crate) fn quiet(&self, object: &ObjectRef) -> Option<(Definitions, DefId)> {
        let Some(definitions) = self.configured(object, |files| {
            let compiled = self.options.compiled(files).model;
            compiled.ok_or(Failure::Shown)
        }) else {
            return self.of_object(object).ok();
        };
        let definitions = definitions.ok()?;
        let interface = self.interface(&definitions, object).ok()?;
        Some((definitions, interface))
    }

    /// The definitions of the files or the repository, and the interface of `object` among them.
    /// Their value types are registered in the ORB of `object`.
    pub(crate) fn load(&self, object: &ObjectRef) -> Result<(Definitions, DefId), Failure> {
        let found = self.found(object)?;
        let factories = object.orb().value_factories();
        for code in found.0.value_types() {
            // A type that is not registered is refused when a value of it arrives.
            let _ = factories.register_described(code.as_ref());
        }
        Ok(found)
    }

    /// As [`DefinitionArgs::load`], from a repository only the interface and the types that it
    /// names.
    pub(crate) fn load_interface(&self, object: &ObjectRef) -> Result<Loaded, Failure> {
        let definition = self.definition(object)?;
        let described = definition.and_then(|it| ifr::definitions_of(&it));
        let is_partial = described.is_some();
        let (definitions, interface) = match described {
            Some(described) => described,
            None => self.load(object)?,
        };
        Ok(Loaded {
            definitions,
            interface,
            is_partial,
        })
    }

    /// The operations of the object's interface, as described by a repository; `None` if types come
    /// from files, or the interface is found only in the whole repository.
    pub(crate) fn described(&self, object: &ObjectRef) -> Result<Option<Vec<Signature>>, Failure> {
        let definition = self.definition(object)?;
        Ok(definition.and_then(|it| orbium_ifr::signatures(&it).ok()))
    }

    /// The object's interface in a repository; `None` as for `described`.
    fn definition(&self, object: &ObjectRef) -> Result<Option<InterfaceDef>, Failure> {
        Ok(match &self.ifr {
            None if !self.files.is_empty() => return Ok(None),
            None => {
                let timeout = object.orb().config().call_timeout.unwrap_or_default();
                let own = ifr::interface_of(object, timeout)?;
                match &self.interface {
                    None => Some(own),
                    Some(name) => {
                        let repository = own.containing_repository().ok().flatten();
                        repository.and_then(|it| ifr::interface_named(it.as_object(), name))
                    }
                }
            }
            Some(repository) => {
                let repository = reference::resolve(object.orb(), repository)?;
                let named = |name: &str| ifr::interface_named(&repository, name);
                match (&self.interface, object.ior().type_id.as_str()) {
                    (Some(name), _) => named(name),
                    // Not every ORB has this operation.
                    (None, "") => object.repository_id().ok().and_then(|it| named(&it)),
                    (None, id) => named(id),
                }
            }
        })
    }

    /// The signature of an operation of the object, or of an attribute's accessor, as a repository
    /// describes its interface; `None` if the call, or the reason why it is not possible, needs
    /// more of the repository.
    pub(crate) fn signature(
        &self,
        object: &ObjectRef,
        name: &str,
        writes: bool,
    ) -> Result<Option<Signature>, Failure> {
        let half = if writes { "_set_" } else { "_get_" };
        let is_meant =
            |it: &Signature| it.wire_name == name || it.wire_name.strip_prefix(half) == Some(name);
        let described = self.described(object)?.unwrap_or_default();
        let found = described.into_iter().find(is_meant);
        // Values may be of any type that the repository has.
        Ok(found.filter(|it| !it.may_hold_values()))
    }

    fn found(&self, object: &ObjectRef) -> Result<(Definitions, DefId), Failure> {
        match self.configured(object, |files| self.options.model(files)) {
            Some(definitions) => {
                let definitions = definitions?;
                let interface = self.interface(&definitions, object)?;
                Ok((definitions, interface))
            }
            None => self.of_object(object),
        }
    }

    /// The definitions that the arguments name; `None` if they name no source of types.
    fn configured(
        &self,
        object: &ObjectRef,
        compile: impl FnOnce(&[PathBuf]) -> Result<Model, Failure>,
    ) -> Option<Result<Definitions, Failure>> {
        match &self.ifr {
            Some(repository) => {
                let repository = reference::resolve(object.orb(), repository);
                Some(repository.and_then(|it| ifr::definitions(&it)))
            }
            None if self.files.is_empty() => None,
            None => Some(compile(&self.files).map(Definitions::new)),
        }
    }

    /// The definitions of the repository of the object's server.
    fn of_object(&self, object: &ObjectRef) -> Result<(Definitions, DefId), Failure> {
        let timeout = object.orb().config().call_timeout.unwrap_or_default();
        let (repository, id) = ifr::repository_of(object, timeout)?;
        let definitions = ifr::definitions(&repository)?;
        let name = self.interface.as_ref().unwrap_or(&id);
        let found = definitions.interface(name);
        let interface = found.ok_or_else(|| {
            let name = printable(name);
            Failure::because(format!(
                "the Interface Repository has no interface `{name}`"
            ))
        })?;
        Ok((definitions, interface))
    }

    /// The interface of an object: the named one, or that of the reference, or that which the
    /// object returns, or the only one.
    fn interface(&self, definitions: &Definitions, object: &ObjectRef) -> Result<DefId, Failure> {
        if let Some(name) = &self.interface {
            let unknown = || Failure::because(format!("no interface `{name}` in the IDL"));
            return definitions.interface(name).ok_or_else(unknown);
        }
        let type_id = &object.ior().type_id;
        if let Some(interface) = definitions.interface(type_id) {
            return Ok(interface);
        }
        let mut all = definitions.interfaces().filter(|it| it.in_main_file);
        if let (Some(only), None) = (all.next(), all.next()) {
            return Ok(only.id);
        }
        // Not every ORB has this operation.
        if let Ok(id) = object.repository_id()
            && let Some(interface) = definitions.interface(&id)
        {
            return Ok(interface);
        }
        let names: Vec<_> = definitions
            .interfaces()
            .map(|it| it.scoped_name().trim_start_matches("::").to_owned())
            .collect();
        let which = match type_id.as_str() {
            "" => "the reference names no interface".to_owned(),
            id => format!(
                "the reference is to {}, which the IDL does not define",
                printable(id)
            ),
        };
        Err(Failure::because(format!(
            "{which}: choose one with --interface ({})",
            names.join(", ")
        )))
    }
}
