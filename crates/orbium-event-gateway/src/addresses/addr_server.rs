// SPDX-License-Identifier: MIT OR Apache-2.0
//! `RtecUDPAdmin::AddrServer`: the servant of a table, and a client.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use orbium::{Call, Char, ExceptionKind, SystemException};
use orbium_event::rtec::rtec_event_comm::EventHeader;
use orbium_event::rtec::rtec_udp_admin::{
    AddrServer, AddrServerServant, UdpAddr, UdpAddrV6, UdpAddress,
};

use super::Addresses;

/// Gets the address of an event from a server, by `get_addr` if it has only that.
pub(crate) fn ask(
    server: &AddrServer,
    header: &EventHeader,
) -> Result<SocketAddr, SystemException> {
    match server.get_address(header) {
        Ok(UdpAddress::V4Addr(address)) => Ok(v4(&address)),
        Ok(UdpAddress::V6Addr(address)) => {
            let bytes = address.ipaddr.map(|it| it.0);
            Ok(SocketAddr::from((Ipv6Addr::from(bytes), address.port)))
        }
        Err(exception) if exception.kind == ExceptionKind::BadOperation => {
            Ok(v4(&server.get_addr(header)?))
        }
        Err(exception) => Err(exception),
    }
}

fn v4(address: &UdpAddr) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::from_bits(address.ipaddr), address.port))
}

impl AddrServerServant for Addresses {
    fn get_addr(&self, call: &Call<'_>, header: &EventHeader) -> Result<UdpAddr, SystemException> {
        match self.get_address(call, header)? {
            UdpAddress::V4Addr(address) => Ok(address),
            UdpAddress::V6Addr(_) => Err(ExceptionKind::DataConversion.into()),
        }
    }

    fn get_address(
        &self,
        _: &Call<'_>,
        header: &EventHeader,
    ) -> Result<UdpAddress, SystemException> {
        let address = self.of(header).ok_or(ExceptionKind::BadParam)?;
        Ok(match address {
            SocketAddr::V4(address) => UdpAddress::V4Addr(UdpAddr {
                ipaddr: address.ip().to_bits(),
                port: address.port(),
            }),
            SocketAddr::V6(address) => UdpAddress::V6Addr(UdpAddrV6 {
                ipaddr: address.ip().octets().map(Char),
                port: address.port(),
            }),
        })
    }
}
