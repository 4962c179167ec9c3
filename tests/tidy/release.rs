//! What the release binary is made of, as cargo resolves it for that package alone: a dev-dependency elsewhere can switch
//! features on that the tests see and the release does not.

use std::collections::BTreeSet;
use std::process::Command;

use crate::harness::root;

const MOST_CRATES: usize = 180;

fn tree(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO")).arg("tree").args(arguments).arg("--offline").current_dir(root()).output();
    let output = output.expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("cargo writes UTF-8")
}

#[test]
fn the_binary_has_at_most_180_crates() {
    let text = tree(&["-p", "aigo", "-e", "normal", "--prefix", "none"]);
    let crates: BTreeSet<&str> =
        text.lines().map(|line| line.trim_end_matches(" (*)").trim()).filter(|l| !l.is_empty()).collect();
    assert!(crates.len() > 50, "the tree is read wrongly: {}", crates.len());
    assert!(crates.len() <= MOST_CRATES, "{} crates in the release binary; {MOST_CRATES} are the most", crates.len());
}

/// Without `float_roundtrip` one mean in ten changes when it is written and read; the two others change equality.
#[test]
fn numbers_survive_the_release_builds_json() {
    let text = tree(&["-p", "aigo", "-e", "normal,features", "-i", "serde_json"]);
    let has = |feature: &str| text.contains(&format!("serde_json feature \"{feature}\""));
    assert!(has("float_roundtrip") && has("std"), "{text}");
    assert!(!has("preserve_order") && !has("arbitrary_precision"), "{text}");
}

#[test]
fn nothing_links_the_systems_tls_and_the_language_core_has_no_runtime() {
    let text = tree(&["-p", "aigo", "-e", "normal", "--prefix", "none"]);
    for unwanted in ["openssl-sys", "native-tls", "aws-lc-sys"] {
        assert!(!text.lines().any(|line| line.starts_with(&format!("{unwanted} "))), "{unwanted} is in the binary");
    }
    for pure in ["aigo-ir", "aigo-source", "aigo-compiler", "aigo-machine", "aigo-report", "aigo-log"] {
        let text = tree(&["-p", pure, "-e", "normal", "--prefix", "none"]);
        for world in ["tokio ", "reqwest ", "rustls ", "hyper "] {
            assert!(!text.lines().any(|line| line.starts_with(world)), "{pure} pulls in {world}");
        }
    }
}
