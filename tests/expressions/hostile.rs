//! Texts made to exhaust the stack or the time: each is refused with a place and a help, or taken, and the stack of a small
//! thread holds it also in a debug build.

use std::sync::Arc;

use aigo_ir::engine::{Engine, SharedScope};
use aigo_ir::eval::{Scope, eval};
use aigo_ir::message::Conversation;
use aigo_ir::template::{Template, as_expression, renamed};
use aigo_ir::typing::{check_expression, check_template};
use aigo_ir::value::Value;
use aigo_ir::{expr_parse, typing};

use super::names;

/// A scope in which `vip` is true and `seats` is 1, and everything else is the text `plan`.
struct Nothing(Conversation);

impl Scope for Nothing {
    fn get(&self, name: &str) -> Option<Value> {
        Some(match name {
            "vip" => Value::Bool(true),
            "seats" => Value::Int(1),
            "names" => Value::list(vec![Value::str("a")]),
            _ => Value::str("plan"),
        })
    }
    fn conversation(&self) -> &Conversation {
        &self.0
    }
}

/// Everything that walks a template or an expression.
fn walk(source: &str) {
    let names = names();
    let checked = check_template(source, &names);
    for error in checked.errors {
        assert!(source.get(error.range.clone()).is_some(), "{error:?}");
        assert!(error.help.is_some(), "{error:?}");
    }
    let template = Template::new(source);
    template.names();
    let _ = renamed(source, &|name| Some(format!("{name}_")));
    let _ = as_expression(source).map(|expr| expr.map(|expr| expr.to_string()));
    let scope: SharedScope = Arc::new(Nothing(Conversation::default()));
    let mut engine = Engine::new();
    if engine.add(&template).is_ok() {
        let _ = engine.render(&template, &scope);
    }
    let inside = source.strip_prefix("{{ ").and_then(|rest| rest.strip_suffix(" }}")).unwrap_or(source);
    let checked = check_expression(inside, &names);
    for error in checked.errors {
        assert!(inside.get(error.range.clone()).is_some(), "{error:?}");
        assert!(error.help.is_some(), "{error:?} of {}", &inside[..40]);
    }
    if let Ok(expr) = expr_parse::parse(inside) {
        let _ = eval(&expr, &*scope);
        let renamed = expr.renamed(&|_| Some("plan".to_owned()));
        assert!(renamed.names().len() <= 1);
        let mut errors = Vec::new();
        typing::check(&renamed, &names, &mut errors);
        let again = expr_parse::parse(&expr.to_string());
        assert!(again.is_err() || again.as_ref() == Ok(&expr));
    }
}

fn on_a_small_thread(texts: Vec<String>) {
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    thread.spawn(move || texts.iter().for_each(|text| walk(text))).unwrap().join().unwrap();
}

#[test]
fn long_chains_end_in_an_error_and_not_in_the_stack() {
    let tag = |inside: String| format!("{{{{ {inside} }}}}");
    let mut texts = Vec::new();
    // Of each, one just under the bounds, which is walked whole, and one far above.
    for n in [20, 65, 130, 190, 395, 2000, 20_000] {
        texts.extend([
            tag(format!("{}1", "-".repeat(n))),
            tag(format!("{}1", "- ".repeat(n))),
            tag(format!("{}vip", "not ".repeat(n))),
            tag(format!("1{}", "+1".repeat(n))),
            tag(format!("plan{}", "~plan".repeat(n))),
            tag(format!("1{}", " < 1".repeat(n))),
            tag(format!("vip{}", " and vip".repeat(n))),
            tag(format!("vip{}", " or vip".repeat(n))),
            tag(format!("1{}", " if vip else 1".repeat(n))),
            tag(format!("plan{}", ".b".repeat(n))),
            tag(format!("names{}", "[0]".repeat(n))),
            tag(format!("plan{}", "|upper".repeat(n))),
            tag(format!("plan{}", " is defined".repeat(n))),
            tag(format!("{}1{}", "(".repeat(n), ")".repeat(n))),
            tag(format!("{}1{}", "[".repeat(n), "]".repeat(n))),
            tag(format!("{}1{}", "{'a':".repeat(n), "}".repeat(n))),
            tag(format!("{}1{}", "length(".repeat(n), ")".repeat(n))),
            // What is checked twice at every level would take for ever.
            tag(format!("{}seats{} == 1", "names[(first.fault == names[".repeat(n), "])]".repeat(n))),
            tag(format!("{}note{}", "default(default(".repeat(n), ", 1), 2)".repeat(n))),
            tag(format!("{}note{}", "(".repeat(n), " == none)".repeat(n))),
            tag(format!("{}plan{}", "plan ~ (plan if vip else ".repeat(n), ")".repeat(n))),
            tag("(".repeat(n)),
            tag("[".repeat(n)),
            "{{".repeat(n),
            "{{ x }}".repeat(n),
            "{% if vip %}".repeat(n),
            "{% for n in names %}".repeat(n),
            format!("{}{}", "{% if vip %}".repeat(n), "{% endif %}".repeat(n)),
            format!("{}{}", "{% for n in names %}".repeat(n), "{% endfor %}".repeat(n)),
            format!("{{% if vip %}}{}{{% endif %}}", "{% elif note is defined %}".repeat(n)),
            format!("{{% if vip %}}{}{{% endif %}}", "{% elif vip %}{% set a = 1 %}".repeat(n)),
            "{% set a = 1 %}".repeat(n),
            "{#".repeat(n),
            "{% raw %}".repeat(n),
            "'".repeat(n),
        ]);
    }
    on_a_small_thread(texts);
}

