//! How a receiver knows that a webhook is ours.
//!
//! In: a body, a tenant's secrets and the time. Out: the value of `x-signature`, and the headers of Standard
//! Webhooks (https://www.standardwebhooks.com). Must not know: who keeps secrets, and how.

use std::fmt;

use alloy_primitives::{B256, Keccak256};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use model::hash_lanes::{has_sha256_instructions, keccak_all_with, sha256_all};
use ring::digest::{self, SHA256};
use ring::hmac::{Context, HMAC_SHA256, Key};

const KEY_PREFIX: &str = "whsec_";

/// What a tenant's webhooks are signed with. While a new secret comes into use, the old one counts beside it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secrets {
    pub current: String,
    /// The one before, and until when (unix milliseconds) receivers may still go by it.
    pub previous: Option<(String, u64)>,
}

impl Secrets {
    pub fn new(current: impl Into<String>) -> Self {
        Secrets { current: current.into(), previous: None }
    }

    fn previous_at(&self, now_ms: u64) -> Option<&str> {
        let previous = self.previous.as_ref().filter(|(_, until_ms)| now_ms < *until_ms);
        previous.map(|(secret, _)| secret.as_str())
    }

    /// Whether no other counts beside the current one.
    pub fn only_at(&self, now_ms: u64) -> bool {
        self.previous_at(now_ms).is_none()
    }

    /// One value has room for one signature, so the old secret stays until its time is over.
    pub fn x_signature(&self, body: &[u8], now_ms: u64) -> String {
        x_signature(body, self.previous_at(now_ms).unwrap_or(&self.current))
    }

    /// `v1,…`, by every secret that counts now.
    pub fn webhook_signature(&self, id: &str, now_ms: u64, body: &[u8]) -> String {
        let signed = |secret: &str| standard_signature(secret, id, now_ms / 1000, body);
        match self.previous_at(now_ms) {
            Some(previous) => format!("{} {}", signed(&self.current), signed(previous)),
            None => signed(&self.current),
        }
    }
}

/// Secrets stay out of logs.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets")
            .field("previous", &self.previous.is_some())
            .finish_non_exhaustive()
    }
}

/// `0x` and the hex of keccak-256 over the body, then the secret.
pub fn x_signature(body: &[u8], secret: &str) -> String {
    let mut hasher = Keccak256::new();
    hasher.update(body);
    hasher.update(secret.as_bytes());
    let hash: B256 = hasher.finalize();
    format!("{hash:#x}")
}

/// `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`.
pub fn standard_signature(secret: &str, id: &str, timestamp_s: u64, body: &[u8]) -> String {
    let mut mac = Context::with_key(&Key::new(HMAC_SHA256, secret.as_bytes()));
    mac.update(id.as_bytes());
    mac.update(format!(".{timestamp_s}.").as_bytes());
    mac.update(body);
    format!("v1,{}", BASE64.encode(mac.sign()))
}

/// A body that is signed with others.
pub struct ToSign<'a> {
    pub secret: &'a str,
    pub id: &'a str,
    pub body: &'a [u8],
}

