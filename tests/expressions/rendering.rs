//! Filters and tests as they are rendered: what expressions compute, templates print.

use std::sync::Arc;

use aigo_ir::engine::{Engine, SharedScope};
use aigo_ir::eval::{Scope, eval, text_of};
use aigo_ir::message::Conversation;
use aigo_ir::template::{Template, as_expression};
use aigo_ir::value::Value;

struct Fixed(Value, Conversation);

impl Scope for Fixed {
    fn get(&self, name: &str) -> Option<Value> {
        self.0.get(name).cloned()
    }
    fn conversation(&self) -> &Conversation {
        &self.1
    }
}

const ROW: &str = r#"{"plan":"Pro plan, it's","seats":3,"limit":2.5,"vip":true,"nil":null,"names":["b","a","b"],
 "scores":[3,1,2,1],"mixed":[1,2.5],"empty":[],"goal":{"id":"g","text":"T","hint":null},"größe":7,"lines":"a\nb\n\nc","flags":[true,false]}"#;

fn scope() -> SharedScope {
    Arc::new(Fixed(serde_json::from_str(ROW).unwrap(), Conversation::default()))
}

fn render(source: &str) -> Result<String, String> {
    let mut engine = Engine::new();
    let template = Template::new(source);
    engine.add(&template).map_err(|error| error.message)?;
    engine.render(&template, &scope()).map(|text| text.to_string())
}

