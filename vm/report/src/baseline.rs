//! Baselines: the scores of a run as a small file that is committed, one thing a line, in JSON. `spec/statistics.md` defines it.

use std::sync::Arc;

use aigo_ir::diagnostic::{Diagnostic, Row};
use aigo_ir::value::{Map, Value};
use aigo_ir::verdict::Outcome;

use crate::sheet::{Mark, Measure, Pinned, Sheet, SheetTrial};

/// A baseline that cannot be read.
pub static BAD_BASELINE: Row = Row::error("R0230", "a baseline that cannot be read");

/// The version of the form.
const VERSION: i64 = 1;
/// What stands for the outcome of a trial that did not end.
const OPEN: &str = "open";
/// The largest baseline that is read, in bytes.
pub const MAX_BASELINE: u64 = 48 << 20;

/// The file's text: equal sheets give equal bytes.
pub fn write(sheet: &Sheet) -> String {
    let mut out = String::new();
    let count = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
    let mut line = |pairs: Vec<(&str, Value)>| {
        out.push_str(&Value::map(pairs).to_json());
        out.push('\n');
    };
    line(vec![
        ("baseline", Value::Int(VERSION)),
        ("task", Value::str(sheet.task.as_str())),
        ("run", Value::str(sheet.run.as_str())),
        ("dataset", Value::str(sheet.dataset.as_str())),
        ("epochs", count(sheet.epochs.into())),
        ("open", count(sheet.open)),
    ]);
    for measure in &sheet.measures {
        line(vec![
            ("scorer", Value::Str(Arc::clone(&measure.name))),
            ("low", number(measure.low)),
            ("high", number(measure.high)),
            ("pass", number(measure.pass)),
            ("boolean", Value::Bool(measure.is_boolean)),
            ("judges", Value::list(measure.judges.iter().cloned().map(Value::Str).collect())),
        ]);
    }
    for pin in &sheet.pins {
        line(vec![
            ("pin", Value::Str(Arc::clone(&pin.kind))),
            ("name", Value::Str(Arc::clone(&pin.name))),
            ("facts", Value::Map(pin.facts.clone().into())),
        ]);
    }
    for trial in &sheet.trials {
        let marks = sheet.measures.iter().zip(&trial.marks);
        line(vec![
            ("sample", Value::Str(Arc::clone(&trial.key))),
            ("epoch", count(trial.epoch.into())),
            ("content", Value::Str(Arc::clone(&trial.content))),
            ("cluster", Value::Str(Arc::clone(&trial.cluster))),
            ("ending", Value::Str(Arc::clone(&trial.ending))),
            ("scores", Value::map(marks.map(|(measure, mark)| (Arc::clone(&measure.name), score(mark))))),
        ]);
    }
    out
}

fn number(x: f64) -> Value {
    Value::float(x).unwrap_or_default()
}

/// `[4.0, true]`, or what became of it as a word.
fn score(mark: &Mark) -> Value {
    match (mark.outcome, mark.number) {
        (None, _) => Value::str(OPEN),
        (Some(_), Some(x)) => Value::list(vec![number(x), Value::Bool(mark.pass)]),
        (Some(outcome), None) => Value::str(outcome.word()),
    }
}

/// Reads a file's text. `name` is for the message.
pub fn read(name: &str, text: &str) -> Result<Sheet, Box<Diagnostic>> {
    let mut sheet = Sheet::default();
    let mut has_head = false;
    for (at, line) in text.lines().enumerate() {
        let taken = match Value::of_json(line) {
            Some(Value::Map(map)) if has_head => entry(&mut sheet, &map),
            Some(Value::Map(map)) => head(&mut sheet, &map).map(|()| has_head = true),
            _ => Err("it is no JSON object".to_owned()),
        };
        taken.map_err(|why| bad(&format!("{name}, line {}: {why}", at + 1)))?;
    }
    if !has_head {
        return Err(bad(&format!("{name} is empty")));
    }
    let is_sorted = sheet.trials.is_sorted_by(|a, b| (&a.key, a.epoch) < (&b.key, b.epoch));
    if is_sorted {
        Ok(sheet)
    } else {
        Err(bad(&format!("{name}: its trials are not in the order of their samples and epochs, or one stands twice")))
    }
}

