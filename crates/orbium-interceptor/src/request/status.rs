// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reply status of an attempt at a request.

/// `PortableInterceptor::ReplyStatus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i16)]
pub enum RequestStatus {
    /// Results, or a oneway that was sent.
    Successful = 0,
    /// A system exception.
    SystemException = 1,
    /// A user exception.
    UserException = 2,
    /// The object was forwarded.
    LocationForward = 3,
    /// The request is retried.
    TransportRetry = 4,
    /// An asynchronous request was sent; its reply has not arrived yet.
    Unknown = 5,
}
