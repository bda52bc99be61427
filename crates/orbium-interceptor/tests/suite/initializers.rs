// SPDX-License-Identifier: MIT OR Apache-2.0
//! ORB initialisers and policy factories.

use std::sync::{Arc, Mutex, OnceLock};

use orbium::interceptor::{
    ClientInterceptor, Interceptors, Interrupt, InvalidSlot, OrbInitInfo, OrbInitializer,
    PiCurrent, Policy, PolicyError, PostInitInfo, SendRequest, SlotError, SlotId,
};
use orbium::{Any, Completion, ExceptionKind, Interface, Orb, OrbError, SystemException};
use orbium_giop::Ior;

use crate::Tested;
use crate::recorder::{Journal, Recorder, plain_server, seen_by};

const LEVEL: u32 = 0x4F52_4290;

/// Registers an interceptor, a slot and an initial reference, and resolves that later.
struct Registering {
    journal: Journal,
    object: Ior,
    name: &'static str,
}

impl OrbInitializer for Registering {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
        let recorder = Recorder::new("registered", &self.journal);
        let added = info.add_client(recorder.clone());
        added.map_err(|_| ExceptionKind::Initialize)?;
        assert_eq!(info.add_client(recorder).unwrap_err().0, "registered");
        assert_eq!(info.allocate_slot(), SlotId(0));
        info.register_policy_factory(LEVEL, level)?;
        info.register_initial_reference(self.name, &self.object)
    }

    fn post_init(&self, info: &PostInitInfo<'_>) -> Result<(), SystemException> {
        let found = info.resolve_initial_reference(self.name);
        assert_eq!(found.as_deref(), Some(&self.object));
        assert_eq!(info.resolve_initial_reference("Nobody"), None);
        self.journal.note("post_init".to_owned());
        Ok(())
    }
}

/// Levels are unsigned longs; ten is too high, a hundred is invalid.
fn level(policy_type: u32, value: &Any) -> Result<Policy, PolicyError> {
    match value.extract::<u32>() {
        Err(_) => Err(PolicyError::BadPolicyValue),
        Ok(100..) => Err(PolicyError::BadPolicy),
        Ok(10..) => Err(PolicyError::UnsupportedPolicyValue),
        Ok(level) => Ok(Policy::new(policy_type, level)),
    }
}

fn built(interceptors: Interceptors) -> Result<Orb, OrbError> {
    Orb::builder().interceptors(interceptors).build()
}

/// Conformance: PI - ORB initialisers: pre_init registers, post_init resolves
#[test]
fn references_registered_by_pre_init_exist_from_post_init_on() -> Tested {
    let (server, journal) = (plain_server(), Journal::default());
    let mut interceptors = Interceptors::new();
    interceptors.initialize(Registering {
        journal: journal.clone(),
        object: server.target.as_object().ior().clone(),
        name: "Registered",
    })?;
    assert_eq!(journal.take(), [""; 0]);
    let orb = built(interceptors)?;
    assert_eq!(journal.take(), ["post_init"]);
    assert_eq!(
        orb.resolve_initial_references("Registered")?.ior(),
        server.target.as_object().ior()
    );
    seen_by(&orb, &server.target).echo_long(7)?;
    assert!(
        journal
            .take()
            .contains(&"registered send_request".to_owned())
    );
    let policy = orb.create_policy(LEVEL, &Any::from(3u32))?;
    assert_eq!((policy.policy_type(), policy.value()), (LEVEL, Some(&3u32)));
    Ok(())
}

/// Allocates a slot after its interceptor and the ORB exist.
#[derive(Clone, Default)]
struct Late {
    slot: Arc<OnceLock<SlotId>>,
    current: Arc<OnceLock<PiCurrent>>,
    seen: Arc<Mutex<Vec<i32>>>,
}

impl OrbInitializer for Late {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
        let added = info.add_client(self.clone());
        added.map_err(|_| ExceptionKind::Initialize.into())
    }

    fn post_init(&self, info: &PostInitInfo<'_>) -> Result<(), SystemException> {
        let slot = info.allocate_slot();
        self.slot
            .set(slot)
            .map_err(|_| ExceptionKind::BadInvOrder)?;
        let current = self.current.set(info.current());
        current.map_err(|_| ExceptionKind::BadInvOrder.into())
    }
}

