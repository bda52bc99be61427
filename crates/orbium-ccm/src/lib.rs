// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rewrites IDL of the CORBA Component Model and template modules as plain IDL: components
//! become their equivalent interfaces (CORBA 3.3 Part 3, 6.3 to 6.7), and
//! instantiated template modules become plain modules (IDL 4, 7.4.12).
//!
//! Tokens in, tokens out: it knows neither characters nor declarations, resolves only the names
//! of port types and template modules, and reports no errors. Tokens of other constructs are copied
//! unchanged, and the parser reports their errors.
//!
//! ```
//! let source = "module Components { } ; component Pump { provides Valve valve ; } ;";
//! let tokens: Vec<&str> = source.split_whitespace().collect();
//! let expanded = orbium_ccm::expand(&tokens, 1000).unwrap();
//! assert_eq!(
//!     expanded.to_string(),
//!     "module Components { } ; \
//!      interface Pump : :: Components :: CCMObject { Valve provide_valve ( ) ; } ;"
//! );
//! ```
#![forbid(unsafe_code)]

mod component;
mod cursor;
mod event;
mod expander;
mod expansion;
mod home;
mod kept;
mod port;
mod scopes;
mod template;

pub use expansion::{Expansion, Note, Token};

/// Replaces components, homes, ports and template modules by their equivalents; `None` if there are
/// none. The expansion has about `limit` tokens at most, among which ports, instances and notes
/// count too: the rest is copied unchanged.
///
/// Components, homes and consumers of events are replaced if the tokens declare the module
/// `Components`, as they are based on its interfaces.
#[must_use]
pub fn expand<'a>(tokens: &[&'a str], limit: usize) -> Option<Expansion<'a>> {
    expander::expand(tokens, limit)
}
