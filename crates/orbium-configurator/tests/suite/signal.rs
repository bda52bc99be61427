// SPDX-License-Identifier: MIT OR Apache-2.0
//! SIGHUP: the file is read again.

use std::fs;

use orbium::{Config, Orb, config::Configure as _, poa::Policies};
use orbium_configurator::Configurator;
use orbium_testkit::eventually;
use rustix::process::{Signal, getpid, kill_process};

use crate::load::Load;
use crate::{ports, threads_called};

/// Conformance: ORB - a running ORB is reconfigured: limits, endpoints, lanes, protocols, client strategy
#[test]
fn a_hangup_has_the_file_read_again_and_a_refusal_changes_nothing() {
    let path = std::env::temp_dir().join(format!("orbium-hangup-{}.toml", std::process::id()));
    let lane = "lane.hangup.priority = 1\nlane.hangup.strategy =";
    let first = &format!("endpoint = ['iiop://127.0.0.1:0']\n{lane} 'worker-pool:1/8'\n");
    fs::write(&path, first).unwrap();
    let config = Config::from_file(&path).unwrap();
    let served = orbium_testkit::Served::with(config.clone());
    let configurator = Configurator::new(&served.orb, config);
    let reloads = configurator.on_hangup(&path).unwrap();
    let (_client, target) = served.client();
    let load = Load::on(&target, 2);
    let hang_up = || kill_process(getpid(), Signal::HUP).unwrap();
    let limit = |orb: &Orb| orb.engines().1.limits().connections;

    let second = &format!(
        "endpoint = ['iiop://127.0.0.1:0', 'iiop://localhost:0']\nlimits.connections = 50\n\
         {lane} 'worker-pool:3/16'\n"
    );
    fs::write(&path, second).unwrap();
    hang_up();
    eventually("it is read", || limit(&served.orb) == 50);
    eventually("the lane has its threads", || {
        let lane = served.orb.lane("hangup").unwrap().snapshot();
        (lane.threads, lane.queue) == (3, 16)
    });
    assert_eq!(ports(&served.orb).len(), 2);
    load.goes_on();

    fs::write(&path, format!("{second}limits.nesting = 9\n")).unwrap();
    hang_up();
    fs::write(&path, "limits.connectoins = 9\n").unwrap();
    hang_up();
    load.goes_on();
    assert_eq!(limit(&served.orb), 50);

    fs::write(&path, first).unwrap();
    hang_up();
    eventually("it is read again", || limit(&served.orb) == 4096);
    eventually("one endpoint goes", || ports(&served.orb).len() == 1);

    let policies = Policies {
        lanes: served.orb.lane("hangup").into_iter().collect(),
        ..Policies::default()
    };
    let only = served.orb.root_poa().create_poa("only", None, policies);
    let third = "endpoint = ['iiop://127.0.0.1:0']\nlimits.connections = 60\n";
    fs::write(&path, third).unwrap();
    let refused = configurator.reconfigure_from(&path).unwrap_err();
    let sentence =
        "cannot change while the ORB runs: lane.hangup (to end: RootPOA/only has no other)";
    assert_eq!(refused.to_string(), sentence);
    assert_eq!(limit(&served.orb), 4096);
    only.unwrap().destroy(true).unwrap();
    hang_up();
    eventually("the lane ends", || served.orb.lane("hangup").is_none());
    eventually("its threads end", || threads_called("hangup") == 0);
    assert_eq!(limit(&served.orb), 60);
    load.goes_on();
    drop(reloads);
    load.end();
    served.end();
    fs::remove_file(&path).unwrap();
}
