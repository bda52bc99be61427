// SPDX-License-Identifier: MIT OR Apache-2.0
//! Examines and configures a Linux host for real-time programs: [`Facts`] are read below a root folder, [`CHECKS`]
//! evaluate them and give advice, and a [`Plan`] makes changes that can be undone.
//!
//! It does not know CORBA, sockets or command lines. The program `orbium` shows it as `orbium
//! doctor` and `orbium host`.
//!
//! ```
//! use orbium_host::{CHECKS, Facts, Severity, Tree};
//! use std::path::Path;
//!
//! let facts = Facts::collect(&Tree::at(Path::new("/")));
//! for check in CHECKS {
//!     let finding = check.judge(&facts);
//!     if finding.severity == Severity::Problem {
//!         println!("{}: {}. {}", check.name, finding.found, finding.remedy);
//!     }
//! }
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod apply;
mod cgroup;
mod cpu_list;
mod facts;
#[cfg(test)]
mod fake;
mod finding;
mod journal;
mod judge;
mod nats;
mod plan;
mod planning;
mod settings;
mod steering;
mod step;
mod threads;
mod tree;
mod undo;

pub use apply::{Applied, Refusal, apply};
pub use facts::{Facts, Kernel};
pub use finding::{Finding, Severity};
pub use journal::Journal;
pub use judge::examination::Examination;
pub use judge::{CHECKS, Check};
pub use plan::{Left, MAX_PLAN_BYTES, Plan};
pub use planning::{Napi, PlanRequest, Steer, plan};
pub use settings::is_user;
pub use step::Step;
pub use tree::Tree;
pub use undo::{Report, undo};
