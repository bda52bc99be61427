// SPDX-License-Identifier: MIT OR Apache-2.0
//! Choosing the connection pool of a call by its priority.

use std::sync::Arc;

use orbium_giop::SystemException;
use orbium_giop::real_time::PriorityBand;

use super::{Attempt, may_try_others};
use crate::call::link::Link;
use crate::errors::{binding_lost, no_usable_protocol};
use crate::priorities::Priorities;
use crate::priorities::bands;
use crate::reference::binding::Binding;
use crate::reference::candidate::Candidate;
use orbium_connection::pool::Pool;

impl Attempt<'_> {
    /// A link for a call through a reference with priority policies: to the candidate
    /// that serves the priority of the call, over the pool of its band or mark.
    #[cold]
    pub(super) fn link_at_priority<'s>(
        &'s self,
        binding: &'s Binding,
        priorities: &'s Priorities,
    ) -> Result<Link<'s>, SystemException> {
        let client = self.object.client();
        let first = binding.candidates.first().ok_or_else(no_usable_protocol)?;
        let at = priorities.of_call(client, &first.object_key)?;
        let said = at.context();
        let start = priorities.candidate(at).unwrap_or(binding.preferred());
        let own = priorities.own();
        let mut refused = match own {
            Some(own) if own.is_single() => binding_lost(),
            _ => no_usable_protocol(),
        };
        for offset in 0..binding.candidates.len() {
            let index = (start + offset) % binding.candidates.len();
            let candidate = &binding.candidates[index];
            if own.is_some_and(|own| !own.allows(candidate.channel())) {
                continue;
            }
            let pool = priorities.pool(client, candidate, index, at)?;
            let link = self.link_through(candidate, pool, priorities.band(at));
            match link {
                Ok(link) => {
                    if let Some(observed) = self.watch.observed() {
                        observed.note_priority(at.priority);
                        self.note_way(candidate);
                    }
                    binding.prefer(index);
                    self.candidate.set(index);
                    if let Some(own) = own {
                        own.record_channel(candidate.channel());
                        return Ok(link.asking(own).saying(said));
                    }
                    return Ok(link.saying(said));
                }
                Err(exception) if !may_try_others(exception) => return Err(exception),
                Err(exception) if offset == 0 => refused = exception,
                Err(_) => {}
            }
        }
        Err(refused)
    }

    /// A link to a candidate: over a pool of its band or mark, or over the shared pool.
    fn link_through<'s>(
        &'s self,
        candidate: &'s Candidate,
        pool: Option<&'s Arc<Pool>>,
        band: Option<PriorityBand>,
    ) -> Result<Link<'s>, SystemException> {
        let times = (&self.timing, &self.begun);
        match (pool, band) {
            (None, _) => Link::new(candidate, &self.timing, &self.begun),
            (Some(pool), Some(band)) => bands::link(self.object, candidate, pool, times, band),
            (Some(pool), None) => Link::through(candidate, Some(pool), &self.timing, &self.begun),
        }
    }

    /// As `link_at_priority` over datagrams, to the candidate with that index.
    #[cold]
    pub(super) fn datagram_link_at_priority<'s>(
        &'s self,
        binding: &'s Binding,
        priorities: &'s Priorities,
        place: usize,
    ) -> Result<Link<'s>, SystemException> {
        let client = self.object.client();
        let candidate = binding.datagrams.get(place);
        let candidate = candidate.ok_or_else(no_usable_protocol)?;
        let at = priorities.of_call(client, &candidate.object_key)?;
        let place = binding.candidates.len() + place;
        match priorities.pool(client, candidate, place, at)? {
            None => Link::new(candidate, &self.timing, &self.begun),
            Some(pool) => {
                let link = Link::through(candidate, Some(pool), &self.timing, &self.begun)?;
                Ok(link.saying(at.context()))
            }
        }
    }
}
