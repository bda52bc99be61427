// SPDX-License-Identifier: MIT OR Apache-2.0
//! Connections by priority: bands, private ones, marked ones, and servers with
//! an endpoint for each priority (RT-CORBA 1.2, clauses 5.11 and 5.12).

pub mod band_operation;
pub(crate) mod bands;

use std::sync::{Arc, OnceLock};

use orbium_channel::protocol::{self, Offer};
use orbium_giop::real_time::{PriorityBand, PriorityModel, PriorityModelValue, PublishedPolicies};
use orbium_giop::{Completion, ExceptionKind, SystemException};
use orbium_invocation::{NetworkMark, Priority, priority};

use crate::collocation::own_object::Collocated;
use crate::context::ClientContext;
use crate::policy::connection_policies::ConnectionPolicies;
use crate::reference::candidate::{Candidate, Route};
use orbium_connection::introduction::PriorityContext;
use orbium_connection::partition::ConnectionPartition;
use orbium_connection::pool::Pool;
use orbium_connection::pool_key::PoolKey;
use orbium_connection::{PrivateConnections, next_number};

/// DSCP code points.
const MARKS: usize = 64;

/// Selects the candidate and the connection pool of a call by its priority.
#[derive(Debug)]
pub(crate) struct Priorities {
    model: Option<PriorityModelValue>,
    bands: Box<[PriorityBand]>,
    /// The pools of each candidate.
    pools: Box<[Pools]>,
    /// The priorities served by candidates, with the index of the candidate.
    lanes: Box<[(i16, usize)]>,
    /// Whether the priority of a call determines its network mark.
    marks: bool,
    /// Private connections with a dedicated thread, or a single one.
    own: Option<Arc<PrivateConnections>>,
    /// The object, if it belongs to the caller's own ORB.
    own_object: OnceLock<Option<Collocated>>,
}

/// The connections to one candidate.
#[derive(Debug)]
struct Pools {
    /// The partition of the pools, before band and mark are added.
    base: ConnectionPartition,
    /// One for each band, or one; empty if the shared pool is used.
    partitioned: Box<[Arc<Pool>]>,
    /// Shared ones by their mark, created on demand.
    marked: Box<[OnceLock<Arc<Pool>>]>,
}

/// The priorities served by candidates, with the index of the candidate.
#[derive(Debug, Default)]
pub(crate) struct Lanes(Vec<(i16, usize)>);

/// The priorities served by a candidate.
pub(crate) struct Served(Vec<i16>);

impl Lanes {
    pub(crate) fn served(offer: &Offer) -> Served {
        let lanes = protocol::lanes(&offer.components).into_iter();
        let served = lanes.filter(|(_, address)| *address == offer.channel.address);
        Served(served.map(|(priority, _)| priority).collect())
    }

    pub(crate) fn add(&mut self, served: Served, candidate: usize) {
        let served = served.0.into_iter();
        self.0.extend(served.map(|priority| (priority, candidate)));
    }
}

/// Priority and band of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AtPriority {
    /// `None` if neither thread nor reference has one.
    pub(crate) priority: Option<Priority>,
    /// Whether the request carries it.
    carried: bool,
    /// Index of its band.
    band: Option<usize>,
}

impl AtPriority {
    /// The service context for the request.
    pub(crate) fn context(self) -> PriorityContext {
        match self.priority {
            Some(priority) if self.carried => PriorityContext::Priority(priority),
            _ => PriorityContext::None,
        }
    }
}

/// The exception for a priority without a connection.
fn no_band() -> SystemException {
    SystemException::omg(ExceptionKind::NoResources, 2, Completion::No)
}

