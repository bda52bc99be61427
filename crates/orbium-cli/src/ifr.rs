// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium ifr`: serves, fills and prints an Interface Repository.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use orbium::giop::minor;
use orbium::{ExceptionKind, Interface, ObjectRef, Orb};
use orbium_dynamic::Definitions;
use orbium_idl::model::DefId;
use orbium_idl::{Options, compile_source};
use orbium_ifr::corba::{InterfaceDef, Repository};
use orbium_ifr::repositories::{LoadingRepository, RejectedError};
use orbium_ifr::{
    ExportError, InterfaceRepository, SoundIdl, idl_of, sound_idl_of, sound_idl_of_interface,
};

use crate::failure::Failure;
use crate::idl::idl_files::FileArgs;
use crate::object::{ping, reference};
use crate::output::{self, printable};
use crate::serving::{self, Served, ServingArgs, because};

#[derive(Debug, Args)]
pub(crate) struct IfrArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Serve a repository until a signal ends it.
    ///
    /// Prints its reference. Every client of the endpoint can change the repository.
    Serve(Box<ServeArgs>),
    /// Add the definitions of IDL files to a repository of orbium's, all or none.
    Load(Box<LoadIntoArgs>),
    /// Print the contents of a repository, of any ORB, as IDL with the same repository ids.
    Export(Box<ExportArgs>),
}

#[derive(Debug, Args)]
struct ServeArgs {
    /// Keep the definitions in this file, which is created if it does not exist [default: in
    /// memory]
    #[arg(long, value_name = "FILE")]
    database: Option<PathBuf>,
    #[command(flatten)]
    serving: ServingArgs,
}

#[derive(Debug, Args)]
struct LoadIntoArgs {
    #[command(flatten)]
    files: FileArgs,
    /// The IDL files
    #[arg(value_name = "FILE", required = true)]
    idl: Vec<PathBuf>,
    /// The repository
    #[arg(long, value_name = "REF")]
    to: String,
    #[command(flatten)]
    client: ClientArgs,
}

#[derive(Debug, Args)]
struct ExportArgs {
    #[arg(value_name = "REF", help = reference::HELP)]
    repository: String,
    #[command(flatten)]
    client: ClientArgs,
}

#[derive(Debug, Args)]
struct ClientArgs {
    /// Seconds that each answer may take
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = ping::seconds)]
    timeout: Duration,
    #[command(flatten)]
    protocols: reference::ProtocolArgs,
}

pub(crate) fn run(args: &IfrArgs) -> Result<(), Failure> {
    match &args.what {
        What::Serve(args) => serve(args),
        What::Load(args) => load(args),
        What::Export(args) => {
            let client = &args.client;
            let object =
                reference::object(&args.repository, &client.protocols, Some(client.timeout))?;
            output::print(&text_of(&object)?)
        }
    }
}

fn serve(args: &ServeArgs) -> Result<(), Failure> {
    serving::serve(&args.serving, |orb| {
        let repository = match &args.database {
            Some(file) => InterfaceRepository::open(orb, file),
            None => InterfaceRepository::in_memory(orb),
        };
        let repository = repository.map_err(because)?;
        let object = repository.reference().as_object().clone();
        Ok(Served::new(repository, object))
    })
}

fn load(args: &LoadIntoArgs) -> Result<(), Failure> {
    let model = args.files.model(&args.idl)?;
    // One text of all files: the contents of a temporary repository.
    let orb = Orb::builder().build().map_err(because)?;
    let local = InterfaceRepository::in_memory(&orb).map_err(because)?;
    local.load(&model).map_err(because)?;
    let text = idl_of(&local.reference()).map_err(because)?;
    let client = &args.client;
    let object = reference::object(&args.to, &client.protocols, Some(client.timeout))?;
    let repository: LoadingRepository = object.narrow().map_err(|error| {
        Failure::because(format!(
            "not a repository of orbium's that loads IDL: {error}"
        ))
    })?;
    let loaded = repository.load(&text).map_err(|error| match error {
        RejectedError::Rejected(rejected) => Failure::because(printable(rejected.why.trim_end())),
        RejectedError::System(exception) => because(exception),
    })?;
    output::print(&format!("{loaded} new definitions\n"))
}

