//! Gates are read as they are written, and what is none has a place.

use super::*;

#[test]
fn gates_read_what_they_write() {
    for text in [
        "mean(task_completion) >= 4",
        "rate(a-b) >= 0.98",
        "min(x) > -1",
        "median(x) != 2.5",
        "rate(x) == 1",
        "rate(x >= 3) >= 0.97",
        "count(x < 3) <= 1",
        "count(x) == 0",
        "quantile(x, 0.1) >= 3",
        "pass_at(x, 4) >= 0.9",
        "pass_all(x, 2, by=goal.id) >= 0.5",
        "ci_low(x, tags='p0 and not (slow or x)') > 3",
        "mean(x, by=persona, tags='p0') >= 4",
        "turns.rate(x) >= 0.9",
        "delta(mean(x)) >= -0.1",
        "delta(rate(x), by=persona) >= 0",
        "regressed(x)",
        "not_inferior(x, margin=0.1)",
    ] {
        let written = Gate::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        assert_eq!((&*written.gate.text(), &text[written.places.scorer]), (text, &*written.gate.scorer));
    }
    let every = Gate::parse("every_scorer(mean, scale='1..5') >= 3").unwrap();
    assert_eq!(every.over, Selection::Scale("1..5".to_owned()));
}

#[test]
fn what_is_no_gate_has_a_place() {
    for (bad, place) in [
        ("", ""),
        ("mean", "mean"),
        ("helpful >= 4", "helpful >= 4"),
        ("mean(x)", ""),
        ("mean() > 1", "()"),
        ("meen(x) > 1", "meen"),
        ("mean(x) > y", "y"),
        ("mean(x) => 1", "=> 1"),
        ("mean(x) > nan", "nan"),
        ("mean(x y) > 1", "y"),
        ("mean(x > 1", "1"),
        ("mean(x", "(x"),
        ("mean(x) >= '4'", "'4'"),
        ("rate(x) >= 95%", "95%"),
        ("regressed(x) >= 1", " >= 1"),
        ("pass_at(x) >= 1", "pass_at"),
        ("pass_at(x, 1.5) >= 1", "1.5"),
        ("quantile(x, 10) >= 1", "10"),
        ("mean(x, 3) >= 1", "3"),
        ("mean(x, bye=persona) >= 1", "bye"),
        ("mean(x, by=) >= 1", ")"),
        ("mean(x, tags=p0) >= 1", "p0"),
        ("mean(x, tags='p0 slow') >= 1", "slow"),
        ("mean(x >= 3) >= 1", "3"),
        ("every_scorer(mean) >= 1", "every_scorer"),
        ("every_scorer(delta, scale='1..5') >= 1", "delta"),
        ("delta(x) >= 0", "x"),
        ("not_inferior(x)", "not_inferior"),
        ("mean(x) >= 4 and", "and"),
    ] {
        let error = Gate::parse(bad).unwrap_err();
        assert_eq!(bad.get(error.range.clone()), Some(place), "{bad}: {error:?}");
    }
    let fix = |text: &str| Gate::parse(text).unwrap_err().fix.unwrap_or_default();
    assert_eq!(
        (fix("rate(x) >= 95%"), fix("mean(x) >= '4'"), fix("meen(x) > 1")),
        ("0.95".into(), "4".into(), "mean".into())
    );
}
