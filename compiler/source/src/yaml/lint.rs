//! What is said about single scalars: numbers and tags that are refused, and YAML that people write and do not mean.

use aigo_ir::diagnostic::Diagnostic;
use aigo_ir::span::Span;
use aigo_ir::text::excerpt;

use super::events::Tag;
use super::resolve::{self, Refusal};
use super::tree::{Data, Node};
use crate::catalog;
use crate::scalar::Style;

/// Why a scalar has no value.
pub(super) fn refused(refusal: &Refusal, text: &str, span: Span, tag: Option<&Tag>) -> Diagnostic {
    let shown = excerpt(text, 40);
    match (refusal, tag) {
        (Refusal::Mismatch, Some(tag)) => {
            tag_refused(tag, Span::new(span.file, tag.start, tag.end), &format!("`{shown}`"))
        }
        (Refusal::NotFinite, _) => {
            let message =
                format!("`{shown}` is no number that can be computed with: numbers are finite, up to 1.8e308");
            catalog::NUMBER_RANGE.at(span, message).help("leave the key out, or quote the value if it is text")
        }
        _ => {
            let message = format!(
                "`{shown}` is too large for a whole number, which lies between -9223372036854775808 and 9223372036854775807"
            );
            catalog::NUMBER_RANGE
                .at(span, message)
                .help("quote it if it is an identifier, or write it with a decimal point")
        }
    }
}

/// A tag that is unknown, or that `value` does not fit.
pub(super) fn tag_refused(tag: &Tag, span: Span, value: &str) -> Diagnostic {
    let written = excerpt(&tag.written, 40);
    if tag.core.is_some() {
        return catalog::TAG_MISMATCH
            .at(span, format!("the tag `{written}` does not fit {value}"))
            .help("remove the tag");
    }
    catalog::UNKNOWN_TAG
        .at(span, format!("the tag `{written}` means nothing here"))
        .help("remove it, or quote the value if the `!` belongs to it; known are !!str, !!int, !!float, !!bool, !!null, !!seq and !!map")
}

/// `{{ x }}` without quotes, which YAML reads as a map in a map.
pub(super) fn unquoted_template(text: &str, span: Span) -> Diagnostic {
    let raw = text.get(span.start as usize..span.end as usize).unwrap_or_default();
    let message =
        format!("`{}` is read as a map by YAML: a value that starts with a template needs quotes", excerpt(raw, 40));
    let found = catalog::UNQUOTED_TEMPLATE.at(span, message).help("quote the template");
    if raw.contains(['\n', '\r']) { found } else { found.fix("quote the template", span, quoted(raw)) }
}

/// The text as a quoted scalar, in the quotes that need the least change.
pub(super) fn quoted(raw: &str) -> String {
    if raw.contains('\'') && !raw.contains(['"', '\\']) {
        return format!("\"{raw}\"");
    }
    format!("'{}'", raw.replace('\'', "''"))
}

/// A warning for a plain scalar that YAML 1.1 reads as something else.
pub(super) fn read_differently(node: &Node) -> Option<Diagnostic> {
    let Data::Scalar { value, text, .. } = &node.data else { return None };
    let other = resolve::read_by_yaml_1_1(text)?;
    let message = format!("`{text}` is {} here, and {other} for tools that read YAML 1.1", value.kind());
    let found = catalog::READ_DIFFERENTLY.at(node.span, message);
    if value.as_str().is_some() {
        return Some(found.fix("quote it", node.span, quoted(text)).help("quote it"));
    }
    Some(found.help("quote it if it is text; remove the zeros at its start if it is a number"))
}

/// A warning for a comment that directly follows a plain scalar (or an empty value) and begins without a space.
pub(super) fn comment_cuts(text: &str, node: &Node, comment: &str, span: Span) -> Option<Diagnostic> {
    let Data::Scalar { style: Style::Plain, implicit, .. } = node.data else { return None };
    let first = comment.chars().next()?;
    let between = text.get(node.span.end as usize..span.start as usize)?;
    if first.is_whitespace()
        || matches!(first, '#' | '!' | '-' | '=' | '*')
        || !between.bytes().all(|b| b == b' ' || b == b'\t')
    {
        return None;
    }
    let cut = excerpt(&format!("#{comment}"), 40);
    let message = if implicit {
        format!("the value is empty: `{cut}` is a comment")
    } else {
        format!("the value ends before `{cut}`, which is a comment")
    };
    let help = "quote the value if the `#` belongs to it; otherwise put a space after the `#`";
    Some(catalog::COMMENT_CUTS.at(span, message).related(node.span, "the value").help(help))
}
