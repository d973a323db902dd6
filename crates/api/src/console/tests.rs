//! What holds of the console's files.

use super::assets;

/// What the console may weigh on its way to a browser.
const PACKED_BYTES_MAX: usize = 150 << 10;

#[test]
fn the_console_is_small() {
    let bytes: usize = assets::all().iter().map(|asset| asset.packed.len()).sum();
    assert!(bytes <= PACKED_BYTES_MAX, "{bytes} bytes packed");
}

#[test]
fn every_file_is_compiled_in_and_every_import_is_one_of_them() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/console");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(assets::find(&name).is_some(), "{name} is not in the list");
    }
    for asset in assets::all() {
        let text = std::str::from_utf8(asset.plain).unwrap();
        for piece in text.split("'./").skip(1) {
            let name = piece.split('\'').next().unwrap();
            assert!(assets::find(name).is_some(), "{} imports {name}", asset.name);
        }
    }
}

/// The policy forbids these, too; a page that needs them would be broken, not unsafe.
#[test]
fn no_text_becomes_markup_and_nothing_comes_from_elsewhere() {
    for asset in assets::all() {
        let text = std::str::from_utf8(asset.plain).unwrap();
        for word in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "DOMParser",
            "srcdoc",
            "style=",
            "sessionStorage",
        ] {
            assert!(!text.contains(word), "{} has {word}", asset.name);
        }
        let urls = text.match_indices("https://").chain(text.match_indices("http://"));
        for (at, _) in urls {
            let url = text.get(at..).unwrap().split(['\'', '"', ' ', ')', '`']).next().unwrap();
            let is_text = ["http://www.w3.org/2000/svg", "http://127.0.0.1:8545"].contains(&url)
                || url.starts_with("https://example.org/");
            assert!(is_text, "{} names {url}", asset.name);
        }
    }
}

#[test]
fn the_only_thing_kept_in_the_browser_is_the_theme() {
    for asset in assets::all() {
        let text = std::str::from_utf8(asset.plain).unwrap();
        for piece in text.split("localStorage").skip(1) {
            let is_theme =
                piece.starts_with(".getItem('theme')") || piece.starts_with(".setItem('theme'");
            assert!(is_theme, "{}: localStorage{}", asset.name, piece.get(..30).unwrap_or(piece));
        }
    }
}
