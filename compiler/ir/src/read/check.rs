//! Checks.

use super::Read;
use crate::check::CheckKind;
use crate::lines::Cursor;
use crate::node::Node;
use crate::read_graph::needed_expr;
use crate::template::Template;

pub(crate) fn check(line: &mut Cursor<'_>) -> Read<Node> {
    for kind in CheckKind::ALL {
        for (negated, prefix) in [(false, ""), (true, "not_")] {
            if let Some(wanted) = line.text_of(&format!("{prefix}{}", kind.word()))? {
                let wanted = Template::new(wanted);
                let (text, turn) = (needed_expr(line, "text")?, needed_expr(line, "turn")?);
                let (author, into) = (line.needed_text("author")?.into(), line.needed_text("into")?.into());
                return Ok(Node::Check { kind, negated, wanted, text, author, turn, into });
            }
        }
    }
    line.fail("a check needs one of `contains=`, `matches=`, `equals=`, `starts_with=`, or its `not_` form")
}
