// SPDX-License-Identifier: MIT OR Apache-2.0
//! The operations that every object has.

use orbium_cdr::{CdrReader, Encode};
use orbium_giop::real_time::{PriorityBand, read_priority_range_context};
use orbium_giop::service_context::RT_CORBA_PRIORITY_RANGE;
use orbium_giop::{Completion, ExceptionKind, Ior, SystemException};

use crate::adapter::ActiveObject;
use crate::raises::DispatchError;
use crate::servant::Call;
use crate::unknown_operation;
use orbium_request::UntypedReply;

/// The band of a connection, which a client must name.
#[cold]
fn band(context: Option<&[u8]>) -> Result<PriorityBand, SystemException> {
    let bad = SystemException::new(ExceptionKind::BadParam, 0, Completion::No);
    read_priority_range_context(context.ok_or(bad)?).map_err(|_| bad)
}

/// Names of attributes start with `_get_` or `_set_`; all other names with a leading underscore are
/// the ORB's.
#[inline]
pub(in crate::adapter) fn is_implicit(operation: &[u8]) -> bool {
    matches!(operation, [b'_', rest @ ..] if !rest.starts_with(b"get_") && !rest.starts_with(b"set_"))
}

/// The operations every object has (CORBA 3.3 Part 2, clause 9.4.2.1).
#[cold]
pub(super) fn serve_implicit(
    object: &ActiveObject,
    call: &Call<'_>,
    arguments: &mut CdrReader<'_>,
    reply: &mut UntypedReply<'_>,
) -> Result<(), DispatchError> {
    // As text: octets would be compared one by one.
    match str::from_utf8(call.operation()).unwrap_or_default() {
        "_is_a" => {
            let id = arguments.read_str()?;
            let is_a = object.has_interface(&id);
            reply.write_result(&mut |writer| writer.write_bool(is_a))
        }
        "_non_existent" | "_not_existent" => {
            reply.write_result(&mut |writer| writer.write_bool(false))
        }
        "_repository_id" => {
            let id = object.interface();
            reply.write_result(&mut |writer| id.encode(writer))
        }
        "_bind_priority_band" => match object.extension() {
            Some(extension) => {
                let asked = call.service_contexts().find(RT_CORBA_PRIORITY_RANGE);
                extension.0.bind_band(band(asked)?)?;
                reply.write_result(&mut |_| {})
            }
            None => Err(unknown_operation()),
        },
        "_interface" => {
            let orb = call.orb();
            let definition = orb.definition_of(&object.interface(), call.deadline())?;
            reply.write_result(&mut |writer| definition.ior().encode(writer))
        }
        // No object here is a component, or a facet of one.
        "_component" => {
            static NIL: Ior = Ior::NIL;
            reply.write_result(&mut |writer| NIL.encode(writer))
        }
        "_domain_managers" => {
            Err(SystemException::new(ExceptionKind::NoImplement, 0, Completion::No).into())
        }
        _ => Err(unknown_operation()),
    }
}
