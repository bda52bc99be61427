// SPDX-License-Identifier: MIT OR Apache-2.0
//! System exceptions (CORBA 3.3 Part 1, annex A).

use core::fmt;
use std::sync::OnceLock;

use orbium_cdr::{CdrError, CdrErrorKind};

use crate::minor;

/// Completion status of an operation that has raised an exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Completion {
    /// It was.
    Yes = 0,
    /// The operation was not begun, or had no effect: retrying is safe.
    No = 1,
    /// It is not known whether the operation completed.
    Maybe = 2,
}

impl Completion {
    /// The completion status that a number names.
    #[must_use]
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            0 => Some(Self::Yes),
            1 => Some(Self::No),
            2 => Some(Self::Maybe),
            _ => None,
        }
    }

    /// YES, NO or MAYBE.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Yes => "YES",
            Self::No => "NO",
            Self::Maybe => "MAYBE",
        }
    }
}

impl fmt::Display for Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

macro_rules! exception_kinds {
    ($($variant:ident $name:literal $text:literal;)*) => {
        /// The standard system exceptions.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum ExceptionKind {
            $(#[doc = concat!("`", $name, "`: ", $text, ".")] $variant,)*
        }

        impl ExceptionKind {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name in the specification, such as `BAD_PARAM`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                const NAMES: &[&str] = &[$($name),*];
                NAMES[self as usize]
            }

            /// The repository id, `IDL:omg.org/CORBA/…:1.0`.
            #[must_use]
            pub const fn repository_id(self) -> &'static str {
                const IDS: &[&str] = &[$(concat!("IDL:omg.org/CORBA/", $name, ":1.0")),*];
                IDS[self as usize]
            }

            /// Its meaning, in a few words.
            #[must_use]
            pub const fn text(self) -> &'static str {
                const TEXTS: &[&str] = &[$($text),*];
                TEXTS[self as usize]
            }

            /// The exception of that specification name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| kind.name() == name)
            }
        }
    };
}

exception_kinds! {
    Unknown "UNKNOWN" "an exception of a kind that is not known";
    BadParam "BAD_PARAM" "an invalid parameter was passed";
    NoMemory "NO_MEMORY" "memory ran out";
    ImpLimit "IMP_LIMIT" "an implementation limit was exceeded";
    CommFailure "COMM_FAILURE" "communication was lost while an operation was in progress";
    InvObjref "INV_OBJREF" "an invalid object reference";
    NoPermission "NO_PERMISSION" "the caller may not do that";
    Internal "INTERNAL" "an error inside the ORB";
    Marshal "MARSHAL" "data could not be marshalled or unmarshalled";
    Initialize "INITIALIZE" "the ORB could not be initialised";
    NoImplement "NO_IMPLEMENT" "the implementation is not available";
    BadTypecode "BAD_TYPECODE" "a bad TypeCode";
    BadOperation "BAD_OPERATION" "the object has no such operation";
    NoResources "NO_RESOURCES" "resources for the request ran out";
    NoResponse "NO_RESPONSE" "the response is not there yet";
    PersistStore "PERSIST_STORE" "persistent storage failed";
    BadInvOrder "BAD_INV_ORDER" "routines were called in the wrong order";
    Transient "TRANSIENT" "the object could not be reached; try again";
    FreeMem "FREE_MEM" "memory could not be freed";
    InvIdent "INV_IDENT" "an identifier is not valid IDL";
    InvFlag "INV_FLAG" "an invalid flag was given";
    IntfRepos "INTF_REPOS" "the Interface Repository could not be used";
    BadContext "BAD_CONTEXT" "a context object could not be processed";
    ObjAdapter "OBJ_ADAPTER" "the object adapter failed";
    DataConversion "DATA_CONVERSION" "data could not be converted";
    ObjectNotExist "OBJECT_NOT_EXIST" "there is no such object and will be none";
    TransactionRequired "TRANSACTION_REQUIRED" "a transaction is required";
    TransactionRolledback "TRANSACTION_ROLLEDBACK" "the transaction was rolled back";
    InvalidTransaction "INVALID_TRANSACTION" "an invalid transaction context";
    InvPolicy "INV_POLICY" "policies cannot be reconciled";
    CodesetIncompatible "CODESET_INCOMPATIBLE" "the two sides share no code set";
    Rebind "REBIND" "rebinding is needed but not allowed";
    Timeout "TIMEOUT" "the time to live of the request ran out";
    TransactionUnavailable "TRANSACTION_UNAVAILABLE" "the transaction service is out of reach";
    TransactionMode "TRANSACTION_MODE" "the transaction mode does not fit the target";
    BadQos "BAD_QOS" "the quality of service cannot be had";
    InvalidActivity "INVALID_ACTIVITY" "the activity does not fit";
    ActivityCompleted "ACTIVITY_COMPLETED" "the activity has ended";
    ActivityRequired "ACTIVITY_REQUIRED" "an activity is required";
    ThreadCancelled "THREAD_CANCELLED" "the distributable thread was cancelled";
}

