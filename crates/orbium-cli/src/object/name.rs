// SPDX-License-Identifier: MIT OR Apache-2.0
//! `orbium name`: shows and changes the bindings of a naming service.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use orbium::{Config, Interface, Orb, config::Configure as _};
use orbium_naming::{Binding, BindingKind, Name, NamingContext, NamingError};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::object::{ping, reference};
use crate::output::{self, printable};

/// Maximum number of bindings that are read, whatever the server reports.
const MAX_BINDINGS: usize = 100_000;

/// Maximum depth of nested contexts that are shown.
const MAX_DEPTH: usize = 64;

#[derive(Debug, Args)]
pub(crate) struct NameArgs {
    #[command(subcommand)]
    what: What,
    /// An initial reference, such as NameService, for rir; may be repeated
    #[arg(long = "init-ref", value_name = "NAME=URL", global = true)]
    initial: Vec<String>,
    /// A configuration file that has initial references, for rir
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    /// Seconds that each answer may take
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = ping::seconds, global = true)]
    timeout: Duration,
    #[command(flatten)]
    protocols: reference::ProtocolArgs,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

/// The description of the context in the help of every command.
const CONTEXT: &str = "Naming context: a reference such as corbaname::host or \
     corbaname::host#plant, a file that holds one, or rir for the initial reference NameService";

#[derive(Debug, Subcommand)]
enum What {
    /// List the bindings of a context; contexts end in a slash.
    List {
        #[arg(value_name = "CONTEXT", help = CONTEXT)]
        context: String,
    },
    /// List the bindings of a context and of the contexts within it.
    Tree {
        #[arg(value_name = "CONTEXT", help = CONTEXT)]
        context: String,
    },
    /// Print the reference that a name is bound to.
    Resolve {
        #[arg(value_name = "CONTEXT", help = CONTEXT)]
        context: String,
        /// Components separated by /, each id or id.kind
        name: Name,
    },
    /// Bind a name to an object.
    Bind {
        #[arg(value_name = "CONTEXT", help = CONTEXT)]
        context: String,
        /// Components separated by /, each id or id.kind
        name: Name,
        #[arg(value_name = "REF", help = reference::HELP)]
        reference: String,
        /// Replace what the name is bound to
        #[arg(long)]
        rebind: bool,
        /// Bind it as a context, so that names are resolved through it
        #[arg(long)]
        context_binding: bool,
        /// Create the missing contexts of the name
        #[arg(long)]
        parents: bool,
    },
    /// Unbind a name.
    Unbind {
        #[arg(value_name = "CONTEXT", help = CONTEXT)]
        context: String,
        /// Components separated by /, each id or id.kind
        name: Name,
    },
}

pub(crate) fn run(args: &NameArgs) -> Result<(), Failure> {
    let orb = orb(args)?;
    match &args.what {
        What::List { context } => list(args, &context_at(&orb, context)?),
        What::Tree { context } => tree(args, &context_at(&orb, context)?),
        What::Resolve { context, name } => resolve(args, &orb, &context_at(&orb, context)?, name),
        What::Unbind { context, name } => context_at(&orb, context)?
            .unbind(name)
            .map_err(|error| because(name, &error)),
        What::Bind { context, name, .. } => {
            let context = context_at(&orb, context)?;
            bind(args, &orb, &context, name).map_err(|failed| match failed {
                Failed::Naming(error) => because(name, &error),
                Failed::Other(failure) => failure,
            })
        }
    }
}

fn because(name: &Name, error: &NamingError) -> Failure {
    Failure::because(printable(&format!("`{name}`: {error}")))
}

fn orb(args: &NameArgs) -> Result<Orb, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::because(error.to_string());
    let mut config = match &args.config {
        Some(file) => Config::from_file(file).map_err(|error| failed(&error))?,
        None => Config::default(),
    };
    for reference in &args.initial {
        let set = config.set("initial_reference", reference);
        set.map_err(|error| failed(&error))?;
    }
    reference::complete(&mut config, &args.protocols, Some(args.timeout))?;
    Orb::new(config).map_err(|error| failed(&error))
}

fn context_at(orb: &Orb, argument: &str) -> Result<NamingContext, Failure> {
    let url = match argument {
        "rir" | "rir:" => "corbaloc:rir:/NameService".to_owned(),
        other => reference::text(other)?,
    };
    let found = NamingContext::at(orb, &url);
    found.map_err(|error| Failure::because(printable(&error.to_string())))
}

/// The bindings, by name, and whether these are all.
fn bindings(context: &NamingContext) -> Result<(Vec<Binding>, bool), NamingError> {
    let mut all = context.list()?;
    let listed = all.by_ref().take(MAX_BINDINGS);
    let mut listed = listed.collect::<Result<Vec<_>, _>>()?;
    listed.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    let is_complete = all.next().transpose()?.is_none();
    Ok((listed, is_complete))
}

/// Prints bindings, and fails if there are more.
fn print(text: &str, is_complete: bool) -> Result<(), Failure> {
    output::announce(text)?;
    if is_complete {
        return Ok(());
    }
    Err(Failure::because(format!(
        "these are not all bindings: at most {MAX_BINDINGS} are read, in contexts nested up to \
         {MAX_DEPTH} deep"
    )))
}

