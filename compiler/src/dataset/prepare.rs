//! Sources made ready: formats known, patterns expanded, the values of a matrix at hand, filters read.

use std::sync::Arc;

use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::expr::Expr;
use aigo_ir::expr_parse;
use aigo_ir::span::{SourceMap, Span, Spanned};
use aigo_ir::ty::Type;
use aigo_ir::value::{Map, Value};
use aigo_source::{Format, Take};

use super::declared::Fields;
use super::problem::Problem;
use super::raw::value_id;
use crate::ast::{Column, ColumnValues, DataFile, InlineRow, Samples, ScenarioSample, Shuffle, Source, Task};
use crate::sources::Sources;
use crate::{catalog, glob};

/// How many combinations a matrix may have.
const MOST_COMBINATIONS: usize = 1_000_000;

/// A source that can be read.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(super) from: From,
    pub(super) span: Span,
    pub(super) tags: Vec<String>,
    pub(super) cluster: Option<Spanned<String>>,
    pub(super) filter: Option<(Expr, crate::ast::Leaf)>,
    pub(super) shuffle: Option<u64>,
    pub(super) limit: Option<u64>,
    pub(super) declared: Fields,
    /// Of a shuffled source that has been read once: its order.
    pub(super) order: Option<Order>,
}

/// What rows are read from.
#[derive(Clone, Debug)]
pub(super) enum From {
    Inline(Vec<InlineRow>),
    Files(Vec<File>),
    Matrix(Columns),
    Transcripts { files: Vec<File>, each_turn: bool },
    Scenarios(Vec<ScenarioSample>),
}

/// A file of rows.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) path: Arc<str>,
    pub(super) format: Format,
    /// Where the task names it.
    pub(super) span: Span,
}

/// The order of a shuffled source: per row its rank and its number among the rows that the filter leaves, 16 bytes.
#[derive(Clone, Debug)]
pub(super) struct Order {
    pub(super) rows: Arc<Vec<(u64, u64)>>,
    /// The mean length of a row in its file.
    pub(super) mean_bytes: usize,
}

/// Makes the sources of a task ready. What cannot be read is reported, and has no rows.
pub(crate) fn prepare(
    task: &Task,
    world: &dyn Sources,
    sources: &mut SourceMap,
    found: &mut Diagnostics,
) -> Vec<Prepared> {
    let declared = Fields::new(&task.fields);
    let prepared = task.dataset.iter().filter_map(|source| {
        let filter = source.filter.as_ref().map(|leaf| match expr_parse::parse(&leaf.text) {
            Ok(expr) => Some((expr, leaf.clone())),
            Err(error) => {
                let at = leaf.locate(sources, error.range);
                let message = error.message;
                found.push(catalog::BAD_EXPRESSION.at(at, message).maybe_help(error.help));
                None
            }
        });
        let from = from(source, &declared, world).map_err(|problems| {
            found.extend(problems.into_iter().map(|problem| problem.diagnostic(sources)));
        });
        let filter = match filter {
            Some(None) => return None,
            Some(filter) => filter,
            None => None,
        };
        Some(Prepared {
            from: from.ok()?,
            span: source.span,
            tags: source.tags.clone(),
            cluster: source.cluster.clone(),
            filter,
            shuffle: source.shuffle.map(|shuffle| match shuffle {
                Shuffle::OfTask => task.seed.unwrap_or(0),
                Shuffle::Seed(seed) => seed,
            }),
            limit: source.limit,
            declared: declared.clone(),
            order: None,
        })
    });
    prepared.collect()
}

fn from(source: &Source, declared: &Fields, world: &dyn Sources) -> Result<From, Vec<Problem>> {
    match &source.samples {
        Samples::Inline(rows) => Ok(From::Inline(rows.clone())),
        Samples::Scenarios(scenarios) => Ok(From::Scenarios(scenarios.clone())),
        Samples::File(file) => data_file(file).map(|file| From::Files(vec![file])).map_err(|problem| vec![problem]),
        Samples::Transcripts { paths, each_turn } => {
            let mut files = Vec::new();
            let mut problems = Vec::new();
            for path in paths {
                match matching(path, world) {
                    Ok(found) => files.extend(found),
                    Err(problem) => problems.push(problem),
                }
            }
            let each_turn = *each_turn;
            if problems.is_empty() { Ok(From::Transcripts { files, each_turn }) } else { Err(problems) }
        }
        Samples::Matrix(columns) => matrix(columns, source.span, declared, world).map(From::Matrix),
    }
}

