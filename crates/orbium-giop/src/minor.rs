// SPDX-License-Identifier: MIT OR Apache-2.0
//! The one table of minor codes: the OMG's (CORBA 3.3 Part 1, annex A) and
//! orbium's own. Messages, the command line and the documentation all explain
//! a minor code from here.

use crate::ExceptionKind as Kind;

/// Prefix of the minor codes that the OMG assigned.
pub const OMG_VMCID: u32 = 0x4F4D_0000;
/// Prefix of orbium's own minor codes ("OR@"; not registered with the OMG).
pub const ORBIUM_VMCID: u32 = 0x4F52_4000;

/// Whose minor codes start with a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vendor {
    /// First minor code of the range.
    pub vmcid: u32,
    /// Last minor code of the range.
    pub last: u32,
    /// Name.
    pub name: &'static str,
}

/// The vendors whose prefixes are known.
pub const VENDORS: &[Vendor] = &[
    Vendor {
        vmcid: OMG_VMCID,
        last: 0x4F4D_0FFF,
        name: "OMG",
    },
    Vendor {
        vmcid: ORBIUM_VMCID,
        last: 0x4F52_4FFF,
        name: "orbium",
    },
    Vendor {
        vmcid: 0x4154_0000,
        last: 0x4154_FFFF,
        name: "omniORB",
    },
    Vendor {
        vmcid: 0x5441_0000,
        last: 0x5441_FFFF,
        name: "TAO",
    },
    Vendor {
        vmcid: 0x4A41_0000,
        last: 0x4A41_FFFF,
        name: "JacORB",
    },
    Vendor {
        vmcid: 0x5355_0000,
        last: 0x5355_FFFF,
        name: "Sun/GlassFish",
    },
    Vendor {
        vmcid: 0x4942_0000,
        last: 0x4942_FFFF,
        name: "IBM",
    },
];

/// Whose minor code it is, if known.
#[must_use]
pub fn vendor(minor: u32) -> Option<&'static Vendor> {
    VENDORS
        .iter()
        .find(|vendor| (vendor.vmcid..=vendor.last).contains(&minor))
}

/// One minor code of one exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinorCode {
    /// The exception.
    pub kind: Kind,
    /// The whole code, prefix included.
    pub minor: u32,
    /// What it means.
    pub text: &'static str,
}

impl MinorCode {
    /// The page that explains it, as `orbium explain` prints it.
    #[must_use]
    pub fn page(&self) -> String {
        self.text.to_owned()
    }
}

/// The entry of the table for an exception and minor code.
#[must_use]
pub fn explain(kind: Kind, minor: u32) -> Option<&'static MinorCode> {
    TABLE
        .iter()
        .find(|code| code.kind == kind && code.minor == minor)
}

macro_rules! table {
    (
        omg { $($kind:ident { $($minor:literal $text:literal,)* })* }
        orbium { $($own_kind:ident $own:ident $own_minor:literal $own_text:literal;)* }
    ) => {
        $(
            #[doc = concat!("orbium: ", $own_text, ".")]
            pub const $own: u32 = $own_minor;
        )*

        /// All minor codes that are known, by exception.
        pub const TABLE: &[MinorCode] = &[
            $($(MinorCode { kind: Kind::$kind, minor: OMG_VMCID | $minor, text: $text },)*)*
            $(MinorCode { kind: Kind::$own_kind, minor: ORBIUM_VMCID | $own, text: $own_text },)*
        ];
    };
}

