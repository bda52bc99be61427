// SPDX-License-Identifier: MIT OR Apache-2.0
//! A cluster of NATS servers with JetStream, which tests kill and start again one by one.

use std::path::Path;

use crate::peer::nats::{NatsServer, free_port, next_host, program};

/// The number of its servers, which is the maximum of copies of a stream.
const SERVERS: usize = 3;

/// Three servers on one host. Each has the same addresses and data however often it is killed. They end, and their data are
/// deleted, when this is dropped.
#[derive(Debug)]
pub struct NatsCluster {
    servers: Vec<NatsServer>,
}

impl NatsCluster {
    /// Starts a cluster without data in folders below `folder`. `None`, and a line that says so, where there is no
    /// `nats-server`, unless `ORBIUM_REQUIRE_PEERS=1`. Its servers have elected no leader yet.
    ///
    /// # Panics
    /// A server does not start, or is missing and required.
    #[must_use]
    pub fn start(folder: &Path) -> Option<Self> {
        let program = program()?;
        let hosts = [(); SERVERS].map(|()| next_host("nats cluster"));
        let routes = hosts.each_ref().map(|(host, _)| {
            let port = free_port(host);
            format!("nats://{host}:{port}")
        });
        let all_routes = routes.join(",");
        let servers = hosts.into_iter().zip(&routes).enumerate();
        let servers = servers.map(|(index, (host, route))| {
            let name = format!("n{}", index + 1);
            let arguments = [
                "-n",
                &name,
                "--cluster_name",
                "orbium",
                "--cluster",
                route,
                "--routes",
                &all_routes,
            ];
            NatsServer::with(program.clone(), folder, host, &arguments)
        });
        Some(Self {
            servers: servers.collect(),
        })
    }

    /// The addresses of its servers, separated by commas.
    #[must_use]
    pub fn urls(&self) -> String {
        let urls: Vec<_> = self.servers.iter().map(NatsServer::url).collect();
        urls.join(",")
    }

    /// The server of that name: `n1`, `n2` or `n3`.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn server(&self, name: &str) -> &NatsServer {
        let number = name.strip_prefix('n').and_then(|it| it.parse().ok());
        let index = number.and_then(|it: usize| it.checked_sub(1));
        let server = index.and_then(|it| self.servers.get(it));
        server.expect("a server of the cluster")
    }
}
