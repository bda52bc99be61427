// SPDX-License-Identifier: MIT OR Apache-2.0
//! A server of many objects or of many operations, and its client.
//!
//! ```text
//! orbium-bench-scale serve narrow|wide OBJECTS FILE    writes the last object's reference to FILE
//! orbium-bench-scale call narrow|wide CALLS FILE       calls its operations in turn
//! ```
#![forbid(unsafe_code)]

use std::error::Error;
use std::process::ExitCode;

use orbium::{Call, Interface, ObjectRef, Orb, SystemException};

orbium::include_idl!("scale");

/// One operation of a reference.
type Stub<I> = fn(&I) -> Result<(), SystemException>;

/// Serves both interfaces and does nothing.
struct Nothing;

include!(concat!(env!("OUT_DIR"), "/servants.rs"));

type Outcome<T> = Result<T, Box<dyn Error>>;

fn serve(wide: bool, objects: usize, file: &str) -> Outcome<()> {
    let orb = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
    let poa = orb.root_poa();
    poa.manager().activate()?;
    let mut last = None;
    for _ in 0..objects {
        last = Some(if wide {
            let object: scale::Wide = poa.activate(Nothing)?;
            orb.object_to_string(&object)
        } else {
            let object: scale::Narrow = poa.activate(Nothing)?;
            orb.object_to_string(&object)
        });
    }
    let reference = last.ok_or("no objects")?;
    // A reader never sees half of it.
    let unfinished = format!("{file}.tmp");
    std::fs::write(&unfinished, reference)?;
    std::fs::rename(&unfinished, file)?;
    orb.run()?;
    Ok(())
}

fn call<I: Interface>(
    object: Option<ObjectRef>,
    operations: &[Stub<I>],
    calls: usize,
) -> Outcome<()> {
    let object: I = orbium::narrow(object)?;
    for operation in operations.iter().cycle().take(calls) {
        operation(&object)?;
    }
    Ok(())
}

fn run(arguments: &[String]) -> Outcome<()> {
    let [role, interface, count, file] = arguments else {
        return Err("usage: orbium-bench-scale serve|call narrow|wide COUNT FILE".into());
    };
    let wide = match interface.as_str() {
        "narrow" => false,
        "wide" => true,
        other => return Err(format!("no interface {other}").into()),
    };
    let count = count.parse()?;
    match role.as_str() {
        "serve" => serve(wide, count, file),
        "call" => {
            let orb = Orb::builder().build()?;
            let object = orb.string_to_object(std::fs::read_to_string(file)?.trim())?;
            if wide {
                call(object, &WIDE, count)?;
            } else {
                call(object, &NARROW, count)?;
            }
            orb.shutdown(true)?;
            Ok(())
        }
        other => Err(format!("no role {other}").into()),
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("orbium-bench-scale: {error}");
            ExitCode::FAILURE
        }
    }
}
