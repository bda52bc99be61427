// SPDX-License-Identifier: MIT OR Apache-2.0
//! `Messaging::ExceptionHolder`: an exception as a value.

use orbium_cdr::{ByteOrder, CdrError, CdrReader, CdrWriter, Decode, Encode, Format, Owner};
use orbium_core::{Completion, ExceptionKind, Raised, Raises, SystemException};
use orbium_giop::SystemExceptionBody;

orbium_value::idl_value_handle! {
    [
        /// An exception that a call raised, for its reply handler (CORBA 3.3 Part 1, 17.8:
        /// `Messaging::ExceptionHolder`).
        ///
        /// [`raise_exception`](Self::raise_exception) gives it as the error type of the operation:
        ///
        /// ```
        /// use orbium::messaging::ExceptionHolder;
        /// use orbium::{ExceptionKind, SystemException};
        ///
        /// let refused = SystemException::from(ExceptionKind::NoPermission);
        /// let holder = ExceptionHolder::of(&refused);
        /// assert!(holder.is_system_exception());
        /// assert_eq!(holder.raise_exception::<SystemException>(), refused);
        /// ```
    ]
    ExceptionHolder EXCEPTION_HOLDER_TYPE "IDL:omg.org/Messaging/ExceptionHolder:1.0" Plain
    [] [] []
}
orbium_value::idl_value_access! { ExceptionHolder ExceptionHolderState }
orbium_value::idl_value_state! { ExceptionHolderState }

orbium_cdr::idl_type! {
    ExceptionHolder EXCEPTION_HOLDER_TYPE = orbium_cdr::Type::value(
        "IDL:omg.org/Messaging/ExceptionHolder:1.0",
        "ExceptionHolder",
        orbium_value::Kind::Plain.modifier(),
        None,
        &[
            orbium_cdr::Member::state("is_system_exception", <bool as orbium_cdr::Typed>::TYPE, false),
            orbium_cdr::Member::state("byte_order", <bool as orbium_cdr::Typed>::TYPE, false),
            orbium_cdr::Member::state("marshaled_exception", <Vec<u8> as orbium_cdr::Typed>::TYPE, false),
        ],
    )
    .copied_by(|reader, writer| {
        orbium_value::copy_value(
            <ExceptionHolder as orbium_value::ValueType>::class(),
            reader,
            writer,
        )
    })
}

/// The state of an [`ExceptionHolder`].
#[derive(Clone, Debug, Default)]
pub struct ExceptionHolderState {
    /// Whether it is a system exception.
    pub is_system_exception: bool,
    /// The byte order of the octets: true for little endian.
    pub byte_order: bool,
    /// The exception as in the body of a reply: its repository id, then its members, aligned from
    /// here. Text is UTF-8 and UTF-16.
    pub marshaled_exception: Vec<u8>,
    /// The ORB of the references among the members.
    owner: Option<Owner>,
}

impl PartialEq for ExceptionHolderState {
    fn eq(&self, other: &Self) -> bool {
        self.is_system_exception == other.is_system_exception
            && self.byte_order == other.byte_order
            && self.marshaled_exception == other.marshaled_exception
    }
}

impl Encode for ExceptionHolderState {
    fn encode<'a>(&'a self, writer: &mut CdrWriter<'a>) {
        if let Some(owner) = &self.owner {
            writer.note_owner(owner);
        }
        writer.write_bool(self.is_system_exception);
        writer.write_bool(self.byte_order);
        writer.write_octets(&self.marshaled_exception);
    }
}

impl Decode for ExceptionHolderState {
    const MIN_SIZE: usize = 0;

    fn decode(reader: &mut CdrReader<'_>) -> Result<Self, CdrError> {
        Ok(Self {
            is_system_exception: reader.read_bool()?,
            byte_order: reader.read_bool()?,
            marshaled_exception: reader.read_octets()?.to_vec(),
            owner: reader.owner().cloned(),
        })
    }
}

impl ExceptionHolder {
    /// Holds the exception of an operation. If it cannot be marshalled, the holder has the system
    /// exception of that failure.
    pub fn of(exception: &impl Raises) -> Self {
        let state = match exception.raised() {
            Raised::System(exception) => Ok(system(exception)),
            Raised::User(id, members) => user(id, members),
        };
        let unwritable = |error| system(SystemException::from_cdr(error, Completion::Yes));
        Self::new(state.unwrap_or_else(unwritable))
    }

    /// Whether it is a system exception.
    pub fn is_system_exception(&self) -> bool {
        self.read().is_system_exception
    }

    /// The exception, as the error type of the operation (`raise_exception`). An exception that the
    /// operation does not declare becomes UNKNOWN 1, undecodable octets become MARSHAL.
    pub fn raise_exception<E: Raises>(&self) -> E {
        self.decoded().unwrap_or_else(|error| {
            let unreadable = SystemException::from_cdr(error, Completion::Yes);
            unreadable.into()
        })
    }

    fn decoded<E: Raises>(&self) -> Result<E, CdrError> {
        let state = self.read();
        let mut octets = state.marshaled_exception.clone();
        let format = Format {
            order: if state.byte_order {
                ByteOrder::Little
            } else {
                ByteOrder::Big
            },
            ..Format::native()
        };
        let mut reader = CdrReader::new(&mut octets, format).with_owner(state.owner.as_ref());
        if state.is_system_exception {
            let body = SystemExceptionBody::read(&mut reader)?;
            return Ok(body.exception().into());
        }
        let id = reader.read_name()?;
        let undeclared = SystemException::omg(ExceptionKind::Unknown, 1, Completion::Yes);
        E::decode_raised(id, &mut reader).unwrap_or_else(|| Ok(undeclared.into()))
    }
}

fn system(exception: SystemException) -> ExceptionHolderState {
    let mut writer = CdrWriter::new(Format::native());
    SystemExceptionBody::from(exception).write(&mut writer);
    ExceptionHolderState {
        is_system_exception: true,
        byte_order: ByteOrder::NATIVE == ByteOrder::Little,
        // Numbers and the name of a known exception can be written.
        marshaled_exception: writer.finish().unwrap_or_default(),
        owner: None,
    }
}

fn user(id: &str, members: &dyn Encode) -> Result<ExceptionHolderState, CdrError> {
    let mut writer = CdrWriter::new(Format::native());
    writer.write_name(id);
    members.encode(&mut writer);
    let owner = writer.owner();
    Ok(ExceptionHolderState {
        is_system_exception: false,
        byte_order: ByteOrder::NATIVE == ByteOrder::Little,
        marshaled_exception: writer.finish()?,
        owner,
    })
}