impl ExceptionKind {
    /// The exception of that repository id.
    #[must_use]
    pub fn from_repository_id(id: &str) -> Option<Self> {
        let name = id.strip_prefix("IDL:omg.org/CORBA/")?;
        Self::from_name(name.strip_suffix(":1.0")?)
    }
}

impl fmt::Display for ExceptionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Writes the recorded steps of the call that raised an exception.
type StoryWriter = fn(&SystemException, &mut fmt::Formatter<'_>) -> fmt::Result;

/// The ORB's, if this process has one.
static STORYTELLER: OnceLock<StoryWriter> = OnceLock::new();

/// Sets the function that follows `{:#}` of system exceptions with the recorded steps of the call
/// that raised them. Only the first call has an effect.
#[doc(hidden)]
pub fn set_story_writer(write: fn(&SystemException, &mut fmt::Formatter<'_>) -> fmt::Result) {
    let _ = STORYTELLER.set(write);
}

/// A system exception: the error of an invocation.
///
/// Its `{:#}` form is followed by the steps of the failed call that an ORB recorded on this thread,
/// if any: operation, object, address, phase, causes, and the duration of each.
///
/// ```
/// use orbium_giop::{Completion, ExceptionKind, SystemException};
/// let exception = SystemException::omg(ExceptionKind::BadOperation, 2, Completion::No);
/// assert_eq!(
///     exception.to_string(),
///     "BAD_OPERATION (completed NO): the target has no such operation or attribute [OMG minor 2]"
/// );
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SystemException {
    /// The kind of exception.
    pub kind: ExceptionKind,
    /// Whether the operation was completed.
    pub completed: Completion,
    /// Minor code: the upper 20 bits identify the vendor, the lower 12 the code in its
    /// table.
    pub minor: u32,
}

impl SystemException {
    /// An exception with a complete minor code.
    #[must_use]
    pub const fn new(kind: ExceptionKind, minor: u32, completed: Completion) -> Self {
        Self {
            kind,
            completed,
            minor,
        }
    }

    /// An exception with a minor code of the OMG's table.
    #[must_use]
    pub const fn omg(kind: ExceptionKind, minor: u32, completed: Completion) -> Self {
        Self::new(kind, minor::OMG_VMCID | minor, completed)
    }

    /// An exception with a minor code of orbium's own table.
    #[must_use]
    pub const fn orbium(kind: ExceptionKind, minor: u32, completed: Completion) -> Self {
        Self::new(kind, minor::ORBIUM_VMCID | minor, completed)
    }

    /// The exception in a received reply. An id that is not that of a standard system exception
    /// becomes UNKNOWN, OMG minor 2.
    #[must_use]
    pub fn from_body(id: &str, minor: u32, completed: Completion) -> Self {
        match ExceptionKind::from_repository_id(id) {
            Some(kind) => Self::new(kind, minor, completed),
            None => Self::omg(ExceptionKind::Unknown, 2, completed),
        }
    }

    /// The exception that a marshalling error is raised as.
    #[must_use]
    #[cold]
    pub const fn from_cdr(error: CdrError, completed: Completion) -> Self {
        use ExceptionKind::{
            BadTypecode, DataConversion, InvObjref, Marshal, NoImplement, NoResources,
        };
        let (kind, minor) = match error.kind {
            CdrErrorKind::LocalObject => (Marshal, minor::OMG_VMCID | 4),
            CdrErrorKind::UnknownValue => (Marshal, minor::OMG_VMCID | 1),
            CdrErrorKind::BeyondState => (Marshal, minor::OMG_VMCID | 8),
            CdrErrorKind::WideInGiop10 => (Marshal, minor::OMG_VMCID | 5),
            CdrErrorKind::WideNotNegotiated => (InvObjref, minor::OMG_VMCID | 1),
            CdrErrorKind::CannotConvert => (DataConversion, minor::OMG_VMCID | 1),
            CdrErrorKind::BadTypeCode => (BadTypecode, minor::ORBIUM_VMCID | minor::BAD_TYPECODE),
            CdrErrorKind::IncompleteTypeCode => (BadTypecode, minor::OMG_VMCID | 1),
            CdrErrorKind::NotSupported | CdrErrorKind::ValuesLeftOut => {
                (NoImplement, minor::ORBIUM_VMCID | minor::NOT_MARSHALLABLE)
            }
            CdrErrorKind::NoMemory => (NoResources, minor::ORBIUM_VMCID | minor::PEER_MEMORY),
            CdrErrorKind::Truncated => (Marshal, minor::ORBIUM_VMCID | minor::TRUNCATED),
            CdrErrorKind::CountTooLarge => (Marshal, minor::ORBIUM_VMCID | minor::COUNT_TOO_LARGE),
            CdrErrorKind::BoundExceeded => (Marshal, minor::ORBIUM_VMCID | minor::BOUND_EXCEEDED),
            CdrErrorKind::TooDeep => (Marshal, minor::ORBIUM_VMCID | minor::TOO_DEEP),
            CdrErrorKind::BadReference => (Marshal, minor::ORBIUM_VMCID | minor::BAD_REFERENCE),
            _ => (Marshal, minor::ORBIUM_VMCID | minor::BAD_VALUE),
        };
        Self::new(kind, minor, completed)
    }

    /// The repository id, as sent.
    #[must_use]
    pub const fn repository_id(&self) -> &'static str {
        self.kind.repository_id()
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for SystemException {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for SystemException {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_sentence(f)?;
        match STORYTELLER.get() {
            Some(write) if f.alternate() => write(self, f),
            _ => Ok(()),
        }
    }
}

impl SystemException {
    fn write_sentence(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (completed {}): ", self.kind, self.completed)?;
        let explained = minor::explain(self.kind, self.minor);
        match explained {
            Some(code) => f.write_str(code.text)?,
            None => f.write_str(self.kind.text())?,
        }
        let (low, vmcid) = (self.minor & 0xFFF, self.minor & !0xFFF);
        match minor::vendor(self.minor) {
            _ if self.minor == 0 => Ok(()),
            Some(vendor) if vendor.vmcid == vmcid => write!(f, " [{} minor {low}]", vendor.name),
            Some(vendor) => write!(f, " [{} minor {:#010x}]", vendor.name, self.minor),
            None => write!(f, " [minor {:#010x}]", self.minor),
        }
    }
}

impl core::error::Error for SystemException {}

impl From<orbium_cdr::CdrError> for SystemException {
    /// An encoding or decoding error, completion status NO.
    fn from(error: orbium_cdr::CdrError) -> Self {
        Self::from_cdr(error, Completion::No)
    }
}

impl From<orbium_cdr::AnyError> for SystemException {
    /// BAD_PARAM for a value of another type than expected.
    fn from(error: orbium_cdr::AnyError) -> Self {
        match error {
            orbium_cdr::AnyError::TypeMismatch => ExceptionKind::BadParam.into(),
            orbium_cdr::AnyError::Marshal(error) => error.into(),
        }
    }
}

impl From<ExceptionKind> for SystemException {
    /// Minor code 0, completion status NO.
    fn from(kind: ExceptionKind) -> Self {
        Self::new(kind, 0, Completion::No)
    }
}
