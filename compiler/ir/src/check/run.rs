//! Making a test of what was said.

use std::sync::Arc;

use super::{CheckKind, Likeness, Repeated, Test, json_schema};
use crate::eval::regex;
use crate::message::Conversation;
use crate::text::excerpt;
use crate::value::Value;
use crate::verdict::{Evidence, Verdict};

/// What a test looks at.
#[derive(Clone, Copy, Debug)]
pub struct Looked<'l> {
    /// The text.
    pub text: &'l str,
    /// The role that said it.
    pub author: &'l str,
    /// The turn in which.
    pub turn: u32,
    /// The label of its message: `6a`.
    pub label: &'l str,
    /// The whole conversation.
    pub conversation: &'l Conversation,
}

/// A check's verdict. Of a failing one `missed` says what was not so, and of a failing negation `seen` what was; the words
/// that it rests on are the evidence.
pub fn verdict(holds: bool, negated: bool, missed: &str, seen: &str, label: &str, quote: &str) -> Verdict {
    let pass = holds != negated;
    let reason = match (pass, negated) {
        (true, _) => "",
        (false, false) => missed,
        (false, true) => seen,
    };
    let mut verdict = Verdict::scored(Value::Bool(pass), pass, reason);
    if !pass && !quote.is_empty() {
        verdict.evidence.push(Evidence { turn: label.into(), quote: quote.into() });
    }
    verdict
}

impl Test {
    /// Makes the test. `rendered` are its [templates](Test::templates) filled in. What only the machine knows (a condition,
    /// a duration, a state) is not made here.
    pub fn run(&self, negated: bool, rendered: &[Arc<str>], looked: &Looked<'_>) -> Result<Verdict, String> {
        let (text, label) = (looked.text, looked.label);
        let first = rendered.first().map_or("", |text| &**text);
        let whole = excerpt(text, 120);
        let say =
            |holds: bool, missed: String, seen: String| Ok(verdict(holds, negated, &missed, &seen, label, &whole));
        match self {
            Self::Text(kind, _) => kind.run(negated, first, text, label),
            Self::OneOf(_) => {
                let holds = rendered.iter().any(|wanted| wanted.trim() == text.trim());
                let shown: Vec<String> = rendered.iter().map(|one| format!("`{}`", excerpt(one, 40))).collect();
                let list = shown.join(", ");
                say(holds, format!("is none of {list}"), format!("is one of {list}"))
            }
            Self::JsonSchema(schema) => {
                let wrong = json_schema::mismatch(schema, text);
                let holds = wrong.is_none();
                say(holds, wrong.unwrap_or_default(), "is JSON that the schema allows".to_owned())
            }
            Self::Words(between) => {
                let count = text.split_whitespace().count() as u64;
                let said = format!("has {count} word{}", if count == 1 { "" } else { "s" });
                say(between.holds(count), said.clone(), said)
            }
            Self::NoReply => say(text.trim().is_empty(), "something was said".into(), "nothing was said".into()),
            Self::NoRepetition(Repeated::Text, likeness) => {
                let earlier = repeated(looked, *likeness);
                let missed = earlier.map_or_else(String::new, |turn| format!("says again what it said in turn {turn}"));
                say(earlier.is_none(), missed, "says nothing again".to_owned())
            }
            Self::NoRepetition(Repeated::Questions, likeness) => {
                let earlier = asked_again(looked, *likeness);
                let missed =
                    earlier.map_or_else(String::new, |(turn, _)| format!("asks again what it asked in turn {turn}"));
                let quote = earlier.map_or(&*whole, |(_, question)| question);
                Ok(verdict(earlier.is_none(), negated, &missed, "asks nothing again", label, quote))
            }
            Self::Turns(between) => {
                let count = u64::from(looked.conversation.turn());
                let said = format!("the conversation has {count} turn{}", if count == 1 { "" } else { "s" });
                Ok(verdict(between.holds(count), negated, &said, &said, label, ""))
            }
            Self::Similarity(_, Likeness { measure, least }) => {
                let alike = measure.of(first, text);
                let said = format!(
                    "is alike by {} ({}) to `{}`",
                    crate::text::number(alike),
                    measure.word(),
                    excerpt(first, 80)
                );
                say(alike >= *least, said.clone(), said)
            }
            Self::Within(_) | Self::ToolCalls(..) | Self::State(_) | Self::StateAfter(_) | Self::Expr(_) => {
                Err(format!("the check `{}` cannot be made here", self.word()))
            }
        }
    }
}

/// The first earlier turn in which the role said something alike.
fn repeated(looked: &Looked<'_>, likeness: Likeness) -> Option<u32> {
    if looked.text.trim().is_empty() {
        return None;
    }
    let earlier = looked.conversation.turns_of(looked.author).into_iter().filter(|turn| *turn < looked.turn);
    let alike = |turn: &u32| {
        likeness.measure.of(&looked.conversation.said_in(*turn, looked.author), looked.text) >= likeness.least
    };
    earlier.into_iter().find(alike)
}

