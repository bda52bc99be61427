// SPDX-License-Identifier: MIT OR Apache-2.0
//! From CORBA priorities to native ones and back (RT-CORBA 1.2, clause 5.5.2).

use std::ops::RangeInclusive;

use orbium_core::Priority;
use orbium_sys::SchedulingClass;

/// A priority of the operating system: 1 to 99 for real-time threads on Linux.
pub type NativePriority = i16;

/// Mapping of CORBA priorities to native ones. Called from any thread, frequently; should be
/// monotonic. `None` means that there is no mapping, for which callers get DATA_CONVERSION 2.
pub trait PriorityMapping: Send + Sync + 'static {
    /// The native priority of a CORBA priority.
    fn to_native(&self, corba: Priority) -> Option<NativePriority>;

    /// The CORBA priority of a native one.
    fn to_corba(&self, native: NativePriority) -> Option<Priority>;
}

/// The native priorities of a scheduling class.
fn native_range(class: SchedulingClass) -> RangeInclusive<NativePriority> {
    let range = class.range();
    // The ranges of systems end at 99, 127 or 255.
    let narrow = |it: i32| NativePriority::try_from(it).unwrap_or(NativePriority::MAX);
    narrow(*range.start())..=narrow(*range.end())
}

/// The native priorities of SCHED_FIFO.
fn fifo() -> RangeInclusive<NativePriority> {
    native_range(SchedulingClass::Fifo)
}

/// The identity: CORBA priorities are native ones. Only the native range is mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectMapping(RangeInclusive<NativePriority>);

/// Distributes 0 to 32767 evenly over the native range: many CORBA priorities map to one native
/// priority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinearMapping(RangeInclusive<NativePriority>);

/// 0 is the lowest native priority, 1 the next, and so on; those beyond the
/// native range are not mapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContinuousMapping(RangeInclusive<NativePriority>);

macro_rules! over_a_range {
    ($($mapping:ident)*) => {$(
        impl $mapping {
            /// Over these native priorities.
            #[must_use]
            pub const fn over(range: RangeInclusive<NativePriority>) -> Self {
                Self(range)
            }
        }

        impl Default for $mapping {
            /// Over all native priorities of SCHED_FIFO.
            fn default() -> Self {
                Self(fifo())
            }
        }
    )*};
}

over_a_range!(DirectMapping LinearMapping ContinuousMapping);

impl PriorityMapping for DirectMapping {
    fn to_native(&self, corba: Priority) -> Option<NativePriority> {
        let native = corba.number();
        self.0.contains(&native).then_some(native)
    }

    fn to_corba(&self, native: NativePriority) -> Option<Priority> {
        Priority::new(native).filter(|_| self.0.contains(&native))
    }
}

/// The number of CORBA priorities.
const CORBA_LEVELS: i32 = 1 << 15;

impl LinearMapping {
    fn levels(&self) -> i32 {
        i32::from(*self.0.end()) - i32::from(*self.0.start()) + 1
    }
}

impl PriorityMapping for LinearMapping {
    fn to_native(&self, corba: Priority) -> Option<NativePriority> {
        let levels = self.levels();
        if levels <= 0 {
            return None;
        }
        let step = i64::from(corba.number()) * i64::from(levels) / i64::from(CORBA_LEVELS);
        let native = i64::from(*self.0.start()) + step;
        NativePriority::try_from(native).ok()
    }

    /// The lowest of those that map to the native priority.
    fn to_corba(&self, native: NativePriority) -> Option<Priority> {
        if !self.0.contains(&native) {
            return None;
        }
        let step = i64::from(native) - i64::from(*self.0.start());
        let levels = i64::from(self.levels());
        let first = (step * i64::from(CORBA_LEVELS) + levels - 1) / levels;
        Priority::new(i16::try_from(first).ok()?)
    }
}

impl PriorityMapping for ContinuousMapping {
    fn to_native(&self, corba: Priority) -> Option<NativePriority> {
        let native = self.0.start().checked_add(corba.number())?;
        self.0.contains(&native).then_some(native)
    }

    fn to_corba(&self, native: NativePriority) -> Option<Priority> {
        if !self.0.contains(&native) {
            return None;
        }
        Priority::new(native.checked_sub(*self.0.start())?)
    }
}

