// SPDX-License-Identifier: MIT OR Apache-2.0
//! `resolve` for `corbaname:`, the only call that the ORB itself makes to a naming context.

use orbium_cdr::{Decode, Encode};

use crate::names::{Name, NameError, Refusal};
use crate::{ObjectRef, Operation};

/// `CosNaming::NamingContext::resolve`. It changes nothing, hence may be retried.
static RESOLVE: Operation = Operation::new("resolve").idempotent();

/// Resolves a name in a context; `None` is a name that is bound to nil.
pub(super) fn resolve(context: &ObjectRef, name: &Name) -> Result<Option<ObjectRef>, NameError> {
    let resolved: Result<_, Refusal> =
        context.call(&RESOLVE, |writer| name.encode(writer), Decode::decode);
    resolved.map_err(|refusal| refusal.0)
}
