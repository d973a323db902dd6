//! Stands between names and connections: of a name's addresses only those are given on that may be talked to.
//! A connection is made to what comes out here, so nothing can change between the check and the connection.

use std::net::SocketAddr;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::guard::Guard;
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
            let open = guard.open_addresses(looked_up.await?)?;
            // The port comes from the URL.
            let open: Vec<_> =
                open.into_iter().map(|address| SocketAddr::new(address, 0)).collect();
            Ok(Box::new(open.into_iter()) as Addrs)
        })
    }
}
