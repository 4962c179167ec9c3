//! `aigo explain`: the pages of codes, which are in the binary.

use aigo_ir::diagnostic::nearest;

use crate::args::{Color, ExplainArgs, PageFormat};
use crate::terminal::Look;
use crate::{catalog, exit, markdown, out};

pub(crate) fn explain(args: &ExplainArgs) -> u8 {
    if args.codes.is_empty() {
        list();
        return exit::PASSED;
    }
    let mut code = exit::PASSED;
    let mut pages = Vec::new();
    for typed in &args.codes {
        let wanted = typed.trim().to_uppercase();
        let named = catalog::rows().into_iter().find(|row| !row.name.is_empty() && row.name == typed.trim());
        match catalog::page(named.map_or(&wanted, |row| row.code)) {
            Some(page) => pages.push(page),
            None => {
                unknown(typed, &wanted);
                code = exit::USAGE;
            }
        }
    }
    let width = Look::of_output(Color::Never).width;
    let shown = pages.into_iter().map(|page| match args.format {
        PageFormat::Md => page.to_owned(),
        PageFormat::Text => markdown::plain(page, width),
    });
    out::text(&shown.collect::<Vec<_>>().join("\n"));
    code
}

fn list() {
    let lines = catalog::rows().into_iter().map(|row| {
        let name = if row.name.is_empty() { String::new() } else { format!(" [{}]", row.name) };
        format!("{}  {:<7}  {}{name}\n", row.code, row.severity.word(), row.title)
    });
    out::text(&lines.collect::<String>());
}

fn unknown(typed: &str, wanted: &str) {
    let codes = catalog::rows().into_iter().map(|row| row.code);
    let names = catalog::rows().into_iter().map(|row| row.name).filter(|name| !name.is_empty());
    let help = match nearest(wanted, codes).or_else(|| nearest(typed.trim(), names)) {
        Some(near) => format!("did you mean {near}?"),
        None => "`aigo explain` lists all codes".to_owned(),
    };
    out::error(&format!("there is no code `{typed}`\n  help: {help}"));
}
