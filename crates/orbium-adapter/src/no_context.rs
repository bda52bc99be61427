// SPDX-License-Identifier: MIT OR Apache-2.0
//! The error of `PortableServer::Current` outside requests.

use std::fmt;

/// The calling thread serves no request, or one of an adapter that does not support `PoaCurrent`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NoContext;

impl fmt::Display for NoContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no request is served here")
    }
}

impl fmt::Debug for NoContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for NoContext {}
