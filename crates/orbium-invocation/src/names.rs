// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names of the Naming Service as values, and in the text form of `corbaname:` (Naming Service 1.3,
//! clause 2.4).

mod error;
mod name;
mod name_text;
mod refusal;

pub use error::{NameError, NameSyntaxError, NameSyntaxErrorKind, NotFoundReason};
pub use name::{Name, NameComponent};
#[doc(hidden)]
pub use refusal::Refusal;
