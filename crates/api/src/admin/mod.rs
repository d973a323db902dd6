//! The admin surface, `/admin/v1/…`: keys, redecode, backup, journal readers, upstreams, sizes, audits.
//!
//! For keys with the admin role, or for whoever can open the socket in the data folder. One file per
//! subject; `routes` lists them.

mod audit;
mod backup;
mod caller;
mod digest;
mod json_body;
mod keys;
pub mod readers;
mod redecode;
pub mod sizes;
mod upstreams;

pub use backup::BackupOrder;
pub use caller::{Admin, LocalSocket};
pub use keys::{KeyCreated, KeyInfo, KeyRequest, RoleName};

use crate::routes::Routes;

pub fn routes() -> Routes {
    Routes::default()
        .get("/admin/v1/keys", keys::list)
        .post("/admin/v1/keys", keys::create)
        .delete("/admin/v1/keys/{id}", keys::revoke)
        .get("/admin/v1/redecode", redecode::status)
        .post("/admin/v1/redecode", redecode::request)
        .get("/admin/v1/backup", backup::status)
        .post("/admin/v1/backup", backup::begin)
        .get("/admin/v1/readers", readers::list)
        .delete("/admin/v1/readers/{chain}/{name}", readers::remove)
        .get("/admin/v1/upstreams", upstreams::list)
        .post("/admin/v1/upstreams/{chain}/{name}/{action}", upstreams::act)
        .get("/admin/v1/sizes", sizes::sizes)
        .get("/admin/v1/digest/{chain}", digest::digest)
        .post("/admin/v1/audit/{chain}/{number}", audit::audit)
}
