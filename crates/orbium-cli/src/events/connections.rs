// SPDX-License-Identifier: MIT OR Apache-2.0
//! The file in which a notification channel keeps its connections.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ConnectionsArgs {
    /// Keep objects and connections of the notification service in this file, which is created if
    /// it does not exist, so that they survive a restart at the same endpoint
    /// (ConnectionReliability 1)
    #[arg(long, value_name = "FILE")]
    connections: Option<PathBuf>,
}

impl ConnectionsArgs {
    pub(crate) fn file(&self) -> Option<PathBuf> {
        self.connections.clone()
    }
}
