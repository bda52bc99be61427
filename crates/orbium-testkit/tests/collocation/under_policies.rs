// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls under policies of Messaging: oneways of every SyncScope, RebindPolicy, start times,
//! cancellation.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use orbium::giop::real_time::PriorityBand;
use orbium::giop::service_context;
use orbium::interceptor::Policy;
use orbium::policy::router_policies::RouterPolicies;
use orbium::{
    Call, CancellationToken, Completion, ExceptionKind, Interface, SystemException,
    config::Collocation,
    lane::{Priority, priority},
    policy::{BufferingConstraint, RebindMode, SetOverride, SyncScope, TimePolicies, policy_type},
};
use orbium_core::idl_interface;

use super::{Places, each_way};

idl_interface! {
    /// Notes where the arguments of its oneways lie.
    pub struct Notes = "IDL:Notes:1.0";
    operations by_octet(0, 110, &[0]);
    pub trait NotesServant;

    oneway note(data: &[u8], fails: bool) -> Result<()> = "note";
}

#[derive(Default)]
pub(super) struct Notebook {
    /// Where the last data were.
    pub(super) place: AtomicUsize,
    /// Whether its callers expected an answer.
    expected: Mutex<Vec<bool>>,
}

impl NotesServant for Notebook {
    fn note(&self, call: &Call<'_>, data: &[u8], fails: bool) -> Result<(), SystemException> {
        self.place.store(data.as_ptr().addr(), Ordering::SeqCst);
        self.expected.lock().unwrap().push(call.response_expected());
        if fails {
            Err(ExceptionKind::NoResources.into())
        } else {
            Ok(())
        }
    }
}

pub(super) const SCOPES: [SyncScope; 4] = [
    SyncScope::None,
    SyncScope::WithTransport,
    SyncScope::WithServer,
    SyncScope::WithTarget,
];

/// Conformance: TAO 35 - collocated calls behave as remote ones - oneways of every SyncScope
#[test]
fn oneways_of_every_sync_scope_are_lent_their_arguments() {
    each_way(|way, served| {
        let notebook = std::sync::Arc::new(Notebook::default());
        let root = served.orb.root_poa();
        let notes: Notes = root.activate(std::sync::Arc::clone(&notebook)).unwrap();
        let data = vec![5; 64 * 1024];
        for scope in SCOPES {
            let buffered = notes.with_buffering(BufferingConstraint::default());
            let scoped = buffered.with_sync_scope(scope);
            scoped.note(&data, false).unwrap();
            let lent = notebook.place.load(Ordering::SeqCst) == data.as_ptr().addr();
            assert_eq!(lent, way != Collocation::Marshalled, "{scope:?}");
            let raised = scoped.note(&data, true);
            match scope {
                SyncScope::WithTarget => {
                    assert_eq!(raised.unwrap_err().kind, ExceptionKind::NoResources);
                }
                _ => assert_eq!(raised, Ok(()), "{scope:?}"),
            }
        }
        let expected = [false, false, false, false, true, true, true, true];
        assert_eq!(*notebook.expected.lock().unwrap(), expected);
    });
}

/// Conformance: TAO 35 - collocated calls behave as remote ones - RebindPolicy, of the reference
/// and of the thread
#[test]
fn calls_under_every_rebind_mode_are_lent_their_arguments() {
    each_way(|way, served| {
        let places = Places::served_by(&served.orb);
        let data = vec![5; 1024];
        let lent = |places: &Places| {
            let lent = places.put(&data).unwrap() == data.as_ptr() as u64;
            assert_eq!(lent, way != Collocation::Marshalled);
        };
        for mode in [
            RebindMode::Transparent,
            RebindMode::NoRebind,
            RebindMode::NoReconnect,
        ] {
            lent(&places.with_rebind(mode));
            served.orb.policy_current().set_rebind(Some(mode));
            lent(&places);
            served.orb.policy_current().set_rebind(None);
        }
        assert_eq!(places.end(), Ok(false));
        let bound = places.with_rebind(RebindMode::NoReconnect);
        let gone = bound.put(&data).unwrap_err();
        assert_eq!(gone.kind, ExceptionKind::ObjectNotExist);
    });
}