impl ClientInterceptor for Late {
    fn send_request(&self, request: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        let unset = SystemException::from(ExceptionKind::BadInvOrder);
        let slot = *self.slot.get().ok_or(unset)?;
        let number = request.get_slot(slot)?.extract::<i32>();
        self.seen.lock().unwrap().push(number.unwrap_or(-1));
        Ok(())
    }
}

/// Conformance: PI - ORB initialisers: post_init allocates slots
#[test]
fn a_slot_of_post_init_accompanies_requests() -> Tested {
    let server = plain_server();
    let late = Late::default();
    let mut interceptors = Interceptors::new();
    let early = interceptors.allocate_slot();
    interceptors.initialize(late.clone())?;
    let orb = built(interceptors)?;
    let slot = *late.slot.get().ok_or("no slot")?;
    let current = *late.current.get().ok_or("no current")?;
    assert_ne!(slot, early);
    let target = seen_by(&orb, &server.target);
    target.echo_long(7)?;
    current.set_slot(slot, Any::from(41))?;
    current.set_slot(early, Any::from(1))?;
    target.echo_long(7)?;
    assert_eq!(*late.seen.lock().unwrap(), [-1, 41]);
    let beyond = SlotId(slot.0.max(early.0) + 1);
    assert_eq!(current.get_slot(beyond), Err(InvalidSlot(beyond).into()));
    Ok(())
}

/// Accesses a slot of its thread in both phases.
struct Early(PiCurrent);

impl Early {
    fn ask(&self, current: PiCurrent, slot: SlotId) -> Result<(), SystemException> {
        let own = self.0.get_slot(SlotId(0));
        assert_eq!(own, Ok(Any::from(5)), "the slots of another ORB");
        assert_eq!(current.get_slot(slot), Err(SlotError::Initializing));
        current.set_slot(slot, Any::from(1)).map_err(Into::into)
    }
}

impl OrbInitializer for Early {
    fn pre_init(&self, info: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
        let slot = info.allocate_slot();
        let refused = self.ask(info.current(), slot).unwrap_err();
        assert_eq!(refused, BAD_INV_ORDER_14);
        Ok(())
    }

    fn post_init(&self, info: &PostInitInfo<'_>) -> Result<(), SystemException> {
        self.ask(info.current(), SlotId(0))
    }
}

const BAD_INV_ORDER_14: SystemException =
    SystemException::omg(ExceptionKind::BadInvOrder, 14, Completion::No);

/// Conformance: PI - ORB initialisers: get_slot and set_slot of PICurrent are BAD_INV_ORDER 14
#[test]
fn an_initialiser_has_no_slots_of_its_thread() -> Tested {
    let mut others = Interceptors::new();
    let slot = others.allocate_slot();
    let other = others.current();
    other.set_slot(slot, Any::from(5))?;
    let mut interceptors = Interceptors::new();
    interceptors.initialize(Early(other))?;
    let current = interceptors.current();
    current.set_slot(SlotId(0), Any::from(7))?;
    let Err(OrbError::Initializer(refused)) = built(interceptors.clone()) else {
        return Err("there is an ORB".into());
    };
    assert_eq!(refused, BAD_INV_ORDER_14);
    assert_eq!(current.get_slot(SlotId(0))?, Any::from(7));
    Ok(())
}

/// Conformance: PI - ORB initialisers: an exception or a panic ends the making of the ORB
#[test]
fn an_initialiser_that_fails_leaves_no_orb() -> Tested {
    #[derive(Clone, Copy)]
    struct Failing(bool, fn() -> Result<(), SystemException>);

    impl OrbInitializer for Failing {
        fn pre_init(&self, _: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
            if self.0 { Ok(()) } else { (self.1)() }
        }

        fn post_init(&self, _: &PostInitInfo<'_>) -> Result<(), SystemException> {
            (self.1)()
        }
    }

    let refuse = || Err(ExceptionKind::NoPermission.into());
    let panic = || panic!("as the test wants it");
    let cases: [(fn() -> _, _); 2] = [
        (refuse, ExceptionKind::NoPermission),
        (panic, ExceptionKind::Unknown),
    ];
    for (fail, kind) in cases {
        let mut interceptors = Interceptors::new();
        let early = interceptors.initialize(Failing(false, fail));
        assert_eq!(early.unwrap_err().kind, kind);
        // Failed initialisers are not kept.
        built(interceptors)?;
        let mut interceptors = Interceptors::new();
        interceptors.initialize(Failing(true, fail))?;
        let Err(OrbError::Initializer(late)) = built(interceptors) else {
            return Err("there is an ORB".into());
        };
        assert_eq!(late.kind, kind);
    }
    Ok(())
}

