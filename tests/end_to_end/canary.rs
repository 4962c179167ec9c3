//! A canary: a key that servers, models and tool calls say back in every way they could. Nothing of it is in the run's folder.

use std::fmt::Write as _;
use std::path::Path;

use crate::harness::{assert_replays, folder, only_run, run_with, trials};
use crate::served::{Served, completion, json};

/// As providers make them, and with what is escaped in addresses and in JSON.
const CANARY: &str = "sk-canary/7Qd+x9~\"vT2&Lm4";
/// The secret of another role's header.
const OTHER: &str = "hdr-canary.5Zk8w2Jq0R";

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(bytes: &[u8]) -> String {
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let padded = [three[0], *three.get(1).unwrap_or(&0), *three.get(2).unwrap_or(&0)];
        let number = u32::from_be_bytes([0, padded[0], padded[1], padded[2]]);
        let letters = (0..=three.len()).map(|at| char::from(ALPHABET[(number >> (18 - 6 * at)) as usize & 63]));
        out.extend(letters);
    }
    out
}

/// The bytes of base64 of either alphabet.
fn unbase64(text: &str) -> Vec<u8> {
    let number = |c: u8| match c {
        b'-' => Some(62),
        b'_' => Some(63),
        _ => ALPHABET.iter().position(|known| *known == c).map(|at| at as u32),
    };
    let (mut out, mut bits, mut held) = (Vec::new(), 0, 0);
    for six in text.bytes().filter_map(number) {
        bits = bits << 6 | six;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    out
}

/// What could be said of a secret: each form with what stands around it.
fn forms(secret: &str) -> Vec<String> {
    let mut forms = vec![secret.to_owned(), format!("Authorization: Bearer {secret}")];
    for before in ["", "x", "user:"] {
        for after in ["", "y", "zz"] {
            let standard = base64(format!("{before}{secret}{after}").as_bytes());
            forms.push(standard.replace('+', "-").replace('/', "_"));
            forms.push(standard.replace('+', "%2B").replace('/', "%2f"));
            forms.push(standard.replace('/', "\\/"));
            forms.push(standard);
        }
    }
    let each = |escape: fn(&mut String, u8)| {
        secret.bytes().fold(String::new(), |mut out, byte| {
            escape(&mut out, byte);
            out
        })
    };
    let reserved = |byte: u8| !(byte.is_ascii_alphanumeric() || b"-._~".contains(&byte));
    let percent: String =
        secret.bytes().map(|b| if reserved(b) { format!("%{b:02X}") } else { char::from(b).into() }).collect();
    forms.push(format!("https://x/?key={percent}&z=1"));
    forms.push(each(|out, b| {
        let _ = write!(out, "%{b:02x}");
    }));
    forms.push(each(|out, b| {
        let _ = write!(out, "%25{b:02X}");
    }));
    forms.push(each(|out, b| {
        let _ = write!(out, "\\u00{b:02x}");
    }));
    forms.push(each(|out, b| {
        let _ = write!(out, "\\\\u00{b:02X}");
    }));
    forms.push(each(|out, b| {
        let _ = write!(out, "\\x{b:02x}");
    }));
    forms.push(each(|out, b| {
        let _ = write!(out, "{b:02x}");
    }));
    forms.push(each(|out, b| {
        let _ = write!(out, "{b:02X}");
    }));
    let in_json = serde_json::Value::from(secret).to_string();
    forms.push(in_json.replace('/', "\\/"));
    forms.push(serde_json::Value::from(in_json.as_str()).to_string());
    forms.push(in_json);
    forms
}

/// Where a secret can be seen in a text: as it is, or when what looks like an encoding is undone.
fn seen(text: &str, secret: &str) -> Option<String> {
    let undone = |text: &str, mark: &str, digits: std::ops::Range<usize>| {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(mark) {
            out.push_str(&rest[..at]);
            rest = &rest[at + mark.len()..];
            let number = rest.get(digits.clone()).and_then(|hex| u8::from_str_radix(hex, 16).ok());
            match number {
                Some(byte) => {
                    out.push(char::from(byte));
                    rest = &rest[digits.end..];
                }
                None => out.push_str(mark),
            }
        }
        out + rest
    };
    let plain = text.replace("\\\"", "\"").replace("\\/", "/").replace("\\\\", "\\").replace("\\\"", "\"");
    let percent = undone(&undone(text, "%25", 0..2), "%", 0..2);
    let escaped = undone(&undone(&text.replace("\\\\", "\\"), "\\u", 2..4), "\\x", 0..2);
    for (how, text) in [("as it is", text), ("unescaped", &plain), ("percent", &percent), ("escapes", &escaped)] {
        if text.contains(secret) {
            return Some(how.to_owned());
        }
    }
    let hex: Vec<String> = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let hex = hex.concat();
    if text.to_lowercase().contains(&hex) {
        return Some("hexadecimal".to_owned());
    }
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "+/-_".contains(c);
    for word in percent.replace("\\/", "/").split(|c: char| !is_letter(c)).filter(|word| word.len() >= 8) {
        for start in 0..4.min(word.len()) {
            let bytes = unbase64(&word[start..]);
            if bytes.windows(secret.len()).any(|part| part == secret.as_bytes()) {
                return Some(format!("base64 in {word}"));
            }
        }
    }
    None
}

fn files(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned());
        }
    }
}

