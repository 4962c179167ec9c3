//! The form in which files are laid out. A text is cut into tokens (`tokens`), the blanks between them are written anew
//! (`lines`), flow collections on lines that are too long become blocks (`wrap`), and what comes out is read again and
//! compared with what went in. Nothing but blanks, line ends and brackets of such collections ever changes.

use aigo_ir::diagnostic::Severity;
use aigo_ir::span::FileId;

use super::Parsed;

mod lines;
mod tokens;
mod wrap;

/// How many characters a line may have before a flow collection on it becomes a block.
pub const WIDTH: usize = 120;
/// How far the parts of a list or a map are indented against it.
const STEP: usize = 2;

/// Why a text was not laid out. It is a fault of this layout, and not of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What was noticed, for a report.
    pub what: String,
}

fn fault<T>(what: impl Into<String>) -> Result<T, Fault> {
    Err(Fault { what: what.into() })
}

/// The text of a file in the form that `spec/fmt.md` defines. It is read again and compared: every value, key, anchor and
/// comment is there as before, or nothing is given.
///
/// Only of a file that was read without errors; of another, what comes out differs from what was read, which is a fault.
pub fn formatted(parsed: &Parsed) -> Result<String, Fault> {
    if let Some(found) = parsed.diagnostics.iter().find(|found| found.row.severity == Severity::Error) {
        return fault(format!("the text has errors: {}", found.message));
    }
    let original = parsed.tree.text();
    let mut text = lines::written(&unified(original))?;
    // Each round unwraps the outermost collections, so there are as many as they nest.
    while let Some(wrapped) = wrap::wrapped(&text)? {
        text = lines::written(&wrapped)?;
    }
    let again = super::parse(&text, FileId(0));
    if let Some(found) = again.diagnostics.iter().find(|found| found.row.severity == Severity::Error) {
        return fault(format!("the text that came out cannot be read: {}", found.message));
    }
    match parsed.tree.difference(&again.tree) {
        Some(what) => fault(what),
        None => Ok(text),
    }
}

/// The text without a byte order mark, each line ended by a line feed. YAML reads all three line ends as one.
fn unified(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text.to_owned() }
}