table! {
    omg {
        Unknown {
            1 "the client received a user exception that the operation does not list",
            2 "a system exception that the standard does not know",
            3 "an interceptor met a user exception of unknown type",
        }
        BadParam {
            1 "a value factory could not be registered, unregistered or found",
            2 "the repository id exists already in the Interface Repository",
            3 "the name is used already in its context of the Interface Repository",
            4 "the target is no valid container",
            5 "name clash in an inherited context",
            6 "wrong type for an abstract interface",
            7 "string_to_object: bad scheme name",
            8 "string_to_object: bad address",
            9 "string_to_object: bad scheme-specific part",
            10 "string_to_object: the string cannot be converted",
            11 "an abstract interface was to inherit from one that is not",
            12 "a valuetype was to support more than one concrete interface",
            13 "an incomplete TypeCode was passed as a parameter",
            14 "invalid object id for create_reference_with_id",
            15 "bad name in a TypeCode operation",
            16 "bad repository id in a TypeCode operation",
            17 "invalid member name in a TypeCode operation",
            18 "duplicate label for create_union_tc",
            19 "label and discriminator types differ",
            20 "illegal discriminator type",
            21 "set_exception was given an any that holds no exception",
            22 "set_exception was given a user exception that is not listed",
            23 "wide-character code set missing from the service context",
            24 "service context id outside of the OMG's range",
            25 "enumeration value out of range",
            26 "invalid service context id in an interceptor",
            27 "register_initial_reference was given nil",
            28 "invalid component id in an interceptor",
            29 "invalid profile id in an interceptor",
            30 "the same policy type twice in set_policy_overrides",
            31 "a oneway with a result, out parameters or exceptions",
            32 "a dynamic request for an implicit operation",
            33 "XA: invalid arguments",
            34 "union member accessed while the discriminator selects another",
            35 "illegal property name for a context",
            36 "illegal search string for a context",
            37 "illegal context name",
            38 "the context is not empty",
            39 "unsupported RMI custom stream format",
            40 "an output stream is not a value output stream",
            41 "an input stream is not a value input stream",
            43 "the pollable is in a PollableSet already",
            44 "invalid compression level",
        }
        ImpLimit {
            1 "the reference has no usable profile",
        }
        InvObjref {
            1 "the server did not say which wide-character code set it has",
            2 "wide characters need a code-set component, which the reference lacks",
        }
        Marshal {
            1 "no factory for a value",
            2 "ServerRequest::set_result before ctx",
            3 "an NVList does not describe all parameters",
            4 "a local object was to be marshalled",
            5 "the client sent wide characters over GIOP 1.0",
            6 "the server returned wide characters over GIOP 1.0",
            7 "unsupported RMI stream format",
            8 "no more optional data in a custom value",
        }
        Initialize {
            1 "the range of priorities is too narrow for the ORB",
        }
        NoImplement {
            1 "no local implementation of a value",
            2 "the implementation of a value has an incompatible version",
            3 "no usable profile, or not supported by a local object",
            4 "dynamic invocation of a local object",
        }
        BadTypecode {
            1 "an incomplete TypeCode was marshalled",
            2 "a member has an illegitimate TypeCode",
            3 "illegal type of a parameter",
        }
        BadOperation {
            1 "a servant manager returned a servant of the wrong type",
            2 "the target has no such operation or attribute",
        }
        NoResources {
            1 "the interceptor operation is not supported in this binding",
            2 "there is no connection for the priority of the request",
        }
        NoResponse {
            1 "the reply is not available yet",
        }
        BadInvOrder {
            1 "a dependency prevents destruction in the Interface Repository",
            2 "this object of the Interface Repository cannot be destroyed",
            3 "the operation would wait for itself",
            4 "the ORB has shut down",
            5 "the request was sent already",
            6 "a servant manager is set already",
            7 "ServerRequest::arguments out of order",
            8 "ServerRequest::ctx out of order",
            9 "ServerRequest::set_result out of order",
            10 "the dynamic request was sent already",
            11 "the dynamic request was not sent yet",
            12 "the result was retrieved already",
            13 "a synchronous request cannot be polled",
            14 "interceptor operation not valid at this point",
            15 "a service context with this id exists already",
            16 "a PolicyFactory for this type is registered already",
            17 "create_POA while a POA of that name is being destroyed",
            18 "the priority of an active object cannot be changed",
            19 "XA: called outside of a transaction",
            20 "XA: called in an improper order",
            22 "the poller has no response yet",
        }
        Transient {
            1 "request discarded: the POA is out of resources or discards requests",
            2 "no usable profile",
            3 "the request was cancelled",
            4 "the POA was destroyed",
        }
        ObjAdapter {
            1 "an adapter activator raised a system exception",
            2 "a servant manager returned a servant of the wrong type",
            3 "no default servant is set",
            4 "no servant manager is set",
            5 "incarnate violated a policy of the POA",
            6 "components_established raised an exception",
            7 "a servant manager returned no servant",
        }
        DataConversion {
            1 "a character has no image in the transmission code set",
            2 "a priority could not be mapped",
        }
        ObjectNotExist {
            1 "an unactivated value was passed as a reference",
            2 "the object adapter could not be found or created",
            3 "specific to the domain",
            4 "the object adapter is inactive",
            5 "the poller delivered its reply already",
        }
        InvPolicy {
            1 "a policy of the reference cannot be reconciled with the override",
            2 "invalid policy type",
            3 "there is no PolicyFactory for this type",
        }
        Internal {
            1 "XA: resource manager error",
            2 "XA: resource manager failure",
        }
        IntfRepos {
            1 "there is no Interface Repository",
            2 "the Interface Repository has no entry",
        }
        BadContext {
            1 "the context was not found",
            2 "no property matches",
        }
        CodesetIncompatible {
            1 "code-set negotiation failed",
            2 "a code set of the service context is not supported",
        }
        Timeout {
            1 "no reply within the time to poll",
            2 "the end time of the request has passed",
            3 "the end time of the reply has passed",
        }
        TransactionRolledback {
            1 "XA: rolled back",
            2 "XA: unknown transaction",
            3 "XA: deferred",
        }
        ActivityCompleted {
            1 "the activity ended",
        }
        ActivityRequired {
            1 "an activity is required",
        }
        InvalidActivity {
            1 "the activity does not fit",
        }
    }
    orbium {
        Marshal TRUNCATED 0x001 "the data ends before the value does";
        Marshal COUNT_TOO_LARGE 0x002 "a count exceeds what the remaining data could hold";
        Marshal BOUND_EXCEEDED 0x003 "a bounded sequence or string is longer than its bound";
        Marshal TOO_DEEP 0x004 "values are nested too deeply";
        Marshal BAD_REFERENCE 0x005 "an object reference in the data is malformed";
        Marshal BAD_VALUE 0x006 "the data holds a value that its type does not have";
        Marshal MESSAGE_TOO_LARGE 0x007 "the message is larger than the configured limit";
        Marshal FRAGMENT_LIMIT 0x008 "fragments exceed the configured limits";
        Marshal REPLY_MALFORMED 0x009 "the reply cannot be understood";
        BadTypecode BAD_TYPECODE 0x010 "a TypeCode in the data is malformed";
        NoImplement NOT_MARSHALLABLE 0x011 "this construct cannot be marshalled";
        NoImplement NO_NAMING 0x012 "names are not looked up: ask the naming service for the reference, and use that";
        Transient CONNECT_REFUSED 0x020 "the connection was refused";
        Transient HOST_UNKNOWN 0x021 "the host name does not resolve";
        Transient CONNECT_TIMEOUT 0x022 "no connection within the time allowed";
        Transient CONNECT_FAILED 0x023 "the connection could not be made";
        Transient CONNECTION_CLOSED 0x024 "the server closed the connection before it served the request";
        Transient CONNECTION_LIMIT 0x025 "the limit of connections is reached";
        Transient TOO_MANY_FORWARDS 0x026 "the request was forwarded too often";
        Transient SERVER_BUSY 0x027 "the server has no room for the request";
        Transient SERVER_STARTING 0x028 "the server is starting: no POA manager has been activated yet";
        Transient NEVER_ACTIVATED 0x029 "the POA manager of the object was never activated: the server has to call poa.manager().activate()";
        Transient HELD_TOO_LONG 0x02A "the POA manager of the object held the request for as long as the server's limits.hold_time says";
        CommFailure CONNECTION_LOST 0x030 "the connection was lost while waiting for the reply";
        CommFailure SEND_FAILED 0x031 "the request could not be sent";
        CommFailure MESSAGE_ERROR 0x032 "the peer answered MessageError";
        CommFailure PROTOCOL_ERROR 0x033 "the peer sent what is no valid GIOP message";
        Timeout DEADLINE_PASSED 0x040 "the deadline of the call has passed";
        ObjectNotExist NO_SUCH_OBJECT 0x050 "no object is active under this id";
        ObjectNotExist STALE_OBJECT 0x051 "the reference is from an earlier incarnation of the server";
        ObjectNotExist UNKNOWN_KEY 0x052 "the object key is not known to this server";
        Unknown SERVANT_PANICKED 0x060 "the servant panicked";
        InvObjref NIL_REFERENCE 0x070 "the reference is nil";
        Internal INVARIANT_BROKEN 0x080 "an error inside orbium; please report it";
        NoPermission NOT_ALLOWED 0x090 "the configuration does not allow this";
        NoPermission PEER_NOT_TRUSTED 0x091 "the peer is not trusted, or does not trust us";
        InvPolicy NO_USABLE_PROTOCOL 0x0B0 "no protocol that the reference offers can be used: ask the reference which there are, and why not";
        NoResources SYSTEM_EXHAUSTED 0x0C0 "the system gives no further descriptor, thread or memory";
        ImpLimit LIMIT_REACHED 0x0A0 "a configured limit is reached";
        NoResources PEER_MEMORY 0x0C2 "no memory for the message: it does not fit into what peers may take together (limits.peer_memory), or the system has none";
        NoResources CALLS_UNDER_WAY 0x0C1 "as many asynchronous calls are under way as may be";
        NoResources BINDING_RATE 0x0D0 "the binding permits no more requests now: it was made for a lower rate";
        NoResources BINDING_BUFFER 0x0D1 "the binding has no room for the request: for its size, or for one more that waits";
        Rebind BINDING_LOST 0x0D2 "the binding has ended, with its connection or because it was given up: bind again";
        BadInvOrder FORKED 0x0E0 "this process was forked from the one whose threads do this";
    }
}
