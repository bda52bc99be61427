// SPDX-License-Identifier: MIT OR Apache-2.0
//! From a reference to the ways its object can be reached.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use orbium_cdr::{ByteOrder, CdrErrorKind, CdrWriter, Format};
use orbium_channel::protocol::{self, Offer};
use orbium_giop::codeset::Negotiated;
use orbium_giop::dedication::DedicationRequest;
use orbium_giop::real_time::{PriorityBand, priority_context, priority_range_context};
use orbium_giop::{
    AddressingDisposition, BodyStart, Completion, ExceptionKind, Ior, RequestTemplate,
    ResponseFlags, ServiceContext, SystemException, TaggedProfile, Target, Version, minor,
    service_context,
};

use crate::client::pool::Pool;
use crate::client::pools::PoolKey;
use crate::client::priorities::{ConnectionPartition, Lanes, Priorities, conflicts};
use crate::client::timing::Timing;
use crate::log;
use crate::reference::Overrides;
use crate::{Channel, OfferedProtocol, Operation, Orb, Priority, ProtocolPolicy};

/// All ways to an object, in the order of its profiles and their addresses.
#[derive(Debug)]
pub(crate) struct Binding {
    /// Those over connections.
    pub(crate) candidates: Vec<Candidate>,
    /// Those over datagrams, for oneways.
    pub(crate) datagrams: Vec<Candidate>,
    /// Whether oneways go over datagrams even if there are connections.
    pub(crate) datagrams_first: bool,
    /// What calls look at if the reference has to do with priorities.
    pub(crate) priorities: Option<Box<Priorities>>,
    /// The candidate that answered last.
    preferred: AtomicUsize,
}

/// One way to an object.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) route: Route,
    pub(crate) version: Version,
    pub(crate) negotiated: Negotiated,
    /// Whether the reference says which code sets the server has.
    knows_code_sets: bool,
    pub(crate) object_key: Vec<u8>,
    /// Whether its server accepts a CancelRequest.
    pub(crate) is_cancelled: bool,
    template: RequestTemplate,
    /// Made when the server asks for another addressing mode.
    readdressed: OnceLock<(AddressingDisposition, RequestTemplate)>,
}

/// The service contexts about priorities that a request carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PriorityContext {
    None,
    /// The priority of this request (CLIENT_PROPAGATED).
    Priority(Priority),
    /// The band of all requests that the connection will carry.
    Range(PriorityBand),
    /// A request for a dedicated thread, and the priority of this request; -1 stands for
    /// none.
    Marker {
        asks: i16,
        priority: i16,
    },
}

impl PriorityContext {
    /// Adds a request for a dedicated thread.
    pub(crate) fn with(self, marker: DedicationRequest) -> Self {
        let priority = match self {
            Self::Priority(priority) => priority.number(),
            _ => -1,
        };
        Self::Marker {
            asks: marker.priority.unwrap_or(-1),
            priority,
        }
    }
}

/// Service contexts that only the first requests of a connection carry, or those with a
/// priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Introduction {
    /// Sent until the first reply shows that the server has received them.
    pub(crate) code_sets: Option<Negotiated>,
    said: PriorityContext,
}

impl Introduction {
    /// `None` if the request needs no context.
    pub(crate) fn new(code_sets: Option<Negotiated>, said: PriorityContext) -> Option<Self> {
        match (code_sets, said) {
            (None, PriorityContext::None) => None,
            (code_sets, said) => Some(Self { code_sets, said }),
        }
    }
}

/// Whether the object is reached by a connection or in this very process.
#[derive(Debug)]
pub(crate) enum Route {
    Remote(Arc<Pool>),
    Local,
}

impl Binding {
    /// The candidates under a ClientProtocolPolicy, best first: the client's, or
    /// else the one that the reference has.
    ///
    /// # Errors
    /// INV_POLICY if no protocol can be used, or if a policy that only one side
    /// may have is there on both.
    pub(crate) fn new(
        orb: &Orb,
        ior: &Ior,
        policy: Option<&ProtocolPolicy>,
        overrides: &Overrides,
    ) -> Result<Self, SystemException> {
        let published = protocol::published_policies(ior);
        let policies = overrides.connections.or_of(orb);
        if !conflicts(&published, &policies, policy.is_some()).is_empty() {
            return Err(not_reconciled());
        }
        let exposed = protocol::exposed_protocols(&published);
        let by_client = policy.is_some();
        let policy = policy.or(exposed.as_ref());
        let mut lanes = Lanes::default();
        let (mut candidates, mut datagrams) = (Vec::new(), Vec::new());
        let mut datagrams_first = false;
        let mut refused = None;
        let protocols = &orb.config().protocols;
        for offer in &protocol::wanted(protocols, ior, policy, by_client) {
            let over_datagrams = protocols.is_datagram(&offer.channel);
            let served = Lanes::served(offer);
            match Candidate::new(orb, offer) {
                Ok(candidate) if over_datagrams => {
                    datagrams_first |= candidates.is_empty();
                    datagrams.push(candidate);
                }
                Ok(candidate) => {
                    lanes.add(served, candidates.len());
                    candidates.push(candidate);
                }
                Err(exception) => refused = Some(exception),
            }
        }
        if candidates.is_empty() && datagrams.is_empty() {
            let offered = OfferedProtocol::list(&orb.offered(ior, policy));
            crate::log::warn!(target: "orbium::call", %offered, "no protocol of a reference can be used");
            return Err(refused.unwrap_or_else(no_usable_protocol));
        }
        let priorities = Priorities::new(
            orb,
            &published,
            &policies,
            candidates.iter().chain(&datagrams),
            lanes,
        )?;
        Ok(Self {
            candidates,
            priorities,
            datagrams,
            datagrams_first,
            preferred: AtomicUsize::new(0),
        })
    }

