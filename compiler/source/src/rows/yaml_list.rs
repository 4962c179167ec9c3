//! A YAML list of maps. The file is held whole, and is at most 8 MiB.

use std::io::Read;

use aigo_ir::diagnostic::{Diagnostic, Severity};
use aigo_ir::span::{FileId, Position, SourceMap, Span};
use aigo_ir::value::Value;

use super::{Row, RowError, Take};
use crate::yaml::tree::{Kind, NodeRef};
use crate::yaml::{MAX_FILE_BYTES, decode, parse};

/// How many nodes all rows of a file may have together, aliases followed.
const MAX_NODES: usize = 4_000_000;

const START: Position = Position { offset: 0, line: 1, column: 1 };

/// The rows of a YAML list. [`Take::Records`] also takes a map, as its only row. A file with a syntax error has no rows.
pub fn yaml(reader: impl Read, take: Take) -> impl Iterator<Item = Result<Row, RowError>> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(MAX_FILE_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let rows = match reader.take(limit).read_to_end(&mut bytes) {
        Err(error) => vec![Err(RowError::new("", START, 0, format!("the file cannot be read: {error}")).fatal())],
        Ok(_) if bytes.len() > MAX_FILE_BYTES => {
            let message = format!("a YAML file of samples has at most {MAX_FILE_BYTES} bytes, and this has more");
            let help = "write large datasets as JSON Lines, which is read row by row";
            vec![Err(RowError::new("", START, 0, message).help(help).fatal())]
        }
        Ok(_) => read(&bytes, take),
    };
    rows.into_iter()
}

fn read(bytes: &[u8], take: Take) -> Vec<Result<Row, RowError>> {
    let file = FileId(0);
    let text = match decode(bytes, file) {
        Ok(text) => text,
        Err(found) => {
            let text = String::from_utf8_lossy(bytes);
            return vec![Err(error(&text, &found).fatal())];
        }
    };
    let parsed = parse(text, file);
    let broken: Vec<_> = parsed.diagnostics.iter().filter(|found| found.row.severity == Severity::Error).collect();
    if !broken.is_empty() {
        return broken.into_iter().map(|found| Err(error(text, found))).collect();
    }
    let mut lines = SourceMap::default();
    lines.add("", text);
    let root = parsed.tree.root();
    let mut left = MAX_NODES;
    let mut rows = Vec::new();
    let items: Box<dyn Iterator<Item = NodeRef<'_>>> = match root.kind() {
        Kind::List(items) => Box::new(items),
        Kind::Map(_) if take == Take::Records => Box::new(std::iter::once(root)),
        other => {
            let seen = if root.is_implicit() { "empty" } else { other.name() };
            let message = format!("this file is {seen}; a list of maps was expected: `- {{question: Hi}}`");
            return vec![Err(RowError::new(text, START, root.span().start as usize, message).fatal())];
        }
    };
    for item in items {
        let row = row(text, &lines, item, take);
        left = left.saturating_sub(row.as_ref().map_or(1, |row| nodes(&row.value)));
        rows.push(row);
        if left == 0 {
            let message = format!("the rows up to here have more than {MAX_NODES} values, aliases followed");
            rows.push(Err(RowError::new(text, START, item.site().start as usize, message).fatal()));
            break;
        }
    }
    rows
}

fn row(text: &str, lines: &SourceMap, item: NodeRef<'_>, take: Take) -> Result<Row, RowError> {
    let at = item.site().start as usize;
    if take != Take::Values && !matches!(item.kind(), Kind::Map(_)) {
        let message = format!("this item is {}; each item is a map of a sample's fields", item.kind().name());
        return Err(RowError::new(text, START, at, message));
    }
    let value = item.to_value().map_err(|found| error(text, &found))?;
    let first = lines.position(Span::new(FileId(0), at, at));
    let end = item.site().end as usize;
    Ok(Row::new(text.get(at..end).unwrap_or_default(), first, value))
}

fn nodes(value: &Value) -> usize {
    match value {
        Value::List(items) => 1 + items.iter().map(nodes).sum::<usize>(),
        Value::Map(map) => 1 + map.iter().map(|(_, value)| nodes(value)).sum::<usize>(),
        _ => 1,
    }
}

fn error(text: &str, found: &Diagnostic) -> RowError {
    let at = found.span.map_or(0, |span| span.start as usize);
    RowError { help: found.help.clone(), ..RowError::new(text, START, at, found.message.clone()) }
}
