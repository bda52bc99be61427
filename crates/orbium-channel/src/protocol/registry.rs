// SPDX-License-Identifier: MIT OR Apache-2.0
//! The transports and messaging protocols that an ORB has.

use std::fmt;
use std::sync::{Arc, LazyLock};

use orbium_giop::messaging::{self, Messaging};
use orbium_transport::InProcess;
use orbium_transport::{Multicast, Udp};
use orbium_transport::{Protection, Tcp, Transport, Unix};

use super::Channel;
use super::protocol_names::{listed, missing_feature, only};
use super::shared_memory::shared_memory;
use super::unusable::Unusable;
use crate::peer_memory::Budget;

/// The transports and messaging protocols an ORB can use, by name. A plain value,
/// given to `Config` before the ORB is built.
#[derive(Clone, Debug)]
pub struct Protocols {
    transports: Vec<Transport>,
    messaging: Vec<Arc<dyn Messaging>>,
    /// The budget of the connections; an ORB sets it for its own.
    budget: Budget,
}

impl Default for Protocols {
    /// All transports except TLS, which needs certificates, and the messaging protocols of
    /// `orbium-giop`.
    fn default() -> Self {
        // The same instances each time.
        static BUILT_IN: LazyLock<Protocols> = LazyLock::new(|| {
            let mut transports = vec![
                Transport::stream(Tcp),
                Transport::stream(Unix),
                Transport::stream(InProcess),
            ];
            transports.extend(shared_memory());
            transports.push(Transport::datagram(Udp));
            transports.push(Transport::datagram(Multicast));
            Protocols {
                transports,
                messaging: messaging::builtin(),
                budget: Budget::NONE,
            }
        });
        BUILT_IN.clone()
    }
}

/// A name that no transport and no messaging protocol has.
#[derive(Clone, PartialEq, Eq)]
pub struct UnknownProtocol {
    name: String,
    known: String,
}

impl fmt::Display for UnknownProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "there is no transport and no messaging `{}` here{}",
            self.name,
            only(&self.known)
        )?;
        match missing_feature(&self.name) {
            Some(feature) => write!(f, ": it comes with orbium's feature `{feature}`"),
            None if self.name == "ssliop" => write!(f, ": {}", Unusable::NoTls),
            None => Ok(()),
        }
    }
}

/// As `Display`: a `main` that returns this error prints it by `Debug`.
impl fmt::Debug for UnknownProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for UnknownProtocol {}

impl Protocols {
    /// No protocol at all, but GIOP.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            transports: Vec::new(),
            messaging: Vec::new(),
            budget: Budget::NONE,
        }
    }

    /// The budget to which connections are charged.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Has connections charged to that budget.
    pub fn set_budget(&mut self, budget: Budget) {
        self.budget = budget;
    }

    /// Adds a transport, or replaces the one with the same scheme.
    #[inline]
    pub fn register(&mut self, transport: Transport) {
        self.transports
            .retain(|known| known.scheme() != transport.scheme());
        self.transports.push(transport);
    }

    /// Adds a messaging protocol, or replaces the one with the same name.
    pub fn register_messaging(&mut self, layer: Arc<dyn Messaging>) {
        self.messaging.retain(|known| known.name() != layer.name());
        self.messaging.push(layer);
    }

    /// Adds all protocols of the other.
    #[inline]
    pub fn add(&mut self, other: Self) {
        for transport in other.transports {
            self.register(transport);
        }
        for layer in other.messaging {
            self.register_messaging(layer);
        }
    }

    /// Only the protocols of these names: schemes of transports and names of messaging protocols,
    /// as a configuration lists them.
    ///
    /// # Errors
    /// [`UnknownProtocol`]: a name that no protocol has.
    pub fn only<'n>(
        &self,
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<Self, UnknownProtocol> {
        let mut chosen = Self::none();
        for name in names {
            if let Some(transport) = self.transport(name) {
                chosen.register(transport.clone());
                continue;
            }
            if let Some(layer) = self.layer_called(name) {
                chosen.register_messaging(Arc::clone(layer));
                continue;
            }
            let mut known = self.schemes().chain(self.messaging());
            return Err(UnknownProtocol {
                name: name.to_owned(),
                known: listed(&mut known, ", "),
            });
        }
        Ok(chosen)
    }

    /// The transport of a scheme.
    #[must_use]
    pub fn transport(&self, scheme: &str) -> Option<&Transport> {
        let mut transports = self.transports.iter();
        transports.find(|transport| transport.scheme() == scheme)
    }

    /// The strictest protection that any transport requires.
    pub fn protection_wanted(&self) -> Protection {
        let all = self.transports.iter().map(Transport::protection);
        all.max().unwrap_or_default()
    }

    /// The protection that the transport of a channel provides.
    pub(super) fn protection_of(&self, channel: &Channel) -> Protection {
        let transport = self.transport(&channel.scheme);
        transport.map(Transport::protection).unwrap_or_default()
    }

    /// The schemes of the transports, in the order they were registered.
    pub fn schemes(&self) -> impl Iterator<Item = &str> {
        self.transports.iter().map(Transport::scheme)
    }

    /// The names of the messaging protocols other than GIOP, as in endpoints.
    pub fn messaging(&self) -> impl Iterator<Item = &str> {
        let layers = self.messaging.iter();
        layers.map(|layer| layer.alias().unwrap_or_else(|| layer.name()))
    }

    /// The messaging protocol that an endpoint or a list calls by that name.
    pub(super) fn layer_called(&self, name: &str) -> Option<&Arc<dyn Messaging>> {
        let called = |layer: &&Arc<dyn Messaging>| layer.alias() == Some(name);
        self.layer(name)
            .or_else(|| self.messaging.iter().find(called))
    }

    /// The messaging protocol of a name.
    pub(super) fn layer(&self, name: &str) -> Option<&Arc<dyn Messaging>> {
        self.messaging.iter().find(|layer| layer.name() == name)
    }
}

