//! Types and suggestions in sentences.

use crate::diagnostic::nearest;
use crate::ty::Type;

/// A type as sentences name it, with its article: `a list of strings`.
pub fn describe(ty: &Type) -> String {
    match ty {
        Type::Any => "a value of any type".to_owned(),
        Type::Null => "none".to_owned(),
        Type::Bool => "a boolean".to_owned(),
        Type::Int => "an integer".to_owned(),
        Type::Number => "a number".to_owned(),
        Type::Str => "a string".to_owned(),
        Type::Record(_) => "a map".to_owned(),
        Type::Message => "a message".to_owned(),
        Type::Reply => "a reply".to_owned(),
        Type::Verdict => "a verdict".to_owned(),
        Type::UserTurn => "a user's turn".to_owned(),
        Type::List(item) => match many(item) {
            Some(items) => format!("a list of {items}"),
            None => "a list".to_owned(),
        },
        Type::Maybe(ty) => format!("{} or nothing", describe(ty)),
    }
}

/// Several of a type: `strings`. `None` where there is nothing to say.
fn many(ty: &Type) -> Option<String> {
    let word = match ty {
        Type::Any => return None,
        Type::Null => "nothing",
        Type::Bool => "booleans",
        Type::Int => "integers",
        Type::Number => "numbers",
        Type::Str => "strings",
        Type::Record(_) => "maps",
        Type::Message => "messages",
        Type::Reply => "replies",
        Type::Verdict => "verdicts",
        Type::UserTurn => "users' turns",
        Type::List(_) => "lists",
        Type::Maybe(ty) => return many(ty).map(|items| format!("{items} that may be missing")),
    };
    Some(word.to_owned())
}

/// The most names that a help line lists.
const MOST_LISTED: usize = 12;

/// Help for an unknown name, and the one name that was surely meant, where there is one.
pub(super) fn suggestion<'a>(
    seen: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> (Option<String>, Option<String>) {
    if let Some(near) = nearest(seen, known.clone()) {
        let other = nearest(seen, known.filter(|name| *name != near));
        let fix = other.is_none().then(|| near.to_owned());
        return (Some(format!("did you mean `{near}`?")), fix);
    }
    let listed: Vec<String> = known.clone().take(MOST_LISTED).map(|name| format!("`{name}`")).collect();
    if listed.is_empty() {
        return (None, None);
    }
    let more = known.count() - listed.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (Some(format!("known here: {}{more}", listed.join(", "))), None)
}
