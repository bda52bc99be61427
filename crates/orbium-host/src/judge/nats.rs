// SPDX-License-Identifier: MIT OR Apache-2.0
//! Check of the NATS servers that store the events of persistent channels.

use crate::facts::Facts;
use crate::finding::Finding;
use crate::nats::NatsServer;

/// Whether they write acknowledged messages to the disk.
pub(super) fn sync(facts: &Facts) -> Finding {
    let Some(servers) = &facts.nats else {
        return Finding::unknown("processes are not to be seen");
    };
    let mut with_streams = servers.iter().filter(|it| it.has_streams).peekable();
    if with_streams.peek().is_none() {
        return Finding::unknown("no NATS server with streams is seen here");
    }
    let is_late = |it: &&NatsServer| it.sync_interval.as_deref() != Some("always");
    let Some(late) = with_streams.find(is_late) else {
        return Finding::ok("always");
    };
    let interval = late.sync_interval.as_deref().unwrap_or("2m, the default");
    let file = late.file.as_deref().unwrap_or("a file for its -c");
    Finding::note(
        format!("nats-server {}: {interval}", late.process),
        format!("from nats-server 2.10 on: jetstream {{ sync_interval: always }} in {file}"),
    )
}

#[cfg(test)]
mod tests {
    use crate::fake::FakeHost;
    use crate::finding::Severity::{Note, Ok, Unknown};

    fn host(arguments: &str, config: &str) -> FakeHost {
        FakeHost::with(&[
            ("/proc/1/comm", "systemd\n"),
            ("/proc/7/comm", "nats-server\n"),
            ("/proc/7/cmdline", arguments),
            ("/etc/nats.conf", config),
        ])
    }

    #[test]
    fn acknowledged_events_are_written_always_or_it_is_noted() {
        let plain = "nats-server\0-js\0-sd\0/data\0";
        let finding = host(plain, "").assert("nats-sync", Note, "nats-server 7: 2m, the default");
        assert!(
            finding.remedy.contains("sync_interval: always"),
            "{finding:?}"
        );
        let configured = "nats-server\0-c\0/etc/nats.conf\0";
        let streams = "jetstream { store_dir: /data }";
        let finding = host(configured, streams).assert("nats-sync", Note, "2m");
        assert!(finding.remedy.contains("/etc/nats.conf"), "{finding:?}");
        let often = "jetstream { sync_interval: 10s }";
        host(configured, often).assert("nats-sync", Note, "10s");
        let always = "jetstream { sync_interval: always }";
        host(configured, always).assert("nats-sync", Ok, "always");
    }

    #[test]
    fn a_host_without_streams_has_nothing_to_write() {
        host("nats-server\0", "").assert("nats-sync", Unknown, "no NATS server");
        FakeHost::with(&[("/proc/1/comm", "init\n")]).assert("nats-sync", Unknown, "no NATS");
    }
}
