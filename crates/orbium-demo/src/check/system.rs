// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every system exception, raised by name.

use orbium::{Completion, ExceptionKind};

use super::planned::World;
use super::verdict::{Check, Failure, Verdict, expect, expect_raised, failed, outcome};

macro_rules! named {
    ($($name:literal)*) => {
        &[$((concat!("system.", $name), $name)),*]
    };
}

/// The name of each check, and the requested exception.
const ALL: &[(&str, &str)] = named![
    "UNKNOWN" "BAD_PARAM" "NO_MEMORY" "IMP_LIMIT" "COMM_FAILURE" "INV_OBJREF" "NO_PERMISSION"
    "INTERNAL" "MARSHAL" "INITIALIZE" "NO_IMPLEMENT" "BAD_TYPECODE" "BAD_OPERATION" "NO_RESOURCES"
    "NO_RESPONSE" "PERSIST_STORE" "BAD_INV_ORDER" "TRANSIENT" "FREE_MEM" "INV_IDENT" "INV_FLAG"
    "INTF_REPOS" "BAD_CONTEXT" "OBJ_ADAPTER" "DATA_CONVERSION" "OBJECT_NOT_EXIST"
    "TRANSACTION_REQUIRED" "TRANSACTION_ROLLEDBACK" "INVALID_TRANSACTION" "INV_POLICY"
    "CODESET_INCOMPATIBLE" "REBIND" "TIMEOUT" "TRANSACTION_UNAVAILABLE" "TRANSACTION_MODE" "BAD_QOS"
    "INVALID_ACTIVITY" "ACTIVITY_COMPLETED" "ACTIVITY_REQUIRED" "THREAD_CANCELLED"
];

pub(super) fn run(world: &World) -> Vec<Check> {
    let named = ALL.iter().map(|(name, exception)| Check {
        name,
        outcome: outcome(raised(world, exception)),
    });
    let unknown = Check {
        name: "system.unknown_name",
        outcome: outcome(unknown_name(world)),
    };
    named.chain([unknown]).collect()
}

fn raised(world: &World, name: &str) -> Verdict {
    let kind = ExceptionKind::from_name(name).ok_or_else(|| failed("not known here"))?;
    let got = world.peer.system_exception(name);
    if let Err(exception) = got {
        let unknown = (exception.kind, exception.minor) == (ExceptionKind::BadParam, 1);
        if unknown && !world.facts.complete {
            return Err(Failure::Skipped("the peer has no such exception".into()));
        }
    }
    let exception = expect_raised(got, kind)?;
    expect("the minor code", &exception.minor, &42)?;
    expect(
        "the completion status",
        &exception.completed,
        &Completion::Maybe,
    )
}

fn unknown_name(world: &World) -> Verdict {
    let got = world.peer.system_exception("NO_SUCH_EXCEPTION");
    let exception = expect_raised(got, ExceptionKind::BadParam)?;
    expect("the minor code", &exception.minor, &1)?;
    expect(
        "the completion status",
        &exception.completed,
        &Completion::No,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_system_exception_is_left_out() {
        let all: Vec<_> = ExceptionKind::ALL.iter().map(|kind| kind.name()).collect();
        let named: Vec<_> = ALL.iter().map(|(_, name)| *name).collect();
        assert_eq!(named, all);
    }
}
