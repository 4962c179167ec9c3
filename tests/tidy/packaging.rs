//! What is given on: licences, the manifest, what the book's and the README's commands install.

use std::collections::BTreeSet;
use std::process::Command;

use super::read;
use crate::harness::root;

/// The texts of a list in a TOML file, by the beginning of its line.
fn list(toml: &str, begins: &str) -> BTreeSet<String> {
    let rest = toml.split_once(&format!("\n{begins} = [")).unwrap_or_else(|| panic!("no `{begins}`")).1;
    let inside = rest.split_once(']').expect("the list ends").0;
    inside.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether a licence's expression can be met by licences of a list.
fn is_met(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let plain = expression.replace('/', " OR ");
    plain.split(" AND ").all(|part| {
        let part = part.trim().trim_start_matches('(').trim_end_matches(')');
        part.split(" OR ").any(|one| allowed.contains(one.trim()))
    })
}

/// `cargo deny check licenses`, of what this machine's binary is made of.
#[test]
fn every_crate_in_the_binary_has_a_licence_that_is_allowed() {
    let allowed = list(&read(&root().join("deny.toml")), "allow");
    assert!(allowed.contains("MIT") && !allowed.contains("GPL-3.0"), "{allowed:?}");
    let mut tree = Command::new(env!("CARGO"));
    tree.args(["tree", "-p", "aigo", "-e", "normal,build", "--prefix", "none", "--format", "{p}|{l}", "--offline"]);
    let output = tree.current_dir(root()).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
    let lines: BTreeSet<&str> = text.lines().map(|line| line.trim_end_matches(" (*)")).collect();
    let refused: Vec<&&str> =
        lines.iter().filter(|line| !line.split_once('|').is_some_and(|(_, l)| is_met(l, &allowed))).collect();
    assert!(lines.len() > 50 && refused.is_empty(), "{} crates; refused: {refused:?}", lines.len());
}

#[test]
fn expressions_of_licences_are_read() {
    let allowed: BTreeSet<String> = ["MIT", "Unicode-3.0"].map(str::to_owned).into();
    for met in ["MIT", "MIT/Apache-2.0", "(MIT OR Apache-2.0) AND Unicode-3.0", "Apache-2.0 OR MIT"] {
        assert!(is_met(met, &allowed), "{met}");
    }
    for not in ["Apache-2.0", "MIT AND GPL-3.0", "", "Apache-2.0 WITH LLVM-exception"] {
        assert!(!is_met(not, &allowed), "{not}");
    }
}

#[test]
fn the_manifest_says_under_what_licence_and_the_texts_are_there() {
    let manifest = read(&root().join("Cargo.toml"));
    assert!(manifest.contains("\nlicense = \"MIT OR Apache-2.0\"\n"), "the workspace's licence");
    for (_, folder) in super::CRATES {
        let text = read(&root().join(folder).join("Cargo.toml"));
        assert!(text.contains("\nlicense.workspace = true\n"), "{folder} has no licence");
    }
    for (file, begins) in
        [("LICENSE-MIT", "MIT License"), ("LICENSE-APACHE", "                              Apache License")]
    {
        assert!(read(&root().join(file)).starts_with(begins), "{file}");
    }
    let version =
        manifest.split_once("\nversion = \"").and_then(|(_, rest)| rest.split_once('"')).expect("a version").0;
    assert!(read(&root().join("CHANGELOG.md")).contains(&format!("\n## {version}")), "no entry of {version}");
}
