// SPDX-License-Identifier: MIT OR Apache-2.0
//! Publication of a supplier: an event type and source, and the operation that pushes it.

use crate::event::ANY;
use crate::rtec::rtec_base::DependencyInfo;
use crate::rtec::rtec_event_channel_admin::Publication as RtecPublication;
use crate::subscription::pattern::element;

/// Events of a type and source that a supplier publishes.
///
/// ```
/// use orbium_event::Publication;
///
/// let publication = Publication { rt_info: 3, ..Publication::of(16, 7) };
/// assert_eq!((publication.r#type, publication.calls), (16, 1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Publication {
    /// The type of the events; 0 is any.
    pub r#type: i32,
    /// Their source; 0 is any.
    pub source: i32,
    /// The handle of the operation that pushes them, or 0.
    pub rt_info: i32,
    /// Events per run of that operation; at least 1.
    pub calls: u32,
}

impl Publication {
    /// Events of a type and source, without operation.
    #[must_use]
    pub const fn of(r#type: i32, source: i32) -> Self {
        Self {
            r#type,
            source,
            rt_info: 0,
            calls: 1,
        }
    }

    /// From the form of the real-time event channel. A number of calls below 1 is 1.
    pub(crate) fn from_rtec(publication: &RtecPublication) -> Self {
        let (header, dependency) = (&publication.event.header, &publication.dependency_info);
        let calls = u32::try_from(dependency.number_of_calls).unwrap_or(0);
        Self {
            r#type: header.r#type,
            source: header.source,
            rt_info: dependency.rt_info,
            calls: calls.max(1),
        }
    }

    /// In the form of the real-time event channel.
    pub(crate) fn to_rtec(self) -> RtecPublication {
        RtecPublication {
            event: element(self.r#type, self.source).event,
            dependency_info: DependencyInfo {
                number_of_calls: i32::try_from(self.calls).unwrap_or(i32::MAX),
                rt_info: self.rt_info,
                ..DependencyInfo::default()
            },
        }
    }

    /// Whether it includes events of that type and source, which are not `ANY`.
    pub(crate) fn includes(&self, r#type: i32, source: i32) -> bool {
        let matches = |published: i32, given| published == given || published == ANY;
        matches(self.r#type, r#type) && matches(self.source, source)
    }
}
