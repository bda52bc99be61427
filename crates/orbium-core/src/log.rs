// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events and spans of the ORB for subscribers of `tracing`; warnings and
//! errors for the watch object, where there is one.

pub(crate) mod recent;
mod recurring;
pub(crate) mod spans;

use tracing::Level;
use tracing::level_filters::{LevelFilter, STATIC_MAX_LEVEL};
pub(crate) use tracing::{debug, info};

pub(crate) use recurring::{Recurrences, Recurring};

/// Whether any subscriber may want spans of calls and requests, which have the level
/// DEBUG: the one test that a call makes, a comparison with a static variable.
#[inline(always)]
pub(crate) fn wants_spans() -> bool {
    Level::DEBUG <= STATIC_MAX_LEVEL && Level::DEBUG <= LevelFilter::current()
}

/// The text of an event: the message, and fields behind it.
macro_rules! text_of {
    ($text:ident;) => {};
    ($text:ident; $message:literal $(,)?) => {
        $text.insert_str(0, $message);
    };
    ($text:ident; target: $target:expr, $($rest:tt)*) => {
        $crate::log::text_of!($text; $($rest)*)
    };
    ($text:ident; $($name:ident).+ = % $value:expr, $($rest:tt)*) => {
        let _ = std::fmt::Write::write_fmt(
            &mut $text,
            format_args!(" {}={}", stringify!($($name).+), $value),
        );
        $crate::log::text_of!($text; $($rest)*)
    };
    ($text:ident; $($name:ident).+ = ? $value:expr, $($rest:tt)*) => {
        $crate::log::text_of!($text; $($name).+ = % format_args!("{:?}", $value), $($rest)*)
    };
    ($text:ident; $($name:ident).+ = $value:expr, $($rest:tt)*) => {
        if let Some(value) = $crate::log::recent::Field::shown(&$value) {
            let _ = std::fmt::Write::write_fmt(
                &mut $text,
                format_args!(" {}={}", stringify!($($name).+), value),
            );
        }
        $crate::log::text_of!($text; $($rest)*)
    };
    ($text:ident; % $name:ident, $($rest:tt)*) => {
        $crate::log::text_of!($text; $name = % $name, $($rest)*)
    };
    ($text:ident; $name:ident, $($rest:tt)*) => {
        $crate::log::text_of!($text; $name = $name, $($rest)*)
    };
}

macro_rules! warned {
    ($($said:tt)*) => {{
        tracing::warn!($($said)*);
        $crate::log::noted!("warn", $($said)*);
    }};
}

macro_rules! failed {
    ($($said:tt)*) => {{
        tracing::error!($($said)*);
        $crate::log::noted!("error", $($said)*);
    }};
}

macro_rules! noted {
    ($level:literal, $($said:tt)*) => {
        if $crate::log::recent::are_kept() {
            let mut text = String::new();
            $crate::log::text_of!(text; $($said)*);
            $crate::log::recent::note($level, &text);
        }
    };
}

pub(crate) use {failed as error, noted, text_of, warned as warn};
