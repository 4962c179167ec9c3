//! Where the parts of an expression stand. The parser's spans of comparisons and choices begin with the token before, those of
//! filters, tests and attributes after their operand, and parentheses belong to nobody; a diagnostic needs the exact place.

use minijinja::machinery::{self, ast};

use super::Lower;
use crate::expr::{At, Expr};

pub(crate) fn at_of(span: machinery::Span) -> At {
    At(span.start_offset, span.end_offset)
}

/// Names are far shorter than texts, and texts than 64 KiB.
pub(super) fn length(name: &str) -> u32 {
    u32::try_from(name.len()).unwrap_or(0)
}

/// Whether the parser's span of the operator begins with the token before its left side.
pub(super) const fn begins_early(op: ast::BinOpKind) -> bool {
    use ast::BinOpKind::{Eq, Gt, Gte, In, Lt, Lte, Ne};
    matches!(op, Eq | Ne | Lt | Lte | Gt | Gte | In)
}

impl Lower<'_> {
    /// The place from the beginning of the first part to the end, with the parentheses that stand half in it.
    pub(super) fn spanning(&self, at: At, first: &Expr) -> At {
        balanced(self.source, At(at.0.min(first.at.0), at.1))
    }
}

/// The place, made longer so that every parenthesis in it has its partner.
fn balanced(source: &str, at: At) -> At {
    let Some(text) = source.get(at.range()) else { return at };
    let (mut depth, mut least, mut quote, mut escaped) = (0_i32, 0_i32, None, false);
    for byte in text.bytes() {
        match (quote, byte) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(open), _) if open == byte => quote = None,
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'(') => depth += 1,
            (None, b')') => {
                depth -= 1;
                least = least.min(depth);
            }
            _ => {}
        }
    }
    let (mut start, mut end) = (at.0, at.1);
    for _ in 0..-least {
        let before = source.get(..start as usize).unwrap_or_default().trim_end();
        let Some(rest) = before.strip_suffix('(') else { break };
        start = length(rest);
    }
    for _ in 0..depth - least {
        let after = source.get(end as usize..).unwrap_or_default();
        let blanks = after.len() - after.trim_start().len();
        if !after.trim_start().starts_with(')') {
            break;
        }
        end += u32::try_from(blanks + 1).unwrap_or(1);
    }
    At(start, end)
}
