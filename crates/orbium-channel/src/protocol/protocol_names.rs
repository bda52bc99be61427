// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of protocols in messages, and the features that provide protocols.

use orbium_giop::messaging;

use super::shared_memory::shared_memory;

/// The feature of orbium that provides a transport or messaging protocol and is disabled. Not for
/// `ssliop`, which is also unavailable until certificates are configured.
#[must_use]
pub fn missing_feature(name: &str) -> Option<&'static str> {
    let (feature, is_there) = match name {
        "shmiop" => (
            "shm",
            !cfg!(target_os = "linux") || shared_memory().is_some(),
        ),
        "ziop" => ("ziop", is_messaging(name)),
        _ => return None,
    };
    (!is_there).then_some(feature)
}

fn is_messaging(name: &str) -> bool {
    messaging::builtin()
        .iter()
        .any(|layer| layer.name() == name)
}

/// The names, separated.
pub(super) fn listed(names: &mut dyn Iterator<Item = &str>, between: &str) -> String {
    let mut list = String::new();
    for name in names {
        if !list.is_empty() {
            list.push_str(between);
        }
        list.push_str(name);
    }
    list
}

/// The end of an error message about an unknown name.
pub(super) fn only(known: &str) -> String {
    match known {
        "" => String::new(),
        known => format!(", only {known}"),
    }
}
