//! Which addresses are public. The lists are those of IANA's registries of special-purpose addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// First address, length of the prefix, what it is.
const V4: [([u8; 4], u32, &str); 17] = [
    ([0, 0, 0, 0], 8, "an unspecified address"),
    ([10, 0, 0, 0], 8, "a private address"),
    ([100, 64, 0, 0], 10, "a carrier's private address"),
    ([127, 0, 0, 0], 8, "a loopback address"),
    // AWS, Google and others answer on 169.254.169.254 with the machine's credentials.
    ([169, 254, 0, 0], 16, "a link-local or metadata address"),
    // Azure's machines ask this one for theirs.
    ([168, 63, 129, 16], 32, "a metadata address"),
    ([172, 16, 0, 0], 12, "a private address"),
    ([192, 0, 0, 0], 24, "a reserved address"),
    ([192, 0, 2, 0], 24, "a documentation address"),
    ([192, 88, 99, 0], 24, "a relay address"),
    ([192, 168, 0, 0], 16, "a private address"),
    ([198, 18, 0, 0], 15, "a benchmarking address"),
    ([198, 51, 100, 0], 24, "a documentation address"),
    ([203, 0, 113, 0], 24, "a documentation address"),
    ([224, 0, 0, 0], 4, "a multicast address"),
    ([255, 255, 255, 255], 32, "the broadcast address"),
    ([240, 0, 0, 0], 4, "a reserved address"),
];

/// Within 2000::/3, which is all that is public of IPv6.
const V6: [([u16; 8], u32, &str); 4] = [
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, "a documentation address"),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, "a documentation address"),
    ([0x2001, 0x10, 0, 0, 0, 0, 0, 0], 28, "a reserved address"),
    ([0x2001, 0x2, 0, 0, 0, 0, 0, 0], 48, "a benchmarking address"),
];

/// What an address is, where it is not public.
pub fn not_public(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => not_public_v4(address),
        IpAddr::V6(address) => not_public_v6(address),
    }
}

fn not_public_v4(address: Ipv4Addr) -> Option<&'static str> {
    let bits = u32::from(address);
    let within =
        |first: [u8; 4], length: u32| (bits ^ u32::from_be_bytes(first)) >> (32 - length) == 0;
    V4.iter().find(|(first, length, _)| within(*first, *length)).map(|(_, _, what)| *what)
}

fn not_public_v6(address: Ipv6Addr) -> Option<&'static str> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let v4 = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match [a, b, c, d, e, f] {
        // IPv4 in the clothes of IPv6: ::ffff:a.b.c.d, and 64:ff9b::a.b.c.d where a network translates.
        [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] => return not_public_v4(v4(g, h)),
        _ => {}
    }
    if a & 0xe000 != 0x2000 {
        return Some(outside_of_public_v6(address));
    }
    // Tunnels carry an IPv4 address that is then talked to.
    let tunnelled = match (a, b) {
        (0x2002, _) => [Some(v4(b, c)), None],
        (0x2001, 0) => [Some(v4(c, d)), Some(v4(!g, !h))],
        _ if matches!((e, f), (0 | 0x200, 0x5efe)) => [Some(v4(g, h)), None],
        _ => [None, None],
    };
    if let Some(what) = tunnelled.into_iter().flatten().find_map(not_public_v4) {
        return Some(what);
    }
    let bits = u128::from(address);
    let within = |first: [u16; 8], length: u32| {
        (bits ^ u128::from(Ipv6Addr::from(first))) >> (128 - length) == 0
    };
    V6.iter().find(|(first, length, _)| within(*first, *length)).map(|(_, _, what)| *what)
}

fn outside_of_public_v6(address: Ipv6Addr) -> &'static str {
    let first = address.segments()[0];
    if address.is_unspecified() {
        "an unspecified address"
    } else if address.is_loopback() {
        "a loopback address"
    } else if first & 0xff00 == 0xff00 {
        "a multicast address"
    } else if first & 0xffc0 == 0xfe80 {
        "a link-local address"
    } else if first & 0xfe00 == 0xfc00 {
        // fd00:ec2::254 among them, where AWS answers with a machine's credentials.
        "a private address"
    } else {
        "a reserved address"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_public_is_known_in_every_disguise() {
        for text in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.1",
            "100.100.100.200",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.7",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::8.8.8.8",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::127.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "100::1",
            "2001:db8::1",
            "3fff::1",
            "2001:10::1",
            "2001:2::1",
            "2002:7f00:1::1",
            "2002:a9fe:a9fe::",
            "2002:0a00:0001::1",
            // Teredo: server 10.0.0.1; client 127.0.0.1, which is written inverted.
            "2001:0:a00:1::808:808",
            "2001:0:808:808::80ff:fffe",
            "2600::5efe:10.0.0.1",
            "2600::200:5efe:127.0.0.1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fd12:3456::1",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
        ] {
            let address: IpAddr = text.parse().unwrap();
            assert!(not_public(address).is_some(), "{text} is no public address");
        }
    }

    #[test]
    fn neighbours_of_what_is_not_public_are_public() {
        for text in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.1",
            "168.63.129.17",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.1",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2001:4860:4860::8888",
            "2001:db9::1",
            "2002:808:808::1",
            "2600::1",
            "2606:4700:4700::1111",
        ] {
            let address: IpAddr = text.parse().unwrap();
            assert_eq!(not_public(address), None, "{text}");
        }
    }
}
