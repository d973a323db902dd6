//! Which texts are webhook URLs. Whether the target may be called is decided where it is called.

use reqwest::Url;

/// http or https, a host, no user name. Nothing that one reader of URLs takes otherwise than another.
pub(super) fn is_webhook_url(text: &str) -> bool {
    // Readers drop these, or take a backslash for a slash.
    if text.contains(|character: char| character.is_ascii_control() || " \\".contains(character)) {
        return false;
    }
    let Some((scheme, rest)) = text.split_once("://") else {
        return false;
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.is_empty() || authority.contains('@') {
        return false;
    }
    ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
        && Url::parse(text).is_ok_and(|url| url.has_host())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn webhook_urls_have_a_scheme_a_host_and_nothing_hidden() {
        for good in [
            "http://example.com",
            "https://example.com/hook?x=1#y",
            "HTTPS://Example.com:8443/a@b",
            "http://127.0.0.1:9000/",
            "http://[::1]/x",
            "https://bücher.example/x",
        ] {
            assert!(is_webhook_url(good), "{good}");
        }
        for bad in [
            "",
            "example.com",
            "ftp://example.com",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "http:",
            "http://",
            "http:///x",
            "http://?x",
            "http:example.com",
            "http:/example.com",
            "http://user@example.com",
            "http://user:password@example.com",
            "http://@example.com",
            "http://:@example.com",
            "http:\\\\example.com",
            "http://example.com\\@other.example",
            " http://example.com",
            "http://exa mple.com",
            "ht\ntp://example.com",
            "http://example.com/\t",
            "http://example.com:99999",
            "http://[::1",
            "https://exa%mple.com",
        ] {
            assert!(!is_webhook_url(bad), "{bad}");
        }
    }
}
