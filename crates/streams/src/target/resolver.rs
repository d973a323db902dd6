//! Stands between names and connections: of a name's addresses only those are given on that may be talked to.
//! A connection is made to what comes out here, so nothing can change between the check and the connection.

use std::net::SocketAddr;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::guard::{Guard, refusal};
use super::lookup::Lookup;

pub struct GuardedResolver {
    pub guard: Guard,
    pub lookup: Arc<dyn Lookup>,
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let looked_up = self.lookup.lookup(name.as_str());
        let guard = self.guard.clone();
        Box::pin(async move {
            let mut open = Vec::new();
            let mut refused = None;
            for address in looked_up.await? {
                match guard.check_address(address) {
                    // The port comes from the URL.
                    Ok(()) => open.push(SocketAddr::new(address, 0)),
                    Err(what) => refused = Some(what),
                }
            }
            if open.is_empty() {
                // Which address it was is nobody's business outside.
                let why = refused.map_or_else(
                    || "the host has no address".to_owned(),
                    |what| refusal(&format!("the host resolves to {what}")),
                );
                return Err(why.into());
            }
            Ok(Box::new(open.into_iter()) as Addrs)
        })
    }
}
