// SPDX-License-Identifier: MIT OR Apache-2.0
//! The NATS servers of the host with streams, and whether they write acknowledged messages to the
//! disk.

use crate::tree::{Tree, shown};

/// A NATS server.
#[derive(Debug)]
pub(crate) struct NatsServer {
    pub(crate) process: u32,
    /// Its configuration file, from the command line.
    pub(crate) file: Option<String>,
    pub(crate) has_streams: bool,
    /// Interval between two writes to the disk, from the configuration.
    pub(crate) sync_interval: Option<String>,
}

impl NatsServer {
    /// The running servers; none if processes are not visible.
    pub(crate) fn collect(tree: &Tree) -> Option<Vec<Self>> {
        let processes = tree.numbered("/proc").filter(|it| !it.is_empty())?;
        let servers = processes.into_iter().filter_map(|it| Self::of(tree, it));
        Some(servers.collect())
    }

    fn of(tree: &Tree, process: u32) -> Option<Self> {
        if tree.line(&format!("/proc/{process}/comm"))? != "nats-server" {
            return None;
        }
        let arguments = tree.text(&format!("/proc/{process}/cmdline"))?;
        let arguments: Vec<&str> = arguments.split('\0').collect();
        let file = config_file(&arguments);
        let config = file.and_then(|it| tree.text(it)).unwrap_or_default();
        let is_enabled = |it: &&str| ["-js", "--js", "-jetstream", "--jetstream"].contains(it);
        Some(Self {
            process,
            has_streams: arguments.iter().any(is_enabled)
                || setting(&config, "jetstream").is_some(),
            file: file.map(shown),
            sync_interval: setting(&config, "sync_interval").map(shown),
        })
    }
}

fn config_file<'a>(arguments: &[&'a str]) -> Option<&'a str> {
    let names = ["-c", "--c", "-config", "--config"];
    let next = arguments.windows(2).find(|it| names.contains(&it[0]));
    let joined = || {
        let mut all = arguments.iter().filter_map(|it| it.split_once('='));
        all.find(|(name, _)| names.contains(name)).map(|it| it.1)
    };
    next.map(|it| it[1]).or_else(joined)
}

/// The value of a setting of NATS's configuration, in any block; empty for a block.
fn setting<'a>(config: &'a str, name: &str) -> Option<&'a str> {
    let settings = config.split(['\n', '{', '}', ',', ';']);
    settings
        .filter_map(|it| {
            let it = it.split('#').next()?.trim();
            let value = it.strip_prefix(name)?;
            let is_whole = value.is_empty() || value.starts_with([':', '=', ' ', '\t']);
            is_whole.then(|| value.trim_matches([':', '=', ' ', '\t', '"', '\'', '\r']))
        })
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_found_in_blocks_and_not_in_comments() {
        let config = "port: 4222\njetstream {\n  store_dir: /data # sync_interval: 1s\n  sync_interval = \"always\"\n}\n";
        assert_eq!(setting(config, "jetstream"), Some(""));
        assert_eq!(setting(config, "sync_interval"), Some("always"));
        assert_eq!(setting(config, "store"), None);
        let inline = "jetstream: {store_dir: /data, sync_interval: 10s}";
        assert_eq!(setting(inline, "sync_interval"), Some("10s"));
        assert_eq!(setting("# jetstream {}", "jetstream"), None);
    }

    #[test]
    fn the_configuration_is_named_in_every_form() {
        for arguments in [
            &["nats-server", "-c", "/n"][..],
            &["nats-server", "-js", "--config", "/n"],
            &["nats-server", "--config=/n"],
        ] {
            assert_eq!(config_file(arguments), Some("/n"));
        }
        assert_eq!(config_file(&["nats-server", "-js", "-c"]), None);
    }
}
