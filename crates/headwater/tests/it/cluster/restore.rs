//! A base backup and archived WAL, restored to a moment in the middle: the service starts there, catches up, and has the
//! same digest.

use testkit::{SimConfig, SimNode, shared, write};

use super::followers::{digest_of, until_followed};
use super::members::{Cluster, serve};
use super::pg_server::PgServer;
use crate::process::run_well;
use crate::world::{CHAIN, head};

#[tokio::test(flavor = "multi_thread")]
async fn a_restored_moment_is_caught_up_with() {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    open_to_all(folder.path());
    let Some(mut primary) = PgServer::init(folder.path().join("primary")) else { return };
    let archive = folder.path().join("archive");
    std::fs::create_dir(&archive).unwrap();
    open_to_all(&archive);
    let archive = archive.display();
    primary.configure(&format!("archive_mode = on\narchive_command = 'cp %p {archive}/%f'"));
    primary.start();
    let chain = shared(SimConfig { txs_per_block: 4, ..SimConfig::seeded(88) });
    write(&chain).extend(60);
    let node = SimNode::start(chain.clone()).await.unwrap();
    let cluster = Cluster::new(folder.path(), &primary.url(), &node);
    let server = cluster.start("all", "before");
    until_followed(&chain, &server).await;
    let copy = primary.copy(folder.path().join("restored"), &[]);
    write(&chain).extend(20);
    until_followed(&chain, &server).await;
    let (middle, _) = head(&chain);
    let moment = primary.sql("select pg_current_wal_insert_lsn()");
    // What comes after the moment is not in what is restored.
    write(&chain).reorg(3, 30);
    until_followed(&chain, &server).await;
    assert!(server.terminate().success());
    primary.sql("select pg_switch_wal()");
    primary.stop("fast");

    let mut restored = copy;
    std::fs::write(restored.folder.join("data/recovery.signal"), "").unwrap();
    restored.configure(&format!(
        "restore_command = 'cp {archive}/%f %p'\nrecovery_target_lsn = '{moment}'\n\
         recovery_target_action = 'promote'\narchive_mode = off"
    ));
    restored.start();
    while restored.sql("select pg_is_in_recovery()") == "t" {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(restored.sql("select max(number) from blocks"), middle.to_string());
    let cluster = Cluster::new(folder.path(), &restored.url(), &node);
    let server = cluster.start("all", "after");
    until_followed(&chain, &server).await;
    assert!(server.terminate().success());
    let calm = folder.path().join("calm");
    let server = serve(&calm, &node.url()).start();
    until_followed(&chain, &server).await;
    assert!(server.terminate().success());
    let undisturbed = run_well(["digest", "--chain", CHAIN, "--data", calm.to_str().unwrap()]);
    assert_eq!(digest_of(folder.path(), &cluster.url), undisturbed);
}

/// PostgreSQL runs as another user.
pub fn open_to_all(folder: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).unwrap();
}
