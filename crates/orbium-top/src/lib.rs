// SPDX-License-Identifier: MIT OR Apache-2.0
//! The activity of a running ORB, read from its watch object: [`screen`](run_screen), [`text`](text_of),
//! [`JSON`](json_of) and [`picture`](picture_of).
//!
//! It does not know command lines, the references that they accept, or standard output. The program
//! `orbium` provides it as `orbium top`.
//!
//! ```no_run
//! use orbium_top::{Selection, Source, View, text_of};
//! use std::time::Duration;
//!
//! let source = Source::selected(&Selection::default())?;
//! let before = source.look()?;
//! std::thread::sleep(Duration::from_secs(1));
//! let view = View::between(&before, &source.look()?);
//! println!("{}", text_of(&view, 110));
//! # Ok::<(), orbium_top::TopError>(())
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod error;
mod json;
mod keys;
mod pages;
mod picture;
mod processes;
mod screen;
mod source;
mod view;
mod watch_object;

pub use error::TopError;
pub use json::json_of;
pub use pages::text_of;
pub use picture::picture_of;
pub use processes::Selection;
pub use screen::run_screen;
pub use source::{Look, Source};
pub use view::View;
