// SPDX-License-Identifier: MIT OR Apache-2.0
//! Identities of this host and this process, for host-local and process-local protocols.

use orbium_sys::fork::PerProcess;

/// The name of this host in the form that omniORB compares; empty if there is none.
pub(super) fn name() -> &'static str {
    static NAME: PerProcess<String> = PerProcess::new();
    NAME.get_or_init(orbium_sys::host_name)
}

/// Identities of this host since it was started, and of this process.
struct Identities {
    host: Vec<u8>,
    process: Vec<u8>,
}

fn identities() -> &'static Identities {
    static IDENTITIES: PerProcess<Identities> = PerProcess::new();
    IDENTITIES.get_or_init(|| {
        // Containers of one host share it; a path that means another file there leads nowhere, or
        // to a server that does not have the key.
        Identities {
            host: read("/proc/sys/kernel/random/boot_id"),
            process: read("/proc/sys/kernel/random/uuid"),
        }
    })
}

/// The contents of a file of the system; empty if it does not exist.
fn read(file: &str) -> Vec<u8> {
    let id = std::fs::read(file).unwrap_or_default();
    id.trim_ascii().to_vec()
}

/// A number by which the messages of this process differ from those of any other.
pub(super) fn process_number() -> [u8; 8] {
    let id = &identities().process;
    let mut number = [0_u8; 8];
    for (i, octet) in id.iter().enumerate() {
        // Hexadecimal digits, mixed: each has four bits.
        number[i % 8] = number[i % 8].rotate_left(3) ^ octet;
    }
    if id.is_empty() {
        number[..4].copy_from_slice(&std::process::id().to_be_bytes());
    }
    number
}

/// The host or process that an address of that scheme is confined to; `None` if it is
/// reachable from everywhere.
pub(super) fn identity(scheme: &str) -> Option<&'static [u8]> {
    let identities = identities();
    let identity = match scheme {
        "inproc" => &identities.process,
        "shmiop" | "uiop" => &identities.host,
        _ => return None,
    };
    (!identity.is_empty()).then_some(identity)
}

/// Whether that identity is that of this host or process.
pub(super) fn is_this(scheme: &str, id: &[u8]) -> bool {
    identity(scheme).is_none_or(|own| own == id)
}
