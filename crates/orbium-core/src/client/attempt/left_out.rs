// SPDX-License-Identifier: MIT OR Apache-2.0
//! The links of calls in a program without real time: no reference has to do with
//! priorities.

use orbium_giop::SystemException;

use super::Attempt;
use crate::client::binding::Binding;
use crate::client::link::Link;
use crate::client::priorities::Priorities;

impl Attempt<'_> {
    pub(super) fn link_at_priority<'s>(
        &'s self,
        _: &'s Binding,
        priorities: &'s Priorities,
    ) -> Result<Link<'s>, SystemException> {
        match *priorities {}
    }

    pub(super) fn datagram_link_at_priority<'s>(
        &'s self,
        _: &'s Binding,
        priorities: &'s Priorities,
        _: usize,
    ) -> Result<Link<'s>, SystemException> {
        match *priorities {}
    }
}
