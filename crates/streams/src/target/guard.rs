//! Whether a URL may be a webhook's target, and whether an address may be talked to.

use std::net::IpAddr;
use std::sync::Arc;

use reqwest::Url;

use super::address::not_public;
use super::network::Network;

const URL_BYTES_MAX: usize = 2_048;

/// Cheap to clone.
#[derive(Clone, Debug)]
pub struct Guard {
    allowed: Arc<[Network]>,
}

impl Guard {
    /// The networks that are open although they are not public.
    pub fn new(allowed: &[Network]) -> Self {
        Guard { allowed: allowed.into() }
    }

    pub fn check_address(&self, address: IpAddr) -> Result<(), &'static str> {
        match not_public(address) {
            Some(_) if self.allowed.iter().any(|network| network.contains(address)) => Ok(()),
            Some(what) => Err(what),
            None => Ok(()),
        }
    }

    /// Of a name's addresses those that may be talked to. Which one it was is nobody's business outside.
    pub fn open_addresses(&self, addresses: Vec<IpAddr>) -> Result<Vec<IpAddr>, String> {
        let (mut open, mut refused) = (Vec::new(), None);
        for address in addresses {
            match self.check_address(address) {
                Ok(()) => open.push(address),
                Err(what) => refused = Some(what),
            }
        }
        if !open.is_empty() {
            return Ok(open);
        }
        Err(refused.map_or_else(
            || "the host has no address".to_owned(),
            |what| refusal(&format!("the host resolves to {what}")),
        ))
    }

    /// All that can be said before the host's name is resolved. Whoever wrote decimal, octal or short forms of
    /// an address finds them as the address they stand for: the URL's own rules say so.
    pub fn check_url(&self, text: &str) -> Result<Url, String> {
        if text.len() > URL_BYTES_MAX {
            return Err(format!("the URL is longer than {URL_BYTES_MAX} bytes"));
        }
        let url = Url::parse(text).map_err(|error| format!("it is not a URL ({error})"))?;
        if !matches!(url.scheme(), "http" | "https") {
            let scheme = model::printable(url.scheme(), 20);
            return Err(format!("its scheme is '{scheme}'; give an http or https URL"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(
                "it holds a user name or password; put a token into the path or query".into()
            );
        }
        let host = url.host_str().ok_or("it names no host")?;
        let literal = host.trim_start_matches('[').trim_end_matches(']');
        if let Ok(address) = literal.parse::<IpAddr>() {
            self.check_address(address).map_err(|what| refusal(&format!("{address} is {what}")))?;
        }
        Ok(url)
    }
}

/// The same advice wherever an address is refused.
fn refusal(why: &str) -> String {
    format!(
        "{why}, and webhooks go to public addresses; an operator can open a network with streams.allow_private_targets"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(allowed: &[&str]) -> Guard {
        let networks: Vec<_> = allowed.iter().map(|text| text.parse().unwrap()).collect();
        Guard::new(&networks)
    }

    #[test]
    fn a_url_that_reaches_inside_is_refused_in_every_spelling() {
        for url in [
            "http://127.0.0.1/",
            "http://127.0.0.1:8080/hook",
            "http://127.1/",
            "http://127.0.1/",
            "http://2130706433/",
            "http://0x7f000001/",
            "http://0x7f.0.0.1/",
            "http://0177.0.0.1/",
            "http://0177.0x0.0.01/",
            "http://017700000001/",
            "http://127.0.0.1./",
            "http://①②⑦.⓪.⓪.①/",
            "http://0/",
            "http://0.0.0.0/",
            "http://[::]/",
            "http://[::1]/",
            "http://[0:0:0:0:0:0:0:1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://[::127.0.0.1]/",
            "http://[64:ff9b::169.254.169.254]/",
            "http://[fd00:ec2::254]/latest/meta-data",
            "http://[fe80::1]/",
            "http://169.254.169.254/latest/meta-data",
            "http://2852039166/",
            "http://0xa9.0xfe.0xa9.0xfe/",
            "http://10.0.0.1/",
            "http://192.168.0.1/",
            "http://172.16.5.4/",
            "http://100.64.1.1/",
            "http://255.255.255.255/",
            "HTTP://127.0.0.1/",
            "http:\\\\127.0.0.1\\",
            "http:127.0.0.1",
            "ht\ntp://127.0.0.1/",
        ] {
            let refused = guard(&[]).check_url(url).unwrap_err();
            assert!(refused.contains("allow_private_targets"), "{url}: {refused}");
        }
    }

    #[test]
    fn what_is_no_webhook_url_is_refused_with_the_reason() {
        for (url, says) in [
            ("", "not a URL"),
            ("example.com/hook", "not a URL"),
            ("http://", "not a URL"),
            ("http://1.2.3.256/", "not a URL"),
            ("http://[::1/", "not a URL"),
            ("ftp://example.com/", "its scheme is 'ftp'"),
            ("file:///etc/passwd", "its scheme is 'file'"),
            ("gopher://example.com/", "its scheme is 'gopher'"),
            ("unix:/var/run/docker.sock", "its scheme is 'unix'"),
            ("http://user@example.com/", "user name or password"),
            ("http://user:secret@example.com/", "user name or password"),
            ("http://example.com@127.0.0.1/", "user name or password"),
            ("http://127.0.0.1@example.com/", "user name or password"),
            ("http://:secret@example.com/", "user name or password"),
        ] {
            let refused = guard(&[]).check_url(url).unwrap_err();
            assert!(refused.contains(says), "{url}: {refused}");
            assert!(!refused.contains("secret"), "{refused}");
        }
        let long = format!("http://example.com/{}", "a".repeat(URL_BYTES_MAX));
        assert!(guard(&[]).check_url(&long).unwrap_err().contains("longer than 2048 bytes"));
    }

    #[test]
    fn public_targets_pass_and_so_does_what_an_operator_opened() {
        for url in
            ["https://example.com/hook", "http://example.com:8080/?token=1", "http://8.8.8.8/"]
        {
            assert!(guard(&[]).check_url(url).is_ok(), "{url}");
        }
        let guard = guard(&["127.0.0.0/8", "10.1.2.3", "fd12::/16"]);
        for url in [
            "http://127.0.0.1:9090/",
            "http://2130706433/",
            "http://[::ffff:127.0.0.1]/",
            "http://10.1.2.3/",
            "http://[fd12::1]/",
        ] {
            assert!(guard.check_url(url).is_ok(), "{url}");
        }
        for url in ["http://10.1.2.4/", "http://[::1]/", "http://[fd13::1]/", "http://0.0.0.0/"] {
            assert!(guard.check_url(url).is_err(), "{url}");
        }
    }

    #[test]
    fn a_network_that_is_none_is_named() {
        let error = "10.0.0.0/33".parse::<Network>().unwrap_err();
        assert!(error.contains("'10.0.0.0/33' is no network"), "{error}");
    }
}
