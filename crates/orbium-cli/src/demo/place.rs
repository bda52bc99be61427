// SPDX-License-Identifier: MIT OR Apache-2.0
//! Processor placement of the two sides of the demonstration.

use serde_json::{Value, json};

use crate::stage::pin;

/// Where client and server run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Both on this CPU.
    Together(usize),
    /// Each on a CPU of its own.
    Split { client: usize, server: usize },
    /// Wherever the system puts them, which it does not do twice alike.
    Free,
}

impl Place {
    /// The places that this system offers, and a sentence on each that it does not.
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

    /// In a word or two, for the bar of progress.
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