    #[inline]
    pub(crate) fn preferred(&self) -> usize {
        self.preferred.load(Ordering::Relaxed)
    }

    pub(crate) fn prefer(&self, candidate: usize) {
        self.preferred.store(candidate, Ordering::Relaxed);
    }
}

/// Raised where client and server have policies that exclude one another.
fn not_reconciled() -> SystemException {
    SystemException::omg(ExceptionKind::InvPolicy, 1, Completion::No)
}

/// Raised where a reference offers nothing that can be used.
pub(crate) fn no_usable_protocol() -> SystemException {
    SystemException::orbium(
        ExceptionKind::InvPolicy,
        minor::NO_USABLE_PROTOCOL,
        Completion::No,
    )
}

impl Candidate {
    fn new(orb: &Orb, offer: &Offer) -> Result<Self, SystemException> {
        let spoken = orb.core().config.giop_minor.number();
        let minor = offer.version.minor.min(spoken);
        let version = Version { major: 1, minor };
        let negotiated = agree(offer, minor)?;
        // What goes to a group goes to all of its members.
        let is_own = offer.target.is_none() && orb.is_own_channel(&offer.channel);
        let route = if is_own {
            Route::Local
        } else {
            let key = PoolKey {
                channel: offer.channel.clone(),
                negotiated,
                partition: ConnectionPartition::default(),
            };
            Route::Remote(orb.core().pools().pool(key)?)
        };
        Ok(Self {
            route,
            version,
            negotiated,
            knows_code_sets: minor > 0 && protocol::code_sets(&offer.components).is_some(),
            template: template(version, offer),
            is_cancelled: protocol::bears_cancelling(&offer.components),
            object_key: offer.object_key.clone(),
            readdressed: OnceLock::new(),
        })
    }
}

/// The header of requests: with the key, unless the object can be named by its
/// whole profile alone.
fn template(version: Version, offer: &Offer) -> RequestTemplate {
    let profile = offer.target.as_ref();
    let with_profile = profile.and_then(|it| RequestTemplate::with_profile(version, it));
    with_profile.unwrap_or_else(|| RequestTemplate::new(version, &offer.object_key))
}

/// The code sets to use with the server.
fn agree(offer: &Offer, minor: u8) -> Result<Negotiated, SystemException> {
    let code_sets = match minor {
        0 => None,
        _ => protocol::code_sets(&offer.components),
    };
    let orb = protocol::orb_type(&offer.components);
    Negotiated::with_server(code_sets.as_ref(), orb)
        .map_err(|_| SystemException::omg(ExceptionKind::CodesetIncompatible, 1, Completion::No))
}

impl Candidate {
    /// Where its connections lead; `None` within the process.
    pub(crate) fn channel(&self) -> Option<&Channel> {
        match &self.route {
            Route::Remote(pool) => Some(pool.channel()),
            Route::Local => None,
        }
    }

    /// Whether the whole reference, which the server may forward to, could carry what
    /// this candidate cannot: it names no code sets, so those of every ORB are used.
    #[cold]
    pub(crate) fn may_carry_more(&self, error: CdrErrorKind) -> bool {
        let is_of_code_sets = matches!(
            error,
            CdrErrorKind::CannotConvert
                | CdrErrorKind::WideNotNegotiated
                | CdrErrorKind::WideInGiop10
        );
        is_of_code_sets && !self.knows_code_sets && matches!(self.route, Route::Remote(_))
    }

    /// How values are written to it, in native byte order.
    #[inline]
    pub(crate) fn format(&self) -> Format {
        Format {
            order: ByteOrder::NATIVE,
            minor: self.version.minor,
            char_set: self.negotiated.char_set,
            wide_set: self.negotiated.wide_set,
        }
    }

