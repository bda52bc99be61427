// SPDX-License-Identifier: MIT OR Apache-2.0
//! One way to an object, and how requests address it there.

use std::sync::{Arc, OnceLock};

use orbium_cdr::{ByteOrder, CdrError, CdrErrorKind, CdrWriter, Format};
use orbium_channel::Channel;
use orbium_channel::connection::CodeSets;
use orbium_channel::protocol::{self, Offer};
use orbium_config::GiopMinor;
use orbium_giop::codeset::Negotiated;
use orbium_giop::numbers::Numbers;
use orbium_giop::{
    AddressingDisposition, BodyStart, Completion, ExceptionKind, Headers, Ior, RequestTemplate,
    ResponseFlags, ServiceContext, SystemException, TaggedProfile, Target, Version,
};
use orbium_invocation::Operation;
use orbium_invocation::router_policies::RouterPolicies;
use orbium_trace::log::wants_spans;

use crate::call::request_header::begin_in_full;
use crate::errors::bad_argument;
use orbium_connection::Pools;
use orbium_connection::introduction::Introduction;
use orbium_connection::partition::ConnectionPartition;
use orbium_connection::pool::Pool;
use orbium_connection::pool_key::PoolKey;
use orbium_invocation::timing::Timing;

/// One way to an object.
#[derive(Debug)]
pub struct Candidate {
    pub(crate) route: Route,
    /// Of GIOP.
    pub version: Version,
    pub(crate) negotiated: Negotiated,
    /// Whether the reference says which code sets the server has.
    knows_code_sets: bool,
    /// The key of the object.
    pub object_key: Vec<u8>,
    /// Whether its server accepts a CancelRequest.
    pub is_cancelled: bool,
    template: RequestTemplate,
    /// What its requests say to routers.
    routers: RouterPolicies,
    /// Made when the server asks for another addressing mode.
    readdressed: OnceLock<(AddressingDisposition, RequestTemplate)>,
}

/// Whether the object is reached by a connection or in this very process.
#[derive(Debug)]
pub(crate) enum Route {
    Remote(Arc<Pool>),
    Local,
}

impl Candidate {
    /// What its requests say to routers.
    pub(crate) fn routers(&self) -> &RouterPolicies {
        &self.routers
    }

    /// The way that a profile offers: over the connections to its channel, those with buffers
    /// of their own if `is_buffered`, those that carry requests both ways if
    /// `is_bidirectional`, or within the process if the channel is the ORB's own.
    /// Its requests carry the policies for routers.
    ///
    /// # Errors
    /// No code sets or no transport for it.
    pub(crate) fn new(
        pools: &Pools,
        spoken: GiopMinor,
        offer: &Offer,
        is_own_channel: bool,
        (is_buffered, is_bidirectional, routers): (bool, bool, RouterPolicies),
    ) -> Result<Self, SystemException> {
        let minor = offer.version.minor.min(spoken.number());
        let version = Version { major: 1, minor };
        let negotiated = agree(offer, minor)?;
        // What goes to a group goes to all of its members.
        let is_own = offer.target.is_none() && is_own_channel;
        let route = if is_own {
            Route::Local
        } else {
            let key = PoolKey {
                channel: offer.channel.clone(),
                negotiated,
                partition: ConnectionPartition {
                    is_bidirectional: is_bidirectional && minor >= 2 && offer.target.is_none(),
                    is_buffered,
                    ..ConnectionPartition::default()
                },
            };
            Route::Remote(pools.pool(key)?)
        };
        let headers = match &route {
            Route::Remote(pool) => pool.headers(),
            Route::Local => Headers::GIOP,
        };
        Ok(Self {
            route,
            version,
            negotiated,
            knows_code_sets: minor > 0 && protocol::code_sets(&offer.components).is_some(),
            template: template(version, offer, headers),
            is_cancelled: protocol::bears_cancelling(&offer.components),
            object_key: offer.object_key.to_vec(),
            routers,
            readdressed: OnceLock::new(),
        })
    }
}

