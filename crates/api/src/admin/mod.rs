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

use axum::Router;
use axum::routing::{delete, get, post};

pub use backup::BackupOrder;
pub use caller::{Admin, LocalSocket};
pub use keys::{KeyCreated, KeyInfo, KeyRequest, RoleName};

use crate::app::App;

pub fn routes() -> Router<App> {
    Router::new()
        .route("/admin/v1/keys", get(keys::list).post(keys::create))
        .route("/admin/v1/keys/{id}", delete(keys::revoke))
        .route("/admin/v1/redecode", get(redecode::status).post(redecode::request))
        .route("/admin/v1/backup", get(backup::status).post(backup::begin))
        .route("/admin/v1/readers", get(readers::list))
        .route("/admin/v1/readers/{chain}/{name}", delete(readers::remove))
        .route("/admin/v1/upstreams", get(upstreams::list))
        .route("/admin/v1/upstreams/{chain}/{name}/{action}", post(upstreams::act))
        .route("/admin/v1/sizes", get(sizes::sizes))
        .route("/admin/v1/digest/{chain}", get(digest::digest))
        .route("/admin/v1/audit/{chain}/{number}", post(audit::audit))
}
