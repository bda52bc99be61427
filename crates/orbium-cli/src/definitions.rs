// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a command knows of the types of an object: IDL.

use std::path::PathBuf;

use clap::Args;
use orbium::ObjectRef;
use orbium_dynamic::Definitions;
use orbium_idl::model::DefId;

use crate::failure::Failure;
use crate::idl_files::FileArgs;
use crate::{ifr, reference};

/// Where types come from.
#[derive(Debug, Args)]
pub(crate) struct DefinitionArgs {
    /// IDL file that defines the interface; may be repeated
    #[arg(long = "idl", required_unless_present = "ifr", value_name = "FILE")]
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

impl DefinitionArgs {
    /// As [`DefinitionArgs::load`], without a word on standard error.
    pub(crate) fn quiet(&self, object: &ObjectRef) -> Option<Definitions> {
        match &self.ifr {
            Some(repository) => {
                let repository = reference::resolve(object.orb(), repository).ok()?;
                ifr::definitions(&repository).ok()
            }
            None => Some(Definitions::new(self.options.compiled(&self.files).model?)),
        }
    }

    /// What the files or the repository define, which the ORB of `object` calls.
    pub(crate) fn load(&self, object: &ObjectRef) -> Result<Definitions, Failure> {
        match &self.ifr {
            Some(repository) => ifr::definitions(&reference::resolve(object.orb(), repository)?),
            None => Ok(Definitions::new(self.options.model(&self.files)?)),
        }
    }

    /// The interface of an object: the one that was named, or that the reference names, or that
    /// the object itself says it has, or the only one there is.
    pub(crate) fn interface(
        &self,
        definitions: &Definitions,
        object: &ObjectRef,
    ) -> Result<DefId, Failure> {
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
            id => format!("the reference is to {id}, which the IDL does not define"),
        };
        Err(Failure::because(format!(
            "{which}: choose one with --interface ({})",
            names.join(", ")
        )))
    }
}