const OF_SHEET: &str = "a workbook is no data file: save the sheet as CSV (UTF-8), and name that";
const OF_TABLE: &str = "write its rows to a `.jsonl` file, one JSON object a line, and name that";

/// Files of other programs, by their extensions, and what to do with them.
const OTHER_FILES: [(&str, &str); 8] = [
    ("xlsx", OF_SHEET),
    ("xls", OF_SHEET),
    ("xlsm", OF_SHEET),
    ("ods", OF_SHEET),
    ("numbers", OF_SHEET),
    ("parquet", OF_TABLE),
    ("arrow", OF_TABLE),
    ("sqlite", OF_TABLE),
];

fn data_file(file: &DataFile) -> Result<File, Problem> {
    let Spanned { value: path, span } = &file.path;
    let Some(format) = file.format.or_else(|| Format::of(path)) else {
        let message = format!("`{path}` says not by its extension what it holds; known are {}", Format::known());
        let problem = Problem::of_source(&catalog::UNKNOWN_FORMAT, *span, message);
        let extension = path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
        if let Some((_, help)) = OTHER_FILES.iter().find(|(known, _)| extension.as_deref() == Some(*known)) {
            return Err(problem.help(*help));
        }
        return Err(problem.help(Format::near(path).map_or_else(
            || format!("name the format: `{{path: {path}, format: jsonl}}`"),
            |near| format!("did you mean `.{near}`? Or name the format: `{{path: {path}, format: {near}}}`"),
        )));
    };
    Ok(File { path: path.as_str().into(), format, span: *span })
}

/// The files of a path or a pattern.
fn matching(path: &Spanned<String>, world: &dyn Sources) -> Result<Vec<File>, Problem> {
    let file = |text: &str| data_file(&DataFile { path: Spanned::new(text.to_owned(), path.span), format: None });
    if !glob::is_pattern(&path.value) {
        return file(&path.value).map(|file| vec![file]);
    }
    let found = world.list(&path.value).map_err(|error| {
        let message = format!("the files of `{}` cannot be listed: {error}", path.value);
        Problem::of_source(&catalog::UNREADABLE_FILE, path.span, message)
    })?;
    if found.is_empty() {
        let message = format!("no file matches `{}`", path.value);
        let help =
            "`*` stands for any name in one folder, `**` for any folders; paths are relative to the task's folder";
        return Err(Problem::of_source(&catalog::NO_MATCH, path.span, message).help(help));
    }
    found.iter().map(|path| file(path)).collect()
}

/// The fields of a matrix, each with its values.
type Columns = Vec<(Arc<str>, Vec<Value>)>;

fn matrix(columns: &[Column], span: Span, declared: &Fields, world: &dyn Sources) -> Result<Columns, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut out = Vec::new();
    for column in columns {
        let name = column.name.value.as_str();
        let before = problems.len();
        let values: Vec<Value> = match &column.values {
            ColumnValues::Inline(values) => values
                .iter()
                .filter_map(|value| match misplaced(name, &value.value) {
                    None => Some(value.value.clone()),
                    Some((message, help)) => {
                        let problem = Problem::of_source(&catalog::BAD_MATRIX, value.span, message);
                        problems.push(problem.help(help));
                        None
                    }
                })
                .collect(),
            ColumnValues::File(file) => match column_of_file(name, file, declared, world) {
                Ok(values) => values,
                Err(more) => {
                    problems.extend(more);
                    continue;
                }
            },
        };
        if problems.len() == before
            && let Some(other) = mixed(&values)
            && declared.get(name) != Some(&Type::Any)
        {
            let span = match &column.values {
                ColumnValues::Inline(written) => written.get(other).map_or(column.name.span, |value| value.span),
                ColumnValues::File(file) => file.path.span,
            };
            let message = mixed_message(name, values.first());
            problems.push(Problem::of_source(&catalog::BAD_MATRIX, span, message).help(mixed_help(name)));
        }
        out.push((column.name.value.as_str().into(), values));
    }
    let count =
        out.iter().try_fold(1_usize, |count, (_, values): &(Arc<str>, Vec<Value>)| count.checked_mul(values.len()));
    if problems.is_empty() && count.is_none_or(|count| count > MOST_COMBINATIONS) {
        let sizes: Vec<String> = out.iter().map(|(name, values)| format!("{} of `{name}`", values.len())).collect();
        let message = format!("the matrix has more than 1,000,000 combinations: {}", sizes.join(", "));
        let help = "shorten the lists, or make the rows you want a file of their own";
        problems.push(Problem::of_source(&catalog::BAD_MATRIX, span, message).help(help));
    }
    if problems.is_empty() { Ok(out) } else { Err(problems) }
}

