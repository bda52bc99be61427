// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors that name the missing feature. Run for this package alone, only the unconditional parts
//! exist; with the workspace, all of them.

use std::error::Error;
use std::sync::Arc;

use orbium::cdr::{CdrErrorKind, CdrReader, Decode as _, Encode as _, TypeCode};
use orbium::giop::component::TaggedComponent;
use orbium::giop::real_time::{
    PriorityBand, PriorityBandsValue, PriorityModel, PriorityModelValue,
};
use orbium::giop::{ExceptionKind, Ior};
use orbium::stub::{DispatchError, Operation, UntypedReply};
use orbium::{
    Any, Call, Config, Orb, OrbError, Servant, SystemException,
    config::{BidirectionalPolicy, ServerStrategy},
    protocol::Protocols,
    reference::ObjectError,
};

/// The optional parts, and whether they exist.
const PARTS: [(&str, &str, bool); 2] = [
    ("shmiop", "shm", cfg!(feature = "shm")),
    ("ziop", "ziop", cfg!(feature = "ziop")),
];

fn is_transport(name: &str) -> bool {
    name == "inproc" || name.ends_with("iop") && name != "ziop"
}

fn listen(endpoint: &str) -> Result<Orb, OrbError> {
    Orb::builder().endpoint(endpoint)?.build()
}

#[test]
fn permanent_features_are_there() {
    let protocols = Protocols::default();
    let schemes: Vec<_> = protocols.schemes().collect();
    for scheme in ["iiop", "uiop", "inproc", "diop", "miop"] {
        assert!(schemes.contains(&scheme), "{scheme} in {schemes:?}");
    }
    for half in ["giop-lite", "fixed"] {
        assert!(Protocols::default().only(["iiop", half]).is_ok(), "{half}");
    }
    listen("iiop://127.0.0.1:0").unwrap();
}

#[test]
fn an_endpoint_left_out_names_the_feature() {
    for (name, feature, is_there) in PARTS {
        if is_there {
            continue;
        }
        let endpoint = if is_transport(name) {
            format!("{name}://127.0.0.1:0")
        } else {
            format!("iiop://127.0.0.1:0?messaging={name}")
        };
        match listen(&endpoint).map(drop) {
            Err(OrbError::Feature(at, missing)) => {
                assert_eq!((at, missing), (endpoint, feature));
            }
            other => panic!("{endpoint}: {other:?}"),
        }
    }
}

/// TLS is a feature, and requires files.
#[test]
fn tls_left_out_or_not_configured_says_so() {
    assert_eq!(Config::has_tls(), cfg!(feature = "tls"));
    let error = listen("ssliop://127.0.0.1:0").unwrap_err().to_string();
    let unknown = Protocols::default().only(["ssliop"]).unwrap_err();
    for error in [error, unknown.to_string()] {
        let hint = "`ssliop` needs orbium's feature `tls`, with tls.certificate and tls.key";
        assert!(error.contains(hint), "{error}");
    }
}

#[test]
fn bidirectional_connections_left_out_name_the_feature() {
    let config = Config {
        bidirectional: BidirectionalPolicy::Both,
        ..Config::default()
    };
    let missing = match Orb::new(config) {
        Ok(orb) => {
            orb.shutdown(true).unwrap();
            None
        }
        Err(OrbError::Feature(what, feature)) => {
            assert_eq!(what, "bidirectional = both, or bidirectional_overrides");
            Some(feature)
        }
        Err(other) => panic!("{other:?}"),
    };
    assert_eq!(missing, (!cfg!(feature = "bidir")).then_some("bidir"));
}

#[test]
fn metrics_left_out_name_the_feature() {
    let metrics = Config {
        metrics: true,
        ..Config::default()
    };
    let watch = Config {
        watch: true,
        ..Config::default()
    };
    for (key, config) in [("metrics", metrics), ("watch", watch)] {
        let missing = match Orb::new(config) {
            Ok(orb) => {
                orb.shutdown(true).unwrap();
                None
            }
            Err(OrbError::Feature(what, feature)) => {
                assert_eq!(what, format!("{key} = true"));
                Some(feature)
            }
            Err(other) => panic!("{key}: {other:?}"),
        };
        let left_out = !cfg!(feature = "metrics");
        assert_eq!(missing, left_out.then_some("metrics"), "{key}");
    }
}

