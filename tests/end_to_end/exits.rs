//! Exit codes, and what is said with them: wrong usage, tasks with errors, logs that were changed.

use std::path::{Path, PathBuf};

use crate::harness::{folder, only_run, root, run, task};

/// A folder with a finished run of the quick start.
fn quickstart(name: &str) -> (PathBuf, PathBuf) {
    let folder = folder(name);
    let ran = run(&folder, &["run", root().join("tests/fixtures/quickstart").to_str().unwrap()]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let path = only_run(&folder).join("log.jsonl");
    (folder, path)
}

/// CRC32C as `spec/log.md` defines it, bit by bit: a second implementation.
fn crc32c(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
        }
    }
    !crc
}

/// Changes one line of a log and mends its checksum, as a forger would.
fn forge(log: &Path, is_it: impl Fn(&str) -> bool, from: &str, to: &str) {
    let text = std::fs::read_to_string(log).unwrap();
    let mut forged = false;
    let lines = text.lines().map(|line| {
        if forged || !is_it(line) {
            return format!("{line}\n");
        }
        forged = true;
        let rest = line[16..].replacen(from, to, 1);
        assert_ne!(rest, line[16..], "the line has no `{from}`: {line}");
        format!("{{\"c\":\"{:08x}\",{rest}\n", crc32c(rest.as_bytes()))
    });
    let lines: String = lines.collect();
    assert!(forged, "no such line");
    std::fs::write(log, lines).unwrap();
}

#[test]
fn the_checksum_is_that_of_the_spec() {
    assert_eq!(crc32c(b"123456789"), 0xe306_9283);
}

#[test]
fn wrong_usage_is_2() {
    let folder = folder("usage");
    for arguments in [
        &["run", "--no-such-flag", "x.yaml"][..],
        &["no-such-command"],
        &[],
        &["run"],
        &["run", "x.yaml", "-j", "0"],
        &["run", "missing.yaml"],
        &["check", "missing.yaml"],
        &["compile", "missing.yaml"],
        &["replay", "20200101"],
        &["replay", "last"],
        &["resume", "nothing"],
    ] {
        let ran = run(&folder, arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.err);
        assert!(!ran.err.is_empty() && !ran.out.contains("error:"), "{arguments:?}: {ran:?}");
    }
    assert_eq!(run(&folder, &["--help"]).code, 0);
    assert_eq!(run(&folder, &["--version"]).code, 0);
    assert!(run(&folder, &["run", "missing.yaml"]).err.contains("missing.yaml"));
}

#[test]
fn a_task_with_errors_is_3_and_every_error_is_told_at_its_place() {
    let folder = folder("errors");
    let path = task(
        &folder,
        "spine",
        &[
            ("until: turn >= 6", "until: turn >= nope"),
            ("      - generate\n      else:", "      - genrate\n      else:"),
        ],
    );
    let ran = run(&folder, &["check", "--format", "concise", "task.yaml"]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    let text = std::fs::read_to_string(&path).unwrap();
    let place = |word: &str| {
        let (at, line) = text.lines().enumerate().find(|(_, line)| line.contains(word)).unwrap();
        format!("task.yaml:{}:{}: error[", at + 1, line.find(word).unwrap() + 1)
    };
    assert_eq!(ran.out.lines().count(), 2, "{}", ran.out);
    assert!(ran.out.contains(&place("nope")) && ran.out.contains(&place("genrate")), "{}", ran.out);
    for command in ["run", "compile"] {
        let ran = run(&folder, &[command, "task.yaml"]);
        assert_eq!((ran.code, ran.out.as_str()), (3, ""), "{command}");
        assert!(ran.err.contains("nope"), "{}", ran.err);
    }
    assert!(!folder.join("runs").exists());
}

#[test]
fn a_damaged_log_is_6_for_every_command() {
    let (folder, log) = quickstart("damaged");
    let mut bytes = std::fs::read(&log).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&log, &bytes).unwrap();
    for command in ["replay", "resume"] {
        let ran = run(&folder, &[command, "last"]);
        assert_eq!(ran.code, 6, "{command}: {}", ran.err);
        assert!(ran.err.contains("[L0101]") && ran.err.contains("is damaged"), "{}", ran.err);
    }
    assert_eq!(std::fs::read(&log).unwrap(), bytes, "nothing was changed");
}

#[test]
fn what_is_no_log_or_of_another_format_is_6() {
    let (folder, log) = quickstart("formats");
    forge(&log, |line| line.contains("\"e\":\"run\""), "\"format\":1", "\"format\":2");
    let ran = run(&folder, &["replay", "last"]);
    assert_eq!(ran.code, 6, "{}", ran.err);
    assert!(ran.err.contains("[L0104]"), "{}", ran.err);
    std::fs::write(&log, "aigo: 1\nname: not a log\n").unwrap();
    let ran = run(&folder, &["replay", "last"]);
    assert_eq!(ran.code, 6, "{}", ran.err);
    assert!(ran.err.contains("[L0107]"), "{}", ran.err);
}