#[test]
fn the_bounds_are_told() {
    let error = |source: String| check_template(&source, &names()).errors.remove(0);
    let tokens = error(format!("{{{{ 1{} }}}}", "+1".repeat(300)));
    assert_eq!(tokens.message, "an expression of more than 400 tokens");
    let statements = error(format!("{{% if vip %}}{}{{% endif %}}", "{% elif vip %}".repeat(500)));
    assert_eq!(statements.message, "more than 400 statements in one template");
    let bytes = error(format!("{{{{ plan }}}}{}", "x".repeat(70_000)));
    assert_eq!(bytes.message, "70010 bytes; at most 65536 are read");
    let deep = error(format!("{{{{ {}1{} }}}}", "(".repeat(90), ")".repeat(90)));
    assert!(deep.message.contains("too deep"), "{}", deep.message);
    // Much text and many short tags are no mistake.
    let long = format!("{}{}", "{{ plan }} - ".repeat(300), "x".repeat(50_000));
    assert_eq!(check_template(&long, &names()).errors, []);
    let quoted = format!("{{{{ '{}' }}}}{{{{ \"it's }}}}\" }}}}", "}} ".repeat(200));
    assert_eq!(check_template(&quoted, &names()).errors, []);
}

const PIECES: [&str; 72] = [
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "#}",
    "{%-",
    "-%}",
    " ",
    " ",
    "\n",
    "if ",
    "elif ",
    "else",
    "endif",
    "for ",
    "endfor",
    "set ",
    " in ",
    "break",
    "continue",
    "raw",
    "endraw",
    "plan",
    "seats",
    "vip",
    "note",
    "names",
    "rows",
    "goal.hint",
    "goal",
    "last.text",
    "größe",
    "loop.index",
    "x",
    "y",
    "x",
    " is ",
    "not ",
    "defined",
    "string",
    " and ",
    " or ",
    " == ",
    " > ",
    " + ",
    " ~ ",
    "-",
    " | ",
    "upper",
    "default(1)",
    "join",
    "first",
    "items",
    "capture('a')",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "'",
    "\"a\"",
    "0",
    "1.5",
    ".",
    ",",
    " = ",
    "none",
    "true",
    "range(3)",
    "😀",
];

/// Statements that open and close, so that what is inside is read too.
fn soup(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = move |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % n as u64) as usize
    };
    let expr = |below: &mut dyn FnMut(usize) -> usize| {
        (0..=below(7)).map(|_| PIECES[23 + below(PIECES.len() - 23)]).collect::<String>()
    };
    (0..=below(5))
        .map(|_| {
            let inside = expr(&mut below);
            match below(8) {
                0 => PIECES[below(PIECES.len())].to_owned(),
                1 => format!("{{% if {inside} %}}{{{{ {} }}}}{{% else %}}x{{% endif %}}", expr(&mut below)),
                2 => format!("{{% for x in {inside} %}}{{{{ {} }}}}{{% endfor %}}", expr(&mut below)),
                3 => format!("{{% set x = {inside} %}}"),
                4 => format!("{{% if vip %}}{{% set y = {inside} %}}{{% endif %}}"),
                _ => format!("{{{{ {inside} }}}}"),
            }
        })
        .collect()
}

/// Whatever the text, the places are places in it, in order, each with help; and names and renaming agree.
#[test]
fn any_soup_of_tokens_has_its_places_and_names() {
    let names = names();
    let mut accepted = 0;
    for seed in 0..30_000 {
        let source = soup(seed);
        let checked = check_template(&source, &names);
        accepted += usize::from(checked.errors.is_empty());
        assert!(checked.errors.is_sorted_by_key(|error| error.range.start), "{source}");
        for error in &checked.errors {
            assert!(source.get(error.range.clone()).is_some() && error.help.is_some(), "{error:?} of {source}");
        }
        assert_eq!(Template::new(source.as_str()).names(), checked.names, "{source}");
        if let Ok(other) = renamed(&source, &|name| Some(format!("{name}_0"))) {
            let expected: Vec<String> = checked.names.iter().map(|name| format!("{name}_0")).collect();
            let found = Template::new(other.as_str()).names();
            assert!(found.iter().map(|name| &**name).eq(expected.iter().map(String::as_str)), "{source} -> {other}");
        }
        if checked.errors.is_empty() {
            assert_eq!(Engine::new().add(&Template::new(source.as_str())), Ok(()), "{source}");
        }
    }
    assert!(accepted > 1000, "{accepted}");
}
