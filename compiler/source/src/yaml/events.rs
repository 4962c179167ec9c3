//! The YAML parser behind a small door: its events with byte ranges, its errors in our words. No other file knows the
//! crate that parses, so that it can be replaced.

use std::borrow::Cow;

use granit_parser::{ErrorKind, Event as Raw, Parser, ScalarStyle, StrInput, StructureStyle, Tag as RawTag};

use crate::scalar::Style;
use crate::yaml::tree::MAX_DEPTH;

/// How many comments may stand before a value.
const MAX_COMMENTS: usize = 100_000;

/// What the parser saw.
pub(super) enum Event<'t> {
    Scalar {
        text: Cow<'t, str>,
        style: Style,
        tag: Option<Tag>,
    },
    ListStart {
        flow: bool,
        tag: Option<Tag>,
    },
    MapStart {
        flow: bool,
        tag: Option<Tag>,
    },
    /// Of a list or a map.
    End,
    Alias(usize),
    UnknownAlias(Cow<'t, str>),
    /// Names the node that came just before.
    Anchor(usize, Cow<'t, str>),
    Comment(Cow<'t, str>),
    DocumentStart,
}

/// A tag: the core schema's name for it, if it has one, and as it was written.
pub(super) struct Tag {
    pub(super) core: Option<Core>,
    pub(super) written: String,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The tags that are honoured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Core {
    Str,
    Int,
    Float,
    Bool,
    Null,
    Seq,
    Map,
    /// `!`: as the node stands, and a scalar is a string.
    Plain,
}

/// An event and the bytes it covers.
pub(super) struct Placed<'t> {
    pub(super) event: Event<'t>,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// What kind of error it is, where more can be said than the parser says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    TooDeep,
    /// As a rule, quotes around the value are what is missing.
    Unquoted,
    /// A `:` where none can be.
    Colon,
    /// Something else than a key where a key belongs.
    KeyExpected,
    /// Something else than a list item where one belongs.
    ItemExpected,
    Tab,
    Escape,
    /// More comments than are held back.
    Comments,
    Other,
}

/// Why the parser could not go on.
pub(super) struct Stop {
    pub(super) at: usize,
    pub(super) cause: Cause,
    pub(super) message: String,
    pub(super) help: Option<&'static str>,
}

/// The events of one text, until its end or the first error.
pub(super) struct Events<'t> {
    parser: Parser<'t, StrInput<'t>>,
    length: usize,
}

impl<'t> Events<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        // The default for comments, 96, makes a long comment before the first item of a list an error. Each that is held
        // back costs some 500 bytes.
        let options = granit_parser::options! {
            emit_anchor_events: true,
            emit_unresolved_aliases: true,
            max_buffered_comment_events: MAX_COMMENTS,
            flow_nesting_limit: MAX_DEPTH,
            block_nesting_limit: MAX_DEPTH,
        };
        Self { parser: Parser::new_from_str_with_options(text, options), length: text.len() }
    }

    /// The next event that matters; `None` at the end of the text.
    pub(super) fn next(&mut self) -> Result<Option<Placed<'t>>, Stop> {
        loop {
            let (raw, span) = match self.parser.next_event() {
                None => return Ok(None),
                Some(Ok(next)) => next,
                Some(Err(error)) => {
                    let at = error.marker().byte_offset().unwrap_or(self.length).min(self.length);
                    let (message, help) = words(error.kind());
                    return Err(Stop { at, cause: cause(error.kind()), message, help });
                }
            };
            let range = span.byte_range().unwrap_or(self.length..self.length);
            let (start, end) = (range.start.min(self.length), range.end.min(self.length));
            let tag = |raw: Option<Cow<'t, RawTag>>| raw.map(|tag| read_tag(&tag, &span, start));
            let event = match raw {
                Raw::Scalar(text, style, _, raw) => Event::Scalar { text, style: read_style(style), tag: tag(raw) },
                Raw::SequenceStart(style, _, raw) => {
                    Event::ListStart { flow: style == StructureStyle::Flow, tag: tag(raw) }
                }
                Raw::MappingStart(style, _, raw) => {
                    Event::MapStart { flow: style == StructureStyle::Flow, tag: tag(raw) }
                }
                Raw::SequenceEnd | Raw::MappingEnd => Event::End,
                Raw::Alias(id) => Event::Alias(id),
                Raw::UnresolvedAlias(name) => Event::UnknownAlias(name),
                Raw::Anchor(id, name) => Event::Anchor(id, name),
                Raw::Comment(text, _) => Event::Comment(text),
                Raw::DocumentStart(..) => Event::DocumentStart,
                _ => continue,
            };
            return Ok(Some(Placed { event, start, end: end.max(start) }));
        }
    }
}

