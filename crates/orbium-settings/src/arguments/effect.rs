// SPDX-License-Identifier: MIT OR Apache-2.0
//! Effects of arguments, and the refusals shared by several tables.

/// The effect of an argument with its value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effect {
    /// Sets that key.
    Set(&'static str),
    /// Sets that key, to a value that may be any text.
    Text(&'static str),
    /// Sets that key to a number of milliseconds; 0 is none.
    Milliseconds(&'static str),
    /// Sets that key to the equivalent of a word of another ORB.
    Choose(&'static str, &'static [(&'static str, &'static str)]),
    /// Adds endpoints, separated by commas or semicolons.
    Listen,
    /// Sets the key in the value: `-ORBSet key=value`.
    Any,
    /// Chooses a profile.
    Profile,
    /// Reads a file.
    File,
    /// Sets that key to a number of seconds; 0 is none.
    Seconds(&'static str),
    /// Is refused, with the suggested replacement.
    Instead(&'static str),
    /// No effect, but the value must be one of these.
    OneOf(&'static [&'static str]),
    /// Sets that key to that value; the argument has no value.
    Flag(&'static str, &'static str),
    /// Sets that key to a file, written by TAO as `PEM:file`.
    Pem(&'static str),
    /// No effect: an ORB is a value, without a name.
    Ignore,
}

/// Key files must not be encrypted.
pub(super) const PASSWORD: &str = "tls.key with a key that is not encrypted, in a file that only \
    its owner may read";

/// The cipher suites are those of rustls.
pub(super) const SUITES: &str = "tls.versions: each version has the cipher suites of rustls, which \
    are all sound";

/// A single file contains all authorities.
pub(super) const FOLDER: &str = "tls.authorities with one PEM file of all authorities";

/// The receiver of events.
pub(super) const TRACE: &str = "a subscriber of the crate tracing, as in RUST_LOG=orbium=debug";
