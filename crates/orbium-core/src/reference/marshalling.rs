// SPDX-License-Identifier: MIT OR Apache-2.0
//! References in messages.

use std::sync::Arc;

use orbium_cdr::{
    CdrError, CdrErrorKind, CdrReader, CdrWriter, Decode, DecodeNillable, Encode, EncodeNillable,
    Type, Typed,
};
use orbium_giop::Ior;

use super::ObjectRef;
use crate::Orb;
use crate::client::Overrides;

impl Encode for ObjectRef {
    #[inline]
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        let owner = self.orb().owner();
        if writer.lends(owner) && !self.0.has_policies() {
            return;
        }
        writer.note_owner(owner);
        self.ior().encode(writer);
    }
}

impl EncodeNillable for ObjectRef {
    #[inline]
    fn encode_nillable<'a>(value: Option<&'a Self>, writer: &mut CdrWriter<'a>) {
        static NIL: Ior = Ior::NIL;
        match value {
            Some(object) => object.encode(writer),
            None => NIL.encode(writer),
        }
    }
}

impl DecodeNillable for ObjectRef {
    const MIN_SIZE: usize = 12;

    #[inline]
    fn decode_nillable(reader: &mut CdrReader<'_>) -> Result<Option<Self>, CdrError> {
        let ior = Ior::decode(reader)?;
        if ior.is_nil() {
            return Ok(None);
        }
        // A reference without an ORB could never be invoked.
        let orb = reader.owner().and_then(Orb::from_owner);
        match orb {
            Some(orb) => Ok(Some(Self::new(orb, Arc::new(ior), Overrides::default()))),
            None => Err(reader.error(CdrErrorKind::NotSupported)),
        }
    }
}

impl Typed for ObjectRef {
    const TYPE: &'static Type = Type::OBJECT;
}
