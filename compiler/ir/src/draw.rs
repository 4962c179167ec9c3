//! The graphs of a program as pictures: for Graphviz, every node; as SVG, drawn here, step by step as a task has them.
//!
//! ```text
//! Graph -> steps (nodes that belong together) -> layers (places) -> svg
//!      \-> dot
//! ```

mod dot;
mod layers;
mod measure;
mod panel;
mod steps;
mod svg;
mod words;

pub use dot::dot;
pub use svg::svg;

use std::fmt::Write as _;

use crate::span::{Origin, SourceMap};
use crate::text::{is_dangerous, printable};

/// A text within XML: what XML cannot hold, or a terminal could act on, is written out.
fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
            c if is_dangerous(c) && c != '\n' => {}
            c => out.push(c),
        }
    }
    out
}

/// Where a step stands in the task: the address of its line, and the line itself.
struct Place {
    /// `task.yaml#L12`, relative to the picture.
    href: String,
    /// `tasks/x/task.yaml:12: - generate`
    line: String,
}

fn place(origin: Origin, sources: &SourceMap) -> Option<Place> {
    let span = origin.0?;
    let file = sources.get(span.file)?;
    let number = sources.position(span).line;
    let (at, start) = file.line_at(span.start as usize);
    let end = file.line_start(at + 1);
    let text = file.text.get(start..end).unwrap_or_default().trim();
    let base = file.name.rsplit(['/', '\\']).next().unwrap_or_default();
    let mut href = String::new();
    for byte in base.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            href.push(char::from(byte));
        } else {
            let _ = write!(href, "%{byte:02X}");
        }
    }
    let _ = write!(href, "#L{number}");
    Some(Place { href, line: format!("{}:{number}: {}", file.name, crate::text::excerpt(text, 160)) })
}
