// SPDX-License-Identifier: MIT OR Apache-2.0
//! A profile of an object in use, and the addressing of requests to it.

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

/// A profile of an object that the client can use.
#[derive(Debug)]
pub struct Candidate {
    pub(crate) route: Route,
    /// The GIOP version.
    pub version: Version,
    pub(crate) negotiated: Negotiated,
    /// Whether the reference contains the code sets of the server.
    knows_code_sets: bool,
    /// The key of the object.
    pub object_key: Vec<u8>,
    /// Whether its server accepts a CancelRequest.
    pub is_cancelled: bool,
    template: RequestTemplate,
    /// The policies for routers of its requests.
    routers: RouterPolicies,
    /// The template for the addressing mode that the server has demanded.
    readdressed: OnceLock<(AddressingDisposition, RequestTemplate)>,
}

/// Whether the object is remote or in the same process.
#[derive(Debug)]
pub(crate) enum Route {
    Remote(Arc<Pool>),
    Local,
}

impl Candidate {
    /// The policies for routers of its requests.
    pub(crate) fn routers(&self) -> &RouterPolicies {
        &self.routers
    }

    /// The candidate of an offer: over connections to its channel, with separate buffers if
    /// `is_buffered`, bidirectional if `is_bidirectional`, or within the process if the channel is
    /// the ORB's own. Its requests carry the policies for routers.
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
        // Requests to a group are sent to all of its members.
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
            is_cancelled: protocol::accepts_cancel_requests(&offer.components),
            object_key: offer.object_key.to_vec(),
            routers,
            readdressed: OnceLock::new(),
        })
    }
}

/// The header of requests: with the key, unless the object can be addressed only by its whole
/// profile.
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
    /// The channel of its connections; `None` within the process.
    pub(crate) fn channel(&self) -> Option<&Channel> {
        match &self.route {
            Route::Remote(pool) => Some(pool.channel()),
            Route::Local => None,
        }
    }

    /// Whether the whole reference, to which the server may forward, could encode a value that this
    /// candidate cannot: it contains no code sets, so the default ones are used.
    #[cold]
    pub fn lacks_code_sets(&self, error: CdrErrorKind) -> bool {
        let is_of_code_sets = matches!(
            error,
            CdrErrorKind::CannotConvert
                | CdrErrorKind::WideNotNegotiated
                | CdrErrorKind::WideInGiop10
        );
        is_of_code_sets && !self.knows_code_sets && matches!(self.route, Route::Remote(_))
    }

    /// The exception for arguments that cannot be marshalled: for wide characters INV_OBJREF 2 if
    /// the reference has no component of code sets, 1 if the component names no set for them.
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

    /// Writes a request header into an empty writer; with the code sets until the server has
    /// received them, the priority context, and the deadlines of the call.
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

    /// Writes a request header that is not copied from the template.
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
        // A relative time-out, and no further contexts.
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

    /// Changes the addressing mode to the one demanded by the server; `false` if that is
    /// impossible.
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

    /// The target address of the object for a LocateRequest.
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
