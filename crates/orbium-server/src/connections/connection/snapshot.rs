// SPDX-License-Identifier: MIT OR Apache-2.0
//! The entry of a connection in the connection book.

use orbium_metrics::OpenConnection;

use super::ServerConnection;

impl OpenConnection for ServerConnection {
    fn peer(&self) -> String {
        self.peer_so_far().to_string()
    }

    fn lane(&self) -> u32 {
        self.lane()
    }

    fn in_flight(&self) -> usize {
        self.in_flight()
    }

    fn is_held_up(&self) -> bool {
        self.has_pending()
    }

    fn own_thread(&self) -> Option<String> {
        Some(self.thread()?.in_force())
    }
}