    /// Writes a request header into an empty writer; with the code sets while
    /// the server may not know them, what is said of priorities, and the deadlines
    /// of the call.
    #[inline(always)]
    pub(crate) fn begin_request(
        &self,
        writer: &mut CdrWriter<'_>,
        request_id: u32,
        operation: &'static Operation,
        introduction: Option<Introduction>,
        timing: &Timing,
    ) -> BodyStart {
        let response = if operation.is_oneway() {
            ResponseFlags::None
        } else {
            ResponseFlags::Full
        };
        let template = self.template();
        if introduction.is_none()
            && !timing.is_header_special
            && let Some(start) = template.begin_with(writer, request_id, response, operation.tail())
        {
            return start;
        }
        begin_in_full(
            template,
            writer,
            request_id,
            response,
            operation,
            introduction,
            timing,
        )
    }

    #[inline]
    fn template(&self) -> &RequestTemplate {
        self.readdressed
            .get()
            .map_or(&self.template, |(_, template)| template)
    }

    /// Addresses the object as the server asks for; `false` if that cannot be.
    pub(crate) fn readdress(&self, ior: &Ior, wanted: AddressingDisposition) -> bool {
        let Some((index, profile)) = self.profile_in(ior) else {
            return false;
        };
        let template = match wanted {
            AddressingDisposition::Key => Some(self.template.clone()),
            AddressingDisposition::Profile => RequestTemplate::with_profile(self.version, profile),
            AddressingDisposition::Reference => {
                RequestTemplate::with_reference(self.version, index, ior)
            }
        };
        match template {
            Some(template) => self.readdressed.get_or_init(|| (wanted, template)).0 == wanted,
            None => false,
        }
    }

    /// The profile of the reference that this candidate was made from.
    fn profile_in<'i>(&self, ior: &'i Ior) -> Option<(u32, &'i TaggedProfile)> {
        for (index, profile) in ior.profiles.iter().enumerate() {
            if profile.object_key().as_deref() == Some(&self.object_key) {
                return Some((u32::try_from(index).ok()?, profile));
            }
        }
        None
    }

    /// The object as a LocateRequest names it.
    #[inline]
    pub(crate) fn target<'t>(&'t self, ior: &'t Ior) -> Target<'t> {
        let disposition = self.readdressed.get().map(|(disposition, _)| *disposition);
        match (disposition, self.profile_in(ior)) {
            (Some(AddressingDisposition::Profile), Some((_, profile))) => Target::Profile {
                tag: profile.tag,
                data: &profile.data,
            },
            (Some(AddressingDisposition::Reference), Some((index, _))) => Target::Reference {
                index,
                ior: Box::new(ior.clone()),
            },
            _ => Target::Key(&self.object_key),
        }
    }
}

/// Writes a request header with service contexts or a long operation name, or with a
/// request id that the current span records.
#[cold]
fn begin_in_full(
    template: &RequestTemplate,
    writer: &mut CdrWriter<'_>,
    request_id: u32,
    response: ResponseFlags,
    operation: &Operation,
    introduction: Option<Introduction>,
    timing: &Timing,
) -> BodyStart {
    let code_sets = introduction.and_then(|it| it.code_sets);
    let code_sets = code_sets.map(|negotiated| negotiated.context().encode());
    let said = introduction.map_or(PriorityContext::None, |it| it.said);
    let times = timing.is_propagated.then(|| timing.contexts());
    let times = times.map(|(left, ends)| (left.encode(), ends.encode()));
    let (one, range, marker);
    let mut contexts = [ServiceContext { id: 0, data: &[] }; 5];
    let mut count = 0;
    let mut add = |id, data| {
        contexts[count] = ServiceContext { id, data };
        count += 1;
    };
    if let Some(data) = &code_sets {
        add(service_context::CODE_SETS, data);
    }
    match said {
        PriorityContext::None => {}
        PriorityContext::Marker { asks, priority } => {
            marker = DedicationRequest {
                priority: (asks >= 0).then_some(asks),
            }
            .encode();
            add(service_context::ORBIUM_DEDICATION, marker.as_slice());
            if priority >= 0 {
                one = priority_context(priority);
                add(service_context::RT_CORBA_PRIORITY, one.as_slice());
            }
        }
        PriorityContext::Priority(priority) => {
            one = priority_context(priority.number());
            add(service_context::RT_CORBA_PRIORITY, one.as_slice());
        }
        PriorityContext::Range(band) => {
            range = priority_range_context(band);
            add(service_context::RT_CORBA_PRIORITY_RANGE, range.as_slice());
        }
    }
    if let Some((left, ends)) = &times {
        add(service_context::INVOCATION_POLICIES, ends.as_slice());
        add(service_context::ORBIUM_TIME_LEFT, left.as_slice());
    }
    if log::wants_spans() {
        log::spans::note_request_id(request_id);
    }
    let contexts = &contexts[..count];
    template.begin(writer, request_id, response, operation.name(), contexts)
}
