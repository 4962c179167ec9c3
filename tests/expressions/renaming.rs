//! What templates take from outside, other names for it, and templates as expressions.

use aigo_ir::expr::Expr;
use aigo_ir::template::{Template, as_expression, renamed};
use aigo_ir::typing::{check_expression, check_template};

use super::names;

#[test]
fn the_names_from_outside_come_once_in_order_and_without_what_is_bound_inside() {
    for (source, expected) in [
        ("no names", ""),
        ("{{ goal.text }} {{ plan | default(note) }} {{ plan }}", "goal plan note"),
        ("{{ a if b else c }}{{ x | f(y) }}{{ m[i].n }}", "a b c x y m i"),
        ("{% set x = y %}{{ x }}", "y"),
        ("{{ x }}{% set x = 1 %}{{ x }}", "x"),
        ("{% for x in xs if x.a == y %}{{ x }}{{ loop.index }}{% else %}{{ x }}{% endfor %}{{ z }}", "xs y x z"),
        ("{% for k, v in m | items %}{{ k }}{{ v }}{% endfor %}", "m"),
        ("{% for a in xs %}{{ t }}{% set t = a %}{{ t }}{% endfor %}{{ u }}", "xs t u"),
        ("{% if a %}{% set x = 1 %}{% else %}{{ x }}{% endif %}{{ x }}", "a x"),
        ("{% if a %}{% set x = 1 %}{% elif x %}{% endif %}{{ x }}", "a x"),
        ("{{ range(n) }}{% raw %}{{ no }}{% endraw %}", "n"),
        ("{{ größe }}", "größe"),
        ("{{ broken", ""),
    ] {
        let found = Template::new(source).names();
        assert_eq!(found.join(" "), expected, "{source}");
        assert_eq!(check_template(source, &names()).names, found, "{source}");
    }
}

#[test]
fn only_names_from_outside_are_renamed() {
    let f = |name: &str| match name {
        "plan" => Some("the_plan".to_owned()),
        "x" => Some("p.x".to_owned()),
        "loop" => Some("nothing".to_owned()),
        _ => None,
    };
    for (source, expected) in [
        ("plan", "plan"),
        ("é {{ plan }}{{ plan.plan }}{{ m.plan }}", "é {{ the_plan }}{{ the_plan.plan }}{{ m.plan }}"),
        ("{{ 'plan' ~ plan|upper }}{# plan #}", "{{ 'plan' ~ the_plan|upper }}{# plan #}"),
        (
            "{% for x in x %}{{ x }}{{ loop.index }}{% endfor %}{{ x }}",
            "{% for x in p.x %}{{ x }}{{ loop.index }}{% endfor %}{{ p.x }}",
        ),
        (
            "{% set x = x %}{{ x }}{% if plan == x %}{% endif %}",
            "{% set x = p.x %}{{ x }}{% if the_plan == x %}{% endif %}",
        ),
    ] {
        assert_eq!(renamed(source, &f).unwrap(), expected);
    }
    let caught = renamed("{% for the_plan in xs %}{{ plan }}{% endfor %}", &f).unwrap_err();
    assert_eq!(caught.range, 27..31);
    assert!(caught.help.is_some());
    assert!(renamed("{{ broken", &f).is_err());
    let expr = |text: &str| check_expression(text, &names()).expr.unwrap();
    assert_eq!(
        expr("plan ~ goal.plan if 'plan' in plan else length([plan])").renamed(&f).to_string(),
        expr("the_plan ~ goal.plan if 'plan' in the_plan else length([the_plan])").to_string()
    );
}

#[test]
fn a_template_without_statements_is_an_expression() {
    for (source, expected) in [
        ("plain", "'plain'"),
        ("plain\n", "'plain'"),
        ("", "''"),
        ("{{ names }}", "names"),
        ("{{ names | first }}\n", "first(names)"),
        ("a {{ plan }}", "'a ' ~ plan"),
        ("{{ seats }}{{ plan }} b", "seats ~ plan ~ ' b'"),
        ("a{# gone #}b {{ plan }}", "'ab ' ~ plan"),
        ("{{ a if b else c }}!", "(a if b else c) ~ '!'"),
        ("{% raw %}{{ x }}{% endraw %}", "'{{ x }}'"),
    ] {
        assert_eq!(as_expression(source).unwrap().unwrap().to_string(), expected, "{source}");
    }
    assert_eq!(as_expression("{% if vip %}x{% endif %}").unwrap(), None);
    assert_eq!(as_expression("{{ names }}").unwrap(), Some(Expr::name("names")));
    for bad in ["{{ plan | uper }}", "{{ plan", "{{ upper(plan) }}"] {
        assert!(as_expression(bad).is_err(), "{bad}");
    }
    let long = "{{ a }}-".repeat(5000);
    assert!(as_expression(&long).unwrap_err().help.is_some());
}
