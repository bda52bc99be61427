// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium call`: calls one operation of any object, by its IDL.

mod arguments;
mod report;

use std::time::{Duration, Instant};

use clap::Args;
use orbium::rt::RtOrb;
use orbium::{Any, ObjectRef};
use orbium_dynamic::{
    Definitions, JsonOptions, Request, RequestError, Signature, TypeError, TypesById,
};
use orbium_idl::model::{DefId, DefinitionKind};

use crate::failure::Failure;
use crate::idl::definitions::DefinitionArgs;
use crate::object::{ping, reference};
use crate::output::printable;
use crate::stage::timing::{Samples, Timing};

/// Deadline of the call for the object's interface while a command line is completed.
const MAX_COMPLETION_TIME: Duration = Duration::from_secs(1);

#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    #[arg(value_name = "REF", help = reference::HELP)]
    reference: String,
    #[command(flatten)]
    line: LineArgs,
    #[command(flatten)]
    definitions: DefinitionArgs,
    /// Seconds that a call may take
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = ping::seconds)]
    timeout: Duration,
    /// CORBA priority to call at
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i16).range(0..))]
    priority: Option<i16>,
    #[command(flatten)]
    protocols: reference::ProtocolArgs,
}

impl CallArgs {
    fn apply_priority(&self, object: &ObjectRef) -> Result<(), Failure> {
        match self.priority {
            Some(priority) => set_priority(object, priority),
            None => Ok(()),
        }
    }

    /// The operations and attributes of the object, if its interface is found without output to
    /// standard error.
    pub(crate) fn offered(&self) -> Option<Vec<String>> {
        // Standard input is that of the shell.
        if self.reference == "-" {
            return None;
        }
        let timeout = self.timeout.min(MAX_COMPLETION_TIME);
        let object = reference::object(&self.reference, &self.protocols, Some(timeout)).ok()?;
        if let Some(described) = self.definitions.described(&object).ok()? {
            let mut names: Vec<_> = described
                .into_iter()
                .map(|it| printable(&it.name))
                .collect();
            // Both accessors of an attribute have its name.
            names.dedup();
            return Some(names);
        }
        let (definitions, interface) = self.definitions.quiet(&object)?;
        let names = definitions.operation_names(interface).into_iter();
        Some(names.map(str::to_owned).collect())
    }
}

/// The operation and its arguments: also a line of `orbium shell`.
#[derive(Debug, Args)]
pub(crate) struct LineArgs {
    /// The operation, or an attribute: read without an argument, written with one
    operation: String,
    /// The arguments, in the order of the `in` and `inout` parameters: JSON, plain text for a
    /// string or an enumerator, @FILE, or - for standard input
    #[arg(value_name = "ARGUMENT", allow_negative_numbers = true)]
    arguments: Vec<String>,
    /// All arguments as one JSON object by the names of the parameters, or as an array; or
    /// @FILE, or - for standard input
    #[arg(long = "arguments", value_name = "JSON", conflicts_with = "arguments")]
    all: Option<String>,
    /// Properties for an operation with a context clause; may be repeated
    #[arg(long = "context", value_name = "NAME=VALUE", value_parser = property)]
    contexts: Vec<(String, String)>,
    /// Call so many times, and print how long the calls took
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    repeat: Option<u64>,
    /// Print one line of JSON, for programs: results by name, the return value as $return,
    /// exceptions too
    #[arg(long)]
    json: bool,
}

impl LineArgs {
    pub(crate) fn has_arguments(&self) -> bool {
        !self.arguments.is_empty() || self.all.is_some()
    }

    pub(crate) fn operation(&self) -> &str {
        &self.operation
    }

    /// Whether an argument comes from standard input.
    pub(crate) fn reads_standard_input(&self) -> bool {
        self.arguments.iter().chain(&self.all).any(|it| it == "-")
    }
}

/// `NAME=VALUE`.
fn property(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

pub(crate) fn run(args: &CallArgs) -> Result<(), Failure> {
    let object = reference::object(&args.reference, &args.protocols, Some(args.timeout))?;
    let line = &args.line;
    let described = args
        .definitions
        .signature(&object, &line.operation, line.has_arguments())?;
    if let Some(signature) = described {
        args.apply_priority(&object)?;
        return call(&object, args.timeout, &signature, None, line);
    }
    let (definitions, interface) = args.definitions.load(&object)?;
    args.apply_priority(&object)?;
    let target = Target {
        definitions: &definitions,
        object: &object,
        interface,
        timeout: args.timeout,
    };
    target.call(line)
}

/// An object with its interface and definitions.
pub(crate) struct Target<'t> {
    pub(crate) definitions: &'t Definitions,
    pub(crate) object: &'t ObjectRef,
    pub(crate) interface: DefId,
    /// The time-out of a call.
    pub(crate) timeout: Duration,
}