/// The header of requests: with the key, unless the object can be named by its
/// whole profile alone.
fn template(version: Version, offer: &Offer, headers: Headers) -> RequestTemplate {
    let profile = offer.target.as_ref();
    let with_profile = profile.and_then(|it| RequestTemplate::with_profile(version, it));
    with_profile.unwrap_or_else(|| {
        RequestTemplate::new(version, &offer.object_key).with_headers(headers, &offer.object_key)
    })
}

/// The code sets to use with the server.
fn agree(offer: &Offer, minor: u8) -> Result<Negotiated, SystemException> {
    let code_sets = protocol::code_sets(&offer.components);
    let orb = protocol::orb_type(&offer.components);
    CodeSets::choose(minor, code_sets.as_ref(), orb)
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
    pub fn may_carry_more(&self, error: CdrErrorKind) -> bool {
        let is_of_code_sets = matches!(
            error,
            CdrErrorKind::CannotConvert
                | CdrErrorKind::WideNotNegotiated
                | CdrErrorKind::WideInGiop10
        );
        is_of_code_sets && !self.knows_code_sets && matches!(self.route, Route::Remote(_))
    }

    /// The exception for arguments that cannot be written to it: for wide characters
    /// INV_OBJREF 2 if the reference has no component of code sets, 1 if that names no set
    /// for them.
    #[cold]
    #[must_use]
    pub fn bad_argument(&self, error: CdrError) -> SystemException {
        match error.kind {
            CdrErrorKind::WideNotNegotiated if !self.knows_code_sets => {
                SystemException::omg(ExceptionKind::InvObjref, 2, Completion::No)
            }
            _ => bad_argument(error),
        }
    }

    /// The format of values for it, in native byte order.
    #[inline]
    pub fn format(&self) -> Format {
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
    pub fn begin_request<'n>(
        &self,
        writer: &mut CdrWriter<'_>,
        request_id: u32,
        operation: &'static Operation,
        introduction: Option<Introduction>,
        timing: &Timing,
        numbers: impl FnOnce() -> Option<&'n mut Numbers>,
    ) -> BodyStart {
        let response = operation.response();
        let template = self.template();
        if introduction.is_none()
            && !timing.is_header_special
            && let Some(start) =
                template.begin_over(writer, request_id, response, operation.tail(), numbers)
        {
            return start;
        }
        self.begin_otherwise(writer, request_id, operation, introduction, timing)
    }

    /// Writes a request header that is not made of the template alone.
    #[cold]
    fn begin_otherwise(
        &self,
        writer: &mut CdrWriter<'_>,
        request_id: u32,
        operation: &'static Operation,
        introduction: Option<Introduction>,
        timing: &Timing,
    ) -> BodyStart {
        let (template, response) = (self.template(), operation.response());
        // A relative timeout, and nothing else to say.
        if introduction.is_none()
            && self.routers.is_none()
            && !wants_spans()
            && let Some(deadline) = timing.reply_deadline()
            && let Some(start) =
                template.begin_before(writer, request_id, response, operation.tail(), deadline)
        {
            return start;
        }
        begin_in_full(
            template,
            writer,
            request_id,
            response,
            operation,
            (introduction, &[]),
            (timing, &self.routers),
        )
    }

    /// As `begin_request`, with service contexts in addition to those of the ORB.
    #[cold]
    pub fn begin_request_with(
        &self,
        writer: &mut CdrWriter<'_>,
        (request_id, response): (u32, ResponseFlags),
        operation: &'static Operation,
        introduction: Option<Introduction>,
        timing: &Timing,
        added: &[ServiceContext<'_>],
    ) -> BodyStart {
        begin_in_full(
            self.template(),
            writer,
            request_id,
            response,
            operation,
            (introduction, added),
            (timing, &self.routers),
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
    pub(crate) fn profile_in<'i>(&self, ior: &'i Ior) -> Option<(u32, &'i TaggedProfile)> {
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
