// SPDX-License-Identifier: MIT OR Apache-2.0
//! RT_Infos as text: a table to be written by hand, and the format of files.

mod field;
mod overhead;
mod read;
mod word;
mod write;

pub use read::{Listing, TextError, parse};
pub use write::listing;
