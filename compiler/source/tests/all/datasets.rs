//! Rows: what is read, and what is said about lines that are not rows.
#![expect(clippy::unwrap_used, reason = "a test")]

use aigo_ir::value::Value;
use aigo_source::{RowError, jsonl, matrix};

fn sole(line: &str) -> RowError {
    let bytes = format!("\n{line}");
    jsonl(bytes.as_bytes()).next().unwrap().unwrap_err()
}

#[test]
fn lines_are_rows() {
    let text = "\u{feff}{\"z\": 1, \"a\": [null, 0.5]}\r\n\n  \t\n{\"é\": \"\\ud83d\\ude00\"}";
    let rows: Vec<(usize, String)> =
        jsonl(text.as_bytes()).map(Result::unwrap).map(|row| (row.line, row.value.to_json())).collect();
    assert_eq!(rows, [(1, r#"{"z":1,"a":[null,0.5]}"#.to_owned()), (4, r#"{"é":"😀"}"#.to_owned())]);
    assert_eq!(jsonl(&b""[..]).count(), 0);
}

#[test]
fn a_bad_line_is_named_and_the_next_is_read() {
    let text = b"{\"a\": 1}\n{\"a\": \xff}\n{\"a\": 2}\n";
    let rows: Vec<_> = jsonl(&text[..]).collect();
    assert!(rows[0].is_ok() && rows[2].is_ok());
    assert_eq!(
        rows[1].as_ref().unwrap_err().to_string(),
        "line 2, column 7: the byte 0xFF is not UTF-8: save the file as UTF-8"
    );
}

#[test]
fn what_was_seen_is_said() {
    for (line, column, part) in [
        ("[1]", 1, "this line is a list; each line is one JSON object"),
        ("  3", 3, "this line is a number"),
        ("{\"a\": 1", 7, "ends inside its JSON value"),
        ("{\"a\": 1},", 9, "text follows the JSON value"),
        ("{\"a\": 1,}", 9, "a comma stands before the closing bracket"),
        ("{a: 1}", 2, "a key in double quotes was expected"),
        ("{\"é\" 1}", 6, "a `:` was expected"),
        ("{\"a\": 1 \"b\": 2}", 9, "`,` or `}` was expected"),
        ("{\"a\": 'x'}", 7, "a JSON value was expected here"),
        ("{\"a\": \"\\ud800\"}", 14, "half of a character"),
        ("{\"a\": \"\\q\"}", 9, "backslash"),
        ("{\"a\": \"\t\"}", 8, "control character"),
        ("{\"a\": 1e999}", 11, "too large"),
        ("{\"a\": 18446744073709551615}", 26, "9223372036854775807"),
        ("{\"a\": 1, \"a\": 2}", 16, "stands twice"),
        ("hello", 1, "each line is one JSON object"),
    ] {
        let error = sole(line);
        assert!(error.message.contains(part), "{line}: {error}");
        assert_eq!((error.line, error.column), (2, column), "{line}: {error}");
    }
}

#[test]
fn a_matrix_is_a_cross_product_in_order() {
    let field =
        |name: &str, values: &[&str]| (name.to_owned(), values.iter().map(|&v| Value::str(v)).collect::<Vec<_>>());
    let fields = [field("a", &["1", "2"]), field("b", &["x", "y", "z"])];
    let rows: Vec<String> = matrix(&fields).map(|row| Value::Map(row.into()).to_json()).collect();
    assert_eq!(rows.len(), 6);
    assert_eq!(rows[..3], [r#"{"a":"1","b":"x"}"#, r#"{"a":"1","b":"y"}"#, r#"{"a":"1","b":"z"}"#]);
    assert_eq!(rows[3], r#"{"a":"2","b":"x"}"#);
    assert_eq!(matrix(&[]).count(), 0);
    assert_eq!(matrix(&[field("a", &["1"]), field("b", &[])]).count(), 0);
}
