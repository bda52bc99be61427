// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interface of a configuration to which files and arguments are applied.

use crate::value_syntax::Read;

/// A configuration described by texts, implemented by the table of keys.
pub(crate) trait Settings: Default {
    /// A named profile: a set of values for a purpose.
    ///
    /// # Errors
    /// There is no profile with that name.
    fn from_profile(name: &str) -> Read<Self>;

    /// Sets a key.
    ///
    /// # Errors
    /// There is no such key, or the value is invalid for it.
    fn put(&mut self, key: &str, value: &str) -> Read<()>;

    /// Adds a lane with that name, unless it exists.
    ///
    /// # Errors
    /// There are too many lanes.
    fn begin_lane(&mut self, name: &str) -> Read<()>;

    /// The syntax of the values of a key, as in its documentation: `FILE or none`. Keys of lanes
    /// have their whole path: `lane.urgent.priority`.
    fn value_of(key: &str) -> Option<&'static str>;
}
