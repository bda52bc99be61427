// SPDX-License-Identifier: MIT OR Apache-2.0
//! The body of a reply, kept until its types are applied.

use orbium_cdr::{
    Any, CdrError, CdrReader, CdrWriter, Encode, Format, Owner, TypeCode, copy_value,
};

/// The rest of a message, with the context for reading it later.
#[derive(Clone)]
pub(crate) struct Body {
    octets: Vec<u8>,
    /// Of fragments that are aligned separately.
    boundaries: Vec<u32>,
    /// Of the first octet, from the alignment origin.
    position: usize,
    format: Format,
    owner: Option<Owner>,
}

impl Body {
    /// Takes all remaining octets.
    pub(crate) fn take(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        let position = reader.position();
        let boundaries = reader.boundaries_ahead();
        let rest = reader.remaining();
        Ok(Self {
            octets: reader.take(rest)?.to_vec(),
            boundaries,
            position,
            format: reader.format(),
            owner: reader.owner().cloned(),
        })
    }

    /// The octets as they were received.
    pub(crate) fn octets(&self) -> &[u8] {
        &self.octets
    }

    /// Reads it.
    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(&mut CdrReader<'_>) -> Result<T, CdrError>,
    ) -> Result<T, CdrError> {
        // A reader converts foreign byte order in place.
        let mut octets = self.octets.clone();
        let reader = CdrReader::at(&mut octets, self.position, self.format);
        let reader = reader.with_boundaries_ahead(&self.boundaries);
        read(&mut reader.with_owner(self.owner.as_ref()))
    }

    /// The exception with these members.
    pub(crate) fn exception(&self, code: &TypeCode) -> Result<Any, CdrError> {
        let members = Members { code, body: self };
        Any::with_type(code.clone(), &members)
    }
}

/// The members of an exception, without the repository id that precedes them in an any.
struct Members<'b> {
    code: &'b TypeCode,
    body: &'b Body,
}

impl Encode for Members<'_> {
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        if let Some(owner) = &self.body.owner {
            writer.note_owner(owner);
        }
        let copied = self.body.read(|reader| {
            for member in self.code.members() {
                if let Some(code) = member.type_code() {
                    copy_value(code, reader, writer)?;
                }
            }
            Ok(())
        });
        if let Err(error) = copied {
            writer.fail(error.kind);
        }
    }
}
