//! Lists the chain files for the compiler: every `chains/<slug>.toml` is compiled in, so adding a chain
//! is adding its file.
//!
//! In: the folder's file names. Out: `chain_files.rs`, an array of slugs and texts. Must not know what
//! is in the files: `chain::table` reads them, and the tests hold them to what a file can get wrong.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../chains").canonicalize()?;
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut slugs = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == "toml") {
            let slug =
                path.file_stem().and_then(|it| it.to_str()).ok_or("a file name is not text")?;
            slugs.push(slug.to_owned());
        }
    }
    // Folders have no order of their own, and builds should not differ.
    slugs.sort();
    let mut list = String::from("[\n");
    for slug in slugs {
        let path = folder.join(format!("{slug}.toml"));
        writeln!(list, "({slug:?}, include_str!({:?})),", path.display().to_string())?;
    }
    list.push(']');
    fs::write(Path::new(&env::var("OUT_DIR")?).join("chain_files.rs"), list)?;
    Ok(())
}
