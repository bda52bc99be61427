// SPDX-License-Identifier: MIT OR Apache-2.0
//! Processor placement of the two sides of the demonstration.

use serde_json::{Value, json};

use crate::stage::pin;

/// The CPUs of client and server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Both on this CPU.
    Together(usize),
    /// Each on a separate CPU.
    Split { client: usize, server: usize },
    /// Chosen by the system, which may place them differently in each run.
    Free,
}

impl Place {
    /// The possible placements on this system, and a sentence about each that it does not support.
    pub(crate) fn all() -> (Vec<Self>, Option<String>) {
        let Some(cpu) = pin::choose() else {
            let note = "Not measured with processes pinned to processors, which this system does not \
                        offer: the latencies depend on where it puts them.";
            return (vec![Self::Free], Some(note.to_owned()));
        };
        match pin::other(cpu) {
            Some(server) => {
                let client = cpu;
                (
                    vec![Self::Together(cpu), Self::Split { client, server }],
                    None,
                )
            }
            None => {
                let note = "Not measured with a processor for each side: there is only one.";
                (vec![Self::Together(cpu)], Some(note.to_owned()))
            }
        }
    }

    /// The CPU of the client.
    pub(crate) fn client(self) -> Option<usize> {
        match self {
            Self::Together(cpu) => Some(cpu),
            Self::Split { client, .. } => Some(client),
            Self::Free => None,
        }
    }

    /// The CPU of the server.
    pub(crate) fn server(self) -> Option<usize> {
        match self {
            Self::Split { server, .. } => Some(server),
            _ => self.client(),
        }
    }

    /// A short name, for the progress bar.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Together(_) => "one processor",
            Self::Split { .. } => "one processor each",
            Self::Free => "free",
        }
    }

    pub(crate) fn to_json(self) -> Value {
        match self {
            Self::Together(cpu) => {
                json!({ "place": "together", "client_cpu": cpu, "server_cpu": cpu })
            }
            Self::Split { client, server } => {
                json!({ "place": "apart", "client_cpu": client, "server_cpu": server })
            }
            Self::Free => json!({ "place": "free" }),
        }
    }
}
