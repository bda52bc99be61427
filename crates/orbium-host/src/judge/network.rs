// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks of the path of a message through the kernel.

use crate::facts::Facts;
use crate::finding::Finding;

/// Bytes of a buffer that fits a burst of messages.
const ROOMY: u64 = 1 << 20;
/// Bytes that do not fit one large message.
const TIGHT: u64 = 64 << 10;

/// The queueing discipline of outgoing packets.
pub(super) fn queueing(facts: &Facts) -> Finding {
    let remedy = "sudo sysctl -w net.core.default_qdisc=fq, and for an interface that is up: \
                sudo tc qdisc replace dev DEV root fq";
    match facts.network.queueing.as_deref() {
        None => Finding::unknown("no net.core.default_qdisc (other network namespaces hide it)"),
        Some("fq") => Finding::ok("fq: a queue for each flow, and pacing"),
        Some(name @ "fq_codel") => Finding::note(
            format!("{name}: a queue for each flow, but no pacing and no priorities"),
            remedy,
        ),
        Some(name @ "pfifo_fast") => Finding::note(
            format!("{name}: three priorities, but one queue for all flows of each"),
            remedy,
        ),
        Some(name) => Finding::note(
            format!("{name}, which may be one queue for all flows"),
            remedy,
        ),
    }
}

/// Whether receivers poll.
pub(super) fn busy_poll(facts: &Facts) -> Finding {
    let remedy =
        "sudo sysctl -w net.core.busy_poll=50 net.core.busy_read=50, where CPUs are to spare";
    match (facts.network.busy_poll, facts.network.busy_read) {
        (Some(1..), Some(1..)) => Finding::ok("sockets are polled"),
        (None, None) => Finding::unknown("no net.core.busy_poll and busy_read"),
        (None | Some(0), None | Some(0)) => Finding::note("no polling of sockets", remedy),
        (Some(1..), _) => Finding::note("polling in poll and epoll, but not in reads", remedy),
        (_, Some(1..)) => Finding::note("polling in reads, but not in poll and epoll", remedy),
    }
}

/// The maximum size of socket buffers.
pub(super) fn buffers(facts: &Facts) -> Finding {
    let network = &facts.network;
    let sizes = [network.receive_buffer, network.send_buffer];
    let Some(least) = sizes.into_iter().flatten().min() else {
        return Finding::unknown("no net.core.rmem_max and wmem_max");
    };
    let kibibytes = |octets: Option<u64>| match octets {
        Some(octets) => format!("{} KiB", octets / 1024),
        None => "unknown".to_owned(),
    };
    let found = format!(
        "up to {} for receiving, {} for sending",
        kibibytes(network.receive_buffer),
        kibibytes(network.send_buffer)
    );
    let remedy = "sudo sysctl -w net.core.rmem_max=4194304 net.core.wmem_max=4194304";
    match least {
        ROOMY.. => Finding::ok(found),
        TIGHT..ROOMY => Finding::note(found, remedy),
        _ => Finding::problem(found, remedy),
    }
}

#[cfg(test)]
mod tests {
    use crate::fake::FakeHost;
    use crate::finding::Severity::{Note, Ok, Problem, Unknown};

    fn host(files: &[(&str, &str)]) -> FakeHost {
        let host = FakeHost::empty();
        for (name, text) in files {
            host.file(&format!("/proc/sys/net/core/{name}"), text);
        }
        host
    }

    #[test]
    fn queues_are_known_by_name() {
        for (name, severity, found) in [
            ("fq\n", Ok, "pacing"),
            ("fq_codel", Note, "no pacing"),
            ("pfifo_fast", Note, "three priorities"),
            ("odd", Note, "odd"),
            ("", Unknown, "default_qdisc"),
        ] {
            host(&[("default_qdisc", name)]).assert("qdisc", severity, found);
        }
    }

    #[test]
    fn both_ways_of_waiting_should_poll() {
        for (poll, read, severity, found) in [
            ("50", "50", Ok, "polled"),
            ("0", "0", Note, "no polling"),
            ("50", "0", Note, "not in reads"),
            ("0", "50", Note, "not in poll"),
            ("x", "50", Note, "not in poll"),
            ("x", "0", Note, "no polling"),
            ("x", "x", Unknown, "busy_poll"),
        ] {
            host(&[("busy_poll", poll), ("busy_read", read)]).assert("busy-poll", severity, found);
        }
    }

    #[test]
    fn the_smaller_buffer_counts() {
        for (receive, send, severity, found) in [
            ("4194304", "4194304", Ok, "4096 KiB for receiving"),
            ("4194304", "212992", Note, "208 KiB for sending"),
            ("32768", "4194304", Problem, "32 KiB for receiving"),
            ("x", "4194304", Ok, "unknown for receiving"),
            ("x", "x", Unknown, "rmem_max"),
        ] {
            let host = host(&[("rmem_max", receive), ("wmem_max", send)]);
            host.assert("socket-buffers", severity, found);
        }
    }
}
