// SPDX-License-Identifier: MIT OR Apache-2.0
//! Interface of a configuration to which files and arguments are applied.

use crate::value_syntax::Read;

/// A configuration that texts describe: the table of keys implements it.
pub(crate) trait Settings: Default {
    /// A named profile: many choices at once.
    ///
    /// # Errors
    /// There is no profile of that name.
    fn from_profile(name: &str) -> Read<Self>;

    /// Sets a key.
    ///
    /// # Errors
    /// There is no such key, or it cannot have that value.
    fn put(&mut self, key: &str, value: &str) -> Read<()>;

    /// Adds a lane of that name, unless there is one.
    fn begin_lane(&mut self, name: &str);

    /// What the values of a key are like, as its documentation says: `FILE or none`. Keys of lanes
    /// have their whole path: `lane.urgent.priority`.
    fn value_of(key: &str) -> Option<&'static str>;
}