fn bad(message: &str) -> Box<Diagnostic> {
    let help = "baselines are written by `aigo baseline save RUN`: restore the file, or save it again";
    Box::new(BAD_BASELINE.nowhere(message).help(help))
}

type Read<T> = Result<T, String>;

fn text(map: &Map, key: &str) -> Read<Arc<str>> {
    match map.get(key) {
        Some(Value::Str(text)) => Ok(Arc::clone(text)),
        _ => Err(format!("`{key}` is no text")),
    }
}

fn count<N: TryFrom<i64>>(map: &Map, key: &str) -> Read<N> {
    let n = map.get(key).and_then(Value::as_int).and_then(|n| N::try_from(n).ok());
    n.ok_or_else(|| format!("`{key}` is no whole number from 0 on"))
}

fn float(map: &Map, key: &str) -> Read<f64> {
    map.get(key).and_then(Value::as_f64).ok_or_else(|| format!("`{key}` is no number"))
}

fn head(sheet: &mut Sheet, map: &Map) -> Read<()> {
    let version: i64 = count(map, "baseline")
        .map_err(|_| "a baseline begins with `{\"baseline\":1,…}`; is this another file?".to_owned())?;
    if version != VERSION {
        return Err(format!("it is of version {version}, and this aigo reads version {VERSION}"));
    }
    sheet.task = text(map, "task")?.to_string();
    sheet.run = text(map, "run")?.to_string();
    sheet.dataset = text(map, "dataset")?.to_string();
    sheet.epochs = count(map, "epochs")?;
    sheet.open = count(map, "open")?;
    Ok(())
}

fn entry(sheet: &mut Sheet, map: &Map) -> Read<()> {
    if map.get("sample").is_some() {
        let trial = trial(sheet, map)?;
        sheet.trials.push(trial);
        return Ok(());
    }
    if !sheet.trials.is_empty() {
        return Err("what was measured and what is pinned stand before the samples".to_owned());
    }
    if map.get("scorer").is_some() {
        let judges = map.get("judges").and_then(Value::as_list).unwrap_or_default();
        let measure = Measure {
            name: text(map, "scorer")?,
            low: float(map, "low")?,
            high: float(map, "high")?,
            pass: float(map, "pass")?,
            is_boolean: map.get("boolean").and_then(Value::as_bool).unwrap_or(false),
            judges: judges.iter().filter_map(Value::as_str).map(Arc::from).collect(),
        };
        if sheet.measure(&measure.name).is_some() || measure.low >= measure.high {
            return Err(format!("`{}` stands here twice, or has no scale", measure.name));
        }
        sheet.measures.push(measure);
        return Ok(());
    }
    let facts = map.get("facts").and_then(Value::as_map).cloned().unwrap_or_default();
    sheet.pins.push(Pinned { kind: text(map, "pin")?, name: text(map, "name")?, facts });
    Ok(())
}

fn trial(sheet: &Sheet, map: &Map) -> Read<SheetTrial> {
    let scores = map.get("scores").and_then(Value::as_map).ok_or("`scores` is no map")?;
    let marks = sheet.measures.iter().map(|measure| match scores.get(&measure.name) {
        None => Ok(Mark::OPEN),
        Some(value) => mark(measure, value).ok_or_else(|| {
            format!("the score of `{}` is neither `[NUMBER, true or false]` on its scale nor an outcome", measure.name)
        }),
    });
    Ok(SheetTrial {
        marks: marks.collect::<Read<Vec<_>>>()?,
        key: text(map, "sample")?,
        epoch: count(map, "epoch")?,
        content: text(map, "content")?,
        cluster: text(map, "cluster")?,
        ending: text(map, "ending")?,
    })
}

