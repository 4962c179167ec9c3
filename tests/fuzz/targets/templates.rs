//! Any text as a template and as an expression: mistakes have their places in it and a help line, names and renamings agree,
//! what is accepted renders or says why not. Nothing may panic, hang or exhaust the stack.
#![no_main]

use std::sync::Arc;

use aigo_ir::engine::{Engine, SharedScope};
use aigo_ir::eval::{Scope, eval};
use aigo_ir::message::Conversation;
use aigo_ir::template::{Template, as_expression, renamed};
use aigo_ir::ty::Type;
use aigo_ir::typing::{Names, TypeError, check_condition_text, check_expression, check_template};
use aigo_ir::value::Value;
use libfuzzer_sys::fuzz_target;

const ROW: &str = r#"{"plan":"Pro","n":3,"x":2.5,"vip":true,"names":["a","b"],"goal":{"text":"T","hint":null},"rows":[{"n":1}]}"#;

struct Fixed(Value, Conversation);

impl Scope for Fixed {
    fn get(&self, name: &str) -> Option<Value> {
        self.0.get(name).cloned()
    }
    fn conversation(&self) -> &Conversation {
        &self.1
    }
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut names = Names::always();
    for (name, ty) in [
        ("plan", "string"),
        ("n", "integer"),
        ("x", "number"),
        ("vip", "boolean"),
        ("names", "list<string>"),
        ("goal", "{\"text\": string, \"hint\": string?}"),
        ("rows", "list<{\"n\": integer}>"),
        ("note", "string?"),
    ] {
        names.insert(name, Type::parse(ty).unwrap());
    }
    let scope: SharedScope = Arc::new(Fixed(serde_json::from_str(ROW).unwrap(), Conversation::default()));
    template(text, &names, &scope);
    expression(text, &names, &scope);
});

fn placed(text: &str, errors: &[TypeError]) {
    assert!(errors.is_sorted_by_key(|error| error.range.start), "{errors:?}");
    for error in errors {
        assert!(text.get(error.range.clone()).is_some(), "{error:?}");
        assert!(!error.message.is_empty() && error.help.is_some(), "{error:?}");
    }
}

fn template(text: &str, names: &Names, scope: &SharedScope) {
    let checked = check_template(text, names);
    placed(text, &checked.errors);
    let template = Template::new(text);
    assert_eq!(template.names(), checked.names);
    if let Ok(same) = renamed(text, &|_| None) {
        assert_eq!(same, text);
    }
    if let Ok(other) = renamed(text, &|name| Some(format!("{name}_0"))) {
        let expected: Vec<String> = checked.names.iter().map(|name| format!("{name}_0")).collect();
        assert!(Template::new(other.as_str()).names().iter().map(|name| &**name).eq(expected.iter().map(String::as_str)), "{other}");
    }
    if let Ok(Some(expr)) = as_expression(text) {
        let _ = eval(&expr, &**scope);
    }
    let mut engine = Engine::new();
    if checked.errors.is_empty() {
        assert!(engine.add(&template).is_ok());
    }
    if engine.add(&template).is_ok()
        && let Err(why) = engine.render(&template, scope)
    {
        assert!(!why.is_empty());
    }
}

fn expression(text: &str, names: &Names, scope: &SharedScope) {
    placed(text, &check_condition_text(text, names).errors);
    let checked = check_expression(text, names);
    placed(text, &checked.errors);
    let Some(expr) = checked.expr else { return };
    if let Ok(value) = eval(&expr, &**scope) {
        assert!(!checked.errors.is_empty() || Type::of(&value).fits(&checked.ty), "`{text}` is {value}, not {}", checked.ty);
    }
    assert_eq!(expr.renamed(&|_| None), expr);
}
