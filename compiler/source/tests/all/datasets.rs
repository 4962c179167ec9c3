//! Rows: what is read, and what is said about lines that are not rows.
#![expect(clippy::unwrap_used, reason = "a test")]

use aigo_ir::ty::Type;
use aigo_ir::value::Value;
use aigo_source::{Format, RowError, Take, jsonl, matrix, rows};

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
    let field = |name: &str, values: &[&str]| (name.into(), values.iter().map(|&v| Value::str(v)).collect::<Vec<_>>());
    let fields = [field("a", &["1", "2"]), field("b", &["x", "y", "z"])];
    let rows: Vec<String> = matrix(&fields).map(|row| Value::Map(row.into()).to_json()).collect();
    assert_eq!(rows.len(), 6);
    assert_eq!(rows[..3], [r#"{"a":"1","b":"x"}"#, r#"{"a":"1","b":"y"}"#, r#"{"a":"1","b":"z"}"#]);
    assert_eq!(rows[3], r#"{"a":"2","b":"x"}"#);
    assert_eq!(matrix(&[]).count(), 0);
    assert_eq!(matrix(&[field("a", &["1"]), field("b", &[])]).count(), 0);
}

fn read(format: Format, text: &[u8]) -> Vec<Result<(usize, String), String>> {
    let fields = [("n".into(), Type::Int), ("ok".into(), Type::Maybe(Box::new(Type::Bool)))];
    let found = rows(format, text, &fields, Take::Rows);
    let line = |error: RowError| {
        let text = &error.excerpt.text;
        assert_eq!(
            (error.line, error.column),
            (error.excerpt.position(error.at).line, error.excerpt.position(error.at).column)
        );
        format!("{}:{}: {} <{}>", error.line, error.column, error.message, text.get(error.at..).unwrap())
    };
    found.map(|row| row.map(|row| (row.line, row.value.to_json())).map_err(line)).collect()
}

fn good(format: Format, text: &str) -> Vec<(usize, String)> {
    read(format, text.as_bytes()).into_iter().map(Result::unwrap).collect()
}

fn bad(format: Format, text: &[u8]) -> Vec<String> {
    read(format, text).into_iter().filter_map(Result::err).collect()
}

#[test]
fn csv_has_quotes_line_breaks_and_declared_types() {
    let text = "\u{feff}id, q ,n,ok\r\n1,\"say \"\"hi\"\",\nplease\",7,TRUE\r\n\r\n2,a \"b\" c,-1,\n";
    let found = good(Format::Csv, text);
    assert_eq!(
        found,
        [
            (2, r#"{"id":"1","q":"say \"hi\",\nplease","n":7,"ok":true}"#.to_owned()),
            (5, r#"{"id":"2","q":"a \"b\" c","n":-1,"ok":null}"#.to_owned()),
        ]
    );
    assert_eq!(good(Format::Tsv, "a\tb\n1\t\n"), [(2, r#"{"a":"1","b":""}"#.to_owned())]);
    assert_eq!(good(Format::Csv, "a\n1"), [(2, r#"{"a":"1"}"#.to_owned())]);
    assert_eq!(good(Format::Csv, "a,b\n"), []);
}

#[test]
fn csv_says_what_is_wrong_and_where() {
    for (text, expected) in [
        ("a,b\n1\n", "2:2: this row has 1 cell, and the header has 2 <>"),
        ("a,b\n1,2,3\n", "2:5: this row has 3 cells, and the header has 2 <3>"),
        ("a,n\n1,\"x\ny\"\n", "2:3: the cell of `n` is `x\ny`, which is no integer <\"x\ny\">"),
        ("a,,b\n", "1:3: cell 2 of the header is empty: each column needs a name <,b>"),
        ("a,b,a\n", "1:5: the header has `a` twice, in its cells 1 and 3 <a>"),
        ("a;b\n", "1:1: the header is one cell with `;` in it; cells are separated by a comma here <a;b>"),
        ("", "1:1: this file is empty; a header with the names of the fields was expected <>"),
        ("a,b\n1,\"x\n2,y\n", "2:3: the quote that opens here is not closed before the file ends <\"x\n2,y>"),
        ("a\n\"x\"y\n", "2:4: text follows the closing quote of this cell <y>"),
        ("a\nx\0y\n", "2:2: a NUL byte stands here: this is no text <\0y>"),
    ] {
        assert_eq!(bad(Format::Csv, text.as_bytes()), [expected], "{text:?}");
    }
    let next = read(Format::Csv, b"a,b\n1\n\xff,2\n3,4\n");
    assert_eq!((next.len(), next[1].as_ref().is_err_and(|e| e.contains("0xFF")), next[2].is_ok()), (3, true, true));
}

#[test]
fn a_json_array_is_read_item_by_item() {
    let text = " [\n {\"a\": \"]},{\"}, {\"b\":\n [1, {}]}\n]\n";
    assert_eq!(good(Format::Json, text), [(2, r#"{"a":"]},{"}"#.to_owned()), (2, r#"{"b":[1,{}]}"#.to_owned())]);
    assert_eq!(good(Format::Json, "[]"), []);
    let found = read(Format::Json, b"[{\"a\": 1}, 5, {\"a\": tru}, {\"a\": 2}]");
    assert_eq!(found.iter().filter(|row| row.is_ok()).count(), 2);
    for (text, expected) in [
        ("[{}, 5]", "1:6: this item is a number; each item of the array is an object, such as {\"input\": \"Hi\"} <5>"),
        ("[{},\n {\"a\": tru}]", "2:11: `true`, `false` or `null` was expected here; text stands in double quotes <}>"),
        ("[{}", "1:4: the file ends inside its array, which begins at 1:1 <>"),
        ("[{\"a\": \"x]", "1:2: the file ends inside this item: a bracket or a quote is not closed <{\"a\": \"x]>"),
        ("[{} {}]", "1:5: `,` or `]` was expected after an item of the array <>"),
        ("[{},]", "1:5: a comma stands before the closing bracket: JSON allows none there <>"),
        ("[{}] x", "1:6: text follows the array: a file holds one array <>"),
        ("{\"a\": 1}", "1:1: this file begins with an object; an array of objects was expected: `[{…}, {…}]` <>"),
        ("", "1:1: this file is empty; an array of objects was expected: `[{…}, {…}]` <>"),
    ] {
        assert_eq!(bad(Format::Json, text.as_bytes()), [expected], "{text:?}");
    }
    assert_eq!(rows(Format::Json, &b"{\"a\": 1}"[..], &[], Take::Records).flatten().count(), 1);
    assert_eq!(rows(Format::Json, &b"[1, \"x\"]"[..], &[], Take::Values).flatten().count(), 2);
}

#[test]
fn a_yaml_list_is_read_with_its_places() {
    assert_eq!(
        good(Format::Yaml, "- {a: 1}\n- b: x\n  c: [y]\n"),
        [(1, r#"{"a":1}"#.to_owned()), (2, r#"{"b":"x","c":["y"]}"#.to_owned())]
    );
    assert_eq!(
        bad(Format::Yaml, b"- {a: 1}\n- 5\n"),
        ["2:3: this item is a number; each item is a map of a sample's fields <5>"]
    );
    assert_eq!(
        bad(Format::Yaml, b"a: 1\n"),
        ["1:1: this file is a map; a list of maps was expected: `- {question: Hi}` <a: 1>"]
    );
    assert_eq!(bad(Format::Yaml, b"- {a: 1, a: 2}\n").len(), 1);
    let bomb = format!("- &a {{x: [{}]}}\n{}", "1,".repeat(50_000), "- *a\n".repeat(5_000));
    assert!(bad(Format::Yaml, bomb.as_bytes()).last().is_some_and(|error| error.contains("aliases followed")));
}

#[test]
fn what_is_not_utf8_and_what_is_too_long_is_said_and_not_held() {
    for format in [Format::JsonLines, Format::Json, Format::Csv] {
        let found = bad(format, b"\xff\xfe{\0}\0");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("this file is UTF-16"), "{found:?}");
    }
    let long = "x".repeat(9 << 20);
    for (format, text) in [
        (Format::JsonLines, format!("{{\"a\": \"{long}\"}}\n{{}}\n")),
        (Format::Json, format!("[{{\"a\": \"{long}\"}}, {{}}]")),
        (Format::Csv, format!("a\n{long}\ny\n")),
    ] {
        let found = read(format, text.as_bytes());
        assert_eq!((found.len(), found[0].is_err(), found[1].is_ok()), (2, true, true), "{format:?}");
        assert!(found[0].as_ref().unwrap_err().len() < 500);
    }
    let open = bad(Format::Csv, format!("a\n\"{long}\n").as_bytes());
    assert!(open.len() == 1 && open[0].starts_with("2:1: the quote that opens here is not closed within 8388608"));
    let deep = format!("[{}{}]", "[".repeat(100_000), "]".repeat(100_000));
    assert!(bad(Format::Json, deep.as_bytes())[0].contains("nested too deeply"));
}
