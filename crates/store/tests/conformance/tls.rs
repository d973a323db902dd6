//! TLS to a server with a certificate of an authority of one's own.

use std::ffi::OsString;
use std::net::TcpListener;
use std::path::Path;

use store::{Options, Store};

use crate::home::scratch;
use crate::postgres_process::{Made, PostgresProcess};

/// A certificate that signs itself, or one that it signs.
fn certificate(made: &Made, name: &str, more: &[&str]) {
    let (key, cert) = (format!("{name}.key"), format!("{name}.pem"));
    let subject = format!("/CN={name}");
    let words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"];
    let named = ["-keyout", &key, "-out", &cert, "-subj", &subject];
    let words = words.iter().chain(&named).chain(more).map(OsString::from);
    made.run_as_user(&words.collect::<Vec<_>>());
}

fn server() -> Option<(PostgresProcess, u16)> {
    if std::process::Command::new("openssl").arg("version").output().is_err() {
        eprintln!("SKIPPED: TLS to a database: openssl is not installed");
        return None;
    }
    let made = Made::new()?;
    certificate(&made, "ca", &[]);
    let signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-addext", "subjectAltName=DNS:localhost"];
    let is_no_authority = ["-addext", "basicConstraints=critical,CA:FALSE"];
    certificate(&made, "server", &[signed.as_slice(), &is_no_authority].concat());
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let tls = ["ssl=on", "ssl_cert_file=../server.pem", "ssl_key_file=../server.key"];
    let more = [tls.as_slice(), &["listen_addresses=localhost"]].concat();
    Some((made.start(port, &more), port))
}

async fn open(url: String, folder: &Path) -> Result<Store, store::Error> {
    Store::open(&Options { url, ..Options::new(folder) }, |_| ()).await
}

#[tokio::test]
async fn a_connection_is_encrypted_and_the_certificate_must_be_good() {
    let Some((process, port)) = server() else { return };
    let folder = scratch();
    let ca = process.folder().join("ca.pem");
    let base = format!("postgres://headwater@localhost:{port}/postgres?sslmode=require");
    let trusted = format!("{base}&sslrootcert={}", ca.display());
    let store = open(trusted.clone(), folder.path()).await.unwrap();
    assert_eq!(store.api_keys().await.unwrap(), []);
    let socket = format!("{}&port={port}", process.url("postgres"));
    let client = tokio_postgres::connect(&socket, tokio_postgres::NoTls);
    let (client, connection) = client.await.unwrap();
    tokio::spawn(connection);
    let encrypted = "select count(*) from pg_stat_ssl s join pg_stat_activity a using (pid) \
         where s.ssl and a.application_name = 'headwater'";
    assert!(client.query_one(encrypted, &[]).await.unwrap().get::<_, i64>(0) > 0);
    // What is only preferred is done without.
    let preferred = base.replace("sslmode=require", "sslmode=prefer");
    drop(open(preferred, folder.path()).await.unwrap());
    // Of an authority that nobody trusts, and of another name.
    let by_address = trusted.replace("@localhost", "@127.0.0.1");
    for url in [base, by_address] {
        let Err(error) = open(url, folder.path()).await else { panic!("it was trusted") };
        assert!(error.to_string().contains("certificate"), "{error}");
    }
}
