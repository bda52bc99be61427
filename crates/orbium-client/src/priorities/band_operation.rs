// SPDX-License-Identifier: MIT OR Apache-2.0
//! The request that binds a connection to a priority band (RT-CORBA 1.2, clause 5.12.2).

use orbium_giop::{ExceptionKind, SystemException};
use orbium_invocation::Operation;

/// Requests a connection of a band from a server. The specification does not define its reply: it
/// is ignored here.
pub static BIND_PRIORITY_BAND: Operation = Operation::new("_bind_priority_band");

/// Whether that exception is the reply of a server without support for bands.
pub fn is_unknown_to_server(refused: SystemException) -> bool {
    matches!(
        refused.kind,
        ExceptionKind::BadOperation | ExceptionKind::NoImplement
    )
}
