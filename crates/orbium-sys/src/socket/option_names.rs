// SPDX-License-Identifier: MIT OR Apache-2.0
//! Socket options as text, for endpoints and configurations.

use std::num::NonZeroU8;
use std::time::Duration;

use crate::SocketOptions;

/// Error of setting an option from text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionError {
    /// The option is unknown.
    Unknown,
    /// The value is invalid.
    BadValue,
}

/// `true` and `false`, also written `1` and `0`, `on` and `off`.
fn flag(text: &str) -> Result<bool, OptionError> {
    match text {
        "true" | "1" | "on" => Ok(true),
        "false" | "0" | "off" => Ok(false),
        _ => Err(OptionError::BadValue),
    }
}

fn number<T: TryFrom<u64>>(text: &str) -> Result<T, OptionError> {
    match T::try_from(whole(text)?) {
        Ok(number) => Ok(number),
        Err(_) => Err(OptionError::BadValue),
    }
}

fn whole(text: &str) -> Result<u64, OptionError> {
    text.parse().map_err(|_| OptionError::BadValue)
}

impl SocketOptions {
    /// Names of the options of TCP endpoints.
    pub const TCP_NAMES: &[&str] = &[
        "send_buffer",
        "receive_buffer",
        "dont_route",
        "dscp",
        "socket_priority",
        "pacing_rate",
        "busy_poll",
        "mark",
        "incoming_cpu",
        "reuse",
        "no_delay",
        "keep_alive",
        "quick_ack",
    ];

    /// Names of the options of Unix socket endpoints.
    pub const UNIX_NAMES: &[&str] = &["send_buffer", "receive_buffer"];

    /// Names of the options of UDP endpoints.
    pub const UDP_NAMES: &[&str] = &[
        "send_buffer",
        "receive_buffer",
        "dont_route",
        "dscp",
        "socket_priority",
        "pacing_rate",
        "busy_poll",
        "mark",
        "incoming_cpu",
        "reuse",
    ];

    /// Names of the options for multicast only.
    pub const MULTICAST_NAMES: &[&str] = &[
        "multicast_ttl",
        "multicast_loop",
        "multicast_interface",
        "multicast_copies",
    ];

    /// Sets the option of a name, which is that of its field. Sizes are in octets, rates in octets
    /// per second, `busy_poll` in microseconds; an interface is a name, an index or an IPv4
    /// address.
    ///
    /// # Errors
    /// The option does not exist, or the value is invalid.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), OptionError> {
        match name {
            "send_buffer" => self.send_buffer = Some(number(text)?),
            "receive_buffer" => self.receive_buffer = Some(number(text)?),
            "no_delay" => self.no_delay = flag(text)?,
            "keep_alive" => self.keep_alive = flag(text)?,
            "quick_ack" => self.quick_ack = Some(flag(text)?),
            "dont_route" => self.dont_route = flag(text)?,
            "dscp" => {
                let dscp = Some(number(text)?).filter(|dscp| *dscp <= 63);
                self.dscp = Some(dscp.ok_or(OptionError::BadValue)?);
            }
            "socket_priority" => self.socket_priority = Some(number(text)?),
            "pacing_rate" => self.pacing_rate = Some(number(text)?),
            "busy_poll" => self.busy_poll = Some(Duration::from_micros(number(text)?)),
            "mark" => self.mark = Some(number(text)?),
            "incoming_cpu" => self.incoming_cpu = Some(number(text)?),
            "reuse" => self.reuse = flag(text)?,
            "multicast_ttl" => self.multicast_ttl = Some(number(text)?),
            "multicast_loop" => self.multicast_loop = Some(flag(text)?),
            "multicast_interface" => {
                let interface = text.parse().ok();
                self.multicast_interface = Some(interface.ok_or(OptionError::BadValue)?);
            }
            "multicast_copies" => {
                let copies = number(text).ok().and_then(NonZeroU8::new);
                self.multicast_copies = Some(copies.ok_or(OptionError::BadValue)?);
            }
            _ => return Err(OptionError::Unknown),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NetworkInterface;

    #[test]
    fn every_name_can_be_set() {
        let all = [
            SocketOptions::TCP_NAMES,
            SocketOptions::UNIX_NAMES,
            SocketOptions::UDP_NAMES,
            SocketOptions::MULTICAST_NAMES,
        ];
        for name in all.concat() {
            let mut options = SocketOptions::new();
            // Not the default of any option.
            let text = match name {
                "no_delay" | "keep_alive" => "0",
                _ => "1",
            };
            options.set(name, text).unwrap();
            assert_ne!(options, SocketOptions::new(), "{name}");
            for bad in ["", "-1", "x", "99999999999999999999999"] {
                assert_eq!(
                    options.set(name, bad),
                    Err(OptionError::BadValue),
                    "{name}={bad}"
                );
            }
        }
        let mut options = SocketOptions::new();
        assert_eq!(options.set("nodelay", "1"), Err(OptionError::Unknown));
        assert_eq!(options.set("dscp", "64"), Err(OptionError::BadValue));
        assert_eq!(
            options.set("multicast_ttl", "256"),
            Err(OptionError::BadValue)
        );
    }

    #[test]
    fn values_are_what_was_written() {
        let mut options = SocketOptions::new();
        options.set("busy_poll", "50").unwrap();
        options.set("pacing_rate", "5000000000").unwrap();
        options.set("quick_ack", "off").unwrap();
        options.set("multicast_interface", "127.0.0.1").unwrap();
        assert_eq!(options.busy_poll, Some(Duration::from_micros(50)));
        assert_eq!(options.pacing_rate, Some(5_000_000_000));
        assert_eq!(options.quick_ack, Some(false));
        assert_eq!(
            options.multicast_interface,
            Some(NetworkInterface::Address([127, 0, 0, 1].into()))
        );
        #[cfg(target_os = "linux")]
        {
            options.set("multicast_interface", "lo").unwrap();
            let interface = options.multicast_interface.unwrap();
            assert!(interface.index().is_ok());
            assert_eq!(
                interface.to_string().parse::<NetworkInterface>().unwrap(),
                interface
            );
        }
    }
}
