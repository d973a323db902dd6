//! Who a client is, as far as its address says: networks of trusted proxies, what they forward, and the
//! unit in which clients are counted.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use axum::http::HeaderMap;
use serde::{Deserialize, Serialize};

const FORWARDED_FOR: &str = "x-forwarded-for";
/// What stands left of so many hops was written by strangers.
const HOPS_MAX: usize = 32;

/// An address or a network: `10.0.0.7`, `10.0.0.0/8`, `fd00::/8`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AddressRange {
    address: IpAddr,
    prefix_bits: u8,
}

impl AddressRange {
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, plain(address)) {
            (IpAddr::V4(net), IpAddr::V4(one)) => {
                same_start(u32::from(net).into(), u32::from(one).into(), 32 - self.prefix_bits)
            }
            (IpAddr::V6(net), IpAddr::V6(one)) => {
                same_start(net.into(), one.into(), 128 - self.prefix_bits)
            }
            _ => false,
        }
    }
}

fn same_start(one: u128, other: u128, free_bits: u8) -> bool {
    let shifted = |address: u128| address.checked_shr(free_bits.into()).unwrap_or(0);
    shifted(one) == shifted(other)
}

impl FromStr for AddressRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is neither an address nor a network such as 10.0.0.0/8");
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.trim().parse().map_err(|_| wrong())?;
        let bits = if address.is_ipv4() { 32 } else { 128 };
        let prefix_bits = match prefix {
            Some(prefix) => prefix.trim().parse::<u8>().map_err(|_| wrong())?,
            None => bits,
        };
        if prefix_bits > bits {
            return Err(wrong());
        }
        Ok(AddressRange { address, prefix_bits })
    }
}

impl TryFrom<String> for AddressRange {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<AddressRange> for String {
    fn from(range: AddressRange) -> String {
        format!("{}/{}", range.address, range.prefix_bits)
    }
}

/// What counts as one client: an IPv4 address, or the /64 network that IPv6 gives to a single customer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClientKey(IpAddr);

impl ClientKey {
    pub fn of(address: IpAddr) -> Self {
        ClientKey(match plain(address) {
            IpAddr::V6(address) => {
                let network = u128::from(address) & (u128::MAX << 64);
                IpAddr::V6(Ipv6Addr::from(network))
            }
            v4 => v4,
        })
    }
}

/// A listener on `[::]` sees IPv4 clients as `::ffff:1.2.3.4`.
fn plain(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(Ipv4Addr { .. }) => address,
    }
}

/// For whom a trusted proxy asks: the last address in `X-Forwarded-For` that is no trusted proxy itself.
/// What stands before it anyone may have written. Nothing where the proxy does not say.
pub fn forwarded(headers: &HeaderMap, trusted: &[AddressRange]) -> Option<ClientKey> {
    let lines: Vec<_> = headers.get_all(FORWARDED_FOR).iter().collect();
    let texts = lines.iter().rev().filter_map(|line| line.to_str().ok());
    let hops = texts.flat_map(|text| text.rsplit(',')).take(HOPS_MAX);
    for hop in hops {
        let address = address_of(hop.trim())?;
        if !trusted.iter().any(|range| range.contains(address)) {
            return Some(ClientKey::of(address));
        }
    }
    None
}

/// Some proxies add the port.
fn address_of(hop: &str) -> Option<IpAddr> {
    let bare = hop.trim_start_matches('[').split(']').next().unwrap_or(hop);
    let socket = || hop.parse::<std::net::SocketAddr>().ok().map(|socket| socket.ip());
    hop.parse().ok().or_else(|| bare.parse().ok()).or_else(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> AddressRange {
        text.parse().unwrap()
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_range_holds_its_network_and_nothing_else() {
        for (network, address, is_in) in [
            ("10.0.0.7", "10.0.0.7", true),
            ("10.0.0.7", "10.0.0.8", false),
            ("10.0.0.0/8", "10.255.1.2", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("0.0.0.0/0", "203.0.113.9", true),
            ("10.0.0.0/8", "::ffff:10.1.1.1", true),
            ("fd00::/8", "fd12::1", true),
            ("fd00::/8", "fe80::1", false),
            ("::/0", "2001:db8::1", true),
            ("::/0", "10.0.0.1", false),
        ] {
            assert_eq!(range(network).contains(ip(address)), is_in, "{network} {address}");
        }
        for wrong in ["", "nginx", "10.0.0.0/33", "10.0.0/8", "::1/129", "10.0.0.1/x"] {
            assert!(wrong.parse::<AddressRange>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_last_stranger_in_the_list_is_the_client() {
        let trusted = [range("10.0.0.0/8")];
        let client = |lines: &[&str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(FORWARDED_FOR, line.parse().unwrap());
            }
            forwarded(&headers, &trusted)
        };
        let key = |text: &str| Some(ClientKey::of(ip(text)));
        assert_eq!(client(&["203.0.113.9"]), key("203.0.113.9"));
        assert_eq!(client(&["198.51.100.1, 203.0.113.9, 10.0.0.2"]), key("203.0.113.9"));
        assert_eq!(client(&["198.51.100.1", "203.0.113.9"]), key("203.0.113.9"));
        assert_eq!(client(&["203.0.113.9:4711"]), key("203.0.113.9"));
        assert_eq!(client(&["[2001:db8::1]:443"]), key("2001:db8::2"), "one /64 is one client");
        for unsaid in [&[][..], &["10.0.0.1"], &["unknown"], &["1.2.3.4, garbage"]] {
            assert_eq!(client(unsaid), None, "{unsaid:?}");
        }
    }
}