/// Each is rendered, and computed as an expression; both give the text.
#[test]
fn filters_print_what_functions_compute() {
    for (source, expected) in [
        ("{{ plan | upper | lower | capitalize }}", "Pro plan, it's"),
        ("{{ plan | title }}", "Pro Plan, It's"),
        ("{{ lines | indent(2) }}", "a\n  b\n\n  c"),
        ("{{ plan | replace('P', 'p') | split(',') | json }}", r#"["pro plan"," it's"]"#),
        ("{{ ' a  b ' | split | json }}{{ 'ab' | split('') | join('-') }}", r#"["a","b"]a-b"#),
        ("{{ plan | words }} {{ plan | length }} {{ names | length }} {{ goal | length }}", "3 14 3 3"),
        ("{{ plan | capture('(l)(a)') }}{{ plan | capture('P..') }}{{ plan | capture('(x)|(i)') }}", "lProi"),
        ("{{ plan | capture('zz') | default('none') }}{{ nil | default('null') }}", "nonenull"),
        ("{{ plan | matches('^Pro') }}{{ plan | contains('it') }}{{ names | contains('z') }}", "truetruefalse"),
        ("{{ plan | starts_with('P') }}{{ plan | ends_with('P') }}", "truefalse"),
        ("{{ names | first }}{{ names | last }}{{ names | join }}{{ names | join('+') }}", "bbbabb+a+b"),
        ("{{ names | sort | unique | reverse | json }}{{ scores | sort | json }}", r#"["b","a"][1,1,2,3]"#),
        (
            "{{ 'abc' | reverse }}{{ 'ab' | list | json }}{{ goal | list | json }}",
            r#"cba["a","b"]["id","text","hint"]"#,
        ),
        ("{{ goal | items | json }}", r#"[["id","g"],["text","T"]]"#),
        ("{{ scores | sum }} {{ mixed | sum }} {{ scores | min }} {{ scores | max }} {{ names | max }}", "7 3.5 1 3 b"),
        ("{{ flags | any }} {{ flags | all }} {{ empty | any }} {{ empty | all }}", "true false false true"),
        ("{{ limit | round }} {{ 2.345 | round(2) }} {{ -7 | abs }} {{ seats | round }}", "3.0 2.35 7 3"),
        ("{{ range(3) | json }}{{ range(2, 4) | sum }}{{ range(5, 2) | json }}", "[0,1,2]5[]"),
        ("{{ limit | string }}{{ 1e300 }}{{ 4.0 }}{{ 1e21 * 1.0 }}", "2.51e+3004.01e+21"),
        ("{{ seats + 2 }} {{ seats / 2 }} {{ -7 // 2 }} {{ -7 % 2 }} {{ 7 % -2 }} {{ -3 }}", "5 1.5 -4 1 -1 -3"),
        ("{{ seats ~ plan ~ limit ~ (vip | string) }}", "3Pro plan, it's2.5true"),
        ("{{ plan if nil is none else 'x' }}{{ nil is defined }}{{ nil is undefined }}", "Pro plan, it'sfalsetrue"),
        ("{{ goal.hint is defined }}{{ 'hint' in goal }}{{ 'id' in goal }}", "falsefalsetrue"),
        (
            "{{ seats is odd }}{{ seats is even }}{{ plan is string }}{{ names is sequence }}{{ goal is mapping }}",
            "truefalsetruetruetrue",
        ),
        ("{{ vip is boolean }}{{ limit is number }}{{ limit is string }}", "truetruefalse"),
        ("{{ names[0] }}{{ names[-1] }}{{ goal['id'] }}{{ größe }}", "bbg7"),
        ("{{ [1, 2.0] | unique | json }}{{ [1, 1.0] | unique | length }}", "[1,2.0]1"),
        ("{{ names == ['b', 'a', 'b'] }}{{ seats == 3.0 }}{{ seats >= 2.5 and 'a' < 'b' }}", "truetruetrue"),
        ("{{ 'a' in names and not 'z' in plan }}", "true"),
    ] {
        assert_eq!(render(source).as_deref(), Ok(expected), "{source}");
        let expr = as_expression(source).unwrap().unwrap();
        let value = eval(&expr, &*scope()).unwrap_or_else(|fault| panic!("{source}: {}", fault.message));
        assert_eq!(text_of(&value).as_deref(), Ok(expected), "{source}");
    }
}

#[test]
fn statements_render_by_the_scopes_that_the_checker_knows() {
    for (source, expected) in [
        ("{% if vip %}{% set x = 1 %}{% endif %}{{ x }}", "1"),
        ("{% for n in names %}{% set x = n %}{% endfor %}{{ x is defined }}", "false"),
        ("{% set x = 0 %}{% for n in names %}{{ x }}{% set x = n %}{{ x }}{% endfor %}{{ x }}", "0b0a0b0"),
        ("{% for n in names %}{{ loop.index }}{{ loop.first }}{% endfor %}", "1true2false3false"),
        ("{% for n in names if n == 'b' %}{{ loop.length }}{{ loop.last }}{% endfor %}", "2false2true"),
        ("{% for n in empty %}x{% else %}{{ seats }}{% endfor %}", "3"),
        ("{% for k, v in goal | items %}{{ k }}={{ v }};{% endfor %}", "id=g;text=T;"),
        ("{% for n in names %}{% if n == 'a' %}{% continue %}{% endif %}{{ n }}{% endfor %}", "bb"),
        ("{% for plan in names %}{{ plan }}{% endfor %}{{ plan }}", "babPro plan, it's"),
        ("{% set x = none %}{% if x is defined %}x{% else %}-{% endif %}", "-"),
    ] {
        assert_eq!(render(source).as_deref(), Ok(expected), "{source}");
    }
}

#[test]
fn faults_are_told_and_the_fuel_covers_what_filters_do() {
    for (source, expected) in [
        ("{{ empty | first }}", "`first` of an empty list at `first`"),
        ("{{ plan | upper | sum }}", "`sum` of a string at `sum`"),
        ("{{ nil | upper }}", "a value that is not defined at `upper`"),
        ("{{ names }}", "a sequence does not print; use `join` or `json` at `names`"),
        ("{{ range(20000) | json }}", "`range` of more than 10000 numbers at `range(20000)`"),
    ] {
        assert_eq!(render(source).unwrap_err(), expected, "{source}");
    }
    let doubling = "{% set a = 'xxxxxxxxxxxxxxxx' %}".to_owned()
        + &"{% set a = a | replace('x', 'xxxxxxxx') %}".repeat(12)
        + "{{ a | length }}";
    assert!(render(&doubling).unwrap_err().contains("at most 16777216"));
    let busy = "{% for i in range(9999) %}{% set b = range(9999) | sort | json %}{% endfor %}";
    assert!(render(busy).unwrap_err().contains("did not end"));
}
