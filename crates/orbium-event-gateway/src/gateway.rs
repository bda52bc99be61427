// SPDX-License-Identifier: MIT OR Apache-2.0
//! A gateway and its threads.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use orbium::Orb;

use crate::gateway_config::{End, GatewayConfig, GatewayError, GatewayStatistics};
use crate::group::{GroupReceiver, GroupSender, origin_of};
use crate::link::{Link, Parts, Target};
use crate::receiver::DatagramReceiver;
use crate::sender::DatagramSender;
use crate::shared::Shared;

/// Forwards events from one end to another, in one direction. Dropping it ends it.
///
/// It connects to both ends, and again after the failure of an end, with increasing pauses. Events
/// during a failure are lost, and counted. Calls are bounded by the time-out of the ORB, which
/// needs an endpoint.
///
/// ```no_run
/// use orbium::Orb;
/// use orbium_event_gateway::{End, Gateway, GatewayConfig};
///
/// let orb = Orb::builder().endpoint("iiop://localhost:0")?.build()?;
/// let north = End::Channel("corbaloc::north:5020/EventService".to_owned());
/// let south = End::Channel("corbaloc::south:5020/EventService".to_owned());
/// let gateway = Gateway::start(&orb, &north, &south, GatewayConfig::default())?;
/// println!("{} events forwarded", gateway.statistics().forwarded);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "dropping it ends the gateway"]
pub struct Gateway {
    shared: Arc<Shared>,
    receivers: Vec<Arc<DatagramReceiver>>,
    /// The membership of a group.
    member: Option<GroupReceiver>,
    threads: Vec<JoinHandle<()>>,
}

impl Gateway {
    /// Starts a gateway. It does not wait until its ends are reachable.
    ///
    /// # Errors
    /// [`GatewayError`].
    pub fn start(
        orb: &Orb,
        from: &End,
        to: &End,
        config: GatewayConfig,
    ) -> Result<Self, GatewayError> {
        // The sender of datagrams, or to a group, counts the time to live.
        let uses_ttl = config.uses_ttl && from.channel().is_some();
        let shared = Arc::new(Shared::new((config.queue, config.queue_bytes), uses_ttl));
        let channel = from.channel().or(to.channel());
        let origin = origin_of(channel.ok_or(GatewayError::NoChannel)?);
        let (mut receivers, mut member) = (Vec::new(), None);
        match from {
            End::Channel(_) => {}
            End::Datagrams(address) => {
                receivers = DatagramReceiver::bind_all(address, &config.datagrams)?;
            }
            End::Group(group) => {
                let joined = GroupReceiver::join(group, origin, &config.group, &shared)?;
                member = Some(joined);
            }
        }
        let to = match to {
            End::Channel(reference) => Target::Channel(reference.clone()),
            End::Datagrams(address) => {
                Target::Datagrams(DatagramSender::open(orb, address, &config.datagrams)?)
            }
            End::Group(group) => Target::Group(GroupSender::open(group, origin, &config.group)?),
        };
        let parts = Parts {
            orb: orb.clone(),
            from: from.clone(),
            to,
            config,
            shared: Arc::clone(&shared),
        };
        let mut gateway = Self {
            shared,
            receivers,
            member,
            threads: Vec::new(),
        };
        gateway.run("orbium-gateway", move || run(&parts))?;
        for receiver in gateway.receivers.clone() {
            let shared = Arc::clone(&gateway.shared);
            gateway.run("orbium-datagrams", move || receiver.run(&shared))?;
        }
        Ok(gateway)
    }

    fn run(
        &mut self,
        name: &str,
        body: impl FnOnce() + Send + 'static,
    ) -> Result<(), GatewayError> {
        let thread = thread::Builder::new().name(name.to_owned()).spawn(body)?;
        self.threads.push(thread);
        Ok(())
    }

    /// The counts of the gateway.
    #[must_use]
    pub fn statistics(&self) -> GatewayStatistics {
        self.shared.statistics()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.shared.end();
        for receiver in &self.receivers {
            receiver.shutdown();
        }
        drop(self.member.take());
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway")
            .field("statistics", &self.statistics())
            .finish_non_exhaustive()
    }
}

fn run(parts: &Parts) {
    let mut pauses = Pauses::new(&parts.config);
    loop {
        let failure = match Link::connect(parts) {
            Ok(mut link) => {
                tracing::info!(target: "orbium::event", "gateway connected");
                let ended = link.serve(|| pauses.reset());
                parts.shared.disconnected();
                link.disconnect();
                match ended {
                    Ok(()) => return,
                    Err(failure) => failure,
                }
            }
            Err(failure) => failure,
        };
        if pauses.is_first() {
            tracing::warn!(target: "orbium::event", "gateway not connected: {failure}");
        }
        if !parts.shared.pause(pauses.next()) {
            return;
        }
    }
}

/// The pauses before a gateway reconnects: each is twice the previous one, up to a bound.
struct Pauses {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Pauses {
    fn new(config: &GatewayConfig) -> Self {
        let first = config.first_pause.max(Duration::from_millis(1));
        Self {
            first,
            longest: config.longest_pause.max(first),
            next: first,
        }
    }

    fn is_first(&self) -> bool {
        self.next == self.first
    }

    fn next(&mut self) -> Duration {
        let pause = self.next;
        self.next = pause.saturating_mul(2).min(self.longest);
        pause
    }

    fn reset(&mut self) {
        self.next = self.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_their_bound() {
        let mut pauses = Pauses::new(&GatewayConfig {
            longest_pause: Duration::from_millis(350),
            ..GatewayConfig::default()
        });
        let mut next = || pauses.next().as_millis();
        assert_eq!([(); 4].map(|()| next()), [100, 200, 350, 350]);
        pauses.reset();
        assert!(pauses.is_first());
    }
}
