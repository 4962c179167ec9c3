//! Steps.

use aigo_ir::node::MOST_PASSES;
use aigo_ir::span::Spanned;
use aigo_source::{Kind as NodeKind, NodeRef};

use super::{Fields, Reader, misspelt};
use crate::ast::{Check, Leaf, Lines, Said, Simulate, Step, Verb};
use crate::catalog;
use crate::shape;

impl Reader<'_> {
    pub(super) fn steps(&mut self, node: NodeRef<'_>, what: &str) -> Vec<Step> {
        let mut steps = Vec::new();
        for item in self.items(node, what, "steps") {
            match self.step(item) {
                Some(step) => steps.push(step),
                None => self.lose(item),
            }
        }
        steps
    }

    /// Remembers what a step that cannot be read would have bound, so that reading it is no second mistake.
    fn lose(&mut self, node: NodeRef<'_>) {
        for entry in node.entries() {
            match entry.key.value {
                "as" => self.lost.extend(entry.value.as_str().map(str::to_owned)),
                "set" | "capture" => self.lost.extend(entry.value.entries().map(|entry| entry.key.value.to_owned())),
                _ => self.lose(entry.value),
            }
        }
        for item in node.items() {
            self.lose(item);
        }
    }

    fn step(&mut self, node: NodeRef<'_>) -> Option<Step> {
        let plain = |verb, span| Step {
            verb,
            span,
            label: None,
            when: None,
            expect: Vec::new(),
            stop_on_fail: false,
            timeout_s: None,
        };
        if let Some(word) = node.as_str() {
            return match word {
                "generate" => Some(plain(Verb::Generate { role: None, rounds: None }, node.site())),
                "stop" => Some(plain(Verb::Stop { when: None, only_loop: false }, node.site())),
                other => {
                    let known = shape::STEP.verbs();
                    let message = if known.clone().any(|verb| verb == other) {
                        format!("`{other}` needs arguments: `- {other}: …`")
                    } else {
                        format!("`{other}` is not a step")
                    };
                    let near = aigo_ir::diagnostic::nearest(other, ["generate", "stop"]);
                    let found = catalog::NO_VERB.at(node.site(), message);
                    self.report(match near {
                        Some(near) => {
                            let fix = format!("write `{near}`");
                            found.help(format!("did you mean `{near}`?")).fix(fix, node.site(), near)
                        }
                        None => found.maybe_help(aigo_ir::diagnostic::suggest(other, known.collect::<Vec<_>>())),
                    });
                    None
                }
            };
        }
        let fields = self.map(node, &shape::STEP)?;
        let label = fields.get("as").and_then(|node| self.name(node, "as"));
        let when = fields.get("when").and_then(|node| self.leaf(node, "when"));
        let timeout_s = fields.get("timeout").and_then(|node| self.duration(node, "timeout"));
        let (verb, value) = self.verb(&fields)?;
        let (mut expect, mut stop_on_fail) = self.expectations(&fields);
        let kind = self.verb_of(verb.value, value, &fields)?;
        let mut step = Step { label, when, timeout_s, ..plain(kind, verb.span) };
        let inner = (verb.value == "generate" && matches!(value.kind(), NodeKind::Map(_)))
            .then(|| Fields::new(value, &shape::GENERATE));
        if !matches!(step.verb, Verb::Judge(_)) {
            self.needless_on_fail(&[Some(&fields), inner.as_ref()]);
        }
        if let Some(inner) = inner {
            let (more, stop) = self.expectations(&inner);
            expect.extend(more);
            stop_on_fail |= stop;
            step.label = step.label.or_else(|| inner.get("as").and_then(|node| self.name(node, "as")));
        }
        self.idle_siblings(&step, verb.value, &fields);
        Some(Step { expect, stop_on_fail, ..step })
    }

    /// Keys beside a verb that has no use for them.
    fn idle_siblings(&mut self, step: &Step, verb: &str, fields: &Fields<'_>) {
        if fields.is_idle("expect", verb) {
            let message = format!("`expect` checks a reply, and `{verb}` brings none");
            let help = "put it on the `generate` whose reply it is about";
            self.report(catalog::BAD_VALUE.at(fields.key_span("expect"), message).help(help));
        }
        if fields.is_idle("timeout", verb) {
            let message = format!("`timeout` bounds an answer, and `{verb}` asks nobody");
            let help = "put it on a step that asks somebody: `generate`, `script`, `simulate_user`, `judge`";
            self.report(catalog::BAD_VALUE.at(fields.key_span("timeout"), message).help(help));
        }
        if fields.is_idle("with", verb) {
            let message = format!("`with` is what a definition takes, and `{verb}` uses none");
            self.report(catalog::BAD_VALUE.at(fields.key_span("with"), message).help("remove it"));
        }
        if matches!(step.verb, Verb::Judge(_)) && !fields.has("as") {
            let message = "a checkpoint needs `as`: gates and reports call its verdict by that name";
            self.report(catalog::MISSING_KEY.at(step.span, message).help("write `as: NAME` beside `judge`"));
        }
    }

    /// `on_fail` beside no `expect` would promise a stop that never comes.
    fn needless_on_fail(&mut self, maps: &[Option<&Fields<'_>>]) {
        let has = |key: &str| maps.iter().flatten().find(|fields| fields.get(key).is_some());
        if let (Some(fields), None) = (has("on_fail"), has("expect")) {
            let message = "`on_fail` says what follows when an expectation fails, and no `expect` stands beside it";
            let help = "add `expect` beside it, or remove it";
            self.report(catalog::BAD_VALUE.at(fields.key_span("on_fail"), message).help(help));
        }
    }

    /// `expect` and `on_fail`.
    fn expectations(&mut self, fields: &Fields<'_>) -> (Vec<Check>, bool) {
        let mut expect: Vec<Check> = Vec::new();
        if let Some(node) = fields.get("expect") {
            let items = match node.kind() {
                // One check needs no list around it.
                NodeKind::Map(_) => vec![node],
                _ => self.items(node, "expect", "checks"),
            };
            for item in items {
                let Some(check) = self.check(item) else { continue };
                for key in shape::EXPECTATION.without {
                    if let Some(entry) = item.entries().find(|entry| entry.key.value == *key) {
                        let message =
                            format!("`{key}` means nothing in an expectation: it is about the reply of its step");
                        self.report(catalog::BAD_VALUE.at(entry.key.span, message).help("remove it"));
                    }
                }
                expect.push(check);
            }
        }
        let words = [("continue", false), ("stop", true)];
        let stop = fields.get("on_fail").and_then(|node| self.one_of(node, "on_fail", &words)).unwrap_or(false);
        (expect, stop)
    }

    fn verb_of(&mut self, verb: &'static str, value: NodeRef<'_>, fields: &Fields<'_>) -> Option<Verb> {
        Some(match verb {
            "system" => Verb::System(self.said(value, verb)?),
            "user" => Verb::User(self.said(value, verb)?),
            "assistant" => Verb::Assistant(self.said(value, verb)?),
            "history" => Verb::History(self.leaf(value, verb)?),
            "generate" => self.generate(value)?,
            "simulate_user" => Verb::SimulateUser(Box::new(self.simulate(value)?)),
            "script" => Verb::Script(self.script(value, verb)?),
            "loop" => self.repeat(value)?,
            "for_each" => self.for_each(value)?,
            "if" => self.choice_of_steps(value)?,
            "stop" => {
                let fields = self.map(value, &shape::STOP)?;
                let when = fields.get("when").and_then(|node| self.leaf(node, "when"));
                if let Some(node) = fields.get("reason") {
                    self.text(node, "reason");
                }
                let only_loop = fields.get("loop").and_then(|node| self.boolean(node, "loop")).unwrap_or(false);
                Verb::Stop { when, only_loop }
            }
            "judge" => Verb::Judge(Box::new(self.judge(value)?)),
            "use" => Verb::Use(self.usage(value, fields)?),
            "capture" => Verb::Capture(self.bindings(value, verb, "patterns")),
            _ => Verb::Set(self.bindings(value, verb, "expressions")),
        })
    }

    /// A text, or several of which one is drawn.
    fn said(&mut self, value: NodeRef<'_>, verb: &str) -> Option<Said> {
        if !matches!(value.kind(), NodeKind::Map(_)) {
            return self.leaf(value, verb).map(Said::One);
        }
        if value
            .entries()
            .all(|entry| misspelt::meant(entry.key.value, &shape::SAID).is_none() && entry.key.value != "any_of")
        {
            self.wrong_kind(value, &format!("`{verb}`"), "text, or a map with `any_of`");
            return None;
        }
        let fields = self.map(value, &shape::SAID)?;
        let choices = self.required(&fields, "any_of").map(|node| self.choices(node))?;
        (!choices.is_empty()).then_some(Said::AnyOf(choices))
    }

    fn script(&mut self, value: NodeRef<'_>, verb: &str) -> Option<Lines> {
        if matches!(value.kind(), NodeKind::Scalar(_)) && !value.is_implicit() {
            return self.leaf(value, verb).map(Lines::Expression);
        }
        let lines = self.items(value, verb, "texts").into_iter().filter_map(|item| self.leaf(item, verb));
        let lines: Vec<Leaf> = lines.collect();
        self.not_empty(value, verb, lines.len(), "line");
        Some(Lines::Texts(lines))
    }

    fn choice_of_steps(&mut self, value: NodeRef<'_>) -> Option<Verb> {
        let fields = self.map(value, &shape::IF)?;
        let when = self.required(&fields, "when").and_then(|node| self.leaf(node, "when"));
        let then = self.required(&fields, "then").map(|node| self.steps(node, "then")).unwrap_or_default();
        let otherwise = fields.get("else").map(|node| self.steps(node, "else")).unwrap_or_default();
        Some(Verb::If { when: when?, then, otherwise })
    }

    fn for_each(&mut self, value: NodeRef<'_>) -> Option<Verb> {
        let fields = self.map(value, &shape::FOR_EACH)?;
        let list = self.required(&fields, "in").and_then(|node| {
            if matches!(node.kind(), NodeKind::List(_)) {
                let message = "`in` is an expression, and this is a list of YAML";
                let help = "put it in quotes, its texts too: `in: \"['one', 'two']\"`";
                self.report(catalog::WRONG_KIND.at(node.site(), message).help(help));
                return None;
            }
            self.leaf(node, "in")
        });
        let item = self.required(&fields, "as").and_then(|node| self.name(node, "as"));
        let body = self.required(&fields, "solvers");
        let steps = body.map(|node| self.steps(node, "solvers")).unwrap_or_default();
        if let Some(node) = body {
            self.not_empty(node, "solvers", steps.len(), "step");
        }
        Some(Verb::ForEach { list: list?, item: item?, steps })
    }

    /// Names, and what gives their values.
    fn bindings(&mut self, value: NodeRef<'_>, verb: &str, to: &str) -> Vec<(Spanned<String>, Leaf)> {
        if !matches!(value.kind(), NodeKind::Map(_)) {
            self.wrong_kind(value, &format!("`{verb}`"), &format!("a map of names to {to}"));
        }
        let mut bound = Vec::new();
        for entry in value.entries() {
            let name = self.name(entry.key_node, &format!("the name in `{verb}`"));
            let leaf = self.leaf(entry.value, entry.key.value);
            bound.extend(name.zip(leaf));
        }
        self.not_empty(value, verb, bound.len(), "name");
        bound
    }

    /// A step that does nothing was surely meant to do something.
    fn not_empty(&mut self, node: NodeRef<'_>, what: &str, count: usize, of: &str) {
        if count == 0
            && node.items().len() == 0
            && node.entries().len() == 0
            && !node.is_incomplete()
            && !node.is_implicit()
        {
            self.report(
                catalog::BAD_VALUE.at(node.site(), format!("`{what}` has no {of}")).help("add one, or remove the step"),
            );
        }
    }

    pub(super) fn boolean(&mut self, node: NodeRef<'_>, what: &str) -> Option<bool> {
        let found = node.value().as_ref().and_then(aigo_ir::value::Value::as_bool);
        if found.is_none() {
            match node.as_str().and_then(|text| meant_boolean(text)) {
                Some(meant) => {
                    let message = format!(
                        "`{what}` must be `true` or `false`, and `{}` is text",
                        node.as_str().unwrap_or_default()
                    );
                    let found = catalog::WRONG_KIND.at(node.site(), message);
                    let found = found.help(format!("did you mean `{meant}`?"));
                    self.report(found.fix(format!("write `{meant}`"), node.site(), meant));
                }
                None => self.wrong_kind(node, &format!("`{what}`"), "`true` or `false`"),
            }
        }
        found
    }

    fn generate(&mut self, value: NodeRef<'_>) -> Option<Verb> {
        if value.is_implicit() {
            return Some(Verb::Generate { role: None, rounds: None });
        }
        let fields = self.map(value, &shape::GENERATE)?;
        let role = fields.get("role").and_then(|node| self.name(node, "role"));
        let rounds = fields.get("max_tool_rounds").and_then(|node| {
            let found = self.count(node, "max_tool_rounds", 1..=100)?;
            Some(Spanned::new(found, node.site()))
        });
        Some(Verb::Generate { role, rounds })
    }

    fn repeat(&mut self, value: NodeRef<'_>) -> Option<Verb> {
        let fields = self.map(value, &shape::LOOP)?;
        let times = self.required(&fields, "max_turns").and_then(|node| self.count(node, "max_turns", 1..=MOST_PASSES));
        let until = fields.get("until").and_then(|node| self.leaf(node, "until"));
        let body = self.required(&fields, "solvers");
        let steps = body.map(|node| self.steps(node, "solvers")).unwrap_or_default();
        if let Some(node) = body {
            self.not_empty(node, "solvers", steps.len(), "step");
        }
        // A loop whose bound is wrong is still looked into.
        Some(Verb::Loop { times: times.unwrap_or(1), until, steps })
    }

    fn simulate(&mut self, value: NodeRef<'_>) -> Option<Simulate> {
        let fields = self.map(value, &shape::SIMULATE_USER)?;
        let goal = self.required(&fields, "goal").and_then(|node| self.leaf(node, "goal"));
        let mut text = |key: &str| -> Option<Leaf> { fields.get(key).and_then(|node| self.leaf(node, key)) };
        let (persona, knows, opening) = (text("persona"), text("knows"), text("opening"));
        let (withholds, language, stop) = (text("withholds"), text("language"), text("stop"));
        let min_turns = fields.get("min_turns").map_or(Some(1), |node| self.count(node, "min_turns", 1..=MOST_PASSES));
        let min_turns = min_turns.unwrap_or(1);
        Some(Simulate { goal: goal?, persona, knows, withholds, language, stop, opening, min_turns })
    }
}

/// What a word of YAML 1.1, or a boolean in quotes, was meant to be.
fn meant_boolean(text: &str) -> Option<&'static str> {
    let is = |words: [&str; 3]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    if is(["yes", "on", "true"]) {
        return Some("true");
    }
    is(["no", "off", "false"]).then_some("false")
}