fn text_of(object: &ObjectRef) -> Result<String, Failure> {
    idl_of(&repository(object)?).map_err(|error| unreadable(&error))
}

fn repository(object: &ObjectRef) -> Result<Repository, Failure> {
    let narrowed = object.narrow();
    narrowed.map_err(|error| Failure::because(format!("not an Interface Repository: {error}")))
}

fn unreadable(error: &ExportError) -> Failure {
    Failure::because(printable(error.to_string().trim_end()))
}

/// The valid text. Invalid definitions are reported: calls of other operations continue.
fn reported(sound: SoundIdl) -> String {
    let SoundIdl { text, left_out } = sound;
    if let Some(first) = left_out.first() {
        let why = printable(first.to_string().trim_end());
        let count = left_out.len();
        output::write_error(&format!(
            "orbium: left out of the Interface Repository: {count} definitions ({why})\n"
        ));
    }
    text
}

/// The definition of an object's interface, in the repository of its server.
pub(crate) fn interface_of(object: &ObjectRef, timeout: Duration) -> Result<InterfaceDef, Failure> {
    let otherwise = "give the types by --idl FILE or --ifr REF";
    let lacking = |what: &str| Failure::because(format!("the object's server {what}: {otherwise}"));
    let definition = object.interface().map_err(|error| match error.kind {
        ExceptionKind::IntfRepos if error.minor == minor::OMG_VMCID | 2 => {
            lacking("has an Interface Repository without the interface of the object")
        }
        ExceptionKind::IntfRepos => lacking("has no Interface Repository"),
        _ => because(ping::explain(object, timeout, error)),
    })?;
    let definition = definition.ok_or_else(|| lacking("says nothing of the object's interface"))?;
    Ok(InterfaceDef::from_object(definition))
}

/// The repository of an object's server, and the id of the object's interface there.
pub(crate) fn repository_of(
    object: &ObjectRef,
    timeout: Duration,
) -> Result<(ObjectRef, String), Failure> {
    let definition = interface_of(object, timeout)?;
    let repository = definition.containing_repository().map_err(because)?;
    let id = definition.id().map_err(because)?;
    let missing = || Failure::because("the definition of the interface is in no repository");
    Ok((repository.ok_or_else(missing)?.as_object().clone(), id))
}

/// The interface with a repository id, or with a scoped name such as `M::I`, if a repository has
/// it.
pub(crate) fn interface_named(object: &ObjectRef, id_or_name: &str) -> Option<InterfaceDef> {
    let repository = repository(object).ok()?;
    let with_id = repository.lookup_id(id_or_name).ok().flatten();
    let named = || repository.lookup(id_or_name).ok().flatten();
    with_id.or_else(named)?.as_object().narrow().ok()
}

/// The definitions of a repository.
pub(crate) fn definitions(object: &ObjectRef) -> Result<Definitions, Failure> {
    let sound = sound_idl_of(&repository(object)?).map_err(|error| unreadable(&error))?;
    compiled(&reported(sound))
}

/// An interface with the types that it names; `None` if its definition needs more of the
/// repository.
pub(crate) fn definitions_of(interface: &InterfaceDef) -> Option<(Definitions, DefId)> {
    let id = interface.id().ok()?;
    let sound = sound_idl_of_interface(interface).ok()?;
    let definitions = compiled(&sound.text).ok()?;
    let found = definitions.interface(&id)?;
    reported(sound);
    Some((definitions, found))
}

fn compiled(text: &str) -> Result<Definitions, Failure> {
    let mut options = Options::new();
    options.lenient_names = true;
    let mut compilation = compile_source(&options, "the Interface Repository", text);
    match compilation.model.take() {
        Some(model) => Ok(Definitions::new(model)),
        None => {
            let first = compilation.errors().next().map(ToString::to_string);
            let why = first.unwrap_or_default();
            Err(Failure::because(format!(
                "the Interface Repository has what is no IDL: {}",
                printable(why.trim_end())
            )))
        }
    }
}
