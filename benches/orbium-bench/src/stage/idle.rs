// SPDX-License-Identifier: MIT OR Apache-2.0
//! Many connections that each call once a second: plain sockets with a prepared request, as
//! thousands of ORBs would be too large.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use orbium_cli::Failure;

/// The plain key of the called object.
pub(crate) const KEY: &str = "Idle";

/// Number of threads that share the connections.
const THREADS: usize = 4;

/// Octets of a GIOP header.
const HEADER: usize = 12;

/// An empty twoway request in GIOP 1.2, little-endian.
fn request() -> Vec<u8> {
    let mut body = Vec::new();
    // Request id; a reply is requested, reserved; a key follows, padding.
    body.extend(1_u32.to_le_bytes());
    body.extend([3, 0, 0, 0, 0, 0, 0, 0]);
    body.extend(u32::try_from(KEY.len()).unwrap_or(0).to_le_bytes());
    body.extend(KEY.as_bytes());
    body.resize(body.len().next_multiple_of(4), 0);
    body.extend(5_u32.to_le_bytes());
    body.extend(*b"noop\0\0\0\0");
    // No service contexts.
    body.extend(0_u32.to_le_bytes());
    let mut message = b"GIOP\x01\x02\x01\x00".to_vec();
    message.extend(u32::try_from(body.len()).unwrap_or(0).to_le_bytes());
    message.extend(body);
    message
}

/// Sends the request and reads the reply, which must not be an exception.
fn call(connection: &mut TcpStream, request: &[u8]) -> Result<(), Failure> {
    let failed = |error| Failure::because(format!("an idle connection: {error}"));
    connection.write_all(request).map_err(failed)?;
    let mut header = [0; HEADER];
    connection.read_exact(&mut header).map_err(failed)?;
    let size = u32::from_le_bytes([header[8], header[9], header[10], header[11]]);
    let mut body = [0; 64];
    let body = body.get_mut(..size as usize);
    let body = body.ok_or_else(|| Failure::because("a reply is too long"))?;
    connection.read_exact(body).map_err(failed)?;
    let is_reply = header.starts_with(b"GIOP\x01\x02\x01\x01");
    // Request id, then the status: no exception.
    if is_reply && body.get(4..8) == Some(&[0; 4]) {
        return Ok(());
    }
    Err(Failure::because("an idle connection got another answer"))
}

/// Connections that stay open as long as this value exists.
pub(crate) type Crowd = Vec<TcpStream>;

/// So many connections to an address, each of which calls once a second for `time`; returns the
/// nanoseconds of each call.
pub(crate) fn run(
    address: &str,
    connections: usize,
    time: Duration,
) -> Result<(Crowd, Value), Failure> {
    let failed = |error| Failure::because(format!("no connection to {address}: {error}"));
    let request = request();
    let mut all = Vec::new();
    for _ in 0..connections {
        let mut connection = TcpStream::connect(address).map_err(failed)?;
        connection.set_nodelay(true).map_err(failed)?;
        let patience = Some(Duration::from_secs(20));
        connection.set_read_timeout(patience).map_err(failed)?;
        call(&mut connection, &request)?;
        all.push(connection);
    }
    let each = all.len().div_ceil(THREADS).max(1);
    let begin = Instant::now();
    let found = thread::scope(|scope| {
        let threads: Vec<_> = all
            .chunks_mut(each)
            .map(|own| scope.spawn(|| every_second(own, &request, begin, time)))
            .collect();
        let found = threads.into_iter().map(thread::ScopedJoinHandle::join);
        let died = |_| Err(Failure::because("a client thread has died"));
        let found = found.map(|joined| joined.unwrap_or_else(died));
        found.collect::<Result<Vec<_>, Failure>>()
    })?;
    let found: Vec<u64> = found.into_iter().flatten().collect();
    Ok((
        all,
        json!({ "connections": connections, "nanoseconds": found }),
    ))
}

/// Calls over each connection once a second, evenly distributed; returns the nanoseconds of each
/// call.
fn every_second(
    connections: &mut [TcpStream],
    request: &[u8],
    begin: Instant,
    time: Duration,
) -> Result<Vec<u64>, Failure> {
    let mut found = Vec::new();
    let gap = Duration::from_secs(1).div_f64(connections.len().max(1) as f64);
    let mut next = begin;
    while begin.elapsed() < time {
        for connection in &mut *connections {
            if let Some(left) = next.checked_duration_since(Instant::now()) {
                thread::sleep(left);
            }
            next += gap;
            let start = Instant::now();
            call(connection, request)?;
            found.push(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_is_a_whole_message() {
        let request = request();
        let size = u32::from_le_bytes([request[8], request[9], request[10], request[11]]);
        assert_eq!(request.len(), HEADER + size as usize);
        assert_eq!(request.len() % 4, 0);
        let at = HEADER + 12;
        assert_eq!(request[at..at + 8], *b"\x04\0\0\0Idle");
    }
}