fn label(binding: &Binding) -> String {
    let slash = match binding.kind {
        BindingKind::Context => "/",
        BindingKind::Object => "",
    };
    printable(&format!("{}{slash}", binding.name))
}

fn described(binding: &Binding) -> Value {
    let kind = match binding.kind {
        BindingKind::Context => "context",
        BindingKind::Object => "object",
    };
    json!({ "name": binding.name.to_string(), "kind": kind })
}

fn list(args: &NameArgs, context: &NamingContext) -> Result<(), Failure> {
    let listed = bindings(context).map_err(|error| Failure::because(error.to_string()))?;
    let (listed, is_complete) = listed;
    let text = if args.json {
        output::json_text(&listed.iter().map(described).collect())
    } else {
        listed.iter().map(|it| label(it) + "\n").collect()
    };
    print(&text, is_complete)
}

/// A traversal of contexts, which may contain each other.
#[derive(Default)]
struct Walk {
    seen: HashSet<String>,
    read: usize,
    lines: String,
    /// Whether bindings are missing, because there are too many.
    is_cut: bool,
}

impl Walk {
    /// Visits a context, and returns its bindings as JSON.
    fn visit(&mut self, context: &NamingContext, depth: usize) -> Result<Vec<Value>, NamingError> {
        let mut found = Vec::new();
        let (listed, is_complete) = bindings(context)?;
        self.is_cut |= !is_complete;
        for binding in listed {
            self.read += 1;
            let mut shown = described(&binding);
            self.lines += &format!("{:1$}{2}", "", 2 * depth, label(&binding));
            let inside = match binding.kind {
                BindingKind::Context => self.enter(context, &binding.name, depth),
                BindingKind::Object => Ok(None),
            };
            match inside {
                Ok(Some(inside)) => shown["bindings"] = inside.into(),
                Ok(None) => self.end_line(""),
                Err(why) => {
                    self.end_line(&format!("  ({})", printable(&why)));
                    shown["error"] = why.into();
                }
            }
            found.push(shown);
        }
        Ok(found)
    }

    fn end_line(&mut self, text: &str) {
        if !self.lines.ends_with('\n') || !text.is_empty() {
            self.lines += text;
            self.lines.push('\n');
        }
    }

    /// The bindings of a context, or the reason why it is not shown.
    fn enter(
        &mut self,
        context: &NamingContext,
        name: &Name,
        depth: usize,
    ) -> Result<Option<Vec<Value>>, String> {
        let text = |error: NamingError| error.to_string();
        let inner = context.resolve_context(name).map_err(text)?;
        let reference = inner.as_object().ior().to_string();
        if !self.seen.insert(reference) {
            return Err("shown already".to_owned());
        }
        if depth == MAX_DEPTH || self.read >= MAX_BINDINGS {
            self.is_cut = true;
            return Err("too much to show".to_owned());
        }
        self.end_line("");
        self.visit(&inner, depth + 1).map(Some).map_err(text)
    }
}

fn tree(args: &NameArgs, context: &NamingContext) -> Result<(), Failure> {
    let mut walk = Walk::default();
    walk.seen.insert(context.as_object().ior().to_string());
    let found = walk.visit(context, 0);
    let found = found.map_err(|error| Failure::because(error.to_string()))?;
    let text = if args.json {
        output::json_text(&found.into())
    } else {
        walk.lines
    };
    print(&text, !walk.is_cut)
}

fn resolve(
    args: &NameArgs,
    orb: &Orb,
    context: &NamingContext,
    name: &Name,
) -> Result<(), Failure> {
    let found = context
        .resolve(name)
        .map_err(|error| because(name, &error))?;
    let object = found.ok_or_else(|| Failure::because(format!("`{name}` is bound to nil")))?;
    let reference = orb.object_to_string(&object);
    if args.json {
        let type_id = &object.ior().type_id;
        return output::print_json(&json!({ "reference": reference, "type_id": type_id }));
    }
    output::print(&format!("{reference}\n"))
}

enum Failed {
    Naming(NamingError),
    Other(Failure),
}

impl From<NamingError> for Failed {
    fn from(error: NamingError) -> Self {
        Self::Naming(error)
    }
}

fn bind(args: &NameArgs, orb: &Orb, context: &NamingContext, name: &Name) -> Result<(), Failed> {
    let What::Bind {
        reference,
        rebind,
        context_binding,
        parents,
        ..
    } = &args.what
    else {
        return Ok(());
    };
    if *parents {
        make_parents(context, name)?;
    }
    if *context_binding {
        let inner = context_at(orb, reference).map_err(Failed::Other)?;
        let bound = if *rebind {
            context.rebind_context(name, &inner)
        } else {
            context.bind_context(name, &inner)
        };
        return Ok(bound?);
    }
    let object = reference::resolve(orb, reference).map_err(Failed::Other)?;
    let bound = if *rebind {
        context.rebind(name, &object)
    } else {
        context.bind(name, &object)
    };
    Ok(bound?)
}

/// Binds a new context to every prefix of a name that is not bound.
fn make_parents(context: &NamingContext, name: &Name) -> Result<(), NamingError> {
    let components = name.components();
    for end in 1..components.len() {
        let prefix: Name = components[..end].to_vec().into();
        match context.bind_new_context(prefix) {
            Ok(_) | Err(NamingError::AlreadyBound) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
