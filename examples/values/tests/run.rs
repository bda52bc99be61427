// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two programs run, and the client prints what it is there to show.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A server, until the end of the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_tree_a_ring_and_a_drawing_come_back() {
    let server = Command::new(env!("CARGO_BIN_EXE_values-server"))
        .arg("iiop://127.0.0.1:0")
        .stdout(Stdio::piped())
        .spawn();
    let mut server = Server(server.expect("the server starts"));
    let output = server.0.stdout.take().expect("it is piped");
    let mut reference = String::new();
    let read = BufReader::new(output).read_line(&mut reference);
    read.expect("a reference");
    let client = Command::new(env!("CARGO_BIN_EXE_values-client"))
        .arg(reference.trim())
        .output()
        .expect("the client runs");
    let errors = String::from_utf8_lossy(&client.stderr);
    assert!(client.status.success(), "{errors}");
    assert_eq!(
        String::from_utf8_lossy(&client.stdout),
        "trunk(low top(east north))\n\
         Market > Station > Harbour\n\
         32.27\n\
         sun: radius 3, area 28.27\n"
    );
}
