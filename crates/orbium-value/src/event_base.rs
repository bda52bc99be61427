// SPDX-License-Identifier: MIT OR Apache-2.0
//! `Components::EventBase`, which all event types inherit.

crate::idl_abstract_value! {
    /// A handle on an event of any type: every `eventtype` inherits it implicitly (CORBA 3.3 Part
    /// 3, 6.7.5: `Components::EventBase`).
    ///
    /// ```
    /// use orbium_value::{EventBase, ValueType, idl_value};
    ///
    /// idl_value! {
    ///     /// A reading.
    ///     pub struct Reading(ReadingState): READING_TYPE = "IDL:Reading:1.0",
    ///     Plain as event + [EventBase], [] {
    ///         public level: f64,
    ///     }
    /// }
    /// let event = EventBase::from(Reading::new(ReadingState { level: 1.5 }));
    /// assert_eq!(event.downcast::<Reading>().unwrap().read().level, 1.5);
    /// ```
    pub struct EventBase: EVENT_BASE_TYPE = "IDL:omg.org/Components/EventBase:1.0", [] [];
}

/// The constructor of the description of a value type or an event type.
#[doc(hidden)]
#[macro_export]
macro_rules! idl_event_type {
    (event) => {
        $crate::codegen::orbium_cdr::Type::event
    };
    () => {
        $crate::codegen::orbium_cdr::Type::value
    };
}
