//! What people wrote, read exactly: bytes to a spanned YAML tree, and data files to rows. Nothing here opens a file.
//!
//! ```text
//! bytes --decode--> text --parse--> Tree + diagnostics --NodeRef--> the compiler
//!                                     |
//!                                     +-- ScalarSource::locate: a place in a template -> a place in the file
//!                                     +-- layout::formatted: the same tree as a text laid out anew
//! reader --rows--> rows --transcript::conversations--> conversations        fields --matrix--> rows
//! ```

pub mod catalog;
mod rows;
mod scalar;
pub mod transcript;
mod yaml;

pub use rows::{
    Format, MAX_ROW_BYTES, Matrix, Row, RowError, Rows, Take, csv, find_key, json, jsonl, matrix, rows, yaml,
};
pub use scalar::{ScalarSource, Style};
pub use yaml::layout;
pub use yaml::tree::{Comment, Entries, Entry, Items, Kind, NodeRef, Tree};
pub use yaml::{MAX_FILE_BYTES, Parsed, decode, parse, parse_by_events, parse_shared};
