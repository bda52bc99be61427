// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is asked of errors of the system where something was not done.
//!
//! The standard library's own [`io::Error::kind`], and dropping an error, are long and
//! compiled anew in most places that use them. These are compiled once.

use std::fmt;
use std::io;
use std::mem::ManuallyDrop;

/// [`io::Error::kind`], compiled once.
#[must_use]
#[inline(never)]
pub fn kind_of(error: &io::Error) -> io::ErrorKind {
    error.kind()
}

/// The kind of an error of which nothing else matters.
#[must_use]
#[inline(never)]
pub fn kind_alone(error: io::Error) -> io::ErrorKind {
    let kind = error.kind();
    drop(error);
    kind
}

/// What something gave if it was done; why it was not does not matter.
#[inline]
pub fn if_done<T>(result: io::Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            forget(error);
            None
        }
    }
}

/// Ends an error of which everything was said.
#[cold]
#[inline(never)]
pub fn forget(error: io::Error) {
    drop(error);
}

/// What is made of an error of which nothing else matters.
#[inline]
pub fn made_of<T>(error: io::Error, make: impl FnOnce(&io::Error) -> T) -> T {
    // Not dropped here even if `make` panics: that would be compiled anew.
    let error = ManuallyDrop::new(error);
    let made = make(&error);
    forget(ManuallyDrop::into_inner(error));
    made
}

/// The kind of an error that is of one of these.
///
/// # Errors
/// That error, if it is of another kind.
#[inline(never)]
pub fn kind_among(error: io::Error, kinds: &[io::ErrorKind]) -> io::Result<io::ErrorKind> {
    let kind = error.kind();
    match kinds.contains(&kind) {
        true => Ok(kind),
        false => Err(error),
    }
}

/// Passes errors of some kinds over.
///
/// # Errors
/// That error, if it is of another kind.
#[inline(never)]
pub fn unless(error: io::Error, harmless: &[io::ErrorKind]) -> io::Result<()> {
    kind_among(error, harmless).map(|_| ())
}

/// The same error, with what it is about before its text.
#[must_use]
#[inline(never)]
#[expect(clippy::needless_pass_by_value, reason = "an argument of `map_err`")]
pub fn about(what: &dyn fmt::Display, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {}", error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_another_kind_is_given_back() {
        let kinds = [io::ErrorKind::Interrupted, io::ErrorKind::WouldBlock];
        let full = io::ErrorKind::WouldBlock;
        assert_eq!(kind_among(full.into(), &kinds).ok(), Some(full));
        let refused = kind_among(io::ErrorKind::ConnectionRefused.into(), &kinds);
        assert_eq!(
            refused.map_err(kind_alone),
            Err(io::ErrorKind::ConnectionRefused)
        );
        let text = made_of(io::Error::other("no room"), ToString::to_string);
        assert_eq!(text, "no room");
    }
}
