// SPDX-License-Identifier: MIT OR Apache-2.0
//! Spans of calls and requests, and their parents.

use opentelemetry::trace::{SpanKind, Status, TraceContextExt, Tracer, TracerProvider};
use opentelemetry::{Context, SpanId};
use opentelemetry_sdk::trace::InMemorySpanExporter;
use orbium::{Interface, Orb, asynchronous::Asynchronous};
use orbium_cdr::{Decode, Encode};
use orbium_core::Operation;
use orbium_opentelemetry::TRACE_PARENT;
use orbium_testkit::{Peer, RequestLine, eventually, request};

use crate::Tested;
use crate::fixture::{attribute, provider, seen_by, served, spans, traced_orb};

#[test]
fn a_call_by_way_of_two_servers_is_one_trace() -> Tested {
    let exporter = InMemorySpanExporter::default();
    let provider = provider(exporter.clone());
    let orb = traced_orb(&provider);
    let (front, back) = (served(traced_orb(&provider)), served(traced_orb(&provider)));
    let (first, next) = (seen_by(&orb, &front), seen_by(&orb, &back));
    exporter.reset();

    let own = provider.tracer("program").start("program");
    let program = Context::current_with_span(own);
    let attached = program.clone().attach();
    assert_eq!(first.nest(Some(&next), 1)?, 1);
    drop(attached);

    let all = spans(&exporter);
    let kinds: Vec<_> = all.iter().map(|it| it.span_kind.clone()).collect();
    let (client, server) = (SpanKind::Client, SpanKind::Server);
    assert_eq!(kinds, [client.clone(), server.clone(), client, server]);
    let mut parent = program.span().span_context().clone();
    for span in &all {
        assert_eq!(span.name, "Probe::Target/nest");
        assert_eq!(span.span_context.trace_id(), parent.trace_id());
        assert_eq!(span.parent_span_id, parent.span_id());
        assert_eq!(
            span.parent_span_is_remote,
            span.span_kind == SpanKind::Server
        );
        assert_eq!(attribute(span, "rpc.system.name"), "corba");
        assert_eq!(attribute(span, "rpc.method"), "Probe::Target/nest");
        assert_eq!(attribute(span, "rpc.status_code"), "NO_EXCEPTION");
        parent = span.span_context.clone();
    }
    assert_eq!(attribute(&all[0], "server.address"), "127.0.0.1");
    assert!(!Context::current().has_active_span());
    Ok(())
}

#[test]
fn exceptions_are_noted_and_those_of_the_system_are_errors() {
    let exporter = InMemorySpanExporter::default();
    let provider = provider(exporter.clone());
    let (orb, server) = (traced_orb(&provider), served(traced_orb(&provider)));
    let target = seen_by(&orb, &server);
    exporter.reset();
    assert!(target.refuse(3).is_err());
    assert!(target.raise_system("BAD_OPERATION").is_err());
    let all = spans(&exporter);
    assert_eq!(all.len(), 4);
    for span in &all[..2] {
        assert_eq!(attribute(span, "rpc.status_code"), "USER_EXCEPTION");
        assert_eq!(attribute(span, "error.type"), "Probe::Refused");
        assert_eq!(span.status, Status::Unset);
    }
    for span in &all[2..] {
        assert_eq!(attribute(span, "rpc.status_code"), "SYSTEM_EXCEPTION");
        assert_eq!(span.status, Status::error("CORBA::BAD_OPERATION"));
    }
}

/// Regression: a peer created names of spans, and attributes, of any size and number.
#[test]
fn an_operation_that_the_servant_lacks_has_a_bounded_span() -> Tested {
    let long = "x".repeat(100_000);
    let exporter = InMemorySpanExporter::default();
    let provider = provider(exporter.clone());
    let server = served(traced_orb(&provider));
    let ior = server.target.as_object().ior();
    let profile = ior.iiop_profiles().next().ok_or("no profile")?;
    let mut peer = Peer::connect(profile.port);
    for (id, operation) in [(1, "is\u{7}odd"), (2, long.as_str())] {
        exporter.reset();
        let line = RequestLine {
            key: &profile.object_key,
            ..RequestLine::new(id, operation)
        };
        peer.send(&request(line, |_| {}));
        eventually("its span", || spans(&exporter).len() == 1);
        let all = spans(&exporter);
        let span = &all[0];
        assert_eq!(span.name, "_OTHER");
        assert_eq!(attribute(span, "rpc.method"), "_OTHER");
        let original = attribute(span, "rpc.method_original");
        let expected = if id == 1 { "is\\x07odd" } else { &long[..64] };
        assert_eq!(original, expected);
        assert_eq!(attribute(span, "error.type"), "CORBA::BAD_OPERATION");
    }
    Ok(())
}

