//! The operands of nodes.

use crate::expr::Expr;
use crate::lines::Line;
use crate::node::{Bound, Node, Said, Unit, View};
use crate::schema::{Judged, SKIP, Schema};
use crate::value::Value;

pub(super) fn node(node: &Node, line: &mut Line) {
    match node {
        Node::Append { author, audience, said } => {
            line.pair("author", author);
            append(audience.as_deref(), said, line);
        }
        Node::Generate { role, view: shown, schema: wanted, tools, timeout_s, into } => {
            line.pair("role", role);
            view(shown, line);
            if let Some(wanted) = wanted {
                schema(wanted, line);
            }
            if *tools {
                line.word("tools");
            }
            if let Some(timeout_s) = timeout_s {
                line.pair_word("timeout_s", timeout_s);
            }
            line.pair("into", into);
        }
        Node::Branch { when } => {
            line.pair("when", &when.to_string());
        }
        Node::Loop { bound, counter } => {
            passes(bound, line);
            line.pair("counter", counter);
        }
        Node::Map { list, item, cap, give, into } => {
            line.pair("in", &list.to_string())
                .pair("item", item)
                .pair_word("cap", cap)
                .pair("give", give)
                .pair("into", into);
        }
        Node::Let { into, value } => {
            line.pair("into", into).pair("value", &value.to_string());
        }
        Node::Parse { from, schema: wanted, into } => {
            line.pair("from", from);
            schema(wanted, line);
            line.pair("into", into);
        }
        Node::Check { test, negated, text, author, turn, into } => {
            super::check::test(test, *negated, line);
            line.pair("text", &text.to_string())
                .pair("author", author)
                .pair("turn", &turn.to_string())
                .pair("into", into);
        }
        Node::Tool { call, into } => {
            line.pair("call", call).pair("into", into);
        }
        Node::Reduce { from, reducer, quorum, into } => {
            line.pair("from", from).pair_word("by", reducer.word());
            if let Some(quorum) = quorum {
                line.pair_word("quorum", quorum);
            }
            line.pair("into", into);
        }
        Node::Score { scorer, unit, from } => {
            line.pair("scorer", scorer);
            if let Unit::Turn(turn) = unit {
                line.pair("turn", &turn.to_string());
            }
            line.pair("from", from);
        }
        Node::Exit { ending } => {
            line.word(ending.word());
        }
    }
}

fn append(audience: Option<&str>, said: &Said, line: &mut Line) {
    if let Some(audience) = audience {
        line.pair("for", audience);
    }
    match said {
        Said::Template(template) => line.pair("say", &template.source),
        Said::AnyOf(choices) => {
            let pairs = choices.iter().map(|(text, weight)| {
                Value::map([("say", Value::Str(text.source.clone())), ("weight", Value::Int(i64::from(*weight)))])
            });
            line.pair_value("any_of", &Value::list(pairs.collect()))
        }
        Said::Text(expr) => line.pair("text", &expr.to_string()),
        Said::History(expr) => line.pair("history", &expr.to_string()),
        Said::Reply(slot) => line.pair("reply", slot),
    };
}

fn view(view: &View, line: &mut Line) {
    let template = |line: &mut Line, key: &str, text: &Option<crate::template::Template>| {
        if let Some(text) = text {
            line.pair(key, &text.source);
        }
    };
    match view {
        View::Chat { system, opening } => {
            line.pair_word("view", "chat");
            template(line, "system", system);
            template(line, "opening", opening);
        }
        View::Text { system, question, up_to, window, sees_system, only } => {
            line.pair_word("view", "text");
            template(line, "system", system);
            line.pair("question", &question.source);
            if let Some(turn) = up_to.as_ref().map(Expr::to_string) {
                line.pair("up_to", &turn);
            }
            if let Some(window) = window {
                line.pair_word("window", window);
            }
            if *sees_system {
                line.pair_word("sees", "system");
            }
            if let Some(only) = only {
                line.pair("only", only);
            }
        }
    }
}

fn schema(schema: &Schema, line: &mut Line) {
    match schema {
        Schema::UserTurn => line.pair_word("schema", "user_turn"),
        Schema::Verdict(scorer) => line.pair_word("schema", "verdict").pair("of", scorer),
        Schema::Judged(scale) => judged(scale, line.pair_word("schema", "judged")),
        Schema::Verdicts(of, scale) => judged(scale, line.pair_word("schema", "verdicts").pair("of", of)),
        Schema::Items(items) => {
            let fields = items.fields.iter().map(|(name, kind)| (name.clone(), Value::str(kind.word())));
            line.pair_word("schema", "items").pair_value("fields", &Value::map(fields)).pair_word("max", items.max)
        }
    };
}

fn judged<'l>(judged: &Judged, line: &'l mut Line) -> &'l mut Line {
    super::score::scale(&judged.scale, line);
    line.pair_number("pass", judged.pass).pair_word("evidence", judged.rule.word());
    if judged.skips {
        line.pair_word("skips", SKIP);
    }
    line
}

fn passes(bound: &Bound, line: &mut Line) {
    match bound {
        Bound::Times(times) => line.pair_word("times", times),
        Bound::Items { list, item, cap } => line.pair("in", &list.to_string()).pair("item", item).pair_word("cap", cap),
    };
}
