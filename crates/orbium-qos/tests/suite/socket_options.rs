// SPDX-License-Identifier: MIT OR Apache-2.0
//! The options of the sockets that calls of each communication class go over.
#![cfg(target_os = "linux")]

use std::io;
use std::sync::{Arc, Mutex};

use orbium_core::{Config, Endpoint, EndpointError, Orb, ProtocolProperties, Transport};
use orbium_qos::{CommunicationClass, QosObject};
use orbium_testkit::Served;
use orbium_transport::{
    Acceptor, ByteStream, Connector, Deadline, ListenError, StreamTransport, Tcp,
};

use crate::of;

type Options = Arc<Mutex<Vec<ProtocolProperties>>>;

/// TCP that reads the options of each connection as soon as it is made.
#[derive(Debug)]
struct AskedTcp(Options);

#[derive(Debug)]
struct AskedConnector {
    connector: Box<dyn Connector>,
    options: Options,
}

impl StreamTransport for AskedTcp {
    fn scheme(&self) -> &str {
        Tcp.scheme()
    }

    fn listen(
        &self,
        endpoint: &Endpoint,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Acceptor>, ListenError> {
        Tcp.listen(endpoint, properties)
    }

    fn connector(
        &self,
        address: &str,
        properties: &ProtocolProperties,
    ) -> Result<Box<dyn Connector>, EndpointError> {
        Ok(Box::new(AskedConnector {
            connector: Tcp.connector(address, properties)?,
            options: Arc::clone(&self.0),
        }))
    }
}

impl Connector for AskedConnector {
    fn connect(&self, deadline: Deadline) -> io::Result<Box<dyn ByteStream>> {
        let stream = self.connector.connect(deadline)?;
        let options = ProtocolProperties::read_from(&stream.source())?;
        self.options.lock().unwrap().push(options);
        Ok(stream)
    }
}

/// Bytes of a buffer of 4 MiB: the kernel bounds what it is asked for, and doubles it.
fn large_buffer() -> usize {
    let most = std::fs::read_to_string("/proc/sys/net/core/wmem_max").unwrap();
    2 * most.trim().parse::<usize>().unwrap().min(4 << 20)
}

/// Conformance: RT - RIOP: ISOCHRONOUS, BURST, MESSAGE: connections and sockets
#[test]
fn the_sockets_of_each_class_have_its_options() {
    let served = Served::new(Config::default().strategy);
    let options = Options::default();
    let transport = Transport::stream(AskedTcp(Arc::clone(&options)));
    let client = Orb::builder().transport(transport).build().unwrap();
    let target = served.seen_by(&client);
    assert_eq!(target.noop(), Ok(()));
    let take = || options.lock().unwrap().drain(..).next_back().unwrap();
    let unpaced = take().pacing_rate;
    let paced = Some(1 << 20);
    for (class, dscp, pacing) in [
        (CommunicationClass::Isochronous, 34, paced),
        (CommunicationClass::Burst, 8, paced),
        (CommunicationClass::Message, 46, unpaced),
        (CommunicationClass::MessageStream, 34, unpaced),
    ] {
        assert_eq!(target.with_qos(&of(class)).unwrap().noop(), Ok(()));
        let read = take();
        assert_eq!(
            (read.dscp, read.pacing_rate),
            (Some(dscp), pacing),
            "{class:?}"
        );
        assert!(read.no_delay, "{class:?}");
        if class == CommunicationClass::Burst {
            assert_eq!(read.send_buffer, Some(large_buffer()));
        }
    }
    served.end();
}
