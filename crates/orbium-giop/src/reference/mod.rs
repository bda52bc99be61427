// SPDX-License-Identifier: MIT OR Apache-2.0
//! Object references: profiles and their components.

pub mod component;
mod component_text;
mod component_value;
mod iiop_profile;
pub(crate) mod ior;
mod object_group;
pub(crate) mod orb_type;
mod orbium_profile;
pub mod profile;
mod tagged_profile;
mod uiop_profile;
mod uipmc_profile;
