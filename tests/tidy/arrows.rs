//! Who may know whom: between our crates, and of other people's.

use std::collections::BTreeSet;

use super::{CRATES, code, read, rust_files, sources};
use crate::harness::root;

/// The crates that a crate may depend on.
fn allowed(name: &str) -> &'static [&'static str] {
    match name {
        "aigo-source" | "aigo-machine" | "aigo-log" | "aigo-report" => &["aigo-ir"],
        "aigo-compiler" => &["aigo-ir", "aigo-source"],
        "aigo-vm" => &["aigo-ir", "aigo-machine", "aigo-log", "aigo-report"],
        "aigo" => &["aigo-ir", "aigo-source", "aigo-compiler", "aigo-machine", "aigo-log", "aigo-report", "aigo-vm"],
        _ => &[],
    }
}

/// Other people's crates with one owner each.
const OWNED: [(&str, &str); 14] = [
    ("minijinja", "aigo-ir"),
    ("granit-parser", "aigo-source"),
    ("crc32c", "aigo-log"),
    ("zstd", "aigo-log"),
    ("tokio", "aigo-vm"),
    ("reqwest", "aigo-vm"),
    ("rustls", "aigo-vm"),
    ("clap", "aigo"),
    ("clap_complete", "aigo"),
    ("miette", "aigo"),
    ("mimalloc", "aigo"),
    ("terminal_size", "aigo"),
    ("regex-syntax", "aigo-ir"),
    ("strsim", "aigo-ir"),
];

/// The names in a manifest's `[dependencies]`, and in its `[dev-dependencies]` if they are asked for.
fn dependencies(folder: &str, dev: bool) -> BTreeSet<String> {
    let manifest = read(&root().join(folder).join("Cargo.toml"));
    let (mut found, mut inside) = (BTreeSet::new(), false);
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            let is_dev = line.contains("dev-dependencies");
            inside = line.contains("dependencies") && is_dev == dev;
            assert!(
                !line.starts_with("[dependencies."),
                "{folder}: one form of dependency, for people and for this test"
            );
        } else if inside && !line.is_empty() && !line.starts_with('#') {
            let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
            found.insert(name.to_owned());
        }
    }
    found
}

#[test]
fn our_crates_know_only_those_that_they_may() {
    for (name, folder) in CRATES {
        let ours = dependencies(folder, false).into_iter().filter(|known| known.starts_with("aigo"));
        for known in ours {
            assert!(allowed(name).contains(&known.as_str()), "{name} depends on {known}");
        }
        // An import without a dependency cannot be compiled; a path that goes around it can.
        let manifest = read(&root().join(folder).join("Cargo.toml"));
        assert!(!manifest.contains("path = \"../"), "{folder}: dependencies are named once, in the workspace");
        for path in sources(folder) {
            let text = code(&read(&root().join(&path)));
            assert!(!text.contains("#[path"), "{}: a module of another crate", path.display());
        }
    }
}

#[test]
fn other_peoples_crates_have_one_owner() {
    for (name, folder) in CRATES {
        let known = dependencies(folder, false);
        for (theirs, owner) in OWNED {
            assert!(name == owner || !known.contains(theirs), "{name} depends on {theirs}, which is {owner}'s");
        }
    }
    for (theirs, owner) in OWNED {
        let folder = CRATES.iter().find(|(name, _)| *name == owner).map(|(_, folder)| folder).unwrap();
        assert!(dependencies(folder, false).contains(theirs), "{owner} does not depend on {theirs} any more");
        let prefix = format!("{}::", theirs.replace('-', "_"));
        for path in rust_files().iter().filter(|path| !path.starts_with("tests")) {
            let text = code(&read(&root().join(path)));
            let uses = text
                .match_indices(&prefix)
                .any(|(at, _)| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':'));
            let inside = ["src", "tests"].iter().any(|own| path.starts_with(format!("{folder}/{own}")));
            assert!(!uses || inside, "{} uses {theirs}, which is {owner}'s", path.display());
        }
    }
}

#[test]
fn the_yaml_parser_is_known_in_one_folder() {
    let mut users = 0;
    for path in sources("compiler/source") {
        let uses = code(&read(&root().join(&path))).contains("granit_parser");
        users += usize::from(uses);
        let inside = path.starts_with("compiler/source/src/yaml") || path.ends_with("yaml.rs");
        assert!(!uses || inside, "{} knows the YAML parser", path.display());
    }
    assert!(users > 0, "nobody uses the parser: this test looks for the wrong name");
}

#[test]
fn compression_is_known_in_one_file() {
    let users: Vec<_> =
        sources("vm/log").into_iter().filter(|path| code(&read(&root().join(path))).contains("zstd::")).collect();
    assert_eq!(users, [std::path::Path::new("vm/log/src/pack.rs")]);
}

/// The crates that compute have no way to the world: neither crates that reach it, nor the functions of `std`.
#[test]
fn the_pure_crates_have_no_way_to_the_world() {
    let reaching = ["tokio", "reqwest", "rustls", "hyper", "axum", "clap", "rand", "getrandom", "time", "chrono"];
    for (name, folder) in [
        ("aigo-ir", "compiler/ir"),
        ("aigo-source", "compiler/source"),
        ("aigo-compiler", "compiler"),
        ("aigo-machine", "vm/machine"),
        ("aigo-report", "vm/report"),
    ] {
        let known = dependencies(folder, false);
        for world in reaching {
            assert!(!known.contains(world), "{name} depends on {world}");
        }
        // Clippy takes the nearest file above a crate.
        let mut above = root().join(folder);
        while !above.join("clippy.toml").exists() {
            assert!(above.pop() && above != *root(), "{folder} has no clippy.toml of its own or above");
        }
        let bans = read(&above.join("clippy.toml"));
        for banned in [
            "std::time::Instant::now",
            "std::time::SystemTime::now",
            "std::env::var",
            "std::fs::File::open",
            "std::fs::read",
            "std::fs::write",
            "std::net::TcpStream",
            "std::process::Command::new",
            "std::collections::HashMap",
            "f64::powf",
        ] {
            assert!(bans.contains(&format!("path = \"{banned}\"")), "{}: `{banned}` is not banned", above.display());
        }
        for path in sources(folder) {
            let text = read(&root().join(&path));
            let lifted = text.contains("allow(clippy::disallowed") || text.contains("expect(clippy::disallowed");
            assert!(!lifted, "{} lifts a ban", path.display());
        }
    }
    assert!(read(&root().join("Cargo.toml")).contains("unsafe_code = \"forbid\""));
}
