// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two hosts on a link of limited rate: network name spaces, a pair of virtual Ethernet devices
//! between them, and a token bucket on each. The paper's hosts had ATM at 155 Mbit/s.

use std::ffi::OsStr;
use std::process::Command;

use orbium_cli::Failure;

/// The two hosts, which are removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Link {
    server: String,
    client: String,
}

/// The address of the server's host.
pub(crate) const SERVER: &str = "10.78.0.1";
const CLIENT: &str = "10.78.0.2";

/// A rate in the format of `tc`: a whole number of kbit, mbit or gbit.
pub(crate) fn rate(text: &str) -> Result<String, String> {
    let digits = ["kbit", "mbit", "gbit"]
        .iter()
        .find_map(|unit| text.strip_suffix(unit));
    match digits.map(str::parse::<u32>) {
        Some(Ok(number)) if number > 0 => Ok(text.to_owned()),
        _ => Err("expected a rate such as 155mbit".to_owned()),
    }
}

impl Link {
    /// A link of that rate in both directions.
    ///
    /// # Errors
    /// `ip` and `tc` are not installed, or fail: they require privileges.
    pub(crate) fn new(rate: &str) -> Result<Self, Failure> {
        let pid = std::process::id();
        let link = Self {
            server: format!("orbium-bench-{pid}-server"),
            client: format!("orbium-bench-{pid}-client"),
        };
        let (server, client) = (&link.server, &link.client);
        run(&format!("ip netns add {server}"))?;
        run(&format!("ip netns add {client}"))?;
        run(&format!(
            "ip link add cable netns {server} type veth peer name cable netns {client}"
        ))?;
        for (host, address) in [(server, SERVER), (client, CLIENT)] {
            run(&format!("ip -n {host} address add {address}/24 dev cable"))?;
            run(&format!("ip -n {host} link set cable up"))?;
            run(&format!("ip -n {host} link set lo up"))?;
            run(&format!(
                "tc -n {host} qdisc add dev cable root tbf rate {rate} burst 32kb latency 50ms"
            ))?;
        }
        Ok(link)
    }

    /// The command that runs a program on the server's host, or on the client's.
    pub(crate) fn on_host(&self, role: &str, program: &OsStr) -> Command {
        let host = if role == "server" {
            &self.server
        } else {
            &self.client
        };
        let mut command = Command::new("ip");
        command.args(["netns", "exec", host]).arg(program);
        command
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        for host in [&self.server, &self.client] {
            // A host may not have been created.
            let _ = run(&format!("ip netns delete {host}"));
        }
    }
}

/// Runs a program of the network tools.
pub(crate) fn run(line: &str) -> Result<(), Failure> {
    let failed =
        |why: String| Failure::because(format!("a link between two hosts: `{line}`: {why}"));
    let mut words = line.split_whitespace();
    let ran = Command::new(words.next().unwrap_or_default())
        .args(words)
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if ran.status.success() {
        Ok(())
    } else {
        Err(failed(
            String::from_utf8_lossy(&ran.stderr).trim().to_owned(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_whole_number_with_its_unit() {
        assert_eq!(rate("155mbit").as_deref(), Ok("155mbit"));
        for wrong in [
            "",
            "155",
            "mbit",
            "0mbit",
            "-1mbit",
            "1.5gbit",
            "1mbit burst 1",
            "1Mbit",
        ] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
    }
}
