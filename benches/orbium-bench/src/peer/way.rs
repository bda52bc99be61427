// SPDX-License-Identifier: MIT OR Apache-2.0
//! The transports that client and server can use.

use std::path::PathBuf;

use orbium_cli::stage::realm::Realm;

use crate::peer::server::Under;
use xtask::outcome::Outcome;

/// A transport with its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// TCP over the loopback interface.
    Tcp,
    /// A Unix-domain socket.
    Unix,
    /// Shared memory; a waiting side sleeps immediately.
    Futex,
    /// Shared memory; a waiting side spins.
    Spin,
    /// TLS 1.3 over TCP.
    Tls,
}

/// Microseconds of spinning: longer than any reply takes.
const SPIN: u32 = 1000;

/// A folder for sockets, which need short paths, and for keys.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// A new folder, with an authority and a certificate for this host.
    pub(crate) fn new() -> Outcome<Self> {
        let path = std::env::temp_dir().join(format!("orbium-bench-keys-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let folder = Self(path);
        match Realm::new(&folder.0) {
            Ok(_) => Ok(folder),
            Err(failure) => Err(failure.sentence().to_owned()),
        }
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The transport between client and server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way<'a> {
    over: Over,
    folder: Option<&'a Folder>,
    messaging: Option<&'a str>,
}

impl<'a> Way<'a> {
    /// Plain TCP, which needs no folder.
    pub(crate) const TCP: Self = Self {
        over: Over::Tcp,
        folder: None,
        messaging: None,
    };

    /// Over that transport, with sockets and keys in the folder.
    pub(crate) fn over(over: Over, folder: &'a Folder) -> Self {
        Self {
            over,
            folder: Some(folder),
            messaging: None,
        }
    }

    /// The same with a messaging protocol other than GIOP, which only orbium supports.
    pub(crate) fn with_messaging(self, messaging: &'a str) -> Self {
        Self {
            messaging: Some(messaging),
            ..self
        }
    }

    fn path(&self, name: &str) -> String {
        self.folder
            .map(|folder| folder.path(name))
            .unwrap_or_default()
    }

    /// The endpoint of a server of orbium.
    pub(crate) fn endpoint(&self) -> String {
        let endpoint = match self.over {
            Over::Tcp => "iiop://127.0.0.1:0".to_owned(),
            Over::Unix => format!("uiop://{}", self.path("uiop")),
            Over::Futex => format!("shmiop://{}?spin=none", self.path("shmiop")),
            Over::Spin => format!("shmiop://{}?spin={SPIN}", self.path("shmiop")),
            Over::Tls => "ssliop://127.0.0.1:0".to_owned(),
        };
        let Some(messaging) = self.messaging else {
            return endpoint;
        };
        let separator = if endpoint.contains('?') { '&' } else { '?' };
        format!("{endpoint}{separator}messaging={messaging}")
    }

    /// The endpoint of a server of omniORB, if it supports the transport.
    pub(crate) fn omni_endpoint(&self) -> Option<String> {
        match self.over {
            Over::Tcp => Some("giop:tcp:127.0.0.1:".to_owned()),
            Over::Unix => Some(format!("giop:unix:{}", self.path("omni"))),
            Over::Futex | Over::Spin | Over::Tls => None,
        }
    }

    /// The address of a raw server.
    pub(crate) fn raw_address(&self) -> String {
        match self.over {
            Over::Tcp => "127.0.0.1:0".to_owned(),
            Over::Unix => format!("unix:{}", self.path("raw")),
            Over::Futex => format!("shm:0:{}", self.path("raw-shm")),
            Over::Spin => format!("shm:{SPIN}:{}", self.path("raw-shm")),
            Over::Tls => "tls:127.0.0.1:0".to_owned(),
        }
    }

    /// Removes the socket of a killed server.
    pub(crate) fn remove_raw(&self) {
        for name in ["raw", "raw-shm", "omni"] {
            let _ = std::fs::remove_file(self.path(name));
        }
    }

    /// Options of every orbium process, raw ones too.
    pub(crate) fn options(&self) -> Vec<String> {
        if self.over != Over::Tls {
            return Vec::new();
        }
        let files = [
            ("--tls-ca", "authority.pem"),
            ("--tls-cert", "certificate.pem"),
            ("--tls-key", "key.pem"),
        ];
        files
            .iter()
            .flat_map(|(option, file)| [(*option).to_owned(), self.path(file)])
            .collect()
    }

    /// Further options of a client of orbium.
    pub(crate) fn client_options(&self) -> Vec<String> {
        let spin = match self.over {
            Over::Futex => "none".to_owned(),
            Over::Spin => SPIN.to_string(),
            Over::Tcp | Over::Unix | Over::Tls => return Vec::new(),
        };
        vec!["--shm-spin".to_owned(), spin]
    }

    /// The environments of server and client: one processor, or two if they spin.
    pub(crate) fn under(&self) -> (Under, Under) {
        match self.over {
            Over::Spin => (Under::Half { upper: true }, Under::Half { upper: false }),
            _ => (Under::OneProcessor, Under::OneProcessor),
        }
    }
}
