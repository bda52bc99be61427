// What `orbium-ridl` generates for `@qos`: its test `quality` compares.

/// The values that `@qos` and `@rt` set for operations.
#[allow(dead_code, unreachable_pub)]
pub mod quality {
    /// Of `Rudder::steer`.
    pub const RUDDER_STEER: orbium_qos::Qos = orbium_qos::Qos {
        class: Some(orbium_qos::CommunicationClass::Message),
        priority: orbium_qos::Priority::new(20000),
        deadline: Some(std::time::Duration::from_nanos(20000000)),
        bandwidth: Some(4096),
        period: Some(std::time::Duration::from_nanos(50000000)),
        wcet: Some(std::time::Duration::from_nanos(10000000)),
        criticality: Some(orbium_qos::Criticality::High),
        importance: Some(orbium_qos::Importance::Medium),
        ..orbium_qos::Qos::NONE
    };
    const _: () = RUDDER_STEER.assert();
}