/// Conformance: TAO 35 - collocated calls behave as remote ones - RequestStartTime and
/// ReplyStartTime
#[test]
fn calls_with_start_times_are_lent_their_arguments() {
    each_way(|way, served| {
        let places = Places::served_by(&served.orb);
        let data = vec![5; 1024];
        let start = || Some(SystemTime::now() + Duration::from_millis(40));
        for (request_start, reply_start) in [(start(), None), (None, start())] {
            let later = places.with_time_policies(TimePolicies {
                request_start,
                reply_start,
                ..TimePolicies::NONE
            });
            let lent = later.put(&data).unwrap() == data.as_ptr() as u64;
            assert_eq!(lent, way != Collocation::Marshalled);
            let now = SystemTime::now();
            assert!(
                request_start
                    .or(reply_start)
                    .is_some_and(|start| start <= now)
            );
        }
        let never = places.with_time_policies(TimePolicies {
            request_start: start(),
            roundtrip_timeout: Some(Duration::from_millis(1)),
            ..TimePolicies::NONE
        });
        let late = never.put(&data).unwrap_err();
        let timeout = (ExceptionKind::Timeout, Completion::No);
        assert_eq!((late.kind, late.completed), timeout);
    });
}

/// A start time that lies in the future does not keep a call from being cancelled.
#[test]
fn a_call_is_cancelled_before_its_start() {
    each_way(|way, served| {
        let places = Places::served_by(&served.orb);
        let data = vec![5; 1024];
        let token = CancellationToken::new();
        let tokened = places.with_cancellation(&token);
        let lent = tokened.put(&data).unwrap() == data.as_ptr() as u64;
        assert_eq!(lent, way != Collocation::Marshalled);
        let tomorrow = tokened.with_time_policies(TimePolicies {
            request_start: Some(SystemTime::now() + Duration::from_secs(86_400)),
            ..TimePolicies::NONE
        });
        let call = std::thread::spawn(move || tomorrow.put(&[5]));
        token.cancel();
        let cancelled = call.join().unwrap().unwrap_err();
        assert_eq!(cancelled.kind, ExceptionKind::Transient);
        let refused = tokened.put(&data).unwrap_err();
        let before = (ExceptionKind::Transient, Completion::No);
        assert_eq!((refused.kind, refused.completed), before);
    });
}

/// Conformance: TAO 35 - collocated calls behave as remote ones - policies for routers, which the
/// servant sees
#[test]
fn calls_under_policies_for_routers_are_lent_their_arguments() {
    each_way(|way, served| {
        let routers = RouterPolicies {
            max_hops: Some(3),
            ..RouterPolicies::default()
        };
        let policy = [Policy::new(policy_type::MAX_HOPS, 3u16)];
        let places = Places::served_by(&served.orb);
        let routed = places.with_policies(&policy, SetOverride::Add).unwrap();
        let data = vec![5; 1024];
        let lent = routed.put(&data).unwrap() == data.as_ptr() as u64;
        assert_eq!(lent, way != Collocation::Marshalled);
        served.state.on_act(move |call, _| {
            let data = call.service_context(service_context::INVOCATION_POLICIES);
            let carried = RouterPolicies::decode(data.ok_or(ExceptionKind::BadContext)?);
            Ok((carried.ok() == Some(routers)).into())
        });
        let target = served.target.with_policies(&policy, SetOverride::Add);
        let target = target.unwrap();
        assert_eq!(target.act(0), Ok(1), "{way}");
        let timed = target.with_timeout(Duration::from_secs(60));
        assert_eq!(timed.act(0), Ok(1), "{way}");
    });
}

/// Conformance: TAO 35 - collocated calls behave as remote ones - references with priority bands
#[test]
fn calls_in_a_band_are_lent_their_arguments() {
    each_way(|way, served| {
        let places = Places::served_by(&served.orb);
        let bands = [(0, 9), (10, 19)].map(|(low, high)| PriorityBand { low, high });
        let banded = Places::from_object(places.as_object().with_bands(&bands));
        let data = vec![5; 1024];
        let at = |number| priority::while_at(Priority::new(number), || banded.put(&data));
        for number in [3, 12] {
            let lent = at(number).unwrap() == data.as_ptr() as u64;
            assert_eq!(lent, way != Collocation::Marshalled);
        }
        let outside = SystemException::omg(ExceptionKind::NoResources, 2, Completion::No);
        assert_eq!(at(30), Err(outside), "{way}");
        let own = places.as_object().with_one_connection(None);
        let lent = Places::from_object(own).put(&data).unwrap() == data.as_ptr() as u64;
        assert_eq!(lent, way != Collocation::Marshalled);
    });
}
