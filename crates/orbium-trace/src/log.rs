// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events for subscribers of `tracing`; warnings and errors are also stored for the watch object,
//! if there is one.

mod event_limit;
pub mod recent;
mod recurring;

pub use crate::{failed as error, warned as warn};
pub use event_limit::EventLimit;
pub use recurring::{Recurrences, Recurring};
use tracing::Level;
use tracing::level_filters::{LevelFilter, STATIC_MAX_LEVEL};
pub use tracing::{debug, info};

/// Whether any subscriber may record spans of calls and requests, which have the level DEBUG: the
/// only test in a call, a comparison with a static variable.
#[inline(always)]
#[must_use]
pub fn wants_spans() -> bool {
    Level::DEBUG <= STATIC_MAX_LEVEL && Level::DEBUG <= LevelFilter::current()
}

/// A warning; see [`tracing::warn!`].
#[macro_export]
macro_rules! warned {
    ($($said:tt)*) => {{
        $crate::tracing::warn!($($said)*);
        $crate::noted!("warn", $($said)*);
    }};
}

/// An error; see [`tracing::error!`].
#[macro_export]
macro_rules! failed {
    ($($said:tt)*) => {{
        $crate::tracing::error!($($said)*);
        $crate::noted!("error", $($said)*);
    }};
}

/// Stores the text of a warning or an error, if the process stores any.
#[doc(hidden)]
#[macro_export]
macro_rules! noted {
    ($level:literal, $($said:tt)*) => {
        if $crate::log::recent::are_kept() {
            $crate::note_fields!($level; []; $($said)*);
        }
    };
}

/// Collects the fields of an event, up to its message.
#[doc(hidden)]
#[macro_export]
macro_rules! note_fields {
    ($level:literal; [$($fields:tt)*]; $message:literal $(,)?) => {
        $crate::log::recent::note_event($level, $message, &[$($fields)*]);
    };
    ($level:literal; $fields:tt; target: $target:expr, $($rest:tt)*) => {
        $crate::note_fields!($level; $fields; $($rest)*)
    };
    ($level:literal; [$($fields:tt)*]; $($name:ident).+ = % $value:expr, $($rest:tt)*) => {
        $crate::note_fields!(
            $level;
            [$($fields)* (stringify!($($name).+), &format_args!("{}", $value)),];
            $($rest)*
        )
    };
    ($level:literal; $fields:tt; $($name:ident).+ = ? $value:expr, $($rest:tt)*) => {
        $crate::note_fields!($level; $fields; $($name).+ = % format_args!("{:?}", $value), $($rest)*)
    };
    ($level:literal; [$($fields:tt)*]; $($name:ident).+ = $value:expr, $($rest:tt)*) => {
        $crate::note_fields!(
            $level;
            [$($fields)* (stringify!($($name).+), &$value),];
            $($rest)*
        )
    };
    ($level:literal; $fields:tt; % $name:ident, $($rest:tt)*) => {
        $crate::note_fields!($level; $fields; $name = % $name, $($rest)*)
    };
    ($level:literal; $fields:tt; $name:ident, $($rest:tt)*) => {
        $crate::note_fields!($level; $fields; $name = $name, $($rest)*)
    };
}
