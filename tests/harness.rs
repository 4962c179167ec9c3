//! What suites share: the binary, folders of their own, runs of commands, tasks from fixtures, logs.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

use aigo_log::{Log, Trial};
use serde_json::Value;

/// The project's root.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is in the project")
}

/// The `aigo` binary of the profile under test, built once if need be.
pub(crate) fn aigo() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| built(&["-p", "aigo"]).join(format!("aigo{}", std::env::consts::EXE_SUFFIX)))
}

/// The example bot that is a program, built once if need be.
pub(crate) fn bot_program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let folder = built(&["-p", "aigo-tests", "--example", "bot_process"]);
        folder.join("examples").join(format!("bot_process{}", std::env::consts::EXE_SUFFIX))
    })
}

/// Builds something in the profile under test; gives the folder of what is built.
fn built(what: &[&str]) -> PathBuf {
    // The test binary lies in target/PROFILE/deps.
    let this = std::env::current_exe().expect("the test binary has a path");
    let profile = this.parent().and_then(Path::parent).expect("target/PROFILE/deps").to_owned();
    let name = profile.file_name().and_then(|name| name.to_str()).unwrap_or("debug").to_owned();
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet"]).args(what).current_dir(root());
    if name == "release" {
        build.arg("--release");
    }
    // What cargo tells this process of the tests' own package is not for the build: `ring` would be built anew for it.
    let own = |name: &str| ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_CRATE_"].iter().any(|own| name.starts_with(own));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(own)) {
        build.env_remove(name);
    }
    assert!(build.status().expect("cargo runs").success(), "{what:?} does not build");
    profile
}

/// A folder of a test's own, empty, under the target folder.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

/// Copies a fixture and its data into a folder as `task.yaml`, with words replaced: `("BASE_URL", …)`.
pub(crate) fn task(folder: &Path, fixture: &str, replaced: &[(&str, &str)]) -> PathBuf {
    let fixtures = root().join("tests/fixtures");
    let text = std::fs::read_to_string(fixtures.join(format!("{fixture}.yaml"))).expect("the fixture is there");
    let text = replaced.iter().fold(text, |text, (from, to)| {
        assert!(text.contains(from), "{fixture} has no `{from}`");
        text.replace(from, to)
    });
    let path = folder.join("task.yaml");
    std::fs::write(&path, text).expect("the task can be written");
    let data = fixtures.join(format!("{fixture}.jsonl"));
    if data.exists() {
        std::fs::copy(&data, folder.join(format!("{fixture}.jsonl"))).expect("the data can be copied");
    }
    path
}

/// `aigo` in a folder, with an environment that only has what is named here.
pub(crate) fn command(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Command {
    let mut command = Command::new(aigo());
    command.args(arguments).current_dir(folder).env_clear().envs(environment.iter().copied());
    command
}

/// Runs `aigo` in a folder, with an empty environment.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Ran {
    run_with(folder, arguments, &[])
}

/// Runs `aigo` in a folder, with an environment that only has what is named here.
pub(crate) fn run_with(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
    Ran::from(command(folder, arguments, environment).output().expect("aigo runs"))
}

/// Starts `aigo` in a folder; its output is kept for [`Started::wait`].
pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Started {
    let mut command = command(folder, arguments, &[]);
    Started(Some(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("aigo starts")))
}

/// A process that a test has started. It does not outlive the test.
pub(crate) struct Started(Option<Child>);

impl Started {
    /// Kills it, so that it can do nothing more, and waits until it is gone.
    pub(crate) fn kill(mut self) {
        let mut child = self.0.take().expect("it runs");
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
    }

    /// Waits for its end.
    pub(crate) fn wait(mut self) -> Ran {
        Ran::from(self.0.take().expect("it runs").wait_with_output().expect("it ends"))
    }

    /// Waits until it says something on standard error, does what is to be done then, and waits for its end.
    pub(crate) fn wait_after_note(mut self, note: &str, then: impl FnOnce()) -> Ran {
        let mut child = self.0.take().expect("it runs");
        let mut lines = BufReader::new(child.stderr.take().expect("it is piped"));
        let mut seen = String::new();
        while !seen.contains(note) {
            assert!(lines.read_line(&mut seen).expect("it says text") > 0, "it ends without `{note}`: {seen}");
        }
        then();
        lines.read_to_string(&mut seen).expect("it says text");
        let ran = Ran::from(child.wait_with_output().expect("it ends"));
        Ran { err: seen, ..ran }
    }

