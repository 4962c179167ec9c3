//! Checks: what they look at, and the tests that only a running lane can make.

use std::sync::Arc;

use aigo_ir::check::{self, Looked, Test};
use aigo_ir::eval::{Scope, truth};
use aigo_ir::expr::Expr;
use aigo_ir::message::{Conversation, label};
use aigo_ir::node::Port;
use aigo_ir::value::Value;
use aigo_ir::verdict::{Outcome, Verdict};

use super::{Next, Stepper};
use crate::lane::Here;

/// A check's node, taken apart.
pub(super) struct Asked<'n> {
    pub(super) test: &'n Test,
    pub(super) negated: bool,
    pub(super) text: &'n Expr,
    pub(super) author: &'n Arc<str>,
    pub(super) turn: &'n Expr,
    pub(super) into: &'n Arc<str>,
}

/// What a check's condition reads: what is in scope, and of the check what was said and when.
struct OfCheck<'l> {
    here: Here<'l>,
    text: &'l Arc<str>,
    turn: u32,
}

impl Scope for OfCheck<'_> {
    fn get(&self, name: &str) -> Option<Value> {
        match name {
            "text" => Some(Value::Str(Arc::clone(self.text))),
            "turn" => Some(Value::Int(i64::from(self.turn))),
            other => self.here.get(other),
        }
    }

    fn conversation(&self) -> &Conversation {
        self.here.conversation()
    }
}

impl Stepper<'_> {
    pub(super) fn check(&mut self, asked: &Asked<'_>) -> Result<Next, String> {
        let rendered =
            asked.test.templates().into_iter().map(|template| self.render(template)).collect::<Result<Vec<_>, _>>()?;
        let (text, turn) = (self.text(asked.text)?, self.turn(asked.turn)?);
        let label = label(turn, asked.author);
        let verdict = match asked.test {
            Test::Expr(condition) => {
                let scope = OfCheck { here: self.here(), text: &text, turn };
                let holds = truth(condition, &scope).map_err(|fault| format!("`{condition}`: {}", fault.message))?;
                let (missed, seen) = (format!("`{condition}` is false"), format!("`{condition}` is true"));
                let quote = aigo_ir::text::excerpt(&text, 120);
                check::verdict(holds, asked.negated, &missed, &seen, &label, &quote)
            }
            Test::Within(limit_ms) => match self.lane.conversation.ms_in(turn, asked.author) {
                Some(ms) => {
                    let took = format!("took {} s", aigo_ir::text::number(ms as f64 / 1000.0));
                    check::verdict(ms <= *limit_ms, asked.negated, &took, &took, "", "")
                }
                None => Verdict::without_value(Outcome::NotApplicable, "no time was recorded"),
            },
            Test::ToolCalls(calls, mode) => {
                let expected = self.expected(calls, &rendered)?;
                self.tool_calls(&expected, *mode, asked)
            }
            Test::State(paths) => self.state(paths, &rendered, asked.negated)?,
            Test::StateAfter(calls) => {
                let expected = self.expected(calls, &rendered)?;
                self.state_after(&expected, asked.negated)?
            }
            test => {
                let conversation = &self.lane.conversation;
                let looked = Looked { text: &text, author: asked.author, turn, label: &label, conversation };
                test.run(asked.negated, &rendered, &looked)?
            }
        };
        self.lane.set(self.shape, asked.into, verdict.to_value());
        Ok(Next::Follow(Port::Next))
    }
}