/// The first question that the role has asked in an earlier turn: that turn, and the question as it is asked now.
fn asked_again<'l>(looked: &Looked<'l>, likeness: Likeness) -> Option<(u32, &'l str)> {
    let turns = looked.conversation.turns_of(looked.author).into_iter().filter(|turn| *turn < looked.turn);
    let earlier: Vec<_> = turns.map(|turn| (turn, looked.conversation.said_in(turn, looked.author))).collect();
    questions(looked.text).into_iter().find_map(|question| {
        let alike = |asked: &str| likeness.measure.of(asked, question) >= likeness.least;
        let before = earlier.iter().find(|(_, said)| questions(said).into_iter().any(alike));
        before.map(|(turn, _)| (*turn, question))
    })
}

/// The sentences of a text that end in a question mark. A sentence ends at the marks of ends of sentences before a blank, at
/// those of scripts without blanks, and at a line's end.
fn questions(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in text.lines() {
        let (mut start, mut rest) = (0, line.char_indices().peekable());
        while let Some((at, c)) = rest.next() {
            let next = rest.peek().map(|(_, next)| *next);
            let wide = matches!(c, '。' | '！' | '？' | '।');
            let ends = wide || (matches!(c, '.' | '!' | '?' | '؟' | '…') && next.is_none_or(char::is_whitespace));
            if !ends {
                continue;
            }
            let end = at + c.len_utf8();
            let sentence = line.get(start..end).unwrap_or_default().trim();
            if matches!(c, '?' | '？' | '؟') && sentence.chars().any(char::is_alphanumeric) {
                found.push(sentence);
            }
            start = end;
        }
    }
    found
}

impl CheckKind {
    /// Checks a text, which stands in the message `label`. A failing negation shows the words that it found.
    fn run(self, negated: bool, wanted: &str, text: &str, label: &str) -> Result<Verdict, String> {
        let found: Option<&str> = match self {
            Self::Contains => text.find(wanted).and_then(|at| text.get(at..at + wanted.len())),
            Self::Matches => {
                let pattern = regex(wanted).map_err(|why| format!("`{wanted}` is no regular expression: {why}"))?;
                pattern.find(text).map(|found| found.as_str())
            }
            Self::Equals => (text.trim() == wanted.trim()).then_some(text),
            Self::StartsWith => text.starts_with(wanted).then(|| text.get(..wanted.len()).unwrap_or_default()),
        };
        let pass = found.is_some() != negated;
        let shown = excerpt(wanted, 80);
        let reason = match (pass, negated) {
            (true, _) => String::new(),
            (false, false) => format!("does not {} `{shown}`", self.verb()),
            (false, true) => format!("{} `{shown}`", self.word().replace('_', " ")),
        };
        let mut verdict = Verdict::scored(Value::Bool(pass), pass, reason);
        if !pass {
            // What is missing has no words to quote: the whole message is the evidence, cut.
            let quote = found.map_or_else(|| excerpt(text, 120), str::to_owned);
            verdict.evidence.push(Evidence { turn: label.into(), quote: quote.into() });
        }
        Ok(verdict)
    }

    const fn verb(self) -> &'static str {
        match self {
            Self::Contains => "contain",
            Self::Matches => "match",
            Self::Equals => "equal",
            Self::StartsWith => "start with",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Measure;
    use crate::message::MessageKind;

    #[test]
    fn questions_are_the_sentences_that_ask() {
        let text = "Sure. Which plan, Pro 2.5 or Team? Thanks!\nお名前は？はい。 ما رقم الطلب؟ Really?! ??";
        assert_eq!(questions(text), ["Which plan, Pro 2.5 or Team?", "お名前は？", "ما رقم الطلب؟"]);
        assert!(questions("See a?b=c for more").is_empty());
    }

    #[test]
    fn what_was_asked_before_is_found_inside_of_a_longer_answer() {
        let mut conversation = Conversation::default();
        for (user, answer) in
            [("Where is it?", "I can look. What is your order number?"), ("1182.", "Thanks. The lamp, right?")]
        {
            conversation.push("user".into(), MessageKind::Say, user.into());
            conversation.push("assistant".into(), MessageKind::Say, answer.into());
        }
        let test = |of| Test::NoRepetition(of, Likeness { measure: Measure::Trigrams, least: 0.9 });
        let text = "It has left. What is your **order number**? Then I can say when.";
        let looked = Looked { text, author: "assistant", turn: 3, label: "3a", conversation: &conversation };
        let verdict = test(Repeated::Questions).run(false, &[], &looked).unwrap();
        assert_eq!((verdict.pass, &*verdict.reason), (Some(false), "asks again what it asked in turn 1"));
        assert_eq!(&*verdict.evidence[0].quote, "What is your **order number**?");
        assert_eq!(test(Repeated::Text).run(false, &[], &looked).unwrap().pass, Some(true));
    }
}
