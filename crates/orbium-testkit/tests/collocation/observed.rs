// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls that are measured or traced.

use orbium::interceptor::{
    ClientInterceptor, Interceptors, Interrupt, SendReply, SendRequest, ServerInterceptor,
};
use orbium::metrics::exposition::OperationMetrics;
use orbium::{Config, Orb, SystemException, config::Collocation};
use orbium_testkit::{Recorder, Served, in_own_process};
use tracing::level_filters::LevelFilter;

use super::answered::answering;
use super::{ALL, Places, config};

/// What was counted of an operation at the servant, and at its caller.
pub(super) fn counted(orb: &Orb, operation: &str) -> [OperationMetrics; 2] {
    let snapshot = orb.metrics().expect("metrics are on").snapshot();
    [snapshot.served, snapshot.called].map(|all| {
        let mut all = all.into_iter();
        all.find(|it| it.operation == operation)
            .unwrap_or_else(|| panic!("{operation} was counted"))
    })
}

/// Conformance: TAO 35 - collocated calls behave as remote ones - measured
#[test]
fn measured_calls_are_lent_their_arguments_and_counted_on_both_sides() {
    for way in ALL {
        let served = Served::with(Config {
            metrics: true,
            ..config(way)
        });
        let places = Places::served_by(&served.orb);
        let data = vec![5; 64 * 1024];
        for _ in 0..3 {
            let lent = places.put(&data).unwrap() == data.as_ptr() as u64;
            assert_eq!(lent, way != Collocation::Marshalled);
        }
        served.target.post(1).unwrap();
        served.target.refuse(5).unwrap_err();
        served.target.raise_system("NO_MEMORY").unwrap_err();
        served.state.on_act(|_, _| panic!("in the servant"));
        served.target.act(1).unwrap_err();
        for it in counted(&served.orb, "Places/put") {
            assert_eq!((it.ok, it.ended(), it.in_flight), (3, 3, 0), "{way}");
        }
        assert_eq!(counted(&served.orb, "Places/put")[0].lane, "orb");
        for it in counted(&served.orb, "Probe::Target/post") {
            assert_eq!((it.oneways, it.ended()), (1, 1), "{way}");
        }
        for it in counted(&served.orb, "Probe::Target/refuse") {
            assert_eq!((it.user_exceptions, it.ended()), (1, 1), "{way}");
        }
        for operation in ["Probe::Target/raise_system", "Probe::Target/act"] {
            for it in counted(&served.orb, operation) {
                assert_eq!((it.system_exceptions, it.ended()), (1, 1), "{way}");
            }
        }
        let snapshot = served.orb.metrics().expect("metrics are on").snapshot();
        assert_eq!(snapshot.raised.len(), 2, "{way}");
        served.orb.shutdown(true).unwrap();
    }
}

/// Conformance: TAO 35 - collocated calls behave as remote ones - measured, with reply slots and
/// later answers
#[test]
fn measured_calls_are_lent_their_arguments_whichever_way_they_are_answered() {
    let counts = |way| {
        let served = Served::with(Config {
            metrics: true,
            ..config(way)
        });
        let (answers, _) = answering(&served);
        let data = vec![5; 1024];
        let lent = [answers.slot(&data, false), answers.moment(&data, false)];
        for place in lent.map(Result::unwrap) {
            let lent = place == data.as_ptr().addr() as u64;
            assert_eq!(lent, way != Collocation::Marshalled, "{way}");
        }
        answers.slot(&data, true).unwrap_err();
        answers.moment(&data, true).unwrap_err();
        answers.slot_async(&data, true).wait().unwrap_err();
        answers.seen_async(None, "").wait().unwrap_err();
        answers.note(&data, true).unwrap();
        let counts = ["slot", "moment", "given", "note"].map(|operation| {
            counted(&served.orb, &format!("Answers/{operation}")).map(|it| {
                let ended = (it.ok, it.user_exceptions, it.system_exceptions, it.oneways);
                (ended, it.ended(), it.in_flight)
            })
        });
        served.end();
        counts
    };
    let by_message = counts(Collocation::Marshalled);
    assert_eq!(counts(Collocation::ThroughPoa), by_message);
    assert_eq!(counts(Collocation::Direct), by_message);
}

/// Conformance: TAO 35 - collocated calls behave as remote ones - measured, with interceptors
#[test]
fn calls_that_interceptors_see_are_counted_on_both_sides() {
    for way in ALL {
        let mut interceptors = Interceptors::new();
        interceptors.add_client(Seeing).unwrap();
        interceptors.add_server(Seeing).unwrap();
        let served = Served::with(Config {
            metrics: true,
            interceptors,
            ..config(way)
        });
        served.target.noop().unwrap();
        served.target.refuse(5).unwrap_err();
        served.state.on_act(|_, _| panic!("in the servant"));
        served.target.act(1).unwrap_err();
        for it in counted(&served.orb, "Probe::Target/noop") {
            assert_eq!((it.ok, it.ended(), it.in_flight), (1, 1, 0), "{way}");
        }
        for it in counted(&served.orb, "Probe::Target/refuse") {
            assert_eq!((it.user_exceptions, it.ended()), (1, 1), "{way}");
        }
        for it in counted(&served.orb, "Probe::Target/act") {
            assert_eq!((it.system_exceptions, it.ended()), (1, 1), "{way}");
        }
        served.end();
    }
}

/// Implements one point of each side.
pub(super) struct Seeing;

impl ClientInterceptor for Seeing {
    fn send_request(&self, _: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        Ok(())
    }
}

impl ServerInterceptor for Seeing {
    fn send_reply(&self, _: &mut SendReply<'_, '_>) -> Result<(), SystemException> {
        Ok(())
    }
}

/// Conformance: TAO 35 - collocated calls behave as remote ones - traced
#[test]
fn traced_calls_are_lent_their_arguments_and_have_spans_on_both_sides() {
    in_own_process!(|| {
        let log = Recorder::install(LevelFilter::DEBUG);
        for (at, way) in ALL.into_iter().enumerate() {
            let served = Served::with(config(way));
            let places = Places::served_by(&served.orb);
            let data = vec![5; 1024];
            let lent = places.put(&data).unwrap() == data.as_ptr() as u64;
            assert_eq!(lent, way != Collocation::Marshalled);
            served.target.refuse(4).unwrap_err();
            let [calls, requests] = ["call", "request"].map(|it| log.ended(it, 2 * (at + 1)));
            for (call, request) in calls.iter().zip(&requests) {
                assert_eq!(request.parent, Some(call.id));
                for span in [call, request] {
                    assert_eq!(span.get("corba.transport"), "collocated");
                }
                assert_eq!(request.get("corba.poa"), "RootPOA");
            }
            for spans in [&calls, &requests] {
                assert_eq!(spans[2 * at].get("rpc.method"), "Places/put");
                assert_eq!(spans[2 * at + 1].get("error.type"), "Probe::Refused");
            }
            served.orb.shutdown(true).unwrap();
        }
    });
}
