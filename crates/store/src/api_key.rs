//! API keys, as their hashes.

/// What a key may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Everything, for every tenant.
    Admin,
    /// What belongs to its tenant.
    #[default]
    Tenant,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    /// For people: which key is meant, without being able to use it.
    pub id: String,
    /// SHA-256 of the key.
    pub hash: [u8; 32],
    pub tenant: String,
    pub name: String,
    pub role: Role,
    /// Unix seconds.
    pub created_at: u64,
    /// Compute units per second; the server's own limit where none is given.
    pub units_per_second: Option<u32>,
    pub methods: MethodRules,
}

/// Which methods of the node RPC a key may call: a name, or a namespace as `trace_*`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MethodRules {
    /// Only these; all that are offered where there are none.
    pub allow: Vec<String>,
    /// Not these, whatever is allowed.
    pub deny: Vec<String>,
}

impl MethodRules {
    pub fn permits(&self, method: &str) -> bool {
        let is_named = |list: &[String]| {
            list.iter().any(|entry| match entry.strip_suffix('*') {
                Some(prefix) => method.starts_with(prefix),
                None => entry == method,
            })
        };
        (self.allow.is_empty() || is_named(&self.allow)) && !is_named(&self.deny)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_may_call_what_is_allowed_and_not_denied() {
        let rules = |allow: &[&str], deny: &[&str]| {
            let owned = |list: &[&str]| list.iter().map(|it| (*it).to_owned()).collect();
            MethodRules { allow: owned(allow), deny: owned(deny) }
        };
        for (rules, method, permitted) in [
            (rules(&[], &[]), "eth_call", true),
            (rules(&["eth_*"], &[]), "eth_call", true),
            (rules(&["eth_*"], &[]), "trace_block", false),
            (rules(&["eth_call"], &[]), "eth_callMany", false),
            (rules(&[], &["debug_*", "trace_*"]), "trace_block", false),
            (rules(&[], &["debug_*"]), "eth_call", true),
            (rules(&["eth_*"], &["eth_sendRawTransaction"]), "eth_sendRawTransaction", false),
        ] {
            assert_eq!(rules.permits(method), permitted, "{rules:?} {method}");
        }
    }
}