#[test]
fn the_span_of_a_request_is_current_for_its_servant() -> Tested {
    let exporter = InMemorySpanExporter::default();
    let provider = provider(exporter.clone());
    let (orb, server) = (traced_orb(&provider), served(traced_orb(&provider)));
    let target = seen_by(&orb, &server);
    exporter.reset();
    let tracer = provider.tracer("servant");
    server.state.on_act(move |_, number| {
        drop(tracer.start("work"));
        Ok(number)
    });
    assert_eq!(target.act(5)?, 5);
    let all = spans(&exporter);
    let [_, request, work] = &all[..] else {
        panic!("{} spans", all.len());
    };
    assert_eq!(work.parent_span_id, request.span_context.span_id());
    Ok(())
}

#[test]
fn a_oneway_has_a_span_on_both_sides() -> Tested {
    let exporter = InMemorySpanExporter::default();
    let provider = provider(exporter.clone());
    let (orb, server) = (traced_orb(&provider), served(traced_orb(&provider)));
    let target = seen_by(&orb, &server);
    exporter.reset();
    target.post(1)?;
    eventually("both spans", || spans(&exporter).len() == 2);
    let all = spans(&exporter);
    let kinds: Vec<_> = all.iter().map(|it| it.span_kind.clone()).collect();
    assert_eq!(kinds, [SpanKind::Client, SpanKind::Server]);
    assert!(all.iter().all(|it| it.name == "Probe::Target/post"));
    assert_eq!(all[1].parent_span_id, all[0].span_context.span_id());
    Ok(())
}

#[test]
fn an_asynchronous_call_has_one_span_until_its_reply() -> Tested {
    static ECHO: Operation = Operation::new("echo_long");
    let exporter = InMemorySpanExporter::default();
    let provider = provider(exporter.clone());
    let (orb, server) = (traced_orb(&provider), served(traced_orb(&provider)));
    let target = seen_by(&orb, &server);
    exporter.reset();
    let object = target.as_object();
    let call: Asynchronous<i32> = object.call_async(&ECHO, 7, Encode::encode, i32::decode);
    assert_eq!(call.wait()?, 7);
    let all = spans(&exporter);
    let kinds: Vec<_> = all.iter().map(|it| it.span_kind.clone()).collect();
    assert_eq!(kinds, [SpanKind::Client, SpanKind::Server]);
    assert_eq!(all[1].parent_span_id, all[0].span_context.span_id());
    assert_eq!(attribute(&all[0], "rpc.status_code"), "NO_EXCEPTION");
    Ok(())
}

#[test]
fn a_server_that_is_gone_is_an_error_of_the_call() -> Tested {
    let exporter = InMemorySpanExporter::default();
    let provider = provider(exporter.clone());
    let (orb, server) = (traced_orb(&provider), served(traced_orb(&provider)));
    let target = seen_by(&orb, &server);
    server.orb.shutdown(true)?;
    exporter.reset();
    assert!(target.noop().is_err());
    let all = spans(&exporter);
    let last = all.last().ok_or("no span")?;
    assert_eq!(last.span_kind, SpanKind::Client);
    assert_eq!(last.status, Status::error("CORBA::TRANSIENT"));
    assert_eq!(attribute(last, "error.type"), "CORBA::TRANSIENT");
    Ok(())
}

#[test]
fn a_traceparent_that_cannot_be_read_begins_a_new_trace() -> Tested {
    let exporter = InMemorySpanExporter::default();
    let provider = provider(exporter.clone());
    let (orb, server) = (Orb::builder().build()?, served(traced_orb(&provider)));
    let target = seen_by(&orb, &server).with_service_context(TRACE_PARENT, b"00-nothing");
    exporter.reset();
    target.noop()?;
    let all = spans(&exporter);
    let parents: Vec<_> = all.iter().map(|it| it.parent_span_id).collect();
    assert_eq!(parents, [SpanId::INVALID]);
    Ok(())
}