/// Of values that are partly maps and partly none, the first that is not as the first of all: what reads one cannot read the
/// other.
fn mixed(values: &[Value]) -> Option<usize> {
    let is_map = |value: &Value| matches!(value, Value::Map(_));
    let first = values.first().map(is_map)?;
    values.iter().position(|value| is_map(value) != first)
}

fn mixed_message(field: &str, first: Option<&Value>) -> String {
    let (known, other) = match first {
        Some(Value::Map(_)) => ("one", "no map"),
        _ => ("none", "a map"),
    };
    format!("a value of `{field}` is {other}, and its first is {known}: no step can read both")
}

fn mixed_help(field: &str) -> String {
    format!("write all as maps: `{{id: …, text: …}}`, read as `{field}.text`; or all as texts")
}

/// Why a value cannot stand in a matrix: only scalars and maps with an id have a part of the sample's id.
fn misplaced(field: &str, value: &Value) -> Option<(String, String)> {
    match value {
        Value::Map(map) if matches!(map.get("id"), Some(Value::Str(_) | Value::Int(_))) => None,
        Value::Map(_) => Some((
            format!("a value of `{field}` is a map without an `id`, which the sample's id is made of"),
            format!("give it one: `{{id: …, text: …}}`, read as `{field}.text`"),
        )),
        Value::List(_) | Value::Null => Some((
            format!(
                "a value of `{field}` is {}; a matrix combines texts, numbers, booleans and maps with an `id`",
                value.kind()
            ),
            format!("name it: `{{id: …, items: […]}}`, read as `{field}.items`"),
        )),
        _ => None,
    }
}

/// The values of a field from a file: maps with ids. A YAML or JSON file may also hold a list of scalars.
fn column_of_file(
    field: &str,
    file: &DataFile,
    declared: &Fields,
    world: &dyn Sources,
) -> Result<Vec<Value>, Vec<Problem>> {
    let file = data_file(file).map_err(|problem| vec![problem])?;
    let reader = world.open(&file.path).map_err(|error| vec![unreadable(&file, &error)])?;
    let (mut values, mut problems) = (Vec::new(), Vec::new());
    for item in aigo_source::rows(file.format, reader, declared.all(), Take::Values) {
        match item {
            Ok(item) => match misplaced(field, &item.value) {
                None => values.push(item.value),
                Some((message, help)) => {
                    let error = aigo_source::RowError::of_row(&item, None, message).help(help);
                    problems.push(Problem::of_file(&catalog::BAD_MATRIX, &file.path, file.span, error));
                }
            },
            Err(error) => problems.push(Problem::of_file(&catalog::BAD_ROW, &file.path, file.span, error)),
        }
        if values.len() > MOST_COMBINATIONS || problems.len() >= 20 {
            break;
        }
    }
    if problems.is_empty() { Ok(values) } else { Err(problems) }
}

/// A file that cannot be opened.
pub(super) fn unreadable(file: &File, error: &std::io::Error) -> Problem {
    let message = format!("`{}` cannot be read: {error}", file.path);
    Problem::of_source(&catalog::UNREADABLE_FILE, file.span, message)
}

/// The id of a combination.
pub(super) fn combination(fields: &Map) -> String {
    let mut id = String::with_capacity(16 * fields.len());
    for (at, (_, value)) in fields.iter().enumerate() {
        id.push_str(if at > 0 { "/" } else { "" });
        id.push_str(&value_id(value));
    }
    id
}