fn read_style(style: ScalarStyle) -> Style {
    match style {
        ScalarStyle::Plain => Style::Plain,
        ScalarStyle::SingleQuoted => Style::Single,
        ScalarStyle::DoubleQuoted => Style::Double,
        ScalarStyle::Literal => Style::Literal,
        ScalarStyle::Folded => Style::Folded,
    }
}

fn read_tag(tag: &RawTag, span: &granit_parser::Span, node_start: usize) -> Tag {
    let core = match tag.core_suffix() {
        Some("str") => Some(Core::Str),
        Some("int") => Some(Core::Int),
        Some("float") => Some(Core::Float),
        Some("bool") => Some(Core::Bool),
        Some("null") => Some(Core::Null),
        Some("seq") => Some(Core::Seq),
        Some("map") => Some(Core::Map),
        _ if format!("{}{}", tag.handle(), tag.suffix()) == "!" => Some(Core::Plain),
        _ => None,
    };
    let range = span.tag_span().and_then(|span| span.byte_range()).unwrap_or(node_start..node_start);
    Tag { core, written: tag.original(), start: range.start, end: range.end }
}

fn cause(kind: &ErrorKind) -> Cause {
    use ErrorKind as K;
    match kind {
        K::RecursionLimitExceeded => Cause::TooDeep,
        K::UnexpectedCharacter { character: '@' | '`' | '%' }
        | K::InvalidTrailingSingleQuotedScalar
        | K::InvalidTrailingDoubleQuotedScalar => Cause::Unquoted,
        K::MappingValueNotAllowed => Cause::Colon,
        K::ExpectedBlockMappingKey => Cause::KeyExpected,
        K::ExpectedBlockSequenceEntry => Cause::ItemExpected,
        K::TabNotAllowed | K::TabInBlockIndentation | K::TabInIndentation | K::TabInPlainScalar => Cause::Tab,
        K::UnknownQuotedScalarEscape | K::InvalidQuotedScalarHexEscape => Cause::Escape,
        K::TooManyComments => Cause::Comments,
        _ => Cause::Other,
    }
}

