// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values with arrays of more than 32 elements, called over TCP and by a caller of the same ORB.

use orbium::{Call, SystemException};

use crate::orbs::Orbs;

mod golden {
    include!("../golden/long_arrays.rs");
}

use golden::long_arrays::{
    BoxedKey, Calibrated, CalibratedState, Curve, Filter, Grid, Meter, MeterServant, Samples,
    SamplesState,
};

type Answer<T> = Result<T, SystemException>;

struct Echo;

impl MeterServant for Echo {
    fn echo(&self, _: &Call<'_>, v: Option<&Calibrated>) -> Answer<Option<Calibrated>> {
        Ok(v.cloned())
    }

    fn echo_key(&self, _: &Call<'_>, v: Option<&BoxedKey>) -> Answer<Option<BoxedKey>> {
        Ok(v.cloned())
    }

    fn echo_base(&self, _: &Call<'_>, v: Option<&Samples>) -> Answer<Option<Samples>> {
        Ok(v.cloned())
    }
}

/// The initial state, which a value has before it is read.
#[test]
fn initial_states_are_zero_empty_or_the_first() {
    let state = CalibratedState::default();
    assert_eq!(state.values, [0; 100]);
    assert_eq!(state.calibration.factors, [0.0; 40]);
    let names = state.calibration.names.as_flattened();
    assert_eq!((names.len(), names.concat().as_str()), (66, ""));
    assert_eq!(state.calibration.mode, Filter::Off);
    assert_eq!(state.table, Grid::Rows([0; 64]));
    assert_eq!(state.earlier, []);
}

/// Conformance: IDL - value types: arrays of more than 32 elements, in structs and unions too
#[test]
fn values_with_long_arrays_travel() {
    let orbs = Orbs::new();
    let mut calibration = Curve::default();
    calibration.factors[39] = 0.5;
    calibration.names[1][32] = "last".to_owned();
    let sent = Calibrated::new(CalibratedState {
        base_: SamplesState {
            values: std::array::from_fn(|i| i as i32),
        },
        calibration: calibration.clone(),
        table: Grid::One(7),
        base: [9; 48],
        earlier: vec![calibration],
    });
    for meter in orbs.both::<_, Meter>(Echo) {
        let echoed = meter.echo(Some(&sent)).unwrap().unwrap();
        assert_eq!(*echoed.read(), *sent.read());
        let as_base = meter.echo_base(Some(&sent)).unwrap().unwrap();
        assert_eq!(as_base.read().values[99], 99);
        let key = BoxedKey::from([3; 48]);
        let echoed = meter.echo_key(Some(&key)).unwrap().unwrap();
        assert_eq!(echoed.read().value, [3; 48]);
    }
}
