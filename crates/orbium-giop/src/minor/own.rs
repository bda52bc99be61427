// SPDX-License-Identifier: MIT OR Apache-2.0
//! The minor codes of orbium's own, each with its page.

use super::pages;
use crate::ExceptionKind as Kind;
use crate::minor::{MinorCode, ORBIUM_VMCID};

macro_rules! codes {
    ($($kind:ident $name:ident $minor:literal $text:literal $page:literal;)*) => {
        $(
            #[doc = concat!("orbium: ", $text, ".")]
            pub const $name: u32 = $minor;
        )*

        pages! {
            ORBIUM_VMCID;
            $($kind $minor $text $page;)*
        }
    };
}

codes! {
    Marshal TRUNCATED 0x001 "the data ends before the value does"
        "A message ended before the value that was being read from it. Client and \
         server were compiled from different IDL, or the peer's ORB writes something \
         that it should not. Compile both sides from the same file; the story \
         (`{:#}`) says at which octet reading stopped.";
    Marshal COUNT_TOO_LARGE 0x002 "a count exceeds what the remaining data could hold"
        "The length of a sequence or string exceeds what is left of its message. \
         Client and server were compiled from different IDL, or the peer is hostile. \
         Nothing was allocated for it.";
    Marshal BOUND_EXCEEDED 0x003 "a bounded sequence or string is longer than its bound"
        "A bounded sequence or string is longer than IDL allows. Raised by the sender \
         as BAD_PARAM, for its own argument; by the receiver as MARSHAL, for what \
         came. Shorten it, or raise the bound in IDL on both sides.";
    Marshal TOO_DEEP 0x004 "values are nested too deeply"
        "Values within values (recursive structs, sequences in anys) are nested more \
         deeply than `limits.nesting` permits. Raise that limit if the data are meant \
         to be so deep.";
    Marshal BAD_REFERENCE 0x005 "an object reference in the data is malformed"
        "An object reference in an argument or result cannot be read: its profiles \
         are malformed. The peer's ORB made it so; `orbium ior` reads the same \
         reference outside of the call.";
    Marshal BAD_VALUE 0x006 "the data holds a value that its type does not have"
        "The data hold what their type does not have: an enumerator beyond the last, \
         a boolean of 2, text that is not in its code set, a discriminator without a \
         case. Client and server were compiled from different IDL, or the peer is in \
         error.";
    Marshal MESSAGE_TOO_LARGE 0x007 "the message is larger than the configured limit"
        "A message exceeds this side's `limits.message_size`: a request that was to \
         be sent, or a reply that came. The story (`{:#}`) has both sizes. Raise the \
         limit, or pass the data in parts. A request that exceeds the server's limit \
         raises IMP_LIMIT:161.";
    Marshal FRAGMENT_LIMIT 0x008 "fragments exceed the configured limits"
        "The fragments of unfinished messages exceed what a connection may keep: \
         `limits.message_size`, or their number. Raise the limits, or let the peer \
         send fewer at once.";
    Marshal REPLY_MALFORMED 0x009 "the reply cannot be understood"
        "The reply has a status or a body that GIOP does not have, or the server asks \
         to be addressed in a way that cannot be. It is an error of the server's ORB.";
    BadTypecode BAD_TYPECODE 0x010 "a TypeCode in the data is malformed"
        "A TypeCode in an any or an argument cannot be read. The peer's ORB made it \
         so, or the message is cut.";
    NoImplement NOT_MARSHALLABLE 0x011 "this construct cannot be marshalled"
        "A value of this kind cannot be sent: it has no form on the wire, or none \
         that orbium writes yet. The guide's mapping says which constructs are left \
         out.";
    Transient CONNECT_REFUSED 0x020 "the connection was refused"
        "The host answered that no process listens at that port (or, with a Unix \
         socket, behind the file). The server is not running, listens at \
         another port or address, or has just crashed; a firewall may answer so as \
         well. Look at what the server publishes (`orbium ior REFERENCE`) and whether \
         it listens there (`ss -ltnp`); `orbium ping REFERENCE` tries again. Calling \
         again later is safe: nothing was sent.";
    Transient HOST_UNKNOWN 0x021 "the host name does not resolve"
        "The name of the host in the reference does not resolve here. A server that \
         publishes its bare host name is often unknown elsewhere: give its endpoint \
         `publish=` with a name or address that clients can reach, or add the name to \
         the DNS.";
    Transient CONNECT_TIMEOUT 0x022 "no connection within the time allowed"
        "No answer came within `connect_timeout`, or the call's own time. The host \
         is down or unreachable, or a firewall drops packets without a word; or, with \
         TLS, the peer did not finish its handshake. Nothing was sent.";
    Transient CONNECT_FAILED 0x023 "the connection could not be made"
        "The connection could not be made, for another reason than a refusal: no \
         route to the host, no permission, an address that is not there. The story \
         (`{:#}`) has the system's words. Nothing was sent.";
    Transient CONNECTION_CLOSED 0x024 "the server closed the connection before it served the request"
        "The server closed the connection in order (CloseConnection) each time before \
         it had begun the request, and sending it again did not help either. It is \
         ending, or closes connections at once because of a limit. Calling again \
         later is safe.";
    Transient CONNECTION_LIMIT 0x025 "the limit of connections is reached"
        "All connections that there may be to that server are busy, and this call \
         cannot wait for one: the only connection of a binding is in use by a call \
         that this one is part of. Raise `limits.connections_per_server`, or let the \
         outer call end first.";
    Transient TOO_MANY_FORWARDS 0x026 "the request was forwarded too often"
        "Servers said more often than `limits.forwards` that the object is elsewhere. \
         Two of them send calls to each other in a circle; the story (`{:#}`) lists \
         where the call was sent.";
    Transient SERVER_BUSY 0x027 "the server has no room for the request"
        "The server has no room for the request: the queue of its lane is full, or \
         its threads are all busy and it is not to wait. Call again after a while, \
         with a growing pause. On the server: more threads, a larger queue, or fewer \
         clients.";
    Transient SERVER_STARTING 0x028 "the server is starting: no POA manager has been activated yet"
        "The server listens, and has not activated its first POA manager yet: the objects may \
         come. Call again after a while. If it never ends, the server's program does not \
         activate a manager: `orb.root_poa().manager().activate()`.";
    Transient NEVER_ACTIVATED 0x029 "the POA manager of the object was never activated: the server has to call poa.manager().activate()"
        "The object's adapter has a POA manager of its own that the server's program never \
         activated, so no request reaches the servant. Activate it where the adapter is made: \
         `poa.manager().activate()`.";
    Transient HELD_TOO_LONG 0x02A "the POA manager of the object held the request for as long as the server's limits.hold_time says"
        "The POA manager of the object is holding requests, and did so for `limits.hold_time`. \
         Call again after a while; on the server, activate the manager, or raise that limit.";
    Transient ONEWAYS_BUFFERED 0x02B "the buffer of oneways of the connection is full, and the server accepts no data"
        "The server did not take what was sent to it, and `limits.buffered_oneways` octets of \
         oneways wait already. Call less often, give the calls more time, or raise the limit.";
    CommFailure CONNECTION_LOST 0x030 "the connection was lost while waiting for the reply"
        "The connection broke while the reply was awaited, so it is not known whether \
         the operation was completed. The server crashed or was killed, or something \
         between the two dropped the connection; its log says which. Repeat the call \
         only if doing it twice does no harm; operations that IDL calls `@idempotent` \
         are repeated with `limits.idempotent_retries`.";
    CommFailure SEND_FAILED 0x031 "the request could not be sent"
        "The request could not be sent whole, over new connections too. The server \
         cannot have begun it. The story (`{:#}`) has the system's words.";
    CommFailure MESSAGE_ERROR 0x032 "the peer answered MessageError"
        "The server could not read what was sent, and answered MessageError. It \
         speaks an older GIOP than its reference says, or its limits are exceeded, or \
         something between the two changed the data. Look at the server's log.";
    CommFailure PROTOCOL_ERROR 0x033 "the peer sent an invalid GIOP message"
        "What came from the server is no GIOP message. Something else listens at that \
         port (an HTTP server, a TLS endpoint that is called without TLS), or the \
         connection is out of step. The story (`{:#}`) says what is wrong with it.";
    Timeout DEADLINE_PASSED 0x040 "the deadline of the call has passed"
        "The call took longer than its policies permit: `call_timeout`, a roundtrip \
         or request timeout, or an end time. The story (`{:#}`) has the phase that it \
         was in and how long each took. In `connect` the host does not answer; in \
         `wait` the server is slow, hangs, or holds the request because its manager \
         was never activated. Completed NO: nothing was begun; MAYBE: it may have \
         been.";
    ObjectNotExist NO_SUCH_OBJECT 0x050 "no object is active under this id"
        "The adapter is there, and no object is active under that id. It was \
         deactivated, or never activated in this server; a reference that outlives \
         its object leads here. Get a new reference.";
    ObjectNotExist STALE_OBJECT 0x051 "the reference is from an earlier incarnation of the server"
        "The reference is of an earlier run of the server, whose transient objects \
         ended with it. Get a new one, or give the adapter the lifespan PERSISTENT, \
         with ids of the user's.";
    ObjectNotExist UNKNOWN_KEY 0x052 "the object key is not known to this server"
        "The server has no object of that key, and it is none of its own making. The \
         reference is of another server that listened at this address before, or the \
         key in the `corbaloc:` is misspelt. `orbium ping` with the same URL tries \
         again.";
    Unknown SERVANT_PANICKED 0x060 "the servant or an interceptor panicked"
        "Code of a servant or interceptor panicked; the ORB goes on. Its standard error has the \
         message and the place. What the operation had done until then stays done.";
    InvObjref NIL_REFERENCE 0x070 "the reference is nil"
        "A call was made through a nil reference, or one was received where an object \
         is required. Check the reference before calling.";
    Internal INVARIANT_BROKEN 0x080 "an error inside orbium; please report it"
        "Something that cannot be has happened inside orbium. Please report it, with \
         the story (`{:#}`) and what the program did.";
    NoPermission NOT_ALLOWED 0x090 "the configuration does not allow this"
        "The server's configuration does not allow this peer or this request. Look at \
         the server's log and configuration.";
    NoPermission PEER_NOT_TRUSTED 0x091 "the peer is not trusted, or does not trust us"
        "One side does not trust the other: an authority that is not known, a \
         certificate that has expired, is not yet valid or is for another host, a \
         client without a certificate where one is required, or no protocol version \
         in common. The story (`{:#}`) says which; other addresses of the reference \
         were not tried for that reason.";
    InvPolicy NO_USABLE_PROTOCOL 0x0B0 "no protocol of the reference can be used: `object.protocols()` lists them with the reasons"
        "Nothing that the reference offers can be used: the client's policy names \
         none of it, the transport or messaging protocol is not registered or was left \
         out as a feature, or profiles are not understood. The story (`{:#}`) lists \
         every offer and what stands in its way; so does `object.protocols()`.";
    NoResources SYSTEM_EXHAUSTED 0x0C0 "the system gives no further descriptor, thread or memory"
        "The system gives this process no further descriptor, thread or memory. Look \
         at `ulimit -n` and `-u`, and at the limits of the control group (`pids.max`, \
         `memory.max`). The story and the log name the one that was met.";
    ImpLimit LIMIT_REACHED 0x0A0 "a configured limit is reached"
        "A limit of the configuration is reached. The log names the key.";
    ImpLimit REQUEST_TOO_LARGE 0x0A1 "the request is larger than the server takes (its `limits.message_size`)"
        "The request is larger than the server takes: its `limits.message_size`. It \
         was not begun. Raise the limit at the server, or pass the data in parts.";
    NoResources CALLS_UNDER_WAY 0x0C1 "the limit of asynchronous calls in progress is reached"
        "As many asynchronous calls wait for replies as `limits.asynchronous_calls` \
         permits. Take or drop results before beginning more.";
    NoResources PEER_MEMORY 0x0C2 "no memory for the message: the budget of all peers (limits.peer_memory) or of the system is exhausted"
        "All that peers make this ORB keep (messages that have begun, fragments, queues) has one \
         budget, `limits.peer_memory`, and this message did not fit any more. Call again after a \
         while, or pass the data in parts; where the host has the memory, raise the limit.";
    NoResources BINDING_RATE 0x0D0 "the binding permits no more requests now: it was made for a lower rate"
        "The explicit binding was made for a lower rate of requests than this. Call \
         less often, or bind anew with a shorter period.";
    NoResources BINDING_BUFFER 0x0D1 "the binding has no room for the request: for its size, or for one more that waits"
        "The explicit binding has no buffer left at the server: the request is larger \
         than was agreed, or too many wait. Bind anew with larger values.";
    Rebind BINDING_LOST 0x0D2 "the binding has ended, with its connection or because it was given up: bind again"
        "The explicit binding ended, with its connection or because one side gave it \
         up, and what was set aside at the server is free. Bind again.";
    NoResources NOT_RESERVED 0x0D3 "the host refuses to reserve the time of a processor that was asked for"
        "The thread of the explicit binding, or of the thread pool's lane, has not got its \
         reservation: the host's admission refuses what it could not keep together with the other \
         reservations, or the process may not reserve. Ask for a shorter runtime, or for none; \
         `orbium doctor` says whether the host permits reservations.";
    BadInvOrder FORKED 0x0E0 "this process was forked from the one whose threads do this"
        "The ORB's threads stayed in the process that was forked from: a child has none of them, \
         and cannot serve or wait through that ORB. Make an ORB of its own in the child.";
}
