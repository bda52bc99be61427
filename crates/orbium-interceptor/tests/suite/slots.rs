// SPDX-License-Identifier: MIT OR Apache-2.0
//! Slots between threads, requests, interceptors and servants.

use std::sync::{Arc, Mutex};

use orbium::interceptor::{
    ClientInterceptor, Interceptors, Interrupt, InvalidSlot, PiCurrent, ReceiveContexts,
    ReceiveReply, ReceiveRequest, SendReply, SendRequest, ServerInterceptor, SlotId,
};
use orbium::{Any, Orb, SystemException};
use orbium_testkit::probe::Target;

use crate::Tested;
use crate::recorder::{seen_by, serve};

/// Sends the number in a slot to the server.
struct Carrying(SlotId);

const TAG: u32 = 0x4F52_4271;

impl ClientInterceptor for Carrying {
    fn send_request(&self, request: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        if let Ok(number) = request.get_slot(self.0)?.extract::<i32>() {
            request.add_service_context(TAG, number.to_be_bytes(), false)?;
        }
        let beyond = SlotId(self.0.0 + 1);
        assert_eq!(request.get_slot(beyond), Err(InvalidSlot(beyond)));
        Ok(())
    }
}

/// Stores the received number in the slots of the request, and records them at its end.
struct Unpacking {
    slot: SlotId,
    current: PiCurrent,
    ended: Arc<Mutex<Vec<i32>>>,
}

impl ServerInterceptor for Unpacking {
    fn receive_request_service_contexts(
        &self,
        request: &mut ReceiveContexts<'_, '_>,
    ) -> Result<(), Interrupt> {
        if let Some(number) = request.service_context(TAG)?.first_chunk::<4>() {
            let number = Any::from(i32::from_be_bytes(*number));
            request.set_slot(self.slot, number)?;
        }
        Ok(())
    }

    fn receive_request(&self, request: &mut ReceiveRequest<'_, '_>) -> Result<(), Interrupt> {
        assert_eq!(
            request.get_slot(self.slot)?,
            self.current.get_slot(self.slot)?
        );
        Ok(())
    }

    fn send_reply(&self, request: &mut SendReply<'_, '_>) -> Result<(), SystemException> {
        let number = request.get_slot(self.slot)?.extract()?;
        self.ended.lock().unwrap().push(number);
        Ok(())
    }
}

/// Conformance: PI - slots: of the thread to the request, to the servant's thread and back
#[test]
fn a_slot_travels_from_the_caller_to_the_servant_and_back_to_the_ending_points() -> Tested {
    let ended = Arc::default();
    let mut interceptors = Interceptors::new();
    let at_server = interceptors.allocate_slot();
    let current = interceptors.current();
    interceptors.add_server(Unpacking {
        slot: at_server,
        current,
        ended: Arc::clone(&ended),
    })?;
    let server = serve(interceptors);
    server.state.on_act(move |_, _| {
        let number = current.get_slot(at_server)?.extract::<i32>()?;
        current.set_slot(at_server, Any::from(number + 1))?;
        Ok(number)
    });
    let mut interceptors = Interceptors::new();
    let slot = interceptors.allocate_slot();
    let here = interceptors.current();
    interceptors.add_client(Carrying(slot))?;
    let orb = Orb::builder().interceptors(interceptors).build()?;
    let target = seen_by(&orb, &server.target);
    here.set_slot(slot, Any::from(41))?;
    assert_eq!(target.act(0)?, 41);
    assert_eq!(*ended.lock().unwrap(), [42]);
    // The slots of this thread are unchanged, and another thread has separate ones.
    assert_eq!(here.get_slot(slot)?.extract::<i32>()?, 41);
    let other = std::thread::spawn(move || here.get_slot(slot).unwrap());
    assert_eq!(other.join().unwrap(), Any::default());
    Ok(())
}

