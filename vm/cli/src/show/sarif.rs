//! `--format sarif`: the Static Analysis Results Interchange Format, version 2.1.0 (OASIS).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use aigo_ir::diagnostic::{Row, Severity};
use serde::Serialize;

use super::{Whole, harmless};
use crate::catalog;
use crate::finding::{Edit, Located, Place};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
const ROOT: &str = "%SRCROOT%";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    column_kind: &'static str,
    original_uri_base_ids: BTreeMap<&'static str, Base>,
    invocations: [Invocation; 1],
    results: Vec<Outcome>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    semantic_version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    name: &'static str,
    short_description: Text,
    /// The page itself: there is no address on the web that it could be read at.
    help: Help,
    default_configuration: Configuration,
}

#[derive(Serialize)]
struct Text {
    text: String,
}

#[derive(Serialize)]
struct Help {
    text: String,
    markdown: String,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct Base {
    description: Text,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
struct Notification {
    level: &'static str,
    message: Text,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Text,
    locations: [Location; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixes: Vec<Fix>,
    partial_fingerprints: BTreeMap<&'static str, String>,
}

#[derive(Serialize)]
struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    #[serde(rename = "physicalLocation")]
    physical: Physical,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Text>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    artifact_location: Artifact,
    region: Region,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Artifact {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri_base_id: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: usize,
    start_column: usize,
    end_line: usize,
    end_column: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Fix {
    description: Text,
    artifact_changes: [Change; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Change {
    artifact_location: Artifact,
    replacements: [Replacement; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Replacement {
    deleted_region: Region,
    inserted_content: Text,
}

fn text(text: impl Into<String>) -> Text {
    Text { text: text.into() }
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// The whole check as text with a line end. `folder` is the current one, absolute: addresses are relative to it.
pub(crate) fn write(whole: &Whole<'_>, folder: &Path) -> Result<String, serde_json::Error> {
    let mut rules: Vec<&'static Row> = whole.findings.iter().map(|found| found.row).collect();
    rules.sort_by_key(|row| row.code);
    rules.dedup_by_key(|row| row.code);
    let results = whole.findings.iter().map(|found| outcome(found, &rules, folder)).collect();
    let mut notifications: Vec<Notification> =
        whole.faults.iter().map(|fault| Notification { level: "error", message: text(fault) }).collect();
    if whole.omitted > 0 {
        let message = text(format!("{} more findings are not listed", whole.omitted));
        notifications.push(Notification { level: "warning", message });
    }
    let run = Run {
        tool: Tool {
            driver: Driver {
                name: "aigo",
                semantic_version: env!("CARGO_PKG_VERSION"),
                rules: rules.iter().map(|row| rule(row)).collect(),
            },
        },
        column_kind: "unicodeCodePoints",
        original_uri_base_ids: BTreeMap::from([(
            ROOT,
            Base { description: text("The folder in which aigo was started.") },
        )]),
        invocations: [Invocation {
            execution_successful: whole.faults.is_empty(),
            tool_execution_notifications: notifications,
        }],
        results,
    };
    let log = Log { schema: SCHEMA, version: "2.1.0", runs: [run] };
    serde_json::to_string(&log).map(|text| harmless(&text))
}

fn rule(row: &Row) -> Rule {
    let page = catalog::page(row.code).unwrap_or(row.title);
    Rule {
        id: row.code,
        name: row.name,
        short_description: text(row.title),
        help: Help { text: crate::markdown::plain(page, usize::MAX), markdown: crate::markdown::alone(page) },
        default_configuration: Configuration { level: level(row.severity) },
    }
}

fn outcome(found: &Located, rules: &[&'static Row], folder: &Path) -> Outcome {
    let message = match &found.help {
        Some(help) => format!("{}\n{help}", found.message),
        None => found.message.clone(),
    };
    let related = found.related.iter().enumerate().map(|(at, (label, place))| Location {
        id: Some(at + 1),
        physical: physical(place, folder),
        message: Some(text(label.as_str())),
    });
    Outcome {
        rule_id: found.row.code,
        rule_index: rules.partition_point(|row| row.code < found.row.code),
        level: level(found.row.severity),
        message: text(message),
        locations: [Location { id: None, physical: physical(&found.place, folder), message: None }],
        related_locations: related.collect(),
        fixes: found.fix.iter().map(|fix| mended(fix, folder)).collect(),
        partial_fingerprints: BTreeMap::from([("aigoLine/v1", found.fingerprint.clone())]),
    }
}

fn physical(place: &Place, folder: &Path) -> Physical {
    Physical { artifact_location: artifact(&place.path, folder), region: region(place) }
}

const fn region(place: &Place) -> Region {
    Region {
        start_line: place.start.line,
        start_column: place.start.column,
        end_line: place.end.line,
        end_column: place.end.column,
    }
}

fn mended(fix: &Edit, folder: &Path) -> Fix {
    let replacement = Replacement { deleted_region: region(&fix.place), inserted_content: text(fix.text.as_str()) };
    let artifact_location = artifact(&fix.place.path, folder);
    Fix {
        description: text(fix.title.as_str()),
        artifact_changes: [Change { artifact_location, replacements: [replacement] }],
    }
}

/// A path as an address: relative to the root where it lies under it, else absolute.
fn artifact(path: &str, folder: &Path) -> Artifact {
    let whole = without_dots(&folder.join(path));
    if let Ok(inside) = whole.strip_prefix(folder) {
        return Artifact { uri: address(inside), uri_base_id: Some(ROOT) };
    }
    let address = address(&whole);
    let slash = if address.starts_with('/') { "" } else { "/" };
    Artifact { uri: format!("file://{slash}{address}"), uri_base_id: None }
}

fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// Percent-encoded but for what RFC 3986 leaves unreserved; parts are joined by `/`.
fn address(path: &Path) -> String {
    let mut parts = Vec::new();
    for part in path.components() {
        let mut out = String::new();
        if part != Component::RootDir {
            for byte in part.as_os_str().as_encoded_bytes() {
                if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
                    out.push(char::from(*byte));
                } else {
                    let _ = write!(out, "%{byte:02X}");
                }
            }
        }
        parts.push(out);
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::artifact;

    #[test]
    #[cfg(unix)]
    fn addresses_are_relative_to_the_root_and_encoded() {
        let of = |path: &str| {
            let artifact = artifact(path, Path::new("/a/b"));
            (artifact.uri, artifact.uri_base_id.is_some())
        };
        assert_eq!(of("./c/d e.yaml"), ("c/d%20e.yaml".to_owned(), true));
        assert_eq!(of("/a/b/x:y#%.yaml"), ("x%3Ay%23%25.yaml".to_owned(), true));
        assert_eq!(of("c/../値.yaml"), ("%E5%80%A4.yaml".to_owned(), true));
        assert_eq!(of("../c.yaml"), ("file:///a/c.yaml".to_owned(), false));
    }
}
