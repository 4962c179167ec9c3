//! `aigo list` and `aigo show`: the standard library, which is in the binary.

use std::fmt::Write as _;

use aigo_compiler::shape::{CHECK, Part};
use aigo_compiler::standard::{self, Page};
use aigo_ir::diagnostic::nearest;

use crate::args::{Color, ListArgs, ListKind, ShowArgs};
use crate::terminal::Look;
use crate::{exit, markdown, out};

pub(crate) fn list(args: &ListArgs) -> u8 {
    let wanted = |kind: ListKind| args.kind.is_none_or(|one| one == kind);
    let mut text = String::new();
    if wanted(ListKind::Scorers) {
        let pages = standard::scorers().filter_map(|name| page(name, None));
        let rows: Vec<_> = pages.map(|page| [page.name, page.calls.unwrap_or_default(), page.description]).collect();
        table("scorers", ["name", "calls", "measures"], &rows, &mut text);
    }
    if wanted(ListKind::Personas) {
        let pages = standard::personas().filter_map(|name| page(name, None));
        let rows: Vec<_> = pages.map(|page| [page.name, String::new(), page.description]).collect();
        table("personas", ["name", "", "the user"], &rows, &mut text);
    }
    if wanted(ListKind::Checks) {
        let checks = CHECK.keys.iter().filter(|key| key.part == Part::Verb && !key.name.starts_with("not_"));
        let rows: Vec<_> = checks.map(|key| [key.name.to_owned(), "0".to_owned(), key.doc.to_owned()]).collect();
        table("checks", ["name", "calls", "holds where"], &rows, &mut text);
    }
    out::text(&text);
    exit::PASSED
}

/// A list under its title, in columns; a column without a head has nothing in it.
fn table(title: &str, heads: [&str; 3], rows: &[[String; 3]], out: &mut String) {
    if !out.is_empty() {
        out.push('\n');
    }
    let width = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(String::len).max().unwrap_or(0);
    let (first, second) = (width(0).max(title.len()), width(1));
    let mut line = |[name, calls, what]: [&str; 3]| {
        let calls = if second == 0 { String::new() } else { format!("  {calls:<second$}") };
        let _ = writeln!(out, "{}", format!("{name:<first$}{calls}  {what}").trim_end());
    };
    line([title, heads[1], heads[2]]);
    for [name, calls, what] in rows {
        line([name, calls, what]);
    }
}

pub(crate) fn show(args: &ShowArgs) -> u8 {
    let (mut code, mut pages) = (exit::PASSED, Vec::new());
    for typed in &args.names {
        match shown(typed.trim(), args.source) {
            Some(text) => pages.push(text),
            None => {
                unknown(typed);
                code = exit::USAGE;
            }
        }
    }
    out::text(&pages.join("\n"));
    code
}

/// The page of what was typed, a name or a name with its version.
fn shown(typed: &str, source: bool) -> Option<String> {
    let (name, version) = match typed.split_once('@') {
        Some((name, version)) => (name, Some(version.parse().ok()?)),
        None => (typed, None),
    };
    if let Some(page) = page(name, version) {
        return Some(if source { page.source } else { of_page(&page) });
    }
    let check = CHECK.keys.iter().find(|key| key.part == Part::Verb && key.name == name)?;
    let text = format!(
        "# {}\n\n{}\n\nA check: deterministic, no call. Write `check: {{{}: …}}` in a scorer, or under `expect`.\n",
        check.name, check.doc, check.name
    );
    Some(markdown::plain(&text, Look::of_output(Color::Never).width))
}

fn page(name: &str, version: Option<u32>) -> Option<Page> {
    let file = standard::of_scorer(name, version).or_else(|| standard::of_persona(name))?;
    standard::page(file, name)
}

fn of_page(page: &Page) -> String {
    let mut text = format!("# {}@{}\n\n{}\n\n", page.name, page.version, page.description);
    for (key, value) in &page.gives {
        let _ = writeln!(text, "- {key}: {value}");
    }
    if let Some(calls) = &page.calls {
        let n = if calls.contains('n') { ", with n the number of answers" } else { "" };
        let _ = writeln!(text, "- calls for a sample: {calls}{n}");
    }
    if !page.inputs.is_empty() {
        text.push_str("\n## It is given\n\n");
        for (name, ty, told) in &page.inputs {
            let _ = writeln!(text, "- {name} ({ty}): {told}");
        }
    }
    if !page.fails.is_empty() {
        let _ = write!(text, "\n## It fails\n\n{}\n", page.fails);
    }
    if !page.limits.is_empty() {
        let _ = write!(text, "\n## Known limits\n\n{}\n", page.limits);
    }
    let head = markdown::plain(&text, Look::of_output(Color::Never).width);
    let title = format!("Source, {}", page.path);
    format!("{head}\n{title}\n{}\n\n{}", "-".repeat(title.len()), page.source)
}

fn unknown(typed: &str) {
    let checks = CHECK.keys.iter().filter(|key| key.part == Part::Verb).map(|key| key.name);
    let known = standard::scorers().chain(standard::personas()).chain(checks);
    let help = match nearest(typed.split('@').next().unwrap_or(typed), known) {
        Some(near) => format!("did you mean {near}?"),
        None => "`aigo list` lists everything".to_owned(),
    };
    out::error(&format!("the standard library has no `{typed}`\n  help: {help}"));
}