/// Conformance: PI - slots: an unset one is a null any, InvalidSlot beyond those allocated
#[test]
fn an_unset_slot_is_null_and_one_that_was_not_allocated_is_invalid() {
    let mut interceptors = Interceptors::new();
    let slot = interceptors.allocate_slot();
    let current = interceptors.current();
    assert_eq!(current.get_slot(slot), Ok(Any::default()));
    let beyond = SlotId(1);
    assert_eq!(current.get_slot(beyond), Err(InvalidSlot(beyond).into()));
    assert_eq!(
        current.set_slot(beyond, Any::from(1)),
        Err(InvalidSlot(beyond).into())
    );
}

/// Calls the object from within each request, unless the request is such a call.
struct Asking {
    slot: SlotId,
    current: PiCurrent,
    target: Arc<Mutex<Option<Target>>>,
}

impl ClientInterceptor for Asking {
    fn send_request(&self, request: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        if request.get_slot(self.slot)? != Any::default() {
            return Ok(());
        }
        // The slots of the interceptor's thread are empty here, and separate.
        assert_eq!(self.current.get_slot(self.slot)?, Any::default());
        self.current.set_slot(self.slot, Any::from(true))?;
        let target = self.target.lock().unwrap().clone();
        if let Some(target) = target {
            target.noop()?;
        }
        Ok(())
    }
}

/// Conformance: PI - calls made by an interceptor are intercepted; slots guard against recursion
#[test]
fn an_interceptor_recognises_its_own_calls_by_a_slot() -> Tested {
    let server = serve(Interceptors::new());
    let mut interceptors = Interceptors::new();
    let slot = interceptors.allocate_slot();
    let current = interceptors.current();
    let asked = Arc::<Mutex<Option<Target>>>::default();
    interceptors.add_client(Asking {
        slot,
        current,
        target: Arc::clone(&asked),
    })?;
    let orb = Orb::builder().interceptors(interceptors).build()?;
    let target = seen_by(&orb, &server.target);
    *asked.lock().unwrap() = Some(target.clone());
    assert_eq!(target.echo_long(5)?, 5);
    assert_eq!(server.state.calls(), 2);
    // The slot set by the interceptor was separate.
    assert_eq!(current.get_slot(slot)?, Any::default());
    *asked.lock().unwrap() = None;
    Ok(())
}

/// Sets the slot of its own thread, and records that of the request, at both points of a call.
struct Setting {
    slot: SlotId,
    current: PiCurrent,
    seen: Arc<Mutex<Vec<Any>>>,
}

impl Setting {
    fn set(&self, of_request: Any) -> Result<(), SystemException> {
        self.seen.lock().unwrap().push(of_request);
        self.current.set_slot(self.slot, Any::from(99))?;
        Ok(())
    }
}

impl ClientInterceptor for Setting {
    fn send_request(&self, request: &mut SendRequest<'_>) -> Result<(), Interrupt> {
        self.set(request.get_slot(self.slot)?)?;
        let of_request = request.get_slot(self.slot)?;
        self.seen.lock().unwrap().push(of_request);
        Ok(())
    }

    fn receive_reply(&self, request: &mut ReceiveReply<'_>) -> Result<(), SystemException> {
        self.set(request.get_slot(self.slot)?)
    }
}

/// Conformance: PI - slots: what an interceptor sets in PICurrent changes neither the slots of the request nor those of its caller
#[test]
fn a_slot_that_an_interceptor_sets_for_its_thread_is_not_of_the_request() -> Tested {
    let server = serve(Interceptors::new());
    let mut interceptors = Interceptors::new();
    let slot = interceptors.allocate_slot();
    let current = interceptors.current();
    let seen = Arc::<Mutex<Vec<Any>>>::default();
    for _ in 0..2 {
        let seen = Arc::clone(&seen);
        interceptors.add_client(Setting {
            slot,
            current,
            seen,
        })?;
    }
    let orb = Orb::builder().interceptors(interceptors).build()?;
    let target = seen_by(&orb, &server.target);
    current.set_slot(slot, Any::from(41))?;
    target.noop()?;
    assert_eq!(*seen.lock().unwrap(), vec![Any::from(41); 6]);
    assert_eq!(current.get_slot(slot)?, Any::from(41));
    Ok(())
}
