//! What may be shown of a URL: scheme, host and port. Keys hide in paths, queries and user names.

/// `scheme://host[:port]` of a URL; text that is no URL is not echoed at all.
pub fn redacted(url: &str) -> String {
    let Ok(parsed) = reqwest::Url::parse(url.trim()) else { return "invalid url".to_owned() };
    let Some(host) = parsed.host_str() else { return format!("{}://?", parsed.scheme()) };
    match parsed.port() {
        Some(port) => format!("{}://{host}:{port}", parsed.scheme()),
        None => format!("{}://{host}", parsed.scheme()),
    }
}

#[cfg(test)]
mod tests {
    use super::redacted;

    #[test]
    fn only_scheme_host_and_port_remain() {
        for (url, shown) in [
            ("https://mainnet.example/v3/SECRET", "https://mainnet.example"),
            ("wss://SECRET:SECRET@node.example:8546/?key=SECRET#SECRET", "wss://node.example:8546"),
            ("http://[::1]:8545/SECRET", "http://[::1]:8545"),
            ("SECRET", "invalid url"),
            ("data:SECRET", "data://?"),
        ] {
            assert_eq!(redacted(url), shown);
        }
    }
}
