//! `aigo check` on what nobody should write: each ends, soon, with a message that names the path, and nothing of a file can
//! drive a terminal.

use std::fs;
use std::path::Path;

use aigo_ir::text::is_dangerous;

use super::check::{clean, write};
use crate::harness::{folder, run};

/// Checks one path; the message must name it.
fn refused(folder: &Path, path: &str, code: i32, said: &str) {
    let ran = run(folder, &["check", path, "--format", "concise"]);
    let all = format!("{}{}", ran.out, ran.err);
    assert_eq!(ran.code, code, "{path}: {all}");
    assert!(all.contains(&format!("{path}:")) && all.contains(said), "{path}: {all}");
    let first = all.lines().next().unwrap();
    assert!(first.chars().count() < 1_000, "{path}: a message of {} characters", first.chars().count());
}

#[test]
fn texts_that_are_no_tasks_are_3_at_their_place() {
    let folder = folder("hostile_texts");
    let wide = |text: &str, mark: &[u8]| -> Vec<u8> {
        mark.iter().copied().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
    };
    let laughs: Vec<String> =
        (1..10).map(|n| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 10].join(", "))).collect();
    let merges: Vec<String> =
        (1..30).map(|n| format!("m{n}: &m{n} {{<<: [*m{0}, *m{0}], k{n}: 1}}\n", n - 1)).collect();
    let task = clean("t", "");
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("laughs.yaml", format!("a0: &a0 [lol]\n{}{task}", laughs.concat()).into_bytes(), "error["),
        ("merges.yaml", format!("m0: &m0 {{k0: 1}}\n{}{task}", merges.concat()).into_bytes(), "error["),
        ("deep_flow.yaml", format!("{task}tags: {}", "[".repeat(100_000)).into_bytes(), "E0111"),
        ("deep_map.yaml", format!("{task}tags: {}", "{a: ".repeat(100_000)).into_bytes(), "E0111"),
        ("deep_block.yaml", format!("{task}tags:\n  {}x\n", "- ".repeat(100_000)).into_bytes(), "error["),
        ("scalar.yaml", format!("{task}description: {}\n", "x".repeat(60_000_000)).into_bytes(), "E0102"),
        ("latin.yaml", [task.as_bytes(), b"description: caf\xe9\n"].concat(), "E0101"),
        ("utf16_mark.yaml", wide(&task, b"\xff\xfe"), "E0101"),
        ("utf16.yaml", wide(&task, b""), "error["),
        ("nul.yaml", format!("{task}description: \"a\0b\"\n").into_bytes(), "U+0000"),
        (
            "operators.yaml",
            task.replace("Hello", &format!("\"{{{{ {}1 }}}}\"", "-".repeat(5_000))).into_bytes(),
            "error[",
        ),
        ("empty.yaml", Vec::new(), "error["),
        ("binary.yaml", (0..=255).cycle().take(100_000).collect(), "E0101"),
    ];
    for (name, bytes, said) in cases {
        write(&folder, name, bytes);
        refused(&folder, name, 3, said);
        fs::remove_file(folder.join(name)).unwrap();
    }
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let folder = folder("hostile_large");
    // Ten gigabytes without a block on the disk; whoever reads them is killed, or never ends.
    fs::File::create(folder.join("large.yaml")).unwrap().set_len(10 << 30).unwrap();
    refused(&folder, "large.yaml", 3, "E0102");
    // A search does not take it for a task, unless it begins like one.
    let ran = run(&folder, &["check"]);
    assert_eq!(ran.code, 2, "{}", ran.out);
    write(&folder, "task_like.yaml", clean("t", ""));
    fs::OpenOptions::new().write(true).open(folder.join("task_like.yaml")).unwrap().set_len(10 << 30).unwrap();
    let ran = run(&folder, &["check", "--format", "concise"]);
    assert!(ran.code == 3 && ran.out.starts_with("task_like.yaml:1:1: error[E0102]"), "{ran:?}");
    for command in ["run", "compile"] {
        let ran = run(&folder, &[command, "large.yaml"]);
        assert!(ran.code == 3 && ran.err.contains("E0102"), "{ran:?}");
    }
}

