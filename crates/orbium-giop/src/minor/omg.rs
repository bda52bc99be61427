// SPDX-License-Identifier: MIT OR Apache-2.0
//! The minor codes that the OMG assigned, each with its page.

use super::pages;
use crate::ExceptionKind as Kind;
use crate::minor::{MinorCode, OMG_VMCID};

pages! {
    OMG_VMCID;
    Unknown 1 "the client received a user exception that the operation does not list"
        "The server raised a user exception that the client's IDL does not list for this \
         operation. Client and server were compiled from different IDL: compile both from the \
         same file. An exception that was added to a `raises` clause reaches old clients this \
         way.";
    Unknown 2 "a system exception that the standard does not know"
        "The server raised a system exception whose repository id is none of the standard's. It \
         is an ORB of a newer standard, or one that makes system exceptions of its own. Look at \
         the server's log for what it raised.";
    Unknown 3 "an interceptor met a user exception of unknown type"
        "An interceptor on the way met a user exception whose type it does not know. Give it the \
         type, or let it pass exceptions on unread.";
    BadParam 1 "a value factory could not be registered, unregistered or found"
        "A value factory was registered twice, or asked for or removed though it was never \
         registered. Register each factory once, before values of its type are received.";
    BadParam 2 "the repository id exists already in the Interface Repository"
        "A definition was to be created in the Interface Repository under a repository id that \
         another has. Choose another id or version, or destroy the old definition first.";
    BadParam 3 "the name is used already in its context of the Interface Repository"
        "A definition was to be created in the Interface Repository under a name that its \
         container has already; names differ by more than upper and lower case. Rename one of \
         them.";
    BadParam 4 "the target is no valid container"
        "The container given to the Interface Repository cannot hold a definition of that kind. A \
         struct cannot hold an interface, for example: give the module or interface instead.";
    BadParam 5 "name clash in an inherited context"
        "An interface would inherit the same name from two bases, or define one that it inherits. \
         IDL does not allow that: rename the operation or attribute in one of them.";
    BadParam 6 "wrong type for an abstract interface"
        "A value was given where an abstract interface is expected, and it supports no such \
         interface. Give an object or value of that type.";
    BadParam 7 "string_to_object: bad scheme name"
        "The string begins with no scheme that is understood: `IOR:`, `corbaloc:`, `corbaname:`, \
         `file:` and so on. Look at the first characters; a reference that was cut from a log \
         often lacks them.";
    BadParam 8 "string_to_object: bad address"
        "The address in the object URL cannot be understood: the host or the port, or how they \
         are separated. An IPv6 address stands in brackets. `orbium ior URL` shows where it goes \
         wrong.";
    BadParam 9 "string_to_object: bad scheme-specific part"
        "What follows the address in the object URL cannot be understood: the key, its `%xx` \
         escapes, or the name of a `corbaname:`. `orbium ior URL` shows where it goes wrong.";
    BadParam 10 "string_to_object: the string cannot be converted"
        "The string is no object reference: hexadecimal digits are missing, their number is odd, \
         or what they encode is cut off. Copy the whole of it; `orbium ior` shows how far it can \
         be read.";
    BadParam 11 "an abstract interface was to inherit from one that is not"
        "An abstract interface may inherit from abstract interfaces alone. Make its base \
         abstract, or itself a concrete interface.";
    BadParam 12 "a valuetype was to support more than one concrete interface"
        "A valuetype may support any number of abstract interfaces, but one concrete interface \
         only. Drop the others, or make them abstract.";
    BadParam 13 "an incomplete TypeCode was passed as a parameter"
        "A TypeCode with parts left open (a recursive one outside of the type that it belongs to) \
         was passed. Pass the whole TypeCode.";
    BadParam 14 "invalid object id for create_reference_with_id"
        "The object id was not made by this adapter, which assigns its ids itself (SYSTEM_ID). \
         Let the adapter make the reference, or give it the policy USER_ID.";
    BadParam 15 "bad name in a TypeCode operation"
        "The name given for a TypeCode is no IDL identifier: letters, digits and underscores, a \
         letter first.";
    BadParam 16 "bad repository id in a TypeCode operation"
        "The repository id given for a TypeCode is malformed. It has the form \
         `IDL:Module/Name:1.0`, or begins with another format such as `RMI:`.";
    BadParam 17 "invalid member name in a TypeCode operation"
        "The name of a member of the TypeCode is no IDL identifier, or two members share it. \
         Rename it.";
    BadParam 18 "duplicate label for create_union_tc"
        "Two cases of the union have the same label. Each label stands once; the default case has \
         none.";
    BadParam 19 "label and discriminator types differ"
        "The type of a case's label is not that of the union's discriminator. Make the labels \
         anys of exactly that type.";
    BadParam 20 "illegal discriminator type"
        "A union is discriminated by an integer, a char, a boolean or an enum, and by nothing \
         else.";
    BadParam 21 "set_exception was given an any that holds no exception"
        "`set_exception` of a dynamic servant takes an any with an exception in it. Insert the \
         exception, not one of its members.";
    BadParam 22 "set_exception was given a user exception that is not listed"
        "A dynamic servant raised a user exception that its operation does not list. Raise one \
         that is listed, or add it to the `raises` clause and compile both sides again.";
    BadParam 23 "wide-character code set missing from the service context"
        "A wide character or string arrived, and the client had not said in which code set it \
         writes: the CodeSets context is missing. The client's ORB skipped the negotiation; GIOP \
         1.0 has none. Let it use GIOP 1.2 and the whole reference, not a bare `corbaloc:`.";
    BadParam 24 "service context id outside of the OMG's range"
        "The id of a service context that was to be added is not within a range that the OMG has \
         assigned. Choose one of the vendor's range.";
    BadParam 25 "enumeration value out of range"
        "An enumerator beyond those of the type was received or given. Client and server were \
         compiled from different IDL: compile both from the same file.";
    BadParam 26 "invalid service context id in an interceptor"
        "An interceptor asked for a service context that the request or reply does not have. \
         Treat that as absent.";
    BadParam 27 "register_initial_reference was given nil"
        "`register_initial_reference` was given nil. Give the object that the name is to lead to.";
    BadParam 28 "invalid component id in an interceptor"
        "An interceptor asked for a component that the profile does not have. Treat that as \
         absent.";
    BadParam 29 "invalid profile id in an interceptor"
        "An interceptor asked for a profile that the reference does not have. Treat that as \
         absent.";
    BadParam 30 "the same policy type twice in set_policy_overrides"
        "The list given to `set_policy_overrides` has the same policy type twice. Give each once.";
    BadParam 31 "a oneway with a result, out parameters or exceptions"
        "A oneway operation was declared or invoked with a result, an out parameter or \
         exceptions. Nothing comes back from a oneway: make it a twoway operation.";
    BadParam 32 "a dynamic request for an implicit operation"
        "A dynamic request was made for an operation such as `_is_a`. Use the methods of the \
         object reference for these.";
    BadParam 33 "XA: invalid arguments"
        "A resource manager was called with arguments that XA does not allow. Look at the \
         transaction service's log.";
    BadParam 34 "union member accessed while the discriminator selects another"
        "A member of a union was read while the discriminator selects another. Look at the \
         discriminator first.";
    BadParam 35 "illegal property name for a context"
        "The name of a property of a Context is no name, or ends in an asterisk where none may \
         be.";
    BadParam 36 "illegal search string for a context"
        "The pattern that a Context was searched by is malformed. An asterisk stands at the end \
         only.";
    BadParam 37 "illegal context name"
        "The Context has no name, or an illegal one.";
    BadParam 38 "the context is not empty"
        "A Context that has children was to be deleted. Delete the children first, or say that \
         they go with it.";
    BadParam 39 "unsupported RMI custom stream format"
        "A custom-marshalled Java value came in a stream format beyond those that are understood. \
         The server may not write newer formats than the reference of the client announces.";
    BadParam 40 "an output stream is not a value output stream"
        "A custom-marshalled value wrote in a state of the stream in which it may not. That is an \
         error of the value's own code.";
    BadParam 41 "an input stream is not a value input stream"
        "A custom-marshalled value read in a state of the stream in which it may not. That is an \
         error of the value's own code.";
    BadParam 42 "the object reference supports ISO 8859-1 characters alone"
        "A character outside of ISO 8859-1 was sent through a reference that names no code sets. \
         Use the server's whole reference, not a bare `corbaloc:`.";
    BadParam 43 "the pollable is in a PollableSet already"
        "A Pollable was added to a PollableSet that has it already, or that is another's. Add \
         each once.";
    BadParam 44 "invalid compression level"
        "The compression level is beyond what the compressor takes: 0 to 9 for zlib.";
    ImpLimit 1 "the reference has no usable profile"
        "The reference has profiles, and none is of a kind that this ORB can call: their tags or \
         versions are unknown to it. `orbium ior REFERENCE` lists them. Register the transport, \
         or have the server publish IIOP.";
    InvObjref 1 "the server did not say which wide-character code set it has"
        "A wide character or string was to be sent, and the reference does not say which wide \
         code sets the server has. References out of a bare `corbaloc:` say nothing: use the \
         whole reference (`IOR:`).";
    InvObjref 2 "wide characters need a code-set component, which the reference lacks"
        "A wide character or string was to be sent over a profile without a code-set component. \
         Use the server's whole reference, or configure a wide code set at the server.";
    Marshal 1 "no factory for a value"
        "A value arrived whose type has no factory here. Register the factory before calling, or \
         link the code generated for that type.";
    Marshal 2 "ServerRequest::set_result before ctx"
        "A dynamic servant set its result before it had asked for the context. Call `arguments`, \
         `ctx`, `set_result`, in that order.";
    Marshal 3 "an NVList does not describe all parameters"
        "The list of parameters of a dynamic request does not fit the operation: too few, too \
         many, or of other modes. Make it from the operation's definition.";
    Marshal 4 "a local object was to be marshalled"
        "A reference to a local object was passed to a remote one. Local objects exist in their \
         process alone: pass an object that an adapter has activated.";
    Marshal 5 "the client sent wide characters over GIOP 1.0"
        "The client sent wide characters in GIOP 1.0, which has no way to say how they are \
         encoded. Let the client use GIOP 1.1 or 1.2; a reference says which the server has.";
    Marshal 6 "the server returned wide characters over GIOP 1.0"
        "The server answered with wide characters in GIOP 1.0, which has no way to say how they \
         are encoded. Let the client call with GIOP 1.1 or 1.2.";
    Marshal 7 "unsupported RMI stream format"
        "A Java value came in a stream format that is not understood here. See BAD_PARAM:OMG:39.";
    Marshal 8 "no more optional data in a custom value"
        "A custom value read optional data beyond its end. The type differs between the sides: \
         use the same version on both.";
    Marshal 9 "code-set contexts of one connection differ"
        "A client named other code sets in a later request of the same connection. That is an \
         error of the client's ORB.";
    Initialize 1 "the range of priorities is too narrow for the ORB"
        "The native priorities that this process may use are fewer than the mapping needs. Give \
         it a wider range: limits `rtprio` or CAP_SYS_NICE; `orbium doctor` tells what the host \
         permits.";
    NoImplement 1 "no local implementation of a value"
        "A value arrived for which there is no local implementation. Link one, or change the \
         operation to take a struct.";
    NoImplement 2 "the implementation of a value has an incompatible version"
        "The implementation of a value is of a version that does not fit the one that arrived. \
         Use the same version on both sides.";
    NoImplement 3 "no usable profile, or not supported by a local object"
        "The reference offers nothing that can be called, or a local object does not support what \
         was asked of it. `orbium ior REFERENCE` lists what a reference offers.";
    NoImplement 4 "dynamic invocation of a local object"
        "A dynamic request was made to a local object. Call it directly.";
    NoImplement 5 "sequence analysis: the iterator cannot be reset"
        "An iterator of the Biomolecular Sequence Analysis service was to begin again, and \
         cannot. Get another one.";
    NoImplement 6 "sequence analysis: the metadata is not available as XML"
        "The Biomolecular Sequence Analysis service has its metadata in no XML form. Ask for \
         another.";
    NoImplement 7 "genomic maps: the iterator cannot be reset"
        "An iterator of the Genomic Maps service was to begin again, and cannot. Get another one.";
    NoImplement 8 "the operation is not implemented by a local object"
        "A local object has no such operation: those of the Interface Repository and of remote \
         objects make no sense for it.";
    BadTypecode 1 "an incomplete TypeCode was marshalled"
        "A TypeCode with parts left open was to be sent: one that `create_recursive_tc` made, \
         outside of the type that it stands for. Complete it first.";
    BadTypecode 2 "a member has an illegitimate TypeCode"
        "The type of a member cannot be a member: a void or an exception, for example. Look at \
         the type that the TypeCode was made of.";
    BadTypecode 3 "illegal type of a parameter"
        "The type of a parameter cannot be a parameter: a void or an exception, for example.";
    BadOperation 1 "a servant manager returned a servant of the wrong type"
        "The adapter asked a servant manager for a servant, which returned one of another \
         interface. Look at what the manager returns for that object id. orbium raises \
         BAD_OPERATION 2 for the operation that the servant lacks.";
    BadOperation 2 "the target has no such operation or attribute"
        "The object has no such operation or attribute. Client and server were compiled from \
         different IDL, or the reference leads to an object of another interface: `narrow` asks \
         the object. The repository id in the reference (`orbium ior`) says what the server took \
         it for.";
    NoResources 1 "the interceptor operation is not supported in this binding"
        "An interceptor asked for what this language binding does not have.";
    NoResources 2 "there is no connection for the priority of the request"
        "The reference asks for a connection of the request's own priority (priority bands), and \
         none of the client's bands has that priority. Add it to the bands, or give the thread a \
         priority within one.";
    NoResponse 1 "the reply is not available yet"
        "The result of a deferred or asynchronous call was asked for without waiting, and is not \
         there yet. Ask later, or wait.";
    BadInvOrder 1 "a dependency prevents destruction in the Interface Repository"
        "A definition cannot be destroyed in the Interface Repository while others use it. \
         Destroy those first.";
    BadInvOrder 2 "this object of the Interface Repository cannot be destroyed"
        "The repository itself, or a basic type, was to be destroyed in the Interface Repository. \
         Neither can be.";
    BadInvOrder 3 "the operation would wait for itself"
        "A thread that serves a request waits for the end of all requests, so for its own: \
         `shutdown(true)`, or waiting for a manager's or adapter's end, within a servant. Begin \
         the shutdown without waiting, or from another thread.";
    BadInvOrder 4 "the ORB has shut down"
        "The ORB has been shut down; nothing can be done through it any more. Calls that race \
         with a shutdown end like this: end their threads first, or take it as the end.";
    BadInvOrder 5 "the request was sent already"
        "A dynamic request was sent a second time. Make a new one for each call. orbium raises \
         10, which means the same.";
    BadInvOrder 6 "a servant manager is set already"
        "The adapter has a servant manager already; it can be set once.";
    BadInvOrder 7 "ServerRequest::arguments out of order"
        "A dynamic servant asked for its arguments twice, or too late. Call `arguments`, `ctx`, \
         `set_result`, in that order.";
    BadInvOrder 8 "ServerRequest::ctx out of order"
        "A dynamic servant asked for its context before its arguments, or too late. Call \
         `arguments`, `ctx`, `set_result`, in that order.";
    BadInvOrder 9 "ServerRequest::set_result out of order"
        "A dynamic servant set its result before it had asked for its arguments, or twice. Call \
         `arguments`, `ctx`, `set_result`, in that order.";
    BadInvOrder 10 "the dynamic request was sent already"
        "A dynamic request was sent a second time. Make a new one for each call.";
    BadInvOrder 11 "the dynamic request was not sent yet"
        "The result of a dynamic request was asked for before it was sent. Send it first.";
    BadInvOrder 12 "the result was retrieved already"
        "The result of a dynamic request was taken already. It can be taken once.";
    BadInvOrder 13 "a synchronous request cannot be polled"
        "A request that was sent and waited for cannot be polled as well. Send it deferred.";
    BadInvOrder 14 "interceptor operation not valid at this point"
        "An interceptor asked for something that is not known at this point, the reply before it \
         is there for example. The standard has a table of what is known when.";
    BadInvOrder 15 "a service context with this id exists already"
        "An interceptor added a service context that is there already, and did not ask to replace \
         it.";
    BadInvOrder 16 "a PolicyFactory for this type is registered already"
        "A PolicyFactory for that type of policy is registered already. Register each once.";
    BadInvOrder 17 "create_POA while a POA of that name is being destroyed"
        "An adapter of that name is still being destroyed. Wait for its end (`destroy` with \
         waiting), then create it again.";
    BadInvOrder 18 "the priority of an active object cannot be changed"
        "The object is active at another priority than it is now to have. Deactivate it first, or \
         make the reference with the priority that it has.";
    BadInvOrder 19 "XA: called outside of a transaction"
        "XA was called outside of a transaction. Begin one first.";
    BadInvOrder 20 "XA: called in an improper order"
        "XA was called in an order that it does not allow. Look at the transaction service's log.";
    BadInvOrder 21 "the transaction contexts of request and thread differ"
        "An interceptor of the transaction service found another transaction in the request than \
         the one of the thread. Look at the transaction service's log.";
    BadInvOrder 22 "the poller has no response yet"
        "The poller has no response yet. Ask later, or wait.";
    BadInvOrder 23 "a factory of tagged profiles for this id is registered already"
        "A factory for that tag of profiles is registered already. Register each once.";
    BadInvOrder 24 "a factory of tagged components for this id is registered already"
        "A factory for that tag of components is registered already. Register each once.";
    BadInvOrder 25 "the iteration has no more elements"
        "The iterator is past its last element. Look whether there is a next one first.";
    BadInvOrder 26 "not allowed in post_init"
        "An initializer did in `post_init` what only `pre_init` may. Do it there.";
    Transient 1 "request discarded: the POA is out of resources or discards requests"
        "The adapter's manager is discarding, or has no room for more requests. The server is \
         starting, ending or overloaded: call again after a while. Activate the manager if it \
         never was.";
    Transient 2 "no usable profile"
        "No profile of the reference could be used now. Each was tried; the exception's story \
         (`{:#}`) says what stood in the way of each.";
    Transient 3 "the request was cancelled"
        "The request was cancelled before it was served.";
    Transient 4 "the POA was destroyed"
        "The adapter of the object was destroyed while the request waited for it. It may come \
         back: ask the server, or the naming service, for a new reference.";
    ObjAdapter 1 "an adapter activator raised a system exception"
        "The adapter activator failed with a system exception while the adapter of the object was \
         to be created. Look at the server's log.";
    ObjAdapter 2 "a servant manager returned a servant of the wrong type"
        "A servant manager returned a servant of another interface than the object's. Look at \
         what the manager returns for that object id. orbium does not raise it: a servant without \
         the operation answers BAD_OPERATION 2.";
    ObjAdapter 3 "no default servant is set"
        "The adapter has the policy USE_DEFAULT_SERVANT and no default servant is set. Set one \
         before its manager is activated.";
    ObjAdapter 4 "no servant manager is set"
        "The adapter has the policy USE_SERVANT_MANAGER and no servant manager is set. Set one \
         before its manager is activated.";
    ObjAdapter 5 "incarnate violated a policy of the POA"
        "`incarnate` returned a servant that is active for another object, though the adapter has \
         UNIQUE_ID. Return a servant of its own, or give the adapter MULTIPLE_ID.";
    ObjAdapter 6 "components_established raised an exception"
        "An interceptor failed while a new adapter was being established. Look at the server's \
         log.";
    ObjAdapter 7 "a servant manager returned no servant"
        "A servant manager returned no servant. Return one, or raise OBJECT_NOT_EXIST. orbium \
         does not raise it: a servant manager in Rust returns a servant or an exception.";
    DataConversion 1 "a character has no image in the transmission code set"
        "A character of the text has no image in the code set that the two sides agreed on. With \
         UTF-8 on both sides every character has one; with an old ORB on the other, only those of \
         its native set have (ISO 8859-1 mostly). See `native_char_code_set` in the guide.";
    DataConversion 2 "a priority could not be mapped"
        "The priority has no counterpart on the other side: the mapping between CORBA and native \
         priorities does not contain it. Use a priority within the range of the mapping.";
    ObjectNotExist 1 "an unactivated value was passed as a reference"
        "A value was passed as a reference, and no object of it was activated. Activate it first.";
    ObjectNotExist 2 "the object adapter could not be found or created"
        "The server knows no adapter of that path, and none could be created. The reference is of \
         another or an earlier server, or its adapters are not created yet: create them before \
         the first manager is activated, or get a new reference.";
    ObjectNotExist 3 "specific to the domain"
        "The meaning is up to the domain of the object: its documentation says what.";
    ObjectNotExist 4 "the object adapter is inactive"
        "The adapter of the object has been deactivated for good. Get a new reference from the \
         server or the naming service.";
    ObjectNotExist 5 "the poller delivered its reply already"
        "The result of the asynchronous call was given away before: it can be taken once, and a \
         handler takes it too.";
    InvPolicy 1 "a policy of the reference cannot be reconciled with the override"
        "What the client asks for and what the server published exclude each other: \
         client-propagated and server-declared priorities, protection, protocols. `orbium ior \
         REFERENCE` shows the server's; drop the override, or change the server's policy.";
    InvPolicy 2 "invalid policy type"
        "There is no policy of that type, or it is none that can be set there. Look at the scope \
         of the policy: reference, thread, ORB or adapter.";
    InvPolicy 3 "there is no PolicyFactory for this type"
        "There is no factory for policies of that type. Register a PolicyFactory before the ORB is made.";
    Internal 1 "XA: resource manager error"
        "A resource manager failed. Look at its log, and the transaction service's.";
    Internal 2 "XA: resource manager failure"
        "A resource manager is not usable any more. Look at its log, and the transaction \
         service's.";
    IntfRepos 1 "there is no Interface Repository"
        "No Interface Repository was configured. Give its reference as the initial reference \
         `InterfaceRepository`.";
    IntfRepos 2 "the Interface Repository has no entry"
        "The Interface Repository does not know the type. Load its IDL there.";
    BadContext 1 "the context was not found"
        "The Context that the operation asks for was not given.";
    BadContext 2 "no property matches"
        "No property of the Context has a name that the operation asks for.";
    CodesetIncompatible 1 "code-set negotiation failed"
        "The two sides share no code set for characters, nor can either convert to the other's. \
         Configure a set at one side that the other has; `orbium ior REFERENCE` shows the \
         server's.";
    CodesetIncompatible 2 "a code set of the service context is not supported"
        "The client chose a code set that the server does not have, against what the reference \
         says. That is an error of the client's ORB.";
    Timeout 1 "no reply within the time to poll"
        "The result was waited for as long as was asked, and is not there yet. The call goes on: \
         ask again, or drop it.";
    Timeout 2 "the end time of the request has passed"
        "The request did not reach its servant before its end time (RequestEndTime, or a request \
         timeout). The server was slow to begin: look at its queue and its lanes. The clocks of \
         the two hosts must agree for absolute times.";
    Timeout 3 "the end time of the reply has passed"
        "The reply did not come before its end time (ReplyEndTime, or a roundtrip timeout). The \
         operation may have been completed. The clocks of the two hosts must agree for absolute \
         times.";
    TransactionRolledback 1 "XA: rolled back"
        "The transaction was rolled back. Begin it anew.";
    TransactionRolledback 2 "XA: unknown transaction"
        "The transaction service does not know the transaction: it has ended, or was never there.";
    TransactionRolledback 3 "XA: deferred"
        "The rollback has been deferred until the transaction ends.";
    TransactionRolledback 4 "a rollback of the transaction service"
        "The transaction was rolled back. The OMG assigned the number to the transaction service; \
         its own documentation says more.";
    ActivityCompleted 1 "the activity ended"
        "The activity that the call belongs to has ended. Begin another.";
    ActivityRequired 1 "an activity is required"
        "The object is called within an activity only. Begin one first.";
    InvalidActivity 1 "the activity does not fit"
        "The call belongs to another activity than the one that the object takes part in. Call \
         from within that one.";
}
