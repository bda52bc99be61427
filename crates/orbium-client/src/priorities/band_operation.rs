// SPDX-License-Identifier: MIT OR Apache-2.0
//! The request that binds a connection to a priority band (RT-CORBA 1.2, clause 5.12.2).

use orbium_giop::{ExceptionKind, SystemException};
use orbium_invocation::Operation;

/// Asks a server for a connection of a band. The text leaves its reply open:
/// nothing of it is needed here.
pub static BIND_PRIORITY_BAND: Operation = Operation::new("_bind_priority_band");

/// Whether that is what a server says to a band that does not know of any.
pub fn is_unknown_to_server(refused: SystemException) -> bool {
    matches!(
        refused.kind,
        ExceptionKind::BadOperation | ExceptionKind::NoImplement
    )
}