/// Conformance: PI - register_initial_reference: names that are empty or taken; nil: BAD_PARAM 27
#[test]
fn an_initial_reference_needs_a_free_name_and_an_object() -> Tested {
    struct Twice(Arc<Ior>);

    impl OrbInitializer for Twice {
        fn pre_init(&self, info: &mut OrbInitInfo<'_>) -> Result<(), SystemException> {
            let unnamed = info.register_initial_reference("", &self.0);
            assert_eq!(unnamed.unwrap_err().kind, ExceptionKind::BadParam);
            let nil = info.register_initial_reference("Nil", &Ior::default());
            let bad_param_27 = SystemException::omg(ExceptionKind::BadParam, 27, Completion::No);
            assert_eq!(nil, Err(bad_param_27));
            info.register_initial_reference("Twice", &self.0)?;
            info.register_initial_reference("Twice", &self.0)
        }
    }

    let server = plain_server();
    let object = Arc::new(server.target.as_object().ior().clone());
    let twice = Interceptors::new().initialize(Twice(object));
    assert_eq!(twice.unwrap_err().kind, ExceptionKind::BadParam);
    Ok(())
}

/// Conformance: ORB - `register_initial_reference` of nil: BAD_PARAM 27
#[test]
fn a_nil_initial_reference_of_an_orb_is_bad_param_27() -> Tested {
    let orb = Orb::builder().build()?;
    let nil = orb.plain_reference(Ior::default());
    let refused = orb.register_initial_reference("Nil", &nil).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "no initial reference `Nil`: the reference is nil"
    );
    let bad_param_27 = SystemException::omg(ExceptionKind::BadParam, 27, Completion::No);
    assert_eq!(
        orbium::reference::ObjectError::from(refused).exception(),
        bad_param_27
    );
    assert!(orb.list_initial_services().is_empty());
    Ok(())
}

/// Conformance: PI - policy factories: the reasons of PolicyError, a second factory of a type
#[test]
fn policies_are_made_by_the_factory_of_their_type_or_refused_by_a_reason() -> Tested {
    let mut interceptors = Interceptors::new();
    interceptors.register_policy_factory(LEVEL, level)?;
    let second = interceptors.register_policy_factory(LEVEL, level);
    let taken = SystemException::omg(ExceptionKind::BadInvOrder, 16, Completion::No);
    assert_eq!(second, Err(taken));
    interceptors.register_policy_factory(LEVEL + 1, level)?;
    interceptors.register_policy_factory(LEVEL + 2, |_: u32, _: &Any| {
        Ok(Policy::new(LEVEL, "of another type"))
    })?;
    interceptors
        .register_policy_factory(LEVEL + 3, |_: u32, _: &Any| panic!("as the test wants it"))?;
    interceptors.register_policy_factory(LEVEL + 4, |_: u32, _: &Any| {
        Err(PolicyError::UnsupportedPolicy)
    })?;
    let orb = built(interceptors)?;
    let three = Any::from(3u32);
    assert_eq!(orb.create_policy(LEVEL, &three)?.value(), Some(&3u32));
    let refused = |policy_type, value: &Any| orb.create_policy(policy_type, value).unwrap_err();
    assert_eq!(
        refused(LEVEL, &Any::from("three")),
        PolicyError::BadPolicyValue
    );
    assert_eq!(
        refused(LEVEL, &Any::from(12u32)),
        PolicyError::UnsupportedPolicyValue
    );
    assert_eq!(refused(LEVEL, &Any::from(200u32)), PolicyError::BadPolicy);
    assert_eq!(refused(LEVEL + 2, &three), PolicyError::BadPolicyType);
    assert_eq!(refused(LEVEL + 3, &three), PolicyError::BadPolicy);
    assert_eq!(refused(LEVEL + 4, &three), PolicyError::UnsupportedPolicy);
    assert_eq!(refused(LEVEL + 5, &three), PolicyError::BadPolicyType);
    Ok(())
}