/// A mapping restricted to some native priorities.
pub(crate) struct Confined<M> {
    pub(crate) mapping: M,
    pub(crate) range: RangeInclusive<NativePriority>,
}

impl PriorityMapping for Confined<std::sync::Arc<dyn PriorityMapping>> {
    fn to_native(&self, corba: Priority) -> Option<NativePriority> {
        let native = self.mapping.to_native(corba)?;
        self.range.contains(&native).then_some(native)
    }

    fn to_corba(&self, native: NativePriority) -> Option<Priority> {
        if !self.range.contains(&native) {
            return None;
        }
        self.mapping.to_corba(native)
    }
}

/// The native priorities of a class, for mappings with a restricted range.
pub(crate) fn legal(class: SchedulingClass) -> RangeInclusive<NativePriority> {
    native_range(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = Priority> {
        (0..=i16::MAX).filter_map(Priority::new)
    }

    fn corba(number: i16) -> Priority {
        Priority::new(number).unwrap()
    }

    fn mappings() -> Vec<Box<dyn PriorityMapping>> {
        let mut mappings: Vec<Box<dyn PriorityMapping>> = Vec::new();
        for range in [1..=99, 5..=5, 10..=12, 0..=31, 1..=i16::MAX] {
            mappings.push(Box::new(DirectMapping::over(range.clone())));
            mappings.push(Box::new(LinearMapping::over(range.clone())));
            mappings.push(Box::new(ContinuousMapping::over(range)));
        }
        mappings
    }

    /// Conformance: RT 5.5.2 - PriorityMapping: direct, linear, continuous, the user's
    #[test]
    fn every_mapping_is_monotonic() {
        for mapping in mappings() {
            let natives: Vec<_> = all().filter_map(|it| mapping.to_native(it)).collect();
            assert!(natives.is_sorted());
            assert!(!natives.is_empty());
        }
    }

    /// Conformance: RT 5.5.2 - PriorityMapping: direct, linear, continuous, the user's
    #[test]
    fn there_and_back_is_the_same_native_priority() {
        for mapping in mappings() {
            for native in i16::MIN..=i16::MAX {
                if let Some(corba) = mapping.to_corba(native) {
                    assert_eq!(mapping.to_native(corba), Some(native));
                }
            }
        }
    }

    /// Conformance: RT 5.5.2 - PriorityMapping: direct, linear, continuous, the user's
    #[test]
    fn direct_is_the_same_number_or_none() {
        let mapping = DirectMapping::over(1..=99);
        assert_eq!(mapping.to_native(corba(0)), None);
        assert_eq!(mapping.to_native(corba(99)), Some(99));
        assert_eq!(mapping.to_native(corba(100)), None);
        assert_eq!(mapping.to_corba(0), None);
        assert_eq!(mapping.to_corba(7), Some(corba(7)));
    }

    /// Conformance: RT 5.5.2 - PriorityMapping: direct, linear, continuous, the user's
    #[test]
    fn linear_maps_everything_evenly() {
        let mapping = LinearMapping::over(1..=99);
        assert_eq!(mapping.to_native(Priority::MIN), Some(1));
        assert_eq!(mapping.to_native(Priority::MAX), Some(99));
        for native in 1..=99 {
            let share = all().filter(|it| mapping.to_native(*it) == Some(native));
            assert!((330..=332).contains(&share.count()), "{native}");
        }
        assert_eq!(mapping.to_corba(100), None);
    }

    /// Conformance: RT 5.5.2 - PriorityMapping: direct, linear, continuous, the user's
    #[test]
    fn continuous_counts_from_the_lowest() {
        let mapping = ContinuousMapping::over(10..=12);
        let natives: Vec<_> = (0..4).map(|it| mapping.to_native(corba(it))).collect();
        assert_eq!(natives, [Some(10), Some(11), Some(12), None]);
        assert_eq!(mapping.to_corba(12), Some(corba(2)));
        assert_eq!(mapping.to_corba(13), None);
    }

    #[test]
    fn the_defaults_are_the_systems_range() {
        let range = native_range(SchedulingClass::Fifo);
        assert_eq!(
            LinearMapping::default().to_native(Priority::MAX),
            Some(*range.end())
        );
        assert_eq!(
            ContinuousMapping::default().to_native(Priority::MIN),
            Some(*range.start())
        );
    }
}