type Words = (String, Option<&'static str>);

/// What went wrong, said for people who do not know the grammar of YAML, and what to do.
fn words(kind: &ErrorKind) -> Words {
    use ErrorKind as K;
    match kind {
        K::UnclosedFlowCollection { open } => {
            (format!("this `{open}` is never closed"), Some("close it, or quote the text if it is no list or map"))
        }
        K::MismatchedFlowCollectionEnd { open, close } => {
            (format!("`{open}` is closed by `{close}`"), Some("brackets must match: `[ ]` for a list, `{ }` for a map"))
        }
        K::UnexpectedCharacter { character } => unexpected(*character),
        _ => {
            let (message, help) = fixed_words(kind);
            if message.is_empty() {
                (format!("this cannot be read as YAML: {kind}"), None)
            } else {
                (message.into(), help)
            }
        }
    }
}

fn unexpected(character: char) -> Words {
    match character {
        '@' | '`' | '%' => (
            format!("a value cannot start with `{character}` unless it is quoted"),
            Some("put the value in single quotes"),
        ),
        c if c.is_control() || aigo_ir::text::is_dangerous(c) => (
            format!("the character U+{:04X} is not allowed in YAML", c as u32),
            Some("remove it, or write it as an escape in double quotes, such as \"\\u0007\""),
        ),
        c => (format!("`{c}` was not expected here"), Some("quote the value if the character belongs to it")),
    }
}

fn fixed_words(kind: &ErrorKind) -> (&'static str, Option<&'static str>) {
    use ErrorKind as K;
    let quote = Some("if the text belongs to one value, put the whole value in single quotes");
    let spaces = Some("indent with spaces");
    let indent = Some("give entries of one map or list the same indentation, and their contents a deeper one");
    match kind {
        K::UnexpectedEofFlowSequence | K::UnexpectedEofFlowMapping | K::UnexpectedEofImplicitFlowMapping => {
            ("the file ends inside `[` or `{`", Some("close the bracket"))
        }
        K::UnexpectedEof | K::UnexpectedEofBlockSequence | K::UnexpectedEofBlockMapping => {
            ("the file ends where a value was expected", None)
        }
        K::MappingValueNotAllowed | K::InvalidColonPlacement => {
            ("a `: ` is not allowed here: a key, or a value that started before, is in the way", quote)
        }
        K::MappingKeyNotAllowed => ("a key is not allowed here", indent),
        K::ExpectedBlockMappingKey => ("a key of the map was expected here", indent),
        K::SimpleKeyExpected | K::InvalidSimpleKey => (
            "this line has no `:` after its key",
            Some("write `key: value`, or indent the line if it continues the value above"),
        ),
        K::ExpectedBlockSequenceEntry => {
            ("the next entry of the list was expected here, its `-` under the one before", indent)
        }
        K::ExpectedNodeContent => ("a value was expected here", None),
        K::BlockSequenceEntryNotAllowed => {
            ("a list item, `- `, is not allowed here", Some("begin the list on its own line, or quote the text"))
        }
        K::BlockEntryInFlowCollection => {
            ("`- ` is not allowed inside brackets", Some("separate the items by commas, without `-`"))
        }
        K::InvalidBlockEntryWhitespace => ("`-` must be followed by a space", None),
        K::InvalidMappingValueWhitespace => ("`:` must be followed by a space", None),
        K::ExpectedFlowMappingSeparator => {
            ("`,` or `}` was expected here", Some("close the map, or quote the value before"))
        }
        K::ExpectedFlowSequenceSeparator => {
            ("`,` or `]` was expected here", Some("close the list, or quote the item before"))
        }
        K::FlowMappingValueAdjacentCollection => ("`:` needs a space after it here", None),
        K::MisplacedFlowCollectionEnd => ("this bracket closes nothing", Some("remove it, or quote the text")),
        K::InvalidFlowScalarIndent => ("this line must be indented deeper than the bracket's line", indent),
        K::InvalidIndentation | K::InvalidQuotedScalarIndent | K::InvalidBlockScalarIndent => {
            ("this line is indented less than its text needs", indent)
        }
        K::TabNotAllowed
        | K::TabInBlockIndentation
        | K::TabInIndentation
        | K::TabAtBlockScalarStart
        | K::TabInPlainScalar => ("a tab cannot be used for indentation", spaces),
        K::UnclosedQuotedScalar => ("this quote is never closed", Some("close it on the line where the text ends")),
        K::InvalidTrailingSingleQuotedScalar | K::InvalidTrailingDoubleQuotedScalar => {
            ("text follows the closing quote", quote)
        }
        _ => rare_words(kind),
    }
}

fn rare_words(kind: &ErrorKind) -> (&'static str, Option<&'static str>) {
    use ErrorKind as K;
    let escape = Some("in double quotes, write a backslash as `\\\\`; in single quotes, a backslash is a backslash");
    match kind {
        K::UnknownQuotedScalarEscape => ("a backslash in this text begins no escape that YAML knows", escape),
        K::InvalidQuotedScalarHexEscape => ("an escape in this text lacks its hexadecimal digits", escape),
        K::InvalidLowSurrogateHexEscape
        | K::InvalidLowSurrogate
        | K::MissingLowSurrogate
        | K::UnpairedLowSurrogate
        | K::InvalidUnicodeEscape => ("an escape in this text is half of a character, or none", escape),
        K::DocumentIndicatorInQuotedScalar => {
            ("a quote is still open at a `---` or `...` line", Some("close the quote before"))
        }
        K::CommentInterceptedScalar => {
            ("a comment interrupts a value of several lines", Some("move the comment, or quote the value"))
        }
        K::CommentNotSeparated => {
            ("a comment needs a space before its `#`", Some("quote the value if the `#` belongs to it"))
        }
        K::InvalidBlockScalarHeader => {
            ("text follows `|` or `>` on its line", Some("begin the text on the next line, or quote it"))
        }
        K::ZeroBlockScalarIndent => ("the indentation after `|` or `>` cannot be 0", None),
        K::PlainScalarStartsWithDashFlowIndicator => {
            ("a value cannot start with `-` and a bracket or comma", Some("quote it"))
        }
        K::BomInsideDocument => (
            "a byte order mark stands inside the text",
            Some("remove it: it is invisible, and belongs at the start of a file if anywhere"),
        ),
        K::RecursionLimitExceeded => ("lists and maps are nested more than 64 deep here", Some("flatten the value")),
        K::TooManyComments => ("more than 100,000 lines of comments in a row", Some("remove some")),
        K::UndeclaredTagHandle => {
            ("this tag's prefix is not declared", Some("remove the tag, or quote the value if the `!` belongs to it"))
        }
        K::MissingAnchorOrAliasName => {
            ("`&` or `*` is not followed by a name", Some("quote the value if the character belongs to it"))
        }
        K::MissingDocumentEndBeforeDirective
        | K::DuplicateVersionDirective
        | K::UnsupportedYamlMajorVersion
        | K::DuplicateTagDirective => ("this directive is not allowed here", Some("remove lines that start with `%`")),
        K::ExpectedDocumentStart | K::InvalidDocumentEnd => {
            ("the document has ended, but text follows", Some("indent it, or give it a key"))
        }
        _ => ("", None),
    }
}
