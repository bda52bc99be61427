// SPDX-License-Identifier: MIT OR Apache-2.0
//! A client and a component: equivalent interfaces, over TCP.

use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};

use orbium::{Call, Interface, Orb, SystemException};

mod golden {
    include!("../golden/components.rs");
}

use golden::components::{
    CcmHomeServant, CcmObjectServant, Cookie, CookieState, EventConsumerBaseServant, EventsServant,
    NavigationServant, ReceptaclesServant,
};
use golden::plant::{
    Alarm, AlarmConsumer, AlarmConsumerServant, AlarmState, Broken, CreateFailureOrBrokenError,
    ExceededConnectionLimitError, Pump, PumpHome, PumpHomeExplicitServant, PumpHomeImplicitServant,
    PumpHomeServant, PumpServant, Valve, ValveServant,
};

type Answer<T> = Result<T, SystemException>;

struct Outlet;

impl ValveServant for Outlet {
    fn open(&self, _: &Call<'_>) -> Answer<()> {
        Ok(())
    }
}

struct Station {
    outlet: Valve,
}

impl NavigationServant for Station {}
impl ReceptaclesServant for Station {}
impl EventsServant for Station {}
impl CcmObjectServant for Station {}

impl PumpServant for Station {
    fn provide_outlet(&self, _: &Call<'_>) -> Answer<Option<Valve>> {
        Ok(Some(self.outlet.clone()))
    }
    fn subscribe_alarms(
        &self,
        _: &Call<'_>,
        consumer: Option<&AlarmConsumer>,
    ) -> Result<Option<Cookie>, ExceededConnectionLimitError> {
        let what = "dry".to_owned();
        let alarm = Alarm::new(AlarmState { what });
        consumer.unwrap().push_alarm(Some(&alarm))?;
        let cookie_value = vec![7];
        Ok(Some(Cookie::new(CookieState { cookie_value })))
    }
}

struct Makers {
    pump: Pump,
}

impl CcmHomeServant for Makers {}
impl PumpHomeImplicitServant for Makers {}
impl PumpHomeServant for Makers {}

impl PumpHomeExplicitServant for Makers {
    fn with_flow(
        &self,
        _: &Call<'_>,
        flow: i32,
    ) -> Result<Option<Pump>, CreateFailureOrBrokenError> {
        match flow {
            0 => Err(Broken {
                why: "no flow".into(),
            }
            .into()),
            _ => Ok(Some(self.pump.clone())),
        }
    }
}

struct Heard(Mutex<Sender<String>>);

impl EventConsumerBaseServant for Heard {}

impl AlarmConsumerServant for Heard {
    fn push_alarm(&self, _: &Call<'_>, alarm: Option<&Alarm>) -> Answer<()> {
        let what = alarm.map(|it| it.read().what.clone());
        self.0
            .lock()
            .unwrap()
            .send(what.unwrap_or_default())
            .unwrap();
        Ok(())
    }
}

fn orb() -> Orb {
    let orb = Orb::builder().endpoint("iiop://127.0.0.1:0").unwrap();
    let orb = orb.build().unwrap();
    orb.root_poa().manager().activate().unwrap();
    orb
}

/// Conformance: IDL - components: equivalent interfaces - a client makes a component by its home, uses a facet and consumes its events
#[test]
fn a_client_uses_a_component() {
    let (server, client) = (orb(), orb());
    let poa = server.root_poa();
    let outlet: Valve = poa.activate(Outlet).unwrap();
    let pump: Pump = poa.activate(Station { outlet }).unwrap();
    let home: PumpHome = poa.activate(Makers { pump }).unwrap();
    let text = server.object_to_string(home.as_object());
    let home: PumpHome = orbium::narrow(client.string_to_object(&text).unwrap()).unwrap();
    let broken = Broken {
        why: "no flow".into(),
    };
    assert_eq!(home.with_flow(0), Err(broken.into()));
    let pump = home.with_flow(3).unwrap().unwrap();
    pump.provide_outlet().unwrap().unwrap().open().unwrap();
    let (heard, hears) = channel();
    let consumer = client.root_poa().activate(Heard(Mutex::new(heard)));
    let consumer: AlarmConsumer = consumer.unwrap();
    let cookie = pump.subscribe_alarms(Some(&consumer)).unwrap();
    assert!(cookie.is_some());
    assert_eq!(hears.recv().unwrap(), "dry");
    for orb in [client, server] {
        orb.shutdown(true).unwrap();
    }
}
