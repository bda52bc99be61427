// SPDX-License-Identifier: MIT OR Apache-2.0
//! Changes the configuration of a running ORB, by call and by signal.
//!
//! ```
//! use orbium_configurator::Configurator;
//! use orbium_core::{Config, Orb};
//! use orbium_settings::Configure as _;
//!
//! let mut config = Config::default();
//! config.set("endpoint", "iiop://127.0.0.1:0")?;
//! let orb = Orb::new(config.clone())?;
//! let configurator = Configurator::new(&orb, config.clone());
//!
//! config.set("limits.connections", "64")?;
//! for change in configurator.reconfigure(config)? {
//!     println!("{change}");
//! }
//! orb.shutdown(true)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`LIVE_KEYS`] contains the keys that a running ORB can change, and [`LIVE_LANE_KEYS`] those of
//! its lanes. Changes of other keys are refused by name, and then nothing is changed.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod begun;
mod configurator;
mod error;
#[cfg(unix)]
mod hangup;
mod lanes;
mod live;
mod plan;

pub use configurator::Configurator;
pub use error::ReconfigureError;
#[cfg(unix)]
pub use hangup::OnHangup;
pub use live::{LIVE_KEYS, LIVE_LANE_KEYS};
pub use plan::Change;