#[test]
fn a_torn_end_is_told_and_the_rest_is_replayed() {
    let (folder, log) = quickstart("torn");
    let text = std::fs::read_to_string(&log).unwrap();
    let end = text.find("\"e\":\"end\"").unwrap();
    // The end's line and the marker behind it were being written.
    std::fs::write(&log, &text[..end]).unwrap();
    let ran = run(&folder, &["replay", "last", "--format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("[L0102]") && ran.err.contains("the run has not ended"), "{}", ran.err);
    let resumed = run(&folder, &["resume", "last", "--format", "json"]);
    assert_eq!((resumed.code, resumed.digest()), (1, ran.digest()), "{}", resumed.err);
    assert!(folder.join(only_run(&folder)).join("torn").is_dir(), "the cut bytes are kept");
    crate::harness::assert_replays(&folder, &only_run(&folder), &resumed);
}

#[test]
fn an_edited_answer_is_5_and_the_difference_is_named() {
    let (folder, log) = quickstart("edited_answer");
    // What a conversation goes on from: the next call asks for something else.
    let is_answer = |line: &str| line.contains("\"e\":\"got\"") && line.contains("there are no extra seats.");
    forge(&log, is_answer, "no extra", "ten extra");
    let ran = run(&folder, &["replay", "last"]);
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert!(
        ran.err.contains("[R0104] sample ") && ran.err.contains("/forgets, epoch 1, solve/main at loop/simulate_user"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("something else is asked here than was recorded"), "{}", ran.err);
    // Whose doing it is: this very version has written the log, then another one, then one with another engine.
    assert!(ran.err.contains("cause: the log was changed after it was written"), "{}", ran.err);
    let is_header = |line: &str| line.contains("\"e\":\"run\"");
    let version = format!("\"aigo\":\"{}\"", env!("CARGO_PKG_VERSION"));
    forge(&log, is_header, &version, "\"aigo\":\"0.0.1\"");
    let ran = run(&folder, &["replay", "last"]);
    assert!(ran.code == 5 && ran.err.contains("cause: this version of aigo does otherwise"), "{}", ran.err);
    forge(&log, is_header, "\"minijinja\":\"", "\"minijinja\":\"0.");
    let ran = run(&folder, &["replay", "last"]);
    assert!(ran.code == 5 && ran.err.contains("cause: an engine has another version"), "{}", ran.err);
}

#[test]
fn an_edited_verdict_is_5_and_the_score_is_named() {
    let (folder, log) = quickstart("edited_verdict");
    let is_judge = |line: &str| line.contains("\"e\":\"got\"") && line.contains("\\\"score\\\":5");
    forge(&log, is_judge, "\\\"score\\\":5", "\\\"score\\\":4");
    let ran = run(&folder, &["replay", "last"]);
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert!(ran.err.contains("the score of `plan_kept` is 4, and was recorded as 5"), "{}", ran.err);
    assert!(ran.err.contains("the digest is "), "{}", ran.err);
    // Nor is such a run gone on with: an ended trial asks nothing, and must come to the same again.
    let lines = std::fs::read_to_string(&log).unwrap().lines().count();
    std::fs::copy(root().join("tests/fixtures/quickstart/task.yaml"), folder.join("task.yaml")).unwrap();
    let resumed = run(&folder, &["resume", "last", "--task", "task.yaml"]);
    assert_eq!(resumed.code, 5, "{}", resumed.err);
    assert!(resumed.err.contains("[R0104]") && resumed.err.contains("was recorded as 5"), "{}", resumed.err);
    let after = std::fs::read_to_string(&log).unwrap();
    assert!(
        after.lines().skip(lines).all(|line| !line.contains("\"e\":\"ask\"") && !line.contains("\"e\":\"end\"")),
        "{after}"
    );
}

#[test]
fn an_edited_result_is_5_though_every_answer_is_as_it_was() {
    let (folder, log) = quickstart("edited_close");
    let fails = |line: &str| line.contains("\"e\":\"close\"") && line.contains("\"value\":1,\"pass\":false");
    forge(&log, fails, "\"value\":1,\"pass\":false", "\"value\":5,\"pass\":true");
    let before = run(&folder, &["replay", "last"]);
    assert_eq!(before.code, 5, "{}", before.err);
    assert!(before.err.contains("the score of `plan_kept` is 1, and was recorded as 5"), "{}", before.err);
    let (folder, log) = quickstart("edited_exit");
    forge(&log, |line| line.contains("\"e\":\"end\""), "\"exit\":1", "\"exit\":0");
    let ran = run(&folder, &["replay", "last"]);
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert!(ran.err.contains("the exit code is 1, and the log says 0"), "{}", ran.err);
    let (folder, log) = quickstart("edited_digest");
    let digest = std::fs::read_to_string(&log).unwrap().split_once("\"digest\":\"").unwrap().1[..4].to_owned();
    let other = if digest == "0000" { "1111" } else { "0000" };
    let (from, to) = (format!("\"digest\":\"{digest}"), format!("\"digest\":\"{other}"));
    forge(&log, |line| line.contains("\"e\":\"end\""), &from, &to);
    let ran = run(&folder, &["replay", "last"]);
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert!(ran.err.contains("and the log says "), "{}", ran.err);
}

#[test]
fn a_run_is_found_by_its_folder_its_log_the_beginning_of_its_id_and_last() {
    let (folder, log) = quickstart("named");
    let run_folder = log.parent().unwrap();
    let id = run_folder.file_name().unwrap().to_str().unwrap();
    let outputs = [run_folder.to_str().unwrap(), log.to_str().unwrap(), id, &id[..9], "last"].map(|named| {
        let ran = run(&folder, &["replay", named, "--format", "json"]);
        assert_eq!(ran.code, 0, "{named}: {}", ran.err);
        ran.out
    });
    assert!(outputs.iter().all(|out| *out == outputs[0]));
}
