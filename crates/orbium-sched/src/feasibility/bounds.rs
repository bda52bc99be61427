// SPDX-License-Identifier: MIT OR Apache-2.0
//! Utilization and its bounds.

use super::task::Task;
use crate::time::Time;

/// The bounds are sufficient tests: utilizations within this distance of one are left to the exact
/// test, which does not round.
const MARGIN: f64 = 1e-9;

/// The sum of execution time over period.
#[must_use]
pub fn utilization(tasks: &[Task]) -> f64 {
    let share = |it: &Task| it.execution_time.ticks() as f64 / it.period.ticks().max(1) as f64;
    tasks.iter().map(share).sum()
}

/// Whether the utilization is at most 1: the exact condition of EDF and of least laxity when
/// deadlines are periods. Exact if 128 bits hold the sum, otherwise conservative.
#[must_use]
pub fn utilization_is_at_most_one(tasks: &[Task]) -> bool {
    let mut exact = Some((0_u128, 1_u128));
    for task in tasks {
        let share = (
            task.execution_time.ticks().into(),
            task.period.ticks().max(1).into(),
        );
        exact = exact.and_then(|sum| added(sum, share));
    }
    match exact {
        Some((numerator, denominator)) => numerator <= denominator,
        None => utilization(tasks) <= 1.0 - MARGIN,
    }
}

/// The sum of two fractions, unless it overflows.
fn added((a, b): (u128, u128), (c, d): (u128, u128)) -> Option<(u128, u128)> {
    let common = b.checked_mul(d / gcd(b, d))?;
    let sum = a
        .checked_mul(common / b)?
        .checked_add(c.checked_mul(common / d)?)?;
    let divisor = gcd(sum, common).max(1);
    Some((sum / divisor, common / divisor))
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The bound of Liu and Layland (1973) for `tasks` tasks under rate-monotonic priorities:
/// `n (2^(1/n) - 1)`. 1 for none.
#[must_use]
pub fn utilization_bound(tasks: usize) -> f64 {
    match tasks {
        0 => 1.0,
        n => n as f64 * (2_f64.powf(1.0 / n as f64) - 1.0),
    }
}

/// Whether independent tasks, with deadlines equal to periods, meet their deadlines by the bound of
/// Liu and Layland. Sufficient, not necessary.
#[must_use]
pub fn utilization_bound_holds(tasks: &[Task]) -> bool {
    utilization(tasks) <= utilization_bound(tasks.len()) - MARGIN
}

/// Whether they meet them by the hyperbolic bound of Bini and Buttazzo (2003): the product of
/// `C/T + 1` is at most 2. Sufficient, not necessary, and never stricter than the other bound.
#[must_use]
pub fn hyperbolic_bound_holds(tasks: &[Task]) -> bool {
    let factor = |it: &Task| utilization(std::slice::from_ref(it)) + 1.0;
    tasks.iter().map(factor).product::<f64>() <= 2.0 - MARGIN
}

/// The least common multiple of the periods, after which the schedule repeats; none if it exceeds a
/// [`Time`].
#[must_use]
pub fn hyperperiod(tasks: &[Task]) -> Option<Time> {
    let mut multiple = 1_u64;
    for task in tasks {
        let period = task.period.ticks().max(1);
        let divisor = u64::try_from(gcd(multiple.into(), period.into())).ok()?;
        multiple = multiple.checked_mul(period / divisor)?;
    }
    Some(Time::from_ticks(multiple))
}
