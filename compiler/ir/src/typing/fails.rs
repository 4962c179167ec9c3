//! What can only fail, whatever the samples are: found where the text itself says so, and nothing is computed for it.

use super::Mistake;
use super::checker::Checker;
use crate::eval::MOST_NUMBERS;
use crate::expr::{Expr, Kind, Operator};
use crate::value::Value;

impl Checker<'_, '_> {
    /// A division by a 0 that is written there.
    pub(super) fn divisor(&mut self, op: Operator, a: &Expr, b: &Expr) {
        let divides = matches!(op, Operator::Divide | Operator::FloorDivide | Operator::Remainder);
        let zero = matches!(&b.kind, Kind::Literal(value) if value.as_f64() == Some(0.0));
        if divides && zero {
            let text = self.text(a);
            let message = format!("`{text} {} 0` can only fail: nothing is divided by 0", op.sign());
            self.error(Mistake::Fails, b.at.range(), message, "divide by another number");
        }
    }

    /// An item that a list does not have that is written there.
    pub(super) fn index_in_reach(&mut self, object: &Expr, index: &Expr, at: Option<&Value>) {
        let length = match &object.kind {
            Kind::Literal(Value::List(items)) => items.len(),
            Kind::List(items) => items.len(),
            _ => return,
        };
        let Some(Value::Int(at)) = at else { return };
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        if *at >= length || *at < -length {
            let items = if length == 1 { "1 item".to_owned() } else { format!("{length} items") };
            let message = format!("there is no item {at}: the list has {items}, and they are counted from 0");
            self.error(Mistake::Fails, index.at.range(), message, "take an item that is there; `[-1]` is the last");
        }
    }

    /// A range that is longer than any list may be.
    pub(super) fn range_in_reach(&mut self, arguments: &[Expr]) {
        let number = |part: &Expr| match part.constant() {
            Some(Value::Int(n)) => Some(n),
            _ => None,
        };
        let (from, to) = match arguments {
            [to] => (Some(0), number(to)),
            [from, to] => (number(from), number(to)),
            _ => return,
        };
        let (Some(from), Some(to), Some(last)) = (from, to, arguments.last()) else { return };
        if to.saturating_sub(from) > MOST_NUMBERS {
            let message = format!("`range` of so many numbers can only fail: at most {MOST_NUMBERS} are made");
            self.error(Mistake::Fails, last.at.range(), message, "go through fewer");
        }
    }
}