    /// Its number in the system.
    pub(crate) fn id(&self) -> u32 {
        self.0.as_ref().map_or(0, Child::id)
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// The object of `--format json`.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// The digest in that object.
    pub(crate) fn digest(&self) -> String {
        self.json()["digest"].as_str().expect("a digest").to_owned()
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("aigo writes UTF-8");
        Self { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// The one run in a folder's `runs`.
pub(crate) fn only_run(folder: &Path) -> PathBuf {
    let runs = std::fs::read_dir(folder.join("runs")).expect("there are runs");
    let runs: Vec<PathBuf> = runs.map(|entry| entry.expect("an entry").path()).collect();
    let [one] = runs.as_slice() else { panic!("{} runs, not one", runs.len()) };
    one.clone()
}

/// The trials in a run's log.
pub(crate) fn trials(run: &Path) -> Vec<Trial> {
    let log = Log::open(run).unwrap_or_else(|error| panic!("{error}"));
    log.trials().map(|trial| trial.unwrap_or_else(|error| panic!("{error}"))).collect()
}

/// A run's trial by the sample's key, in its first epoch.
pub(crate) fn trial(run: &Path, key: &str) -> Trial {
    // One that began again has another number.
    let found = trials(run).into_iter().rfind(|trial| trial.open.key == key && trial.open.epoch == 1);
    found.unwrap_or_else(|| panic!("no trial of `{key}`"))
}

/// How the trial of a sample ended.
pub(crate) fn ending(run: &Path, key: &str) -> Option<String> {
    trial(run, key).close.map(|close| close.ending)
}

/// The conversation's outcome, value and pass of a scorer, as words.
pub(crate) fn score(trial: &Trial, scorer: &str) -> String {
    let close = trial.close.as_ref().expect("the trial has ended");
    let score = close.scores.iter().find(|score| score.scorer == scorer && score.turn.is_none());
    let score = score.unwrap_or_else(|| panic!("no score of `{scorer}`"));
    let value = score.value.as_ref().map_or_else(|| "none".to_owned(), aigo_ir::value::Value::to_json);
    format!("{} {value} {:?}", score.outcome, score.pass)
}

/// A replay gives the same object and the same report as the run, byte for byte, and says so.
pub(crate) fn assert_replays(folder: &Path, run: &Path, ran: &Ran) {
    let path = run.to_str().expect("a path of text");
    let replayed = crate::harness::run(folder, &["replay", path, "--format", "json"]);
    assert_eq!((replayed.code, replayed.out.as_str()), (0, ran.out.as_str()), "{}", replayed.err);
    assert!(replayed.err.contains("replayed: the same digest"), "{}", replayed.err);
}

/// The first of some shown lines that a text does not have, each below the one before. How wide columns are does not matter,
/// and `…` within a line stands for any words.
pub(crate) fn missing<'a>(mut shown: impl Iterator<Item = &'a str>, printed: &str) -> Option<&'a str> {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let printed: Vec<String> = printed.lines().map(words).collect();
    let mut rest = printed.iter();
    let says = |line: &str| !line.trim().is_empty() && line.trim() != "…";
    shown.find(|line| says(line) && !rest.any(|other| is_shown(&words(line), other)))
}

/// Whether a line is what is shown of it: its parts between `…` in their order, the first at its beginning, the last at its end.
fn is_shown(shown: &str, line: &str) -> bool {
    // A report itself writes `… and 3 more`.
    if !shown.contains('…') || shown.starts_with('…') {
        return shown == line;
    }
    let parts: Vec<&str> = shown.split('…').map(str::trim).collect();
    let (first, last) = (parts[0], parts[parts.len() - 1]);
    let mut rest = line.strip_prefix(first);
    for part in &parts[1..] {
        rest = rest.and_then(|rest| rest.split_once(part).map(|(_, after)| after));
    }
    rest.is_some() && line.ends_with(last)
}

#[test]
fn shown_lines_are_found_in_their_order() {
    let printed = "a  b\nPASSED x   1 of 2   exit 0\nc";
    assert_eq!(missing("a b\n…\nPASSED x … exit 0".lines(), printed), None);
    assert_eq!(missing("c\na b".lines(), printed), Some("a b"));
    assert_eq!(missing("PASSED x … exit 1".lines(), printed), Some("PASSED x … exit 1"));
    assert_eq!(missing("PASSED … 1 of … exit 0\nc".lines(), printed), None);
    assert_eq!(missing("PASSED … of 2 …".lines(), printed), None);
    assert_eq!(missing("PASSED … 1 of".lines(), printed), Some("PASSED … 1 of"));
}

/// What a log has: the marks of the bodies whose answers it holds, and how many calls have no answer. No answer may be in it
/// twice.
pub(crate) fn recorded(run: &Path) -> (BTreeSet<String>, usize) {
    let (mut marks, mut unanswered) = (BTreeSet::new(), 0);
    for call in trials(run).into_iter().flat_map(|trial| trial.calls) {
        match call.got {
            None => unanswered += 1,
            Some(got) => {
                let at = got.text.find('#').expect("every answer of the mock carries its mark");
                assert!(marks.insert(got.text[at..at + 13].to_owned()), "an answer is recorded twice: {}", got.text);
            }
        }
    }
    (marks, unanswered)
}
