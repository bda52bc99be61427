// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages, references and messaging protocols, as one program: each test file is a module, so that all of them are
//! linked once.

mod code_sets;
mod deadlines;
mod fragmentation;
mod locate_messages;
mod malformed_inputs;
mod message_headers;
mod messaging;
mod miop;
mod object_urls;
mod octets;
mod real_time;
mod references;
mod reply_messages;
mod request_messages;
mod system_exceptions;
mod traffic;
mod usual_headers;
