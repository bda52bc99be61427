// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls in a program without real time: what references say of priorities is kept,
//! and changes nothing about calls.

use std::sync::Arc;

use orbium_giop::SystemException;
use orbium_giop::real_time::{self, PriorityBand, PublishedPolicies};

use crate::client::binding::{Candidate, Said};
use crate::client::own::Own;
use crate::client::pool::Pool;
use crate::protocol::Offer;
use crate::{ConnectionWishes, Orb, Priority, ProtocolProperties};

#[derive(Debug)]
pub(crate) enum Priorities {}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Apart {}

impl Apart {
    pub(crate) fn is_private(&self) -> bool {
        false
    }

    pub(crate) fn is_once(&self) -> bool {
        false
    }

    pub(crate) fn properties(&self, _: ProtocolProperties) -> Option<ProtocolProperties> {
        None
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Wishes {}

impl Wishes {
    pub(crate) fn or(&self, _: &ConnectionWishes) -> Self {
        Self {}
    }

    pub(crate) fn or_of(&self, _: &Orb) -> Self {
        Self {}
    }

    pub(crate) fn shares_as(&self, _: &Self) -> bool {
        true
    }
}

#[derive(Debug, Default)]
pub(crate) struct Lanes {}

pub(crate) struct Served {}

impl Lanes {
    pub(crate) fn served(_: &Offer) -> Served {
        Served {}
    }

    pub(crate) fn add(&mut self, _: Served, _: usize) {}
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum AtPriority {}

impl AtPriority {
    pub(crate) fn said(self) -> Said {
        match self {}
    }

    pub(crate) fn priority(self) -> Option<Priority> {
        match self {}
    }
}

/// Policies that client and server must not both have, as far as they do.
pub(crate) fn conflicts(
    published: &PublishedPolicies,
    _: &Wishes,
    client_protocols: bool,
) -> Vec<u32> {
    match client_protocols && published.has_client_protocols {
        true => vec![real_time::CLIENT_PROTOCOL_POLICY],
        false => Vec::new(),
    }
}

impl Priorities {
    pub(crate) fn new<'c>(
        _: &Orb,
        _: &PublishedPolicies,
        _: &Wishes,
        _: impl Iterator<Item = &'c Candidate>,
        _: Lanes,
    ) -> Result<Option<Box<Self>>, SystemException> {
        Ok(None)
    }

    pub(crate) fn own(&self) -> Option<&Arc<Own>> {
        match *self {}
    }

    pub(crate) fn of_call(&self, _: &Orb, _: &[u8]) -> Result<AtPriority, SystemException> {
        match *self {}
    }

    pub(crate) fn band(&self, _: AtPriority) -> Option<PriorityBand> {
        match *self {}
    }

    pub(crate) fn candidate(&self, _: AtPriority) -> Option<usize> {
        match *self {}
    }

    pub(crate) fn pool(
        &self,
        _: &Orb,
        _: &Candidate,
        _: usize,
        _: AtPriority,
    ) -> Result<Option<&Arc<Pool>>, SystemException> {
        match *self {}
    }
}
