// SPDX-License-Identifier: MIT OR Apache-2.0
//! A `Qos` in references.

use orbium_giop::component::TAG_ORBIUM_QOS;
use orbium_giop::profile::Profile;
use orbium_giop::{Ior, SystemException, TaggedComponent};
use orbium_interceptor::{IorInfo, IorInterceptor};

use crate::{Qos, QosError, riop};

/// An interceptor of references that publishes the quality of service which objects request from
/// callers: the component `TAG_ORBIUM_QOS` with the data of RIOP's context. Clients of orbium read
/// it with [`QosObject::published_qos`](crate::QosObject::published_qos), and `orbium ior` shows
/// it; others ignore it. Bandwidth, wcet, loss and copies are not included.
///
/// ```
/// use orbium_core::{Config, Orb};
/// use orbium_interceptor::Interceptors;
/// use orbium_qos::{CommunicationClass, PublishedQos, Qos};
///
/// let message = Qos { class: Some(CommunicationClass::Message), ..Qos::NONE };
/// let mut interceptors = Interceptors::new();
/// interceptors.add_ior(PublishedQos::new(&message)?.adapter("RootPOA/Images", &Qos {
///     class: Some(CommunicationClass::Burst),
///     ..Qos::NONE
/// })?)?;
/// let orb = Orb::new(Config { interceptors, ..Config::default() })?;
/// # drop(orb);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PublishedQos {
    of_orb: [u8; riop::LEN],
    /// The path of an adapter, and the data of its component.
    adapters: Vec<(String, [u8; riop::LEN])>,
}

impl PublishedQos {
    /// For the objects of all adapters.
    ///
    /// # Errors
    /// [`QosError`]: the fields contradict each other.
    pub fn new(of_orb: &Qos) -> Result<Self, QosError> {
        Ok(Self {
            of_orb: data(of_orb)?,
            adapters: Vec::new(),
        })
    }

    /// For the objects of the adapter with that path, such as `RootPOA/Images`, in place of the
    /// ORB's value.
    ///
    /// # Errors
    /// [`QosError`]: the fields contradict each other.
    pub fn adapter(mut self, path: impl Into<String>, qos: &Qos) -> Result<Self, QosError> {
        self.adapters.push((path.into(), data(qos)?));
        Ok(self)
    }
}

fn data(qos: &Qos) -> Result<[u8; riop::LEN], QosError> {
    // A bandwidth, which ISOCHRONOUS needs, may be set by a wider scope of the client.
    let bandwidth = qos.bandwidth.or(Some(1));
    Qos { bandwidth, ..*qos }.check()?;
    riop::encode(qos)
}

impl IorInterceptor for PublishedQos {
    fn name(&self) -> &str {
        "orbium-qos"
    }

    fn establish_components(&self, adapter: &mut IorInfo<'_>) -> Result<(), SystemException> {
        let path = adapter.adapter_name().join("/");
        let own = self.adapters.iter().find(|(name, _)| *name == path);
        let data = own.map_or(&self.of_orb, |(_, data)| data);
        adapter.add_component(TaggedComponent {
            tag: TAG_ORBIUM_QOS,
            data: data.to_vec(),
        });
        Ok(())
    }
}

/// The value of the first profile with the component; `None` without one, and for a malformed one.
pub(crate) fn find(ior: &Ior) -> Option<Qos> {
    let mut profiles = ior.profiles.iter().filter_map(|it| Profile::parse(it).ok());
    let data = profiles.find_map(|profile| {
        let mut components = profile.components().iter();
        let own = components.find(|it| it.tag == TAG_ORBIUM_QOS);
        own.map(|it| it.data.clone())
    })?;
    riop::decode(&data).ok()
}
