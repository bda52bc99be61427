// SPDX-License-Identifier: MIT OR Apache-2.0
//! Effects of arguments, and the refusals that several tables share.

/// What an argument does with its value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Effect {
    /// Sets that key.
    Set(&'static str),
    /// Sets that key to so many milliseconds; 0 is none.
    Milliseconds(&'static str),
    /// Sets that key to what a word of another ORB means.
    Choose(&'static str, &'static [(&'static str, &'static str)]),
    /// Adds endpoints, separated by commas or semicolons.
    Listen,
    /// Sets the key that the value names: `-ORBSet key=value`.
    Any,
    /// Chooses a profile.
    Profile,
    /// Reads a file.
    File,
    /// Sets that key to so many seconds; 0 is none.
    Seconds(&'static str),
    /// Is refused, saying what to write here instead.
    Instead(&'static str),
    /// Nothing, but the value must be one of these.
    OneOf(&'static [&'static str]),
    /// Sets that key to that value; no value is behind the argument.
    Flag(&'static str, &'static str),
    /// Sets that key to a file, which TAO writes as `PEM:file`.
    Pem(&'static str),
    /// Nothing: an ORB is a value, without a name.
    Ignore,
}

/// Keys are in files that are not encrypted.
pub(super) const PASSWORD: &str = "tls.key with a key that is not encrypted, in a file that only \
    its owner may read";

/// The suites are those of rustls.
pub(super) const SUITES: &str = "tls.versions: each version has the cipher suites of rustls, which \
    are all sound";

/// One file with all of them.
pub(super) const FOLDER: &str = "tls.authorities with one PEM file of all authorities";

/// What receives events.
pub(super) const TRACE: &str = "a subscriber of the crate tracing, as in RUST_LOG=orbium=debug";
