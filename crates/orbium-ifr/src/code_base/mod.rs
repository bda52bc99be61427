// SPDX-License-Identifier: MIT OR Apache-2.0
//! The code base of a sender of values (`SendingContext::CodeBase`): descriptions of their types
//! for receivers (CORBA 3.3 Part 2, clause 9.7.2).

pub(crate) mod known_code_bases;
pub(crate) mod value_def;

use std::sync::{Arc, OnceLock};

use orbium::cdr::{ByteOrder, CdrWriter, Decode, Encode, Format};
use orbium::giop::{Completion, Ior, decode_encapsulation, service_context};
use orbium::interceptor::{
    ClientInterceptor, Interrupt, ReceiveContexts, SendRequest, ServerInterceptor,
};
use orbium::{Call, ExceptionKind, Interface, ObjectRef, Orb, SystemException, poa::PoaError};

use crate::InterfaceRepository;
use crate::corba::value_def::FullValueDescription;
use crate::corba::{Repository, ValueDef};
use crate::fault;
use crate::sending_context::{CodeBase, CodeBaseServant, RunTimeServant};

/// Maximum number of bases of a value type that are looked up in sequence.
pub(crate) const MAX_BASES: usize = 64;

/// Maximum number of repository ids of one request.
const MAX_IDS: usize = 256;

/// Maximum number of parts of all descriptions of one reply.
const MAX_PARTS: usize = 100_000;

impl InterfaceRepository {
    /// The code base of a sender of the types in this repository: an object of the root adapter
    /// that describes them. It has no code to download: `implementation` is empty for all.
    ///
    /// # Errors
    /// The object cannot be activated.
    pub fn code_base(&self, orb: &Orb) -> Result<CodeBase, PoaError> {
        orb.root_poa().activate(Describing(self.reference()))
    }
}

/// Describes the value types of a repository.
struct Describing(Repository);

/// The repository has no such value type.
fn unknown_type() -> SystemException {
    SystemException::omg(ExceptionKind::IntfRepos, 2, Completion::No)
}

/// Limits the size of a reply, which a small request with one id many times would multiply.
fn check_count(ids: &[String]) -> Result<(), SystemException> {
    if ids.len() <= MAX_IDS {
        Ok(())
    } else {
        Err(fault::TOO_LARGE)
    }
}

/// The number of members, attributes, operations, initializers and their parameters.
fn parts_of(description: &FullValueDescription) -> usize {
    let operations = description.operations.iter();
    let operations = operations.map(|it| 1 + it.parameters.len() + it.exceptions.len());
    let initializers = description.initializers.iter();
    let initializers = initializers.map(|it| 1 + it.members.len());
    let features = operations.chain(initializers).sum::<usize>();
    features + description.members.len() + description.attributes.len()
}

impl Describing {
    fn value(&self, id: &str) -> Result<ValueDef, SystemException> {
        let found = self.0.lookup_id(id)?.ok_or_else(unknown_type)?;
        found.as_object().narrow().map_err(|_| unknown_type())
    }
}

impl RunTimeServant for Describing {}

impl CodeBaseServant for Describing {
    fn get_ir(&self, _: &Call<'_>) -> Result<Option<Repository>, SystemException> {
        Ok(Some(self.0.clone()))
    }

    fn implementation(&self, _: &Call<'_>, _: &str) -> Result<String, SystemException> {
        Ok(String::new())
    }

    fn implementations(
        &self,
        _: &Call<'_>,
        ids: &[String],
    ) -> Result<Vec<String>, SystemException> {
        check_count(ids)?;
        Ok(vec![String::new(); ids.len()])
    }

    fn meta(&self, _: &Call<'_>, id: &str) -> Result<FullValueDescription, SystemException> {
        self.value(id)?.describe_value()
    }