impl Target<'_> {
    /// Calls an operation and prints the results.
    pub(crate) fn call(&self, args: &LineArgs) -> Result<(), Failure> {
        let signature = signature(
            self.definitions,
            self.interface,
            &args.operation,
            args.has_arguments(),
        )?;
        let types: &dyn TypesById = self.definitions;
        call(self.object, self.timeout, &signature, Some(types), args)
    }
}

/// Calls an operation by its signature and prints the results; `types` are the types that JSON may
/// refer to by repository id.
fn call(
    object: &ObjectRef,
    timeout: Duration,
    signature: &Signature,
    types: Option<&dyn TypesById>,
    args: &LineArgs,
) -> Result<(), Failure> {
    let options = JsonOptions {
        types,
        guess_types: true,
        indent: (!args.json).then_some(2),
        ..JsonOptions::default()
    };
    let values = match &args.all {
        Some(all) => arguments::by_name(signature, all, &options)?,
        None => arguments::in_order(signature, &args.arguments, &options)?,
    };
    let call = Call {
        args,
        object,
        signature,
        values: &values,
    };
    match call.perform() {
        Ok((request, timing)) => report::results(&request, timing.as_ref(), args.json, &options),
        Err(error) => {
            let failure = report::failed(object, timeout, &error, args.json, &options);
            Err(failure)
        }
    }
}

/// The signature of an operation, or of an attribute's accessor.
pub(crate) fn signature(
    definitions: &Definitions,
    interface: DefId,
    name: &str,
    has_arguments: bool,
) -> Result<Signature, Failure> {
    let found = definitions.signature(interface, name, has_arguments);
    found.map_err(|error| match error {
        TypeError::Unknown(unknown) if unknown == name => {
            let DefinitionKind::Interface(_) = definitions.model()[interface].kind else {
                return Failure::because(error_text(name));
            };
            let interface_name = definitions.model()[interface].scoped_name();
            let names = definitions.operation_names(interface).join(", ");
            let name = error_text(name);
            Failure::because(format!(
                "{} has no operation {name}; it has: {names}",
                interface_name.trim_start_matches("::")
            ))
        }
        error => Failure::because(error.to_string()),
    })
}

fn error_text(name: &str) -> String {
    match name {
        "_is_a" | "_non_existent" | "_repository_id" | "_interface" => {
            format!("`{name}`, which every object has: `orbium ping` asks objects such things")
        }
        _ => format!("`{name}`"),
    }
}

/// Sets the priority of the calls of this thread, if the reference requests one.
pub(crate) fn set_priority(object: &ObjectRef, priority: i16) -> Result<(), Failure> {
    let installed = RtOrb::builder().soft().install(object.orb());
    let rt = installed.map_err(|error| Failure::because(error.to_string()))?;
    let set = rt.current().set_the_priority(priority);
    set.map_err(|error| Failure::because(format!("the priority cannot be set: {error}")))
}

/// A repeatable call.
struct Call<'c> {
    args: &'c LineArgs,
    object: &'c ObjectRef,
    signature: &'c Signature,
    /// The arguments, as a struct.
    values: &'c Any,
}

impl Call<'_> {
    fn request(&self) -> Result<Request, RequestError> {
        let values = self.values.clone();
        let mut request = Request::with_arguments(self.object, self.signature, values)?;
        if !self.signature.contexts.is_empty() {
            request.set_contexts(self.args.contexts.iter().cloned())?;
        }
        Ok(request)
    }

    fn perform(&self) -> Result<(Request, Option<report::Repeated>), RequestError> {
        match self.args.repeat {
            None => Ok((self.once()?, None)),
            Some(calls) => self.repeatedly(calls),
        }
    }

    fn once(&self) -> Result<Request, RequestError> {
        let mut request = self.request()?;
        if self.signature.oneway {
            request.send_oneway()?;
        } else {
            request.invoke()?;
        }
        Ok(request)
    }

    /// Calls that many times, once at least; the first makes the connection and is not
    /// counted among the latencies if others follow.
    fn repeatedly(&self, calls: u64) -> Result<(Request, Option<report::Repeated>), RequestError> {
        let mut samples = Samples::default();
        let start = Instant::now();
        let mut last = self.once()?;
        let first = start.elapsed();
        let start = Instant::now();
        for _ in 1..calls {
            let begun = Instant::now();
            last = self.once()?;
            samples.push(u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX));
        }
        let elapsed = start.elapsed();
        let timing = match calls {
            1 => None,
            _ => Some(Timing::new(&samples, calls - 1, elapsed)),
        };
        let repeated = report::Repeated {
            calls,
            first,
            timing,
        };
        Ok((last, Some(repeated)))
    }
}
