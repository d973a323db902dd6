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
}