impl Priorities {
    /// `None` if calls are independent of priorities.
    pub(crate) fn new<'c>(
        client: &ClientContext,
        published: &PublishedPolicies,
        connections: &ConnectionPolicies,
        candidates: impl Iterator<Item = &'c Candidate>,
        lanes: Lanes,
    ) -> Result<Option<Box<Self>>, SystemException> {
        let bands = match (&connections.sharing.bands, &published.bands) {
            _ if connections.own.is_some() => Vec::new(),
            (Some(own), _) => own.to_vec(),
            (None, Some(published)) => published.0.clone(),
            (None, None) => Vec::new(),
        };
        let marks = client.real_time().is_some() && published.priority_model.is_some();
        // A dedicated connection is marked when it is opened, for all its calls.
        let marks = marks && connections.own.is_none();
        let carries = published.is_client_propagated();
        let partitions = !bands.is_empty()
            || connections.sharing.private
            || connections.properties.is_some()
            || connections.own.is_some();
        if !carries && !partitions && lanes.0.is_empty() && !marks {
            return Ok(None);
        }
        let pools = candidates
            .map(|candidate| Pools::new(client, candidate, &bands, connections, carries))
            .collect::<Result<_, _>>()?;
        Ok(Some(Box::new(Self {
            model: published.priority_model,
            bands: bands.into(),
            pools,
            lanes: lanes.0.into(),
            marks,
            own: connections.own.clone(),
            own_object: OnceLock::new(),
        })))
    }

    /// Whether the reference has private connections, or connections by priority.
    pub(crate) fn choose_connections(&self) -> bool {
        !self.bands.is_empty() || self.own.is_some()
    }

    /// Private connections with a dedicated thread, or a single one.
    pub(crate) fn own(&self) -> Option<&Arc<PrivateConnections>> {
        self.own.as_ref()
    }

    /// The object, after its look-up, if it belongs to the caller's own ORB.
    pub(crate) fn own_object(&self) -> &OnceLock<Option<Collocated>> {
        &self.own_object
    }

    /// The priority and the band of a call.
    pub(crate) fn of_call(
        &self,
        client: &ClientContext,
        key: &[u8],
    ) -> Result<AtPriority, SystemException> {
        let of_thread = || match client.real_time() {
            Some(real_time) => real_time.outgoing(key),
            None => Ok(priority::current()),
        };
        let (priority, carried) = match self.model {
            Some(declared) if declared.model == PriorityModel::ServerDeclared => {
                (Priority::new(declared.server_priority), false)
            }
            Some(_) => (of_thread()?, true),
            None if self.bands.is_empty() && self.lanes.is_empty() => (None, false),
            // For the endpoint, if the server has one for each priority.
            None if self.bands.is_empty() => (priority::current(), false),
            None => (of_thread()?, false),
        };
        Ok(AtPriority {
            priority,
            carried,
            band: self.band_of(priority)?,
        })
    }

    fn band_of(&self, priority: Option<Priority>) -> Result<Option<usize>, SystemException> {
        if self.bands.is_empty() {
            return Ok(None);
        }
        let number = priority.ok_or_else(no_band)?.number();
        let holds = |band: &PriorityBand| (band.low..=band.high).contains(&number);
        let place = self.bands.iter().position(holds).ok_or_else(no_band)?;
        Ok(Some(place))
    }

    /// The band of a call.
    pub(crate) fn band(&self, at: AtPriority) -> Option<PriorityBand> {
        self.bands.get(at.band?).copied()
    }

    /// The candidate that serves the priority: exactly, or the most urgent below it, or the least
    /// urgent. With a band, one within it if there is any.
    pub(crate) fn candidate(&self, at: AtPriority) -> Option<usize> {
        let wanted = at.priority?.number();
        let band = self.band(at);
        let in_band = |number: i16| band.is_none_or(|it| (it.low..=it.high).contains(&number));
        let lanes = || self.lanes.iter().filter(|(number, _)| in_band(*number));
        let below = lanes().filter(|(number, _)| *number <= wanted);
        let best = below.max_by_key(|(number, _)| *number);
        let best = best.or_else(|| lanes().min_by_key(|(number, _)| *number));
        best.map(|(_, candidate)| *candidate)
    }

    /// The pool for a call to a candidate; `None` for the shared one. Candidates over datagrams
    /// come after the others.
    pub(crate) fn pool(
        &self,
        client: &ClientContext,
        candidate: &Candidate,
        place: usize,
        at: AtPriority,
    ) -> Result<Option<&Arc<Pool>>, SystemException> {
        let Some(pools) = self.pools.get(place) else {
            return Ok(None);
        };
        let mark = at.priority.filter(|_| self.marks && self.bands.is_empty());
        let mark = mark.and_then(|priority| client.real_time()?.network_mark(priority));
        match mark {
            Some(mark) => pools.marked(client, candidate, mark),
            None => Ok(pools.partitioned.get(at.band.unwrap_or(0))),
        }
    }
}

impl Pools {
    fn new(
        client: &ClientContext,
        candidate: &Candidate,
        bands: &[PriorityBand],
        connections: &ConnectionPolicies,
        carries: bool,
    ) -> Result<Self, SystemException> {
        let own = connections.own.as_deref();
        let marked_for = own.and_then(|own| own.priority);
        let base = ConnectionPartition {
            private: match own {
                Some(own) => Some(own.number),
                None => connections.sharing.private.then(next_number),
            },
            properties: connections.properties,
            priority: connections.priority,
            carries,
            mark: marked_for.and_then(|at| client.real_time()?.network_mark(at)),
            is_single: own.is_some_and(PrivateConnections::is_single),
            ..ConnectionPartition::default()
        };
        let mut partitioned = Vec::new();
        if let Route::Remote(shared) = &candidate.route {
            for band in bands {
                let highest = Priority::new(band.high);
                let of_band = ConnectionPartition {
                    band: Some(*band),
                    mark: highest.and_then(|at| client.real_time()?.network_mark(at)),
                    ..base
                };
                partitioned.push(partitioned_pool(client, shared, of_band)?);
            }
            if bands.is_empty() && base != ConnectionPartition::default() {
                partitioned.push(partitioned_pool(client, shared, base)?);
            }
        }
        Ok(Self {
            base,
            partitioned: partitioned.into(),
            marked: (0..MARKS).map(|_| OnceLock::new()).collect(),
        })
    }

    fn marked(
        &self,
        client: &ClientContext,
        candidate: &Candidate,
        mark: NetworkMark,
    ) -> Result<Option<&Arc<Pool>>, SystemException> {
        let place = self.marked.get(usize::from(mark.dscp));
        let (Some(place), Route::Remote(shared)) = (place, &candidate.route) else {
            return Ok(None);
        };
        if let Some(pool) = place.get() {
            return Ok(Some(pool));
        }
        let partition = ConnectionPartition {
            mark: Some(mark),
            ..self.base
        };
        let pool = partitioned_pool(client, shared, partition)?;
        Ok(Some(place.get_or_init(|| pool)))
    }
}

fn partitioned_pool(
    client: &ClientContext,
    shared: &Pool,
    partition: ConnectionPartition,
) -> Result<Arc<Pool>, SystemException> {
    let partition = ConnectionPartition {
        is_buffered: shared.key().partition.is_buffered,
        ..partition
    };
    let key = PoolKey {
        partition,
        ..shared.key().clone()
    };
    client.pools().pool(key)
}