#[test]
fn what_is_looked_for_is_found_where_it_is() {
    for secret in [CANARY, OTHER] {
        for form in forms(secret) {
            assert!(seen(&format!("a {form} b"), secret).is_some(), "{form}");
        }
        assert_eq!(seen("nothing here, bm90aGluZyBvZiBpdCBpbiBoZXJl, %20", secret), None);
    }
}

/// The assistant's endpoint says back both its own key and the judge's, in its text and in a tool call; the judge's quotes the
/// header in a refusal first, and then says it in its verdict. The answers come in pieces that part the key.
#[test]
fn nothing_of_a_key_is_in_the_runs_folder() {
    let echoed: Vec<String> = [CANARY, OTHER].iter().flat_map(|secret| forms(secret)).collect();
    let text = echoed.join(" and ");
    let said = text.clone();
    let assistant = Served::start(move |seen, number| {
        let asks_tools = seen.json()["tools"].is_array();
        if number == 1 && asks_tools {
            let call = serde_json::json!({"id": CANARY, "type": "function", "function": {
                "name": "look", "arguments": serde_json::json!({"what": CANARY, "where": text}).to_string()}});
            let message = serde_json::json!({"role": "assistant", "content": said, "tool_calls": [call]});
            let body =
                serde_json::json!({"model": OTHER, "choices": [{"message": message, "finish_reason": "tool_calls"}]});
            return Some(json(200, &body.to_string()));
        }
        let mut stream = String::new();
        let letters: Vec<char> = said.chars().collect();
        for piece in letters.chunks(7) {
            let piece: String = piece.iter().collect();
            let delta = serde_json::json!({"choices": [{"delta": {"content": piece}, "finish_reason": null}]});
            let _ = write!(stream, "data: {delta}\n\n");
        }
        stream.push_str("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
        Some(crate::served::events(&stream))
    });
    let judge = Served::start(move |seen, number| {
        if number == 1 {
            let body =
                serde_json::json!({"error": {"message": format!("no such field; I saw {} and {CANARY}", seen.head)}});
            return Some(json(500, &body.to_string()));
        }
        let evidence =
            serde_json::json!({"evidence": [], "reason": format!("It says {CANARY} {OTHER}"), "score": true});
        Some(completion(&evidence.to_string()))
    });
    let folder = folder("canary");
    let task = format!(
        "aigo: 1\nname: canary\nmodels:\n  assistant: {{model: openai_compatible/a, base_url: \"{}\", api_key: {{env: A_KEY}}, stream: true}}\n  \
         judge: {{model: openai_compatible/j, base_url: \"{}\", headers: {{x-judge: {{env: J_SECRET, prefix: \"Token \"}}}}}}\n\
         tools:\n  - {{name: look, params: {{what: string, where: string}}, returns: {{found: \"what\"}}}}\n\
         dataset: {{samples: [{{id: a}}]}}\nsolvers: [{{user: Say it.}}, generate]\n\
         scorers: [{{name: fine, judge: {{rubric: It is fine., scale: boolean, evidence: none}}}}]\n",
        assistant.url, judge.url
    );
    std::fs::write(folder.join("task.yaml"), task).unwrap();
    let ran = run_with(&folder, &["run", "task.yaml", "--format", "json"], &[("A_KEY", CANARY), ("J_SECRET", OTHER)]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let path = only_run(&folder);
    let calls: Vec<_> = trials(&path).into_iter().flat_map(|trial| trial.calls).filter_map(|call| call.got).collect();
    assert!(calls.len() >= 3, "{} answers", calls.len());
    let whole: Vec<String> = calls.iter().map(|got| format!("{} {:?}", got.text, got.calls)).collect();
    let whole = whole.concat();
    // Everything was said, and everything was taken out.
    assert!(
        whole.matches("{{secret:A_KEY}}").count() > 60 && whole.matches("{{secret:J_SECRET}}").count() > 60,
        "{whole}"
    );
    let mut texts = vec![ran.out.clone(), ran.err.clone()];
    files(&path, &mut texts);
    for text in &texts {
        for secret in [CANARY, OTHER] {
            if let Some(how) = seen(text, secret) {
                panic!("{secret} can be seen, {how}: {text}");
            }
        }
    }
    assert_replays(&folder, &path, &ran);
}

/// Tools that say back what they were given: a service its header, a program its environment, in all forms.
#[cfg(unix)]
#[test]
fn nothing_that_tools_say_of_a_key_is_in_the_runs_folder() {
    let echoed = [CANARY, OTHER].iter().flat_map(|secret| forms(secret)).collect::<Vec<_>>().join(" and ");
    let said = echoed.clone();
    let service = Served::start(move |seen, number| {
        let body = serde_json::json!({"found": said, "head": seen.head, CANARY: {"deep": [CANARY]}});
        // The second call is refused, in words that the assistant is told.
        Some(json(if number == 1 { 200 } else { 400 }, &body.to_string()))
    });
    let folder = folder("canary_tools");
    std::fs::write(folder.join("echoed"), &echoed).unwrap();
    let task = format!(
        r#"aigo: 1
name: canary
models:
  assistant:
    scripted:
      - {{when: "messages | length == 1", calls: [{{name: look}}, {{name: look}}, {{name: count}}]}}
      - say: "{{% for m in messages %}}{{{{ m.text }}}}{{% endfor %}}"
tools:
  - name: look
    http: {{url: "{}/x", headers: {{x-key: {{env: A_KEY, prefix: "Token "}}}}, body: {{}}}}
  - name: count
    command: [sh, -c, "cat > /dev/null; echo \"$GIVEN\"; cat echoed; printf %s \"$GIVEN\" | base64; echo \"$GIVEN\" >&2"]
    env: {{GIVEN: {{env: J_SECRET}}}}
dataset: {{samples: [{{id: a}}]}}
solvers: [{{user: Say it.}}, generate]
scorers: [{{name: said, check: {{contains: secret}}}}]
"#,
        service.url
    );
    std::fs::write(folder.join("task.yaml"), task).unwrap();
    let arguments = ["run", "task.yaml", "--format", "json", "--allow-commands"];
    let ran = run_with(&folder, &arguments, &[("A_KEY", CANARY), ("J_SECRET", OTHER)]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let path = only_run(&folder);
    let mut texts = vec![ran.out.clone(), ran.err.clone()];
    files(&path, &mut texts);
    let hidden = |name: &str| texts.iter().map(|text| text.matches(name).count()).sum::<usize>();
    assert!(hidden("{{secret:A_KEY}}") > 60 && hidden("{{secret:J_SECRET}}") > 60, "{texts:?}");
    for secret in [CANARY, OTHER] {
        let shown = texts.iter().find_map(|text| seen(text, secret).map(|how| (how, text)));
        assert_eq!(shown, None, "{secret} can be seen");
    }
    assert_replays(&folder, &path, &ran);
}

#[test]
fn a_key_that_could_be_a_word_is_warned_of_and_taken_out_of_what_goes_wrong() {
    let served = Served::start(|seen, number| {
        Some(match number {
            1 => json(500, &serde_json::json!({"error": {"message": seen.head}}).to_string()),
            _ => completion("Use the password, e.g. sesame."),
        })
    });
    let folder = folder("canary_word");
    let task = format!(
        "aigo: 1\nname: t\nmodels:\n  assistant: {{model: openai_compatible/a, base_url: \"{}\", api_key: {{env: A_KEY}}}}\n\
         dataset: {{samples: [{{id: a}}]}}\nsolvers: [{{user: Hi}}, generate]\nscorers: [{{name: s, check: {{contains: sesame}}}}]\n",
        served.url
    );
    std::fs::write(folder.join("task.yaml"), task).unwrap();
    let ran = run_with(&folder, &["run", "task.yaml"], &[("A_KEY", "sesame")]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("warning: [R0170] A_KEY is short") && !ran.err.contains("sesame"), "{}", ran.err);
}
