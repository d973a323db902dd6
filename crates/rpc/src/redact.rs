//! What may be shown of a URL: scheme, host and port. Keys hide in paths, queries and user names.

/// `scheme://host[:port]` of a URL; text that is no URL is not echoed at all.
pub fn origin(url: &str) -> Option<String> {
    let parsed = reqwest::Url::parse(url.trim()).ok()?;
    let Some(host) = parsed.host_str() else { return Some(format!("{}://?", parsed.scheme())) };
    Some(match parsed.port() {
        Some(port) => format!("{}://{host}:{port}", parsed.scheme()),
        None => format!("{}://{host}", parsed.scheme()),
    })
}

/// The same where something has to be shown.
pub fn redacted(url: &str) -> String {
    origin(url).unwrap_or_else(|| "invalid url".to_owned())
}

#[cfg(test)]
mod tests {
    use super::redacted;

    #[test]
    fn only_scheme_host_and_port_remain() {
        for (url, expected) in [
            ("https://mainnet.example/v3/SECRET", "https://mainnet.example"),
            ("wss://SECRET:SECRET@node.example:8546/?key=SECRET#SECRET", "wss://node.example:8546"),
            ("http://[::1]:8545/SECRET", "http://[::1]:8545"),
            ("SECRET", "invalid url"),
            ("data:SECRET", "data://?"),
        ] {
            assert_eq!(redacted(url), expected);
        }
    }
}