#[test]
#[cfg(unix)]
fn what_is_no_file_is_2_and_is_not_waited_for() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::os::unix::net::UnixListener;
    let folder = folder("hostile_kinds");
    let made = std::process::Command::new("mkfifo").arg(folder.join("pipe.yaml")).status().unwrap();
    assert!(made.success());
    symlink("loop.yaml", folder.join("loop.yaml")).unwrap();
    symlink("gone", folder.join("dangling.yaml")).unwrap();
    let _listener = UnixListener::bind(folder.join("s.yaml")).unwrap();
    fs::create_dir(folder.join("x.yaml")).unwrap();
    refused(&folder, "pipe.yaml", 2, "this is a named pipe, not a file");
    refused(&folder, "loop.yaml", 2, "this link cannot be followed");
    refused(&folder, "dangling.yaml", 2, "this link leads to gone, which is not there");
    refused(&folder, "s.yaml", 2, "this is a socket, not a file");
    refused(&folder, "x.yaml", 2, "there is no task in this folder");
    refused(&folder, "/dev/zero", 2, "this is a device, not a file");
    for command in ["run", "compile"] {
        let ran = run(&folder, &[command, "pipe.yaml"]);
        assert!(ran.code == 2 && ran.err.contains("pipe.yaml: this is a named pipe"), "{ran:?}");
    }
    // Nor are the files of a task, and its secrets.
    write(&folder, "a/task.yaml", clean("a", "").replace("{samples: [{note: Pro}]}", "{file: rows.jsonl}"));
    for name in ["a/rows.jsonl", "a/.env"] {
        assert!(std::process::Command::new("mkfifo").arg(folder.join(name)).status().unwrap().success());
    }
    refused(&folder, "a/task.yaml", 3, "E0208");
    let chat = "{model: openai_compatible/m, base_url: \"http://localhost:1/v1\", api_key: {env: K}}";
    write(&folder, "a/task.yaml", clean("a", "").replace("{scripted: [Five.]}", chat));
    let ran = run(&folder, &["check", "a/task.yaml", "--format", "concise"]);
    assert!(ran.code == 0 && ran.out.contains("N0101"), "{ran:?}");
    // A search leaves them out: what is checked is what there is.
    let ran = run(&folder, &["check", "--format", "concise"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    // Who may read everything cannot test that somebody may not.
    write(&folder, "secret.yaml", clean("s", ""));
    fs::set_permissions(folder.join("secret.yaml"), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(folder.join("secret.yaml")).is_err() {
        refused(&folder, "secret.yaml", 2, "this user may not read it");
    }
}

/// What must not come out: a terminal's commands, line separators, marks that turn text around.
const BAD: &str = "\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}\u{85}\u{202e}\u{2066}\u{2028}\u{feff}\u{200f}\u{7f}\u{8}";

/// Tasks with something bad in every place that a message can show: keys, names, values, templates, tags, data.
fn bad_tasks() -> Vec<String> {
    let escaped = BAD.chars().map(|c| format!("\\u{:04x}", c as u32)).collect::<Vec<_>>().concat();
    // Characters that YAML lets stand as they are.
    let raw: String = BAD.chars().filter(|c| !c.is_control() || *c == '\u{85}').collect();
    let task = clean("t", "");
    let mut tasks = Vec::new();
    for bad in [&escaped, &raw] {
        let quoted = format!("\"a{bad}b\\nc\"");
        for (from, to) in [
            ("name: t", format!("name: t\n{quoted}: 1")),
            ("name: t", format!("name: t\n{quoted}: 1\n{quoted}: 2")),
            ("aigo: 1", format!("aigo: {quoted}")),
            ("user: Hello", format!("user: \"{{{{ x['a{bad}'] }}}}\"")),
            ("user: Hello", format!("user: \"{{{{ a{bad}b }}}}\"")),
            ("{scripted: [Five.]}", format!("{{{quoted}: 1}}")),
            ("{scripted: [Five.]}", format!("{{model: {quoted}, base_url: \"http://localhost:1\"}}")),
            ("{scripted: [Five.]}", format!("{{model: openai_compatible/m, base_url: {quoted}}}")),
            ("{assistant:", format!("{{{quoted}: {{scripted: [x]}}, assistant:")),
            ("{note: Pro}", format!("{{{quoted}: 1}}, {{note: !<tag:{raw}x> 1}}")),
            ("{samples: [{note: Pro}]}", format!("{{file: {quoted}}}")),
            ("name: s", format!("name: {quoted}")),
            ("check: {contains", format!("check: {{{quoted}")),
            ("check: {contains: Five}", format!("judge: {{rubric: x, scale: {quoted}}}")),
            ("generate]", format!("{{generate: {{role: {quoted}}}}}]\ngates: [\"rate(a{bad}) >= 1\"]")),
            ("Hello", format!("Hello\u{1b}{raw}")),
            ("Hello", format!("Hello {raw}\n  {raw}: {{{{ x }}}}")),
        ] {
            let text = task.replacen(from, &to, 1);
            assert_ne!(text, task, "nothing is replaced: {from}");
            tasks.push(text);
        }
    }
    tasks
}

#[test]
fn nothing_of_a_file_can_drive_a_terminal() {
    let folder = folder("hostile_letters");
    let mut shown = 0;
    for (n, text) in bad_tasks().into_iter().enumerate() {
        let name = if n % 2 == 0 { format!("n{BAD}\n::error::{n}.yaml") } else { format!("{n}.yaml") };
        write(&folder, &name, &text);
        for format in ["text", "concise", "github", "json", "sarif"] {
            let ran = run(&folder, &["check", &name, "--format", format]);
            assert_eq!(ran.code, 3, "{format}: {text:?}\n{ran:?}");
            for out in [&ran.out, &ran.err] {
                let bad: Vec<char> = out.chars().filter(|c| is_dangerous(*c) && *c != '\n').collect();
                assert!(bad.is_empty(), "{format}: {bad:?} of {text:?} in {out}");
            }
            match format {
                "json" | "sarif" => assert!(ran.json().is_object()),
                // One line is one finding, whatever a file says.
                "concise" => {
                    assert!(ran.out.lines().all(|line| line.contains(": error[") || line.contains(": warning[")));
                }
                "github" => {
                    assert!(ran.out.lines().all(|line| line.starts_with("::") && line.matches("file=").count() == 1));
                }
                _ => shown += usize::from(ran.out.contains("\\u{1b}") || ran.out.contains('?')),
            }
        }
    }
    assert!(shown > 10, "the bad characters do not come into messages any more: {shown}");
    let name = format!("gone{BAD}\nerror: x.yaml");
    for arguments in [&["check", &name][..], &["check", "-k", BAD], &["run", &name], &["explain", BAD]] {
        let ran = run(&folder, arguments);
        assert!(ran.code == 2 && !ran.err.chars().any(|c| is_dangerous(c) && c != '\n'), "{ran:?}");
    }
}