    fn metas(
        &self,
        call: &Call<'_>,
        ids: &[String],
    ) -> Result<Vec<FullValueDescription>, SystemException> {
        check_count(ids)?;
        let mut parts = 0;
        let mut described = Vec::with_capacity(ids.len());
        for id in ids {
            let description = self.meta(call, id)?;
            parts += parts_of(&description);
            if parts > MAX_PARTS {
                return Err(fault::TOO_LARGE);
            }
            described.push(description);
        }
        Ok(described)
    }

    fn bases(&self, _: &Call<'_>, id: &str) -> Result<Vec<String>, SystemException> {
        let mut bases = Vec::new();
        let mut value = Some(self.value(id)?);
        while let Some(it) = value
            && bases.len() < MAX_BASES
        {
            value = it.base_value()?;
            if let Some(base) = &value {
                bases.push(base.id()?);
            }
        }
        Ok(bases)
    }
}

/// Sends the code base of this process with each request, as a client interceptor, and with each
/// reply, as a server interceptor: service context 6.
///
/// It is an interceptor, so that calls of an ORB without one have no cost; until [`set`](Self::set)
/// no context is sent.
///
/// ```
/// use orbium::interceptor::Interceptors;
/// use orbium::{Config, Orb};
/// use orbium_ifr::{InterfaceRepository, OfferedCodeBase};
///
/// let offered = OfferedCodeBase::default();
/// let mut interceptors = Interceptors::new();
/// interceptors.add_client(offered.clone())?;
/// interceptors.add_server(offered.clone())?;
/// let orb = Orb::new(Config {
///     endpoints: vec!["iiop://127.0.0.1:0".parse()?],
///     interceptors,
///     ..Config::default()
/// })?;
/// let repository = InterfaceRepository::in_memory(&orb)?;
/// offered.set(&repository.code_base(&orb)?);
/// # orb.shutdown(true)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct OfferedCodeBase(Arc<OnceLock<Vec<u8>>>);

impl OfferedCodeBase {
    /// Sets the code base for later requests and replies; returns whether none was set before.
    pub fn set(&self, code_base: &CodeBase) -> bool {
        let ior = code_base.as_object().ior();
        let mut writer = CdrWriter::new(Format::plain(ByteOrder::NATIVE, 0));
        writer.write_u8(ByteOrder::NATIVE.flag());
        ior.encode(&mut writer);
        let context = writer.finish();
        context.is_ok_and(|context| self.0.set(context).is_ok())
    }
}

impl ClientInterceptor for OfferedCodeBase {
    fn send_request(&self, request: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        if let Some(context) = self.0.get() {
            let id = service_context::SENDING_CONTEXT_RUN_TIME;
            request.add_service_context(id, context.clone(), true)?;
        }
        Ok(())
    }
}

impl ServerInterceptor for OfferedCodeBase {
    fn receive_request_service_contexts(
        &self,
        request: &mut ReceiveContexts<'_, '_>,
    ) -> Result<(), Interrupt> {
        if let Some(context) = self.0.get() {
            let id = service_context::SENDING_CONTEXT_RUN_TIME;
            request.add_reply_service_context(id, context.clone(), true)?;
        }
        Ok(())
    }
}

/// The reference in a service context 6.
///
/// # Errors
/// MARSHAL: it contains none.
pub fn code_base_in(context: &[u8]) -> Result<Ior, SystemException> {
    let read = decode_encapsulation(context, Ior::decode);
    let read = read.map_err(|error| SystemException::from_cdr(error, Completion::No))?;
    if read.is_nil() {
        return Err(ExceptionKind::Marshal.into());
    }
    Ok(read)
}

/// The code base of the sender of a request, if the request has one. It is not called yet; set a
/// time-out of the reference before ([`Interface::with_timeout`]): it may refer to any address.
///
/// # Errors
/// MARSHAL: the service context contains no reference.
pub fn code_base_of(call: &Call<'_>) -> Result<Option<CodeBase>, SystemException> {
    let id = service_context::SENDING_CONTEXT_RUN_TIME;
    let Some(context) = call.service_context(id) else {
        return Ok(None);
    };
    let object: ObjectRef = call.orb().plain_reference(code_base_in(context)?);
    Ok(Some(CodeBase::from_object(object)))
}
