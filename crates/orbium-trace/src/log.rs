// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events for subscribers of `tracing`; warnings and errors are kept for the watch
//! object too, where there is one.

mod event_limit;
pub mod recent;
mod recurring;

pub use crate::{failed as error, warned as warn};
pub use event_limit::EventLimit;
pub use recurring::{Recurrences, Recurring};
use tracing::Level;
use tracing::level_filters::{LevelFilter, STATIC_MAX_LEVEL};
pub use tracing::{debug, info};

/// Whether any subscriber may want spans of calls and requests, which have the level
/// DEBUG: the one test that a call makes, a comparison with a static variable.
#[inline(always)]
#[must_use]
pub fn wants_spans() -> bool {
    Level::DEBUG <= STATIC_MAX_LEVEL && Level::DEBUG <= LevelFilter::current()
}

/// The text of an event: the message, and fields behind it.
#[doc(hidden)]
#[macro_export]
macro_rules! text_of {
    ($text:ident;) => {};
    ($text:ident; $message:literal $(,)?) => {
        $text.insert_str(0, $message);
    };
    ($text:ident; target: $target:expr, $($rest:tt)*) => {
        $crate::text_of!($text; $($rest)*)
    };
    ($text:ident; $($name:ident).+ = % $value:expr, $($rest:tt)*) => {
        let _ = std::fmt::Write::write_fmt(
            &mut $text,
            format_args!(" {}={}", stringify!($($name).+), $value),
        );
        $crate::text_of!($text; $($rest)*)
    };
    ($text:ident; $($name:ident).+ = ? $value:expr, $($rest:tt)*) => {
        $crate::text_of!($text; $($name).+ = % format_args!("{:?}", $value), $($rest)*)
    };
    ($text:ident; $($name:ident).+ = $value:expr, $($rest:tt)*) => {
        if let Some(value) = $crate::log::recent::Field::shown(&$value) {
            let _ = std::fmt::Write::write_fmt(
                &mut $text,
                format_args!(" {}={}", stringify!($($name).+), value),
            );
        }
        $crate::text_of!($text; $($rest)*)
    };
    ($text:ident; % $name:ident, $($rest:tt)*) => {
        $crate::text_of!($text; $name = % $name, $($rest)*)
    };
    ($text:ident; $name:ident, $($rest:tt)*) => {
        $crate::text_of!($text; $name = $name, $($rest)*)
    };
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

/// Keeps the text of a warning or an error, if the process keeps any.
#[doc(hidden)]
#[macro_export]
macro_rules! noted {
    ($level:literal, $($said:tt)*) => {
        if $crate::log::recent::are_kept() {
            let mut text = String::new();
            $crate::text_of!(text; $($said)*);
            $crate::log::recent::note($level, &text);
        }
    };
}