fn mark(measure: &Measure, value: &Value) -> Option<Mark> {
    match value {
        Value::Str(word) if **word == *OPEN => Some(Mark::OPEN),
        Value::Str(word) => {
            let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.word() == &**word)?;
            (outcome != Outcome::Scored).then_some(Mark { outcome: Some(outcome), number: None, pass: false })
        }
        Value::List(items) => match items.as_slice() {
            [number, Value::Bool(pass)] => {
                let (least, most) = (measure.low.min(0.0), measure.high.max(1.0));
                let number = number.as_f64().filter(|x| (least..=most).contains(x))?;
                Some(Mark { outcome: Some(Outcome::Scored), number: Some(number), pass: *pass })
            }
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet() -> Sheet {
        let measure = |name: &str, high, is_boolean| Measure {
            name: name.into(),
            low: if is_boolean { 0.0 } else { 1.0 },
            high,
            pass: high,
            is_boolean,
            judges: vec!["judge".into()],
        };
        let trial = |key: &str, epoch, marks| SheetTrial {
            key: key.into(),
            epoch,
            content: "3e71c56fda7c9804".into(),
            cluster: "Pro\u{202e}\n".into(),
            ending: "done".into(),
            marks,
        };
        let scored = |x| Mark { outcome: Some(Outcome::Scored), number: Some(x), pass: x >= 1.0 };
        let without = |outcome| Mark { outcome: Some(outcome), number: None, pass: false };
        Sheet {
            task: "support".into(),
            run: "20261130-120000-ab12".into(),
            dataset: "3e71".into(),
            epochs: 2,
            measures: vec![measure("tone", 5.0, false), measure("no_price", 1.0, true)],
            pins: vec![Pinned {
                kind: "model".into(),
                name: "judge".into(),
                facts: [("model", Value::from("openai/x"))].into_iter().collect(),
            }],
            trials: vec![
                trial("a", 1, vec![scored(3.5), scored(1.0)]),
                trial("a", 2, vec![without(Outcome::Invalid), without(Outcome::NotApplicable)]),
                trial("b", 1, vec![Mark::OPEN, scored(0.0)]),
            ],
            open: 1,
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let text = write(&sheet());
        assert_eq!(read("main.baseline", &text).unwrap(), sheet());
        assert_eq!(write(&read("main.baseline", &text).unwrap()), text);
        assert!(text.contains(r#""scores":{"tone":[3.5,true],"no_price":[1.0,true]}"#), "{text}");
        assert!(text.bytes().all(|byte| byte == b'\n' || byte >= 0x20), "{text}");
    }

    /// Whatever is changed or cut off, the file is read or refused.
    #[test]
    fn nothing_in_a_file_is_trusted() {
        let text = write(&sheet());
        for at in 0..text.len() {
            for byte in [b'0', b'"', b'}', b'\n', b'-'] {
                let mut bytes = text.clone().into_bytes();
                bytes[at] = byte;
                if let Ok(sheet) = read("x", &String::from_utf8_lossy(&bytes)) {
                    assert!(sheet.trials.iter().all(|trial| trial.marks.len() == sheet.measures.len()));
                }
            }
            let _ = read("x", &text.chars().take(at).collect::<String>());
        }
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_line() {
        let text = write(&sheet());
        let lines: Vec<&str> = text.lines().collect();
        let changed = |from: &str, to: &str| text.replacen(from, to, 1);
        let cases = [
            (String::new(), "is empty"),
            ("hello".to_owned(), "line 1: it is no JSON object"),
            ("{\"sample\":\"a\"}".to_owned(), "line 1: a baseline begins with"),
            (changed("\"baseline\":1", "\"baseline\":2"), "line 1: it is of version 2"),
            (changed("[3.5,true]", "[9.5,true]"), "line 5: the score of `tone`"),
            (changed("[3.5,true]", "\"scored\""), "line 5: the score of `tone`"),
            (changed("\"epoch\":2", "\"epoch\":1"), "or one stands twice"),
            (changed("\"epoch\":2", "\"epoch\":-1"), "line 6: `epoch` is no whole number"),
            (format!("{}\n{}\n{}\n", lines[0], lines[1], lines[1]), "line 3: `tone` stands here twice"),
        ];
        for (text, wanted) in cases {
            let message = read("x", &text).expect_err(&text).message;
            assert!(message.contains(wanted), "{message}, not {wanted}");
        }
    }
}
