// SPDX-License-Identifier: MIT OR Apache-2.0
//! Deadlines in the past, at the client and at the server, and those that pass
//! within a call.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, SystemTime};

use orbium_core::{
    Completion, ExceptionKind, Interface, ServerStrategy, SystemException, TimePolicies,
};
use orbium_giop::time::{EndTimes, UtcTime};
use orbium_giop::{ReplyHeader, ServiceContext, SystemExceptionBody, service_context};
use orbium_testkit::{Peer, RequestLine, Served, request};

use crate::measure::{Fault, Run};
use crate::parties::{counts_acts, each_client, each_server, seen_by_each};

pub(crate) const FAULTS: &[Fault] = &[
    Fault {
        name: "a deadline in the past: nothing is sent",
        most: usize::MAX,
        run: past_at_the_client,
    },
    Fault {
        name: "a request that comes past its end",
        most: usize::MAX,
        run: past_at_the_server,
    },
    Fault {
        name: "a deadline that passes within the call",
        most: usize::MAX,
        run: within_the_call,
    },
];

const HOUR: Duration = Duration::from_secs(3600);

fn past_at_the_client(run: &mut Run) {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    let acts = counts_acts(&served.state);
    let clients = each_client(&served, run);
    let over = TimePolicies {
        reply_end: Some(SystemTime::now() - HOUR),
        ..TimePolicies::NONE
    };
    let text = served.orb.object_to_string(&served.target);
    let targets = seen_by_each(&clients, &text);
    let late: Vec<_> = targets
        .iter()
        .map(|it| it.with_time_policies(over))
        .collect();
    run.cycles(|n| {
        let refused = late[n % late.len()].act(1).unwrap_err();
        assert_eq!(refused.kind, ExceptionKind::Timeout);
        assert_eq!(refused.completed, Completion::No);
    });
    assert_eq!(acts.load(Ordering::Relaxed), 0);
    drop((clients, targets, late));
    served.end();
}

fn past_at_the_server(run: &mut Run) {
    let servers = each_server(run);
    let acts: Vec<_> = servers.iter().map(|it| counts_acts(&it.state)).collect();
    let mut peers: Vec<_> = servers.iter().map(|it| Peer::connect(it.port())).collect();
    let ends = EndTimes {
        request: Some(UtcTime::from(SystemTime::now() - HOUR)),
        reply: None,
    };
    let ends = ends.encode();
    let contexts = [ServiceContext {
        id: service_context::INVOCATION_POLICIES,
        data: ends.as_slice(),
    }];
    let late = SystemException::omg(ExceptionKind::Timeout, 2, Completion::No);
    run.cycles(|n| {
        let line = RequestLine {
            contexts: &contexts,
            ..RequestLine::new(2, "act")
        };
        let peer = &mut peers[n % servers.len()];
        peer.send(&request(line, |writer| writer.write_u32(1)));
        let refused = peer.receive().read(|reader| {
            ReplyHeader::read(reader, 2).unwrap();
            SystemExceptionBody::read(reader).unwrap().exception()
        });
        assert_eq!(refused, late);
    });
    assert!(acts.iter().all(|it| it.load(Ordering::Relaxed) == 0));
    drop(peers);
    servers.into_iter().for_each(Served::end);
}

/// The servant takes longer than the caller waits.
fn within_the_call(run: &mut Run) {
    let served = Served::new(ServerStrategy::ThreadPerConnection);
    served.state.on_act(|_, v| {
        thread::sleep(Duration::from_millis(5));
        Ok(v)
    });
    let clients = each_client(&served, run);
    let text = served.orb.object_to_string(&served.target);
    let targets = seen_by_each(&clients, &text);
    let hurried: Vec<_> = targets
        .iter()
        .map(|it| it.with_timeout(Duration::from_micros(300)))
        .collect();
    run.cycles(|n| {
        let late = hurried[n % hurried.len()].act(1).unwrap_err();
        assert_eq!(late.kind, ExceptionKind::Timeout);
    });
    for target in &targets {
        assert_eq!(target.act(7), Ok(7));
    }
    drop((clients, targets, hurried));
    served.end();
}