impl PartialEq for Protocols {
    /// Equal if they contain the same instances.
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&Transport, &Transport)| is_same(a, b);
        self.transports.len() == other.transports.len()
            && self.transports.iter().zip(&other.transports).all(same)
            && self.has_messaging_of(other)
    }
}

impl Eq for Protocols {}

impl Protocols {
    /// The protocols that are not in `before`, by name.
    #[must_use]
    pub fn added_to(&self, before: &Self) -> Self {
        let mut added = Self::none();
        for transport in &self.transports {
            if before.transport(transport.scheme()).is_none() {
                added.register(transport.clone());
            }
        }
        for layer in &self.messaging {
            if before.layer(layer.name()).is_none() {
                added.register_messaging(Arc::clone(layer));
            }
        }
        added
    }

    /// The names of protocols in `before` that are missing here, or differ.
    #[must_use]
    pub fn lost_since(&self, before: &Self) -> Vec<String> {
        let mut lost = Vec::new();
        for transport in &before.transports {
            let now = self.transport(transport.scheme());
            if now.is_none_or(|now| !is_same(now, transport)) {
                lost.push(transport.scheme().to_owned());
            }
        }
        for layer in &before.messaging {
            let now = self.layer(layer.name());
            if now.is_none_or(|now| !Arc::ptr_eq(now, layer)) {
                lost.push(layer.alias().unwrap_or_else(|| layer.name()).to_owned());
            }
        }
        lost
    }
}

/// Whether both are the same instance.
fn is_same(a: &Transport, b: &Transport) -> bool {
    match (a, b) {
        (Transport::Stream(a), Transport::Stream(b)) => Arc::ptr_eq(a, b),
        (Transport::Datagram(a), Transport::Datagram(b)) => Arc::ptr_eq(a, b),
        _ => false,
    }
}

impl Protocols {
    fn has_messaging_of(&self, other: &Self) -> bool {
        let same = |(a, b): (&Arc<dyn Messaging>, &Arc<dyn Messaging>)| Arc::ptr_eq(a, b);
        self.messaging.len() == other.messaging.len()
            && self.messaging.iter().zip(&other.messaging).all(same)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn additions_and_losses_are_found_by_name_and_identity() {
        let all = Protocols::default();
        let some = all.only(["iiop", "uiop"]).unwrap();
        let added = all.added_to(&some);
        assert!(added.transport("iiop").is_none());
        assert!(added.transport("inproc").is_some());
        assert!(added.messaging().eq(all.messaging()));
        assert_eq!(all.lost_since(&some), Vec::<String>::new());
        assert!(some.lost_since(&all).contains(&"inproc".to_owned()));
        let mut other = some.clone();
        other.register(Transport::stream(Tcp));
        assert_eq!(other.lost_since(&some), ["iiop"]);
        assert_eq!(other.added_to(&some), Protocols::none());
    }
}
