//! Random YAML documents, written in every style, for the tests that compare and locate.

use std::fmt::Write as _;

use proptest::prelude::*;

/// A value, and how each of its scalars is to be written.
#[derive(Clone, Debug)]
pub(crate) enum Doc {
    Scalar(Scalar),
    List(Vec<Doc>),
    Map(Vec<(String, Doc)>),
    FlowList(Vec<Scalar>),
    FlowMap(Vec<(String, Scalar)>),
}

#[derive(Clone, Debug)]
pub(crate) struct Scalar {
    text: String,
    style: u8,
    header: u8,
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[a-zA-Z0-9 ]{1,8}",
        1 => Just("\n".to_owned()),
        1 => Just("\n\n".to_owned()),
        1 => Just("\n  ".to_owned()),
        1 => Just("'".to_owned()),
        1 => Just("\"".to_owned()),
        1 => Just("\\".to_owned()),
        1 => Just("{{ x }}".to_owned()),
        1 => Just("é値😀".to_owned()),
        1 => Just(": ".to_owned()),
        1 => Just(" #".to_owned()),
        1 => Just("\t".to_owned()),
        1 => Just("\u{85}\u{a0}\u{2028}".to_owned()),
        1 => "[-+0-9.eExob_:~]{1,6}",
        1 => prop_oneof![Just("null"), Just("true"), Just("yes"), Just("0x1f"), Just("1e3"), Just("~")].prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn scalar() -> impl Strategy<Value = Scalar> {
    (text(), 0..5_u8, 0..9_u8).prop_map(|(text, style, header)| Scalar { text, style, header })
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,5}", "[a-z]{1,3}é", "\"[a-z]{1,3}\\\\n\"", "'[a-z]{1,3}'''"]
}

pub(crate) fn doc() -> impl Strategy<Value = Doc> {
    let leaf = prop_oneof![
        4 => scalar().prop_map(Doc::Scalar),
        1 => prop::collection::vec(scalar(), 0..4).prop_map(Doc::FlowList),
        1 => prop::collection::vec((key(), scalar()), 0..4).prop_map(Doc::FlowMap),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..5).prop_map(Doc::List),
            prop::collection::vec((key(), inner), 1..5).prop_map(Doc::Map),
        ]
    })
}

/// The document as YAML. It need not be valid: the readers decide.
pub(crate) fn write(doc: &Doc, crlf: bool) -> String {
    let mut out = String::new();
    block(doc, 0, &mut out);
    if crlf { out.replace('\n', "\r\n") } else { out }
}

fn block(doc: &Doc, indent: usize, out: &mut String) {
    match doc {
        Doc::Scalar(scalar) => {
            out.push(' ');
            styled(scalar, indent, false, out);
            out.push('\n');
        }
        Doc::FlowList(items) => {
            out.push_str(" [");
            for item in items {
                styled(item, indent, true, out);
                out.push_str(", ");
            }
            out.push_str("]\n");
        }
        Doc::FlowMap(pairs) => {
            out.push_str(" {");
            for (key, item) in pairs {
                let _ = write!(out, "{key}: ");
                styled(item, indent, true, out);
                out.push_str(", ");
            }
            out.push_str("} # tail\n");
        }
        Doc::List(items) => {
            out.push('\n');
            for item in items {
                let _ = write!(out, "{:indent$}-", "");
                block(item, indent + 2, out);
            }
        }
        Doc::Map(pairs) => {
            out.push('\n');
            for (key, item) in pairs {
                let _ = write!(out, "{:indent$}{key}:", "");
                block(item, indent + 2, out);
            }
        }
    }
}

fn styled(scalar: &Scalar, indent: usize, flow: bool, out: &mut String) {
    let pad = " ".repeat(indent + 1);
    match scalar.style {
        0 => out.push_str(&scalar.text.replace('\n', &format!("\n\n{pad}"))),
        1 => {
            let text = scalar
                .text
                .replace('\'', "''")
                .replace('\n', &format!(" \n\n{pad}"))
                .replace("e ", &format!("e\n{pad}"));
            let _ = write!(out, "'{text}'");
        }
        2 => double(scalar, &pad, out),
        style if flow => {
            let _ = write!(out, "'{}'", scalar.text.replace('\'', "''").repeat(usize::from(style) - 2));
        }
        style => {
            let mark = if style == 3 { '|' } else { '>' };
            let chomp = ["", "-", "+"][usize::from(scalar.header % 3)];
            let width = if scalar.header > 5 { "1" } else { "" };
            let _ = write!(out, "{mark}{width}{chomp}");
            let step = if indent == 0 { " ".to_owned() } else { " ".repeat(indent - 1) };
            for line in scalar.text.split('\n') {
                let lead = if line.is_empty() && scalar.header.is_multiple_of(2) { "" } else { step.as_str() };
                let _ = write!(out, "\n{lead}{line}");
            }
        }
    }
}

fn double(scalar: &Scalar, pad: &str, out: &mut String) {
    out.push('"');
    for (at, c) in scalar.text.chars().enumerate() {
        match c {
            '"' | '\\' => {
                let _ = write!(out, "\\{c}");
            }
            '\n' if scalar.header.is_multiple_of(2) => out.push_str("\\n"),
            '\n' => {
                let _ = write!(out, "\n\n{pad}");
            }
            ' ' if scalar.header == 3 => {
                let _ = write!(out, "\\\n{pad}\\ ");
            }
            '😀' if scalar.header < 4 => out.push_str("\\ud83d\\ude00"),
            'é' if scalar.header < 4 => out.push_str("\\xe9"),
            c if at % 7 == 6 => {
                let _ = write!(out, "\\U{:08x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
