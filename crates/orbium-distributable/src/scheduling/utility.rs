// SPDX-License-Identifier: MIT OR Apache-2.0
//! The order of threads with the greatest accrued utility.

use std::cmp::{Ordering, Reverse};

use crate::scheduling::parameter::SchedulingParameter;

/// The demand of a thread on the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Demand {
    deadline: u64,
    execution: u64,
    importance: i32,
}

impl Demand {
    /// The demand of a parameter; zero for a discipline without these members.
    pub(crate) fn of(parameter: &SchedulingParameter) -> Self {
        match *parameter {
            SchedulingParameter::MaximumUtility {
                deadline,
                execution,
                importance,
            } => Self {
                deadline,
                execution,
                importance,
            },
            _ => Self {
                deadline: u64::MAX,
                execution: 0,
                importance: i32::MIN,
            },
        }
    }

    /// By importance per unit of execution time; an unknown execution time is one unit.
    fn cmp_density(&self, other: &Self) -> Ordering {
        let scaled =
            |it: &Self, by: &Self| i128::from(it.importance) * i128::from(by.execution.max(1));
        scaled(self, other).cmp(&scaled(other, self))
    }
}

/// The indices of the demands in the order in which they are to run, on one processor: by deadline,
/// as EDF, if all deadlines can be met. If not, threads are admitted by their importance per unit
/// of execution time, as long as all admitted ones meet their deadlines (Clark's DASA, without
/// dependencies); the others are shed, and run behind those, the most important first.
pub(crate) fn order(demands: &[Demand], now: u64) -> Vec<usize> {
    let mut by_density: Vec<usize> = (0..demands.len()).collect();
    by_density.sort_by(|one, other| demands[*other].cmp_density(&demands[*one]));
    let (mut admitted, mut shed) = (Vec::with_capacity(demands.len()), Vec::new());
    for it in by_density {
        let urgency = |it: &usize| (demands[*it].deadline, Reverse(demands[*it].importance));
        let place = admitted.partition_point(|other| urgency(other) <= urgency(&it));
        admitted.insert(place, it);
        if first_late(demands, &admitted, now).is_some() {
            shed.push(admitted.remove(place));
        }
    }
    shed.sort_by_key(|it| (Reverse(demands[*it].importance), demands[*it].deadline));
    admitted.extend(shed);
    admitted
}

/// The position of the first one that ends after its deadline if they run in this order.
fn first_late(demands: &[Demand], order: &[usize], now: u64) -> Option<usize> {
    let mut end = now;
    order.iter().position(|it| {
        end = end.saturating_add(demands[*it].execution);
        end > demands[*it].deadline
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(deadline: u64, execution: u64, importance: i32) -> Demand {
        Demand {
            deadline,
            execution,
            importance,
        }
    }

    #[test]
    fn without_overload_the_earliest_deadline_is_first_whatever_its_importance() {
        let demands = [demand(30, 10, 9), demand(10, 10, 1), demand(20, 10, 5)];
        assert_eq!(order(&demands, 0), [1, 2, 0]);
        // Of equal deadlines the more important one is first.
        let demands = [demand(30, 1, 1), demand(30, 1, 2)];
        assert_eq!(order(&demands, 0), [1, 0]);
        assert!(order(&[], 0).is_empty());
    }

    #[test]
    fn in_overload_the_least_important_for_its_time_is_shed() {
        // One unit too much: the second has the least importance for each unit.
        let demands = [demand(10, 10, 20), demand(20, 10, 10), demand(29, 10, 30)];
        assert_eq!(order(&demands, 0), [0, 2, 1]);
        // A short one of less importance gains more than a long one.
        let demands = [demand(10, 10, 10), demand(12, 4, 6)];
        assert_eq!(order(&demands, 0), [1, 0]);
        // One with a deadline after that of the late one does not delay it.
        let demands = [demand(10, 8, 5), demand(10, 8, 6), demand(90, 1, 1)];
        assert_eq!(order(&demands, 0), [1, 2, 0]);
    }

    #[test]
    fn a_deadline_that_cannot_be_met_delays_no_other_one() {
        let demands = [demand(9, 5, 100), demand(20, 5, 1), demand(12, 3, 50)];
        assert_eq!(order(&demands, 10), [1, 0, 2]);
        // The maximum time does not overflow.
        let demands = [demand(u64::MAX, u64::MAX, 1), demand(5, 0, 1)];
        assert_eq!(order(&demands, 4), [1, 0]);
    }

    /// Random sets: admitted threads meet their deadlines, and none is shed while all can.
    #[test]
    fn segments_that_are_not_shed_meet_their_deadlines() {
        let mut seed = 7u64;
        let mut random = |bound| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % bound
        };
        let mut overloads = 0;
        for _ in 0..2000 {
            let count = random(8);
            let demands: Vec<_> = (0..count)
                .map(|_| demand(random(60), random(20), i32::try_from(random(10)).unwrap()))
                .collect();
            let order = order(&demands, 3);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..demands.len()));
            let mut edf: Vec<_> = (0..demands.len()).collect();
            edf.sort_by_key(|it| demands[*it].deadline);
            // Shed threads are late behind the others: otherwise they would not be shed.
            let late = first_late(&demands, &order, 3).unwrap_or(order.len());
            let deadlines = order[..late].iter().map(|it| demands[*it].deadline);
            assert!(deadlines.is_sorted(), "{demands:?} {order:?}");
            for shed in &order[late..] {
                let mut with_it: Vec<_> = order[..late].iter().chain([shed]).copied().collect();
                with_it.sort_by_key(|it| demands[*it].deadline);
                let is_too_much = first_late(&demands, &with_it, 3).is_some();
                assert!(is_too_much, "{shed} of {demands:?} {order:?}");
            }
            match first_late(&demands, &edf, 3) {
                None => assert_eq!(late, order.len(), "{demands:?} {order:?}"),
                Some(_) => overloads += 1,
            }
        }
        assert!(overloads > 100);
    }
}
