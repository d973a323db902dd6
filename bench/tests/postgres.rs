//! `bench postgres` at its smallest: every part runs and says its line.

use std::path::Path;
use std::process::Command;

#[test]
fn every_part_runs_and_tells() {
    let bench = Path::new(env!("CARGO_BIN_EXE_bench"));
    let headwater = bench.with_file_name("headwater");
    let has_postgres = Path::new("/usr/lib/postgresql").is_dir();
    if !headwater.is_file() || !has_postgres {
        use std::io::Write;
        // Past the harness, which shows nothing of tests that pass.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: bench postgres: PostgreSQL or the binary of headwater is missing"
        );
        return;
    }
    let mut command = Command::new(bench);
    command.arg("postgres").arg("--headwater").arg(headwater);
    command.args(["--blocks", "20", "--huge", "1500", "--stream-blocks", "10"]);
    let done = command.args(["--rounds", "1", "--seconds", "1"]).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{out}{err}");
    for line in [
        "raw COPY of the same rows",
        "postgres, commits of prepared blocks",
        "embedded, from a node",
        "postgres: wallet page of 25 rows",
        "embedded: wallet page of 25 rows",
        "1500 rows:",
        "deliveries/s",
        "one api process",
    ] {
        assert!(out.contains(line), "{line} is missing: {out}");
    }
}
