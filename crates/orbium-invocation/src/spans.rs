// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names and attributes of spans, for calls and for requests: those of OpenTelemetry's conventions
//! for RPC, and `corba.` for others. docs/observability.md lists them.

use std::fmt;
use std::time::{Duration, Instant};

use orbium_giop::{SystemException, Version};
use orbium_transport::HostPort;
use tracing::Span;
use tracing::field::display;

/// `Module::Interface/operation` from a repository id such as
/// `IDL:omg.org/Module/Interface:1.0`.
pub struct Method<'m> {
    /// The repository id; may be empty.
    pub interface: &'m str,
    /// The name on the wire.
    pub operation: &'m str,
}

impl fmt::Display for Method<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.interface.is_empty() {
            write!(f, "{}/", Scoped(self.interface))?;
        }
        f.write_str(self.operation)
    }
}

/// The method of an operation that no skeleton knows: peers cannot create others.
pub const OTHER: &str = "_OTHER";

/// Octets of an operation that are shown.
const SHOWN_OPERATION: usize = 64;

/// An operation as received, in printable characters: the first octets of it.
pub fn original(operation: &[u8]) -> impl fmt::Display + '_ {
    operation[..operation.len().min(SHOWN_OPERATION)].escape_ascii()
}

/// Whether the operation is one that an ORB invokes itself.
#[must_use]
pub fn is_implicit(operation: &[u8]) -> bool {
    operation.starts_with(b"_")
        && !operation.starts_with(b"_get_")
        && !operation.starts_with(b"_set_")
}

/// The scoped IDL name of a repository id, without prefix and version.
pub struct Scoped<'i>(pub &'i str);

impl fmt::Display for Scoped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.0.strip_prefix("IDL:").unwrap_or(self.0);
        let path = path.rsplit_once(':').map_or(path, |(path, _)| path);
        let mut names = path.split('/').filter(|part| !part.contains('.'));
        f.write_str(names.next().unwrap_or_default())?;
        names.try_for_each(|name| write!(f, "::{name}"))
    }
}

/// Bytes of an object key that are shown.
const SHOWN_KEY: usize = 16;

/// An object key: its first bytes, and a hash of all by which spans of client and server can be
/// matched.
pub struct Key<'k>(pub &'k [u8]);

impl fmt::Display for Key<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for octet in self.0.iter().take(SHOWN_KEY) {
            match octet {
                b'%' | b'#' => write!(f, "%{octet:02x}")?,
                0x21..=0x7E => write!(f, "{}", char::from(*octet))?,
                _ => write!(f, "%{octet:02x}")?,
            }
        }
        write!(f, "#{:08x}", hash(self.0))
    }
}

/// FNV-1a of 32 bits.
fn hash(octets: &[u8]) -> u32 {
    let step = |hash: u32, octet: &u8| (hash ^ u32::from(*octet)).wrapping_mul(0x0100_0193);
    octets.iter().fold(0x811C_9DC5, step)
}

/// A version of GIOP.
pub struct Giop(pub Version);

impl fmt::Display for Giop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0.major, self.0.minor)
    }
}

/// Minor codes of the OMG and of orbium by their number within the space, others in full.
struct Minor(u32);

impl fmt::Display for Minor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0 & 0xFFFF_F000, self.0 & 0xFFF) {
            (0x4F4D_0000, code) => write!(f, "OMG:{code}"),
            (0, code) => write!(f, "{code}"),
            (space, code) => write!(f, "{space:#010X}:{code}"),
        }
    }
}

/// The reply status at the end of a span.
pub const RESULTS: &str = "NO_EXCEPTION";
/// As [`RESULTS`]: a user exception.
pub const USER_EXCEPTION: &str = "USER_EXCEPTION";
/// As [`RESULTS`]: a system exception.
pub const SYSTEM_EXCEPTION: &str = "SYSTEM_EXCEPTION";
/// As [`RESULTS`]: the object was forwarded.
pub const FORWARDED: &str = "LOCATION_FORWARD";

/// Records that the operation ended with a system exception.
pub fn record_failure(span: &Span, exception: SystemException) {
    span.record("rpc.status_code", SYSTEM_EXCEPTION);
    span.record(
        "error.type",
        display(format_args!("CORBA::{}", exception.kind.name())),
    );
    span.record("corba.completed", exception.completed.name());
    span.record("corba.minor", display(Minor(exception.minor)));
    span.record("otel.status_code", "ERROR");
    span.record("otel.status_description", display(exception));
}

/// Records the remaining time until the deadline.
pub fn record_deadline(span: &Span, deadline: Option<Instant>) {
    if let Some(deadline) = deadline {
        let left = deadline.saturating_duration_since(Instant::now());
        span.record("corba.deadline_remaining_us", microseconds(left));
    }
}

/// Records an address as a host and a port if it has that form.
pub fn record_address(span: &Span, (address, port): (&str, &str), text: &str) {
    match text.parse::<HostPort>() {
        Ok(at) => {
            span.record(address, at.host.as_str());
            span.record(port, at.port);
        }
        Err(_) => {
            span.record(address, text);
        }
    }
}

/// A duration in the unit of attributes.
#[must_use]
pub fn microseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_scoped_names_without_prefix_and_version() {
        let method = |interface, operation| {
            let method = Method {
                interface,
                operation,
            };
            method.to_string()
        };
        assert_eq!(
            method("IDL:omg.org/Nav/GPS:1.0", "position"),
            "Nav::GPS/position"
        );
        assert_eq!(method("IDL:GPS:1.0", "_get_x"), "GPS/_get_x");
        assert_eq!(method("", "_is_a"), "_is_a");
    }

    #[test]
    fn long_keys_are_cut_and_get_a_hash_and_odd_octets_are_escaped() {
        assert_eq!(Key(b"").to_string(), "#811c9dc5");
        let long = |last| Key(&[b"key #1 with many octets", &[last][..]].concat()).to_string();
        assert!(long(b'a').starts_with("key%20%231%20with%20many#"));
        assert_ne!(long(b'a'), long(b'b'));
    }

    #[test]
    fn minor_codes_name_their_space() {
        assert_eq!(Minor(0x4F4D_0002).to_string(), "OMG:2");
        assert_eq!(Minor(0x4F52_4003).to_string(), "0x4F524000:3");
        assert_eq!(Minor(0).to_string(), "0");
    }
}
