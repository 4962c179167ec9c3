//! What suites share: the binary, folders of their own, runs of commands.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The project's root.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the project")
}

/// The `aigo` binary of the profile under test, built once if need be.
pub(crate) fn aigo() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        // The test binary lies in target/PROFILE/deps.
        let this = std::env::current_exe().expect("the test binary has a path");
        let profile = this.parent().and_then(Path::parent).expect("target/PROFILE/deps").to_owned();
        let name = profile.file_name().and_then(|name| name.to_str()).unwrap_or("debug").to_owned();
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "-p", "aigo", "--quiet"]).current_dir(root());
        if name == "release" {
            build.arg("--release");
        }
        assert!(build.status().expect("cargo runs").success(), "aigo does not build");
        profile.join(format!("aigo{}", std::env::consts::EXE_SUFFIX))
    })
}

/// A folder of a test's own, empty, under the target folder.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

/// Runs `aigo` in a folder, with an environment that only has what is named here.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Ran {
    let output = Command::new(aigo()).args(arguments).current_dir(folder).env_clear().output().expect("aigo runs");
    Ran::from(output)
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("aigo writes UTF-8");
        Self { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }
}
