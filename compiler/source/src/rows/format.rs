//! The formats of data files.

use aigo_ir::diagnostic;

/// A format of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON object per line.
    JsonLines,
    /// A JSON array of objects.
    Json,
    /// Comma-separated cells below a header.
    Csv,
    /// The same, separated by tabs.
    Tsv,
    /// A YAML list of maps.
    Yaml,
}

const EXTENSIONS: [(&str, Format); 7] = [
    ("jsonl", Format::JsonLines),
    ("ndjson", Format::JsonLines),
    ("json", Format::Json),
    ("csv", Format::Csv),
    ("tsv", Format::Tsv),
    ("yaml", Format::Yaml),
    ("yml", Format::Yaml),
];

impl Format {
    /// The words for `format`, which are the usual extensions.
    pub const WORDS: [(&'static str, Self); 5] = [
        ("jsonl", Self::JsonLines),
        ("json", Self::Json),
        ("csv", Self::Csv),
        ("tsv", Self::Tsv),
        ("yaml", Self::Yaml),
    ];

    /// The format of a path, by its extension in any case.
    pub fn of(path: &str) -> Option<Self> {
        let extension = extension(path)?.to_lowercase();
        EXTENSIONS.iter().find(|(known, _)| *known == extension).map(|(_, format)| *format)
    }

    /// The extension that a path was probably meant to have.
    pub fn near(path: &str) -> Option<&'static str> {
        diagnostic::nearest(extension(path)?, EXTENSIONS.map(|(known, _)| known))
    }

    /// All extensions, as messages list them.
    pub fn known() -> String {
        EXTENSIONS.map(|(known, _)| format!("`.{known}`")).join(", ")
    }
}

/// What follows the last dot of the path's last part.
fn extension(path: &str) -> Option<&str> {
    let name = path.rsplit(['/', '\\']).next()?;
    name.rsplit_once('.').map(|(_, extension)| extension).filter(|extension| !extension.is_empty())
}
