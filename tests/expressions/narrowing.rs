//! What a question allows where it is asked, and what templates set: everything here is accepted.

use aigo_ir::expr_parse;
use aigo_ir::typing::{check_expression, check_template};

use super::names;

#[test]
fn templates_that_ask_first_are_accepted() {
    for accepted in [
        "{% if note is defined %}{{ note }}{% endif %}",
        "{% if note is not undefined and note == 'x' %}{{ note | upper }}{% endif %}",
        "{% if note is not defined %}-{% else %}{{ note }}{% endif %}",
        "{% if note is none %}-{% elif note == 'x' %}{{ note }}{% endif %}",
        "{% if note is not defined or note == '' %}-{% else %}{{ note }}{% endif %}",
        "{% if not (note is defined and vip) %}-{% else %}{{ note }}{% endif %}",
        "{{ note if note is defined else 'calm' }}",
        "{{ 'calm' if note is not defined else note }}",
        "{{ note | default('calm') | upper }}",
        "{{ goal.hint | default(goal.text) }}",
        "{% if goal.hint is defined %}{{ goal.hint }}{% endif %}",
        "{% if shape.inner is defined and shape.inner.deep is defined %}{{ shape.inner.deep }}{% endif %}",
        "{% for n in names if note is defined %}{{ n }}{{ note }}{% endfor %}",
        "{% for e in extras | default([]) %}{{ e }}{% endfor %}",
        "{% if count is defined and count > 3 %}{{ count + 1 }}{% endif %}",
        "{% for n in names %}{% if note is not defined %}{% continue %}{% endif %}{{ note }}{% endfor %}",
        "{% set found = plan | capture('\\d+') %}{% if found is defined %}{{ found }}{% endif %}",
        "{{ plan | capture('\\d+') | default('none') }}",
    ] {
        let checked = check_template(accepted, &names());
        assert_eq!(checked.errors, [], "{accepted}");
    }
}

#[test]
fn what_a_template_sets_and_goes_through_has_a_scope_and_a_type() {
    for accepted in [
        "{% set mood = 'calm' %}{{ mood | upper }}",
        "{% if vip %}{% set mood = 'calm' %}{% else %}{% set mood = 'wild' %}{% endif %}{{ mood }}",
        "{% if vip %}{% set mood = 'calm' %}{% endif %}{% if mood is defined %}{{ mood }}{% endif %}",
        "{% set mood = '' %}{% for n in names %}{% if vip %}{% set mood = n %}{% endif %}{{ mood }}{% endfor %}",
        "{% for n in names %}{{ loop.index + 1 }}{% if not loop.last %}, {% endif %}{% else %}none{% endfor %}",
        "{% for a in names %}{% for b in names if loop.first %}{{ loop.length }}{% endfor %}{% endfor %}",
        "{% for plan in names %}{{ plan }}{% endfor %}{{ plan | upper }}",
        "{% for k, v in prices | items %}{{ k }}: {{ v + 1 }}{% endfor %}",
        "{% for k, v in goal | items %}{{ k ~ v }}{% endfor %}",
        "{% for i in range(3) %}{{ i + 1 }}{% endfor %}{{ range(1, seats) | sum }}",
        "{% for m in messages %}{{ m.author }}: {{ m.text }} ({{ m.turn + 1 }}){% endfor %}",
        "{% for r in rows %}{{ r.n + 1 }}{{ r['word'] }}{% endfor %}",
        "{% for c in first.calls %}{{ c.tool }}({{ c.arguments }}){% endfor %}{{ first.calls | length }}",
        "{% for e in verdict.evidence %}{{ e.turn }}: {{ e.quote }}{% endfor %}",
        "{% if loose is string %}{{ loose | upper }}{% elif loose is number %}{{ loose + 1 }}{% endif %}",
        "{{ größe + 1 }} {{ {'straße': größe} | json }}",
        "{% raw %}{{ nothing }}{% endraw %}{# {{ nothing }} #}",
        "{% set a = 1 %}{% set a = 'x' %}{{ a | upper }}",
        "{{ names | sort | unique | reverse | first | title }}{{ plan | words }}",
        "{{ scores | max - scores | min }}{{ limit | round(2) }}{{ flags | any or flags | all }}",
        "{%- if vip -%} {{- plan -}} {%- endif -%}",
    ] {
        let checked = check_template(accepted, &names());
        assert_eq!(checked.errors, [], "{accepted}");
    }
}

#[test]
fn expressions_that_ask_first_are_accepted_and_have_a_type() {
    for (accepted, ty) in [
        ("note is defined and note == 'x'", "boolean"),
        ("note is not defined or note == 'x'", "boolean"),
        ("upper(note) if note is defined else plan", "string"),
        ("plan if note is undefined else note", "string"),
        ("default(shape.inner.deep, 'none')", "string"),
        ("shape.inner.deep is defined and shape.inner.deep == 'x'", "boolean"),
        ("default(count, 0) + 1", "integer"),
        ("capture(plan, '(a)')", "string?"),
        ("capture(plan, '(a)') == 'a'", "boolean"),
        ("first.fault == 'empty'", "boolean"),
        ("loose is number and loose > 3", "boolean"),
        ("split(plan, ',')", "list<string>"),
        ("words(plan) > 3 and any(flags) and not all(flags)", "boolean"),
        ("unique(scores)", "list<integer>"),
        ("replace(plan, 'a', 'b') ~ größe", "string"),
        ("first.calls[0].tool", "string"),
        ("note is none", "boolean"),
    ] {
        let checked = check_expression(accepted, &names());
        assert_eq!(checked.errors, [], "{accepted}");
        assert_eq!(checked.ty.to_string(), ty, "{accepted}");
        let expr = checked.expr.unwrap();
        assert_eq!(expr_parse::parse(&expr.to_string()).unwrap(), expr, "{expr}");
    }
}