#[test]
fn every_strategy_is_there() {
    for strategy in [
        ServerStrategy::ThreadPerConnection,
        ServerStrategy::Reactive,
        ServerStrategy::leader_followers(),
        ServerStrategy::worker_pool(),
    ] {
        let orb = Orb::builder()
            .endpoint("iiop://127.0.0.1:0")
            .unwrap()
            .strategy(strategy)
            .build()
            .unwrap();
        orb.root_poa().manager().activate().unwrap();
        let at = &orb.addresses().unwrap()[0];
        let client = Orb::builder().build().unwrap();
        let url = format!("corbaloc::{}:{}/Nothing", at.host, at.port);
        let object = client.string_to_object(&url).unwrap().expect("no nil");
        assert_eq!(object.non_existent(), Ok(true), "{strategy}");
        orb.shutdown(true).unwrap();
    }
}

/// A call without a priority finds no band.
#[test]
fn priority_policies_of_a_reference_are_kept_and_take_effect() {
    let server = listen("iiop://127.0.0.1:0").unwrap();
    server.root_poa().manager().activate().unwrap();
    let at = &server.addresses().unwrap()[0];
    let client = Orb::builder().build().unwrap();
    let url = format!("corbaloc::1.2@{}:{}/Nothing", at.host, at.port);
    let plain = client.string_to_object(&url).unwrap().expect("no nil");
    let mut profile = plain.ior().iiop_profiles().next().expect("it is IIOP");
    let model = PriorityModelValue {
        model: PriorityModel::ClientPropagated,
        server_priority: 5,
    };
    let bands = PriorityBandsValue(vec![PriorityBand { low: 1, high: 9 }]);
    let policies = [model.to_policy(), bands.to_policy()];
    profile
        .components
        .push(TaggedComponent::policies(&policies));
    let ior = Ior::with_profile("IDL:Nothing:1.0", &profile).to_string();
    let object = client.string_to_object(&ior).unwrap().expect("no nil");
    let refused = object.non_existent().map_err(|it| it.kind);
    assert_eq!(refused, Err(ExceptionKind::NoResources));
    assert_eq!(object.ior().to_string(), ior);
    assert!(object.published_policies().is_client_propagated());
}

#[test]
fn a_list_of_protocols_names_the_feature() {
    for (name, feature, is_there) in PARTS {
        match Protocols::default().only([name]) {
            Ok(_) => assert!(is_there, "{name}"),
            Err(error) => {
                assert!(!is_there, "{name}");
                let hint = format!("feature `{feature}`");
                assert!(error.to_string().ends_with(&hint), "{error}");
            }
        }
    }
}

#[test]
fn a_call_over_what_was_left_out_names_the_feature() -> Result<(), ObjectError> {
    let orb = Orb::builder().build().unwrap();
    let object = orb.string_to_object("corbaloc:shmiop:nowhere/Key")?;
    let object = object.expect("no nil");
    object.is_a("IDL:Nothing:1.0").unwrap_err();
    let failure = orbium::diagnostics::last_failure()
        .expect("why it failed")
        .to_string();
    assert_eq!(
        failure.contains("feature `shm`"),
        !cfg!(feature = "shm"),
        "{failure}"
    );
    Ok(())
}

/// Receives an any, and returns nothing.
struct TakesAny;

static TAKE: Operation = Operation::new("take");

impl Servant for TakesAny {
    fn repository_id(&self) -> &'static str {
        "IDL:test/TakesAny:1.0"
    }

    fn is_a(&self, repository_id: &str) -> bool {
        repository_id == self.repository_id()
    }

    fn dispatch(
        &self,
        _: &Call<'_>,
        arguments: &mut CdrReader<'_>,
        reply: &mut UntypedReply<'_>,
    ) -> Result<(), DispatchError> {
        Any::decode(arguments)?;
        reply.result(|_| {})
    }
}

/// Without the types of values their TypeCodes are known, but not their encoding.
#[test]
fn a_value_within_an_any_arrives_or_names_the_feature() -> Result<(), Box<dyn Error>> {
    let orb = Orb::builder().endpoint("iiop://127.0.0.1:0")?.build()?;
    orb.root_poa().manager().activate()?;
    let servant: Arc<dyn Servant> = Arc::new(TakesAny);
    let object = orb.root_poa().activate_servant(&servant)?;
    let client = Orb::builder().build()?;
    let object = client.string_to_object(&object.ior().to_string())?;
    let point = TypeCode::value("IDL:test/Point:1.0", "Point", 0, None, []);
    let outcome: Result<(), SystemException> = object.expect("no nil").call(
        &TAKE,
        |writer| {
            point.encode(writer);
            0_u32.encode(writer);
        },
        |_| Ok(()),
    );
    let kind = outcome.err().map(|it| it.kind);
    let refused = Some(ExceptionKind::NoImplement).filter(|_| !cfg!(feature = "values"));
    assert_eq!(kind, refused);
    let text = CdrErrorKind::ValuesLeftOut.text();
    assert!(text.ends_with("feature `values`"), "{text}");
    Ok(())
}
