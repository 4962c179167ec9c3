//! The rows of this crate's diagnostics: codes E0101 to E0129 and W0101 to W0109.

use aigo_ir::diagnostic::Row;

/// The bytes are not UTF-8.
pub static NOT_UTF8: Row = Row::error("E0101", "the file is not UTF-8");
/// The file is larger than is read.
pub static FILE_TOO_LARGE: Row = Row::error("E0102", "the file is too large");
/// The YAML parser cannot go on here.
pub static SYNTAX: Row = Row::error("E0103", "this is not YAML");
/// A map has one key twice.
pub static DUPLICATE_KEY: Row = Row::error("E0104", "a key stands twice in one map");
/// A key is a boolean, a list or the like.
pub static KEY_NOT_STRING: Row = Row::error("E0105", "a key is not a string");
/// An alias names no anchor before it.
pub static UNKNOWN_ALIAS: Row = Row::error("E0106", "an alias without an anchor");
/// An alias stands inside what it refers to.
pub static ALIAS_CYCLE: Row = Row::error("E0107", "an alias refers to what it stands in");
/// A tag that is not of the core schema.
pub static UNKNOWN_TAG: Row = Row::error("E0108", "an unsupported tag");
/// A tag whose value is of another kind.
pub static TAG_MISMATCH: Row = Row::error("E0109", "a tag that does not fit its value");
/// A number that cannot be held.
pub static NUMBER_RANGE: Row = Row::error("E0110", "a number out of range");
/// Lists and maps are nested too deeply.
pub static TOO_DEEP: Row = Row::error("E0111", "nested too deeply");
/// The file holds a second document.
pub static SEVERAL_DOCUMENTS: Row = Row::error("E0112", "several documents in one file");
/// `<<` is given something other than maps.
pub static MERGE_NOT_MAP: Row = Row::error("E0113", "a merge key without a map");
/// Merge keys would copy too many entries.
pub static MERGE_TOO_LARGE: Row = Row::error("E0114", "merge keys copy too much");
/// A template that YAML reads as a map.
pub static UNQUOTED_TEMPLATE: Row = Row::error("E0115", "a template without quotes");
/// A value that aliases would blow up.
pub static VALUE_TOO_LARGE: Row = Row::error("E0116", "a value is too large");
/// More nodes than are read.
pub static TOO_MANY_NODES: Row = Row::error("E0117", "the file holds too many values");
/// So many syntax errors that the rest was not read.
pub static GAVE_UP: Row = Row::error("E0118", "too many syntax errors");
/// A comment that was probably meant to be text.
pub static COMMENT_CUTS: Row = Row::warning("W0101", "a comment cuts the value").named("comment_cuts");
/// A scalar that YAML 1.1 tools read as something else.
pub static READ_DIFFERENTLY: Row =
    Row::warning("W0102", "other tools read this value differently").named("read_differently");

/// All rows, in the order of their codes.
pub static ROWS: &[&Row] = &[
    &NOT_UTF8,
    &FILE_TOO_LARGE,
    &SYNTAX,
    &DUPLICATE_KEY,
    &KEY_NOT_STRING,
    &UNKNOWN_ALIAS,
    &ALIAS_CYCLE,
    &UNKNOWN_TAG,
    &TAG_MISMATCH,
    &NUMBER_RANGE,
    &TOO_DEEP,
    &SEVERAL_DOCUMENTS,
    &MERGE_NOT_MAP,
    &MERGE_TOO_LARGE,
    &UNQUOTED_TEMPLATE,
    &VALUE_TOO_LARGE,
    &TOO_MANY_NODES,
    &GAVE_UP,
    &COMMENT_CUTS,
    &READ_DIFFERENTLY,
];
