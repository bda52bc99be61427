// SPDX-License-Identifier: MIT OR Apache-2.0
//! Server strategies: the threads that serve connections.

use std::fmt;
use std::mem::discriminant;
use std::num::NonZero;
use std::str::FromStr;
use std::thread;

use crate::Limits;

/// The default size of the queue of a worker pool.
const QUEUE: usize = 256;

/// Strategy by which a server serves its connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ServerStrategy {
    /// A thread reads each connection and runs the servants itself: two system
    /// calls per request, the lowest latency. The default.
    #[default]
    ThreadPerConnection,
    /// One thread waits for all connections (level-triggered) and runs the servants itself: many
    /// connections, little memory. Before a nested call, the thread hands the other connections to
    /// another thread, so that they are not blocked.
    Reactive,
    /// Leader/followers: the threads wait on one poller, and the kernel wakes one of them
    /// for each ready connection; that thread receives and dispatches. Many connections
    /// on all processors; no hand-off between threads.
    LeaderFollowers {
        /// The number of threads that wait or serve. Further threads are started only while all of
        /// these wait in nested calls ([`Limits::serving_threads`]).
        threads: usize,
    },
    /// One thread reads all connections; requests are queued, higher CORBA priorities first
    /// (service context RTCorbaPriority; 0 without), for workers that run the servants. If the
    /// queue is full, a request is answered TRANSIENT; a oneway is discarded.
    WorkerPool {
        /// The number of serving threads. Further threads are started only while all of these wait
        /// in nested calls ([`Limits::serving_threads`]).
        workers: usize,
        /// The capacity of the queue in requests. Their total size is limited, too, by
        /// [`Limits::message_size`].
        queue: usize,
    },
}

impl ServerStrategy {
    /// [`ServerStrategy::LeaderFollowers`] with a thread per processor.
    #[must_use]
    #[inline]
    pub fn leader_followers() -> Self {
        Self::LeaderFollowers {
            threads: processors(),
        }
    }

    /// [`ServerStrategy::WorkerPool`] with a worker per processor, and a queue of 256 requests.
    #[must_use]
    #[inline]
    pub fn worker_pool() -> Self {
        Self::WorkerPool {
            workers: processors(),
            queue: QUEUE,
        }
    }

    /// Whether both strategies differ at most in their numbers.
    #[must_use]
    pub fn is_kind_of(self, other: Self) -> bool {
        discriminant(&self) == discriminant(&other)
    }

    /// Checks that the numbers are valid; the error is a sentence with the reason.
    pub fn check(self, limits: &Limits) -> Result<(), &'static str> {
        let threads = match self {
            Self::ThreadPerConnection | Self::Reactive => return Ok(()),
            Self::LeaderFollowers { threads: 0 } => {
                return Err(
                    "no thread would serve: the leader-followers strategy needs at least 1 thread",
                );
            }
            Self::WorkerPool { workers: 0, .. } => {
                return Err("no thread would serve: a worker pool needs at least 1 worker");
            }
            Self::WorkerPool { queue: 0, .. } => {
                return Err(
                    "no request would get to a worker that is busy: the queue of a worker pool must have room for at least 1",
                );
            }
            Self::LeaderFollowers { threads } => threads,
            Self::WorkerPool { workers, .. } => workers,
        };
        if threads > limits.serving_threads {
            return Err(
                "the strategy has more threads than may serve: raise serving_threads or lower the strategy's number",
            );
        }
        Ok(())
    }
}

#[inline]
fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

impl fmt::Display for ServerStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ThreadPerConnection => f.write_str("thread-per-connection"),
            Self::Reactive => f.write_str("reactive"),
            Self::LeaderFollowers { threads } => write!(f, "leader-followers:{threads}"),
            Self::WorkerPool { workers, queue } => write!(f, "worker-pool:{workers}/{queue}"),
        }
    }
}

/// An unknown name of a strategy.
#[derive(Clone, PartialEq, Eq)]
pub struct UnknownStrategy(pub String);

impl fmt::Display for UnknownStrategy {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a server strategy: expected thread-per-connection, reactive, leader-followers[:THREADS] or worker-pool[:WORKERS[/QUEUE]]",
            self.0
        )
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for UnknownStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for UnknownStrategy {}

impl FromStr for ServerStrategy {
    type Err = UnknownStrategy;

    fn from_str(text: &str) -> Result<Self, UnknownStrategy> {
        let unknown = || UnknownStrategy(text.to_owned());
        let number = |text: &str| text.parse::<usize>().map_err(|_| unknown());
        let (name, numbers) = match text.split_once(':') {
            Some((name, numbers)) => (name, Some(numbers)),
            None => (text, None),
        };
        match (name, numbers) {
            ("thread-per-connection", None) => Ok(Self::ThreadPerConnection),
            ("reactive", None) => Ok(Self::Reactive),
            ("leader-followers", None) => Ok(Self::leader_followers()),
            ("leader-followers", Some(threads)) => Ok(Self::LeaderFollowers {
                threads: number(threads)?,
            }),
            ("worker-pool", None) => Ok(Self::worker_pool()),
            ("worker-pool", Some(numbers)) => {
                let (workers, queue) = match numbers.split_once('/') {
                    Some((workers, queue)) => (workers, number(queue)?),
                    None => (numbers, QUEUE),
                };
                Ok(Self::WorkerPool {
                    workers: number(workers)?,
                    queue,
                })
            }
            _ => Err(unknown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_is_read_as_it_is_shown() {
        for text in [
            "thread-per-connection",
            "reactive",
            "leader-followers:4",
            "worker-pool:4/256",
        ] {
            let strategy: ServerStrategy = text.parse().unwrap();
            assert_eq!(strategy.to_string(), text);
            assert_eq!(strategy.check(&Limits::default()), Ok(()));
        }
        let threads = processors();
        assert_eq!(
            "leader-followers".parse(),
            Ok(ServerStrategy::LeaderFollowers { threads })
        );
        assert_eq!("worker-pool".parse(), Ok(ServerStrategy::worker_pool()));
        assert_eq!(
            "worker-pool:3".parse(),
            Ok(ServerStrategy::WorkerPool {
                workers: 3,
                queue: 256
            })
        );
    }

    #[test]
    fn unknown_strategies_are_not_read() {
        for text in [
            "",
            "magic",
            "reactive:2",
            "leader-followers:",
            "leader-followers:-1",
            "leader-followers:1/2",
            "worker-pool:",
            "worker-pool:/",
            "worker-pool:4/",
            "worker-pool:/4",
            "worker-pool:1/2/3",
        ] {
            let read: Result<ServerStrategy, _> = text.parse();
            assert_eq!(read, Err(UnknownStrategy(text.to_owned())));
        }
    }

    #[test]
    fn senseless_strategies_are_refused_with_the_reason() {
        let limits = Limits {
            serving_threads: 8,
            ..Limits::default()
        };
        for (text, reason) in [
            ("leader-followers:0", "no thread would serve"),
            ("worker-pool:0/1", "no thread would serve"),
            ("worker-pool:1/0", "the queue"),
            ("leader-followers:9", "raise serving_threads"),
            ("worker-pool:9/1", "raise serving_threads"),
        ] {
            let strategy: ServerStrategy = text.parse().unwrap();
            let refused = strategy.check(&limits).unwrap_err();
            assert!(refused.contains(reason), "{text}: {refused}");
        }
    }
}