/// For each what `x_signature` and `standard_signature` give, hashed side by side.
pub fn sign_all(all: &[ToSign<'_>], timestamp_s: u64) -> Vec<(String, String)> {
    let messages: Vec<_> = all.iter().map(|it| (it.body, it.secret.as_bytes())).collect();
    let x_signatures = keccak_all_with(&messages).into_iter().map(|hash| format!("{hash:#x}"));
    if has_sha256_instructions() {
        let alone = |it: &ToSign| standard_signature(it.secret, it.id, timestamp_s, it.body);
        return x_signatures.zip(all.iter().map(alone)).collect();
    }
    x_signatures.zip(standard_signatures(all, timestamp_s)).collect()
}

/// Side by side. HMAC: a hash of the key and the message, then one of the key and that hash.
fn standard_signatures(all: &[ToSign<'_>], timestamp_s: u64) -> Vec<String> {
    let keys: Vec<[u8; HMAC_BLOCK]> = all.iter().map(|it| hmac_key(it.secret)).collect();
    let heads = all.iter().zip(&keys).map(|(it, key)| {
        let head = format!("{}.{timestamp_s}.", it.id);
        [&key.map(|byte| byte ^ 0x36), head.as_bytes()].concat()
    });
    let heads: Vec<Vec<u8>> = heads.collect();
    let inner: Vec<_> =
        heads.iter().zip(all).map(|(head, it)| (head.as_slice(), it.body)).collect();
    let inner = sha256_all(&inner, sha256);
    let keys: Vec<_> = keys.iter().map(|key| key.map(|byte| byte ^ 0x5c)).collect();
    let outer: Vec<_> = keys.iter().zip(&inner).map(|(key, it)| (&key[..], &it[..])).collect();
    let standard = sha256_all(&outer, sha256);
    standard.into_iter().map(|hash| format!("v1,{}", BASE64.encode(hash))).collect()
}

const HMAC_BLOCK: usize = 64;

fn hmac_key(secret: &str) -> [u8; HMAC_BLOCK] {
    let hashed;
    let bytes = if secret.len() <= HMAC_BLOCK {
        secret.as_bytes()
    } else {
        hashed = sha256(secret.as_bytes(), &[]);
        hashed.as_slice()
    };
    let mut key = [0; HMAC_BLOCK];
    for (to, from) in key.iter_mut().zip(bytes) {
        *to = *from;
    }
    key
}

fn sha256(first: &[u8], second: &[u8]) -> B256 {
    let mut hasher = digest::Context::new(&SHA256);
    hasher.update(first);
    hasher.update(second);
    B256::from_slice(hasher.finish().as_ref())
}

/// The secret as libraries of Standard Webhooks want it.
pub fn standard_key(secret: &str) -> String {
    format!("{KEY_PREFIX}{}", BASE64.encode(secret))
}

/// The secret itself, in whichever of the two forms it was given.
pub fn secret_of(given: &str) -> String {
    let decoded = given.strip_prefix(KEY_PREFIX).and_then(|key| BASE64.decode(key).ok());
    decoded.and_then(|key| String::from_utf8(key).ok()).unwrap_or_else(|| given.to_owned())
}

#[cfg(test)]
mod tests {
    use hmac::{Hmac, Mac};
    use sha2::Sha256;

    use super::*;

    const BODY: &[u8] = br#"{"abi":[],"block":{"number":"","hash":"","timestamp":""},"txs":[],"txsInternal":[],"logs":[],"chainId":"","confirmed":true,"retries":0,"tag":"","streamId":"","erc20Approvals":[],"erc20Transfers":[],"nftTokenApprovals":[],"nftApprovals":{"ERC721":[],"ERC1155":[]},"nftTransfers":[],"nativeBalances":[]}"#;

    #[test]
    fn x_signature_is_what_the_official_client_computes() {
        assert_eq!(
            x_signature(BODY, &"k9".repeat(32)),
            "0x3c4b2e6b07e386f97198eb2dc639f7901f00a5d3ec1b8c8effe4838920d71829"
        );
    }

    #[test]
    fn the_standard_signature_is_what_its_libraries_compute() {
        // The example that the libraries of Standard Webhooks test themselves with.
        let key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let secret = BASE64.decode(key.strip_prefix(KEY_PREFIX).unwrap()).unwrap();
        let mut mac = Hmac::<Sha256>::new_from_slice(&secret).unwrap();
        let body = br#"{"test": 2432232314}"#;
        mac.update(b"msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.");
        mac.update(body);
        let expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        assert_eq!(format!("v1,{}", BASE64.encode(mac.finalize().into_bytes())), expected);
        // Its key is not text, ours always is; the same steps with one that is:
        let ours = standard_signature("plain secret", "msg_1", 1_614_265_330, body);
        let mut mac = Hmac::<Sha256>::new_from_slice(b"plain secret").unwrap();
        mac.update(b"msg_1.1614265330.");
        mac.update(body);
        assert!(
            mac.verify_slice(&BASE64.decode(ours.strip_prefix("v1,").unwrap()).unwrap()).is_ok()
        );
    }

    #[test]
    fn many_are_signed_as_each_is_alone() {
        let secrets: Vec<String> = [0, 1, 20, 63, 64, 65, 200].map(|n| "s3".repeat(n)).into();
        let bodies: Vec<Vec<u8>> = (0..20).map(|n| BODY.repeat(n)).collect();
        let ids: Vec<String> = (0..20).map(|n| format!("id-{n}")).collect();
        let all: Vec<ToSign<'_>> = (0..20)
            .map(|n| ToSign { secret: &secrets[n % secrets.len()], id: &ids[n], body: &bodies[n] })
            .collect();
        for few in [0, 1, 2, 3, 9, 20] {
            let expected: Vec<_> = all[..few]
                .iter()
                .map(|it| {
                    let standard = standard_signature(it.secret, it.id, 1_700_000_000, it.body);
                    (x_signature(it.body, it.secret), standard)
                })
                .collect();
            assert_eq!(sign_all(&all[..few], 1_700_000_000), expected);
            // Also where this processor would not be asked to.
            let standard: Vec<_> = expected.into_iter().map(|(_, standard)| standard).collect();
            assert_eq!(standard_signatures(&all[..few], 1_700_000_000), standard);
        }
    }

    #[test]
    fn while_a_secret_changes_both_count_and_then_only_the_new_one() {
        let secrets = Secrets { current: "new".into(), previous: Some(("old".into(), 5_000)) };
        assert_eq!(secrets.x_signature(BODY, 4_999), x_signature(BODY, "old"));
        let both = secrets.webhook_signature("id", 4_999, BODY);
        let signed = |secret| standard_signature(secret, "id", 4, BODY);
        assert_eq!(both, format!("{} {}", signed("new"), signed("old")));
        assert_eq!(secrets.x_signature(BODY, 5_000), x_signature(BODY, "new"));
        let new = secrets.webhook_signature("id", 5_000, BODY);
        assert_eq!(new, standard_signature("new", "id", 5, BODY));
    }

    #[test]
    fn a_secret_is_known_in_both_forms_and_never_shown() {
        assert_eq!(standard_key("abc"), "whsec_YWJj");
        assert_eq!(secret_of("whsec_YWJj"), "abc");
        assert_eq!(secret_of("abc"), "abc");
        let shown =
            format!("{:?}", Secrets { current: "abc".into(), previous: Some(("def".into(), 1)) });
        assert!(!shown.contains("abc") && !shown.contains("def"), "{shown}");
    }
}
