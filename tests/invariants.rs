//! Each invariant of programs: a small text that breaks it and nothing else, and the same text mended.

use std::collections::BTreeSet;

use aigo_ir::expr::Expr;
use aigo_ir::graph::GraphBuilder;
use aigo_ir::node::{Bound, Ending, Jump, Node, Port};
use aigo_ir::program::Program;
use aigo_ir::read::read;
use aigo_ir::span::Origin;
use aigo_ir::ty::Type;
use aigo_ir::verify::verify;

use crate::harness::root;

/// A program with these lines as its solve graph, and these declarations after it.
fn program(solve: &str, rest: &str) -> Program {
    let text = format!(
        "aigo-ir 1\nprogram \"p\" {{\n seed 0\n epochs 1\n field \"plan\" type=\"string\"\n}}\n\
         role \"assistant\" scripted {{\n rule say=\"On {{{{ plan }}}}.\"\n}}\n\
         solve \"main\" {{\n{solve}\n}}\n{rest}\n"
    );
    read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

const ENDS: &str = "n0 \"end\" exit completed";

/// The broken program violates this invariant and no other, the mended one none.
fn holds(invariant: &str, broken: &Program, mended: &Program) {
    let found: BTreeSet<&str> = verify(broken).iter().map(|one| one.invariant).collect();
    assert_eq!(found, BTreeSet::from([invariant]), "{:?}", verify(broken));
    assert_eq!(verify(mended), []);
}

/// The same, of two texts of a solve graph that differ in one place.
fn in_solve(invariant: &str, text: &str, broken: &str, mended: &str) {
    assert_eq!(text.matches("HERE").count(), 1);
    let with = |here: &str| program(&text.replace("HERE", here), "");
    holds(invariant, &with(broken), &with(mended));
}

/// The same, of two texts behind the solve graph.
fn behind(invariant: &str, text: &str, broken: &str, mended: &str) {
    assert_eq!(text.matches("HERE").count(), 1);
    let with = |here: &str| program(ENDS, &text.replace("HERE", here));
    holds(invariant, &with(broken), &with(mended));
}

#[test]
fn unique_names() {
    behind("unique_names", "role \"HERE\" scripted {\n rule say=\"a\"\n}", "assistant", "user");
    in_solve("unique_names", "slot \"HERE\" type=\"integer\"\nn0 \"a\" exit completed", "plan", "plans");
    in_solve("unique_names", "slot \"HERE\" type=\"integer\"\nn0 \"a\" exit completed", "turn", "turns");
}

#[test]
fn names_resolve() {
    let ask = "slot \"r\" type=\"reply\"\n\
               n0 \"ask\" generate role=\"HERE\" view=chat opening=\"Hi.\" into=\"r\" ok=n1 bad=n1\nn1 \"end\" exit completed";
    in_solve("names_resolve", ask, "nobody", "assistant");
    behind("names_resolve", "tool \"t\" role=\"HERE\"", "nobody", "assistant");
    let gated =
        "score \"HERE\" scale=boolean pass=@1 evidence=none\ngate \"mean(expectations) >= 1\" min_n=1 max_missing=@0";
    let broken = program(ENDS, "gate \"mean(expectations) >= 1\" min_n=1 max_missing=@0");
    holds("names_resolve", &broken, &program(ENDS, &gated.replace("HERE", "expectations")));
    behind("names_resolve", "role \"r\" scripted {\nHERE\n}", "", " rule say=\"a\"");
}

#[test]
fn one_entry() {
    in_solve("one_entry", "HERE", "", ENDS);
}

#[test]
fn ports() {
    let fork = "n0 \"fork\" branch when=\"turn > 0\" yes=n1 HERE\nn1 \"end\" exit completed";
    in_solve("ports", fork, "", "no=n1");
}

#[test]
fn regions() {
    let into_a_loop = "slot \"i\" type=\"integer\"\nslot \"x\" type=\"integer\"\n\
         n0 \"fork\" branch when=\"turn > 0\" yes=HERE no=n1\n\
         n1 \"loop\" loop times=2 counter=\"i\" done=n3 {\n n2 \"inner\" let into=\"x\" value=\"1\" next=again\n}\n\
         n3 \"end\" exit completed";
    in_solve("regions", into_a_loop, "n2", "n1");
    let out_of_a_loop = "slot \"i\" type=\"integer\"\nslot \"x\" type=\"integer\"\n\
         n0 \"loop\" loop times=2 counter=\"i\" done=n2 {\n n1 \"inner\" let into=\"x\" value=\"1\" next=HERE\n}\n\
         n2 \"end\" exit completed";
    in_solve("regions", out_of_a_loop, "n2", "break");
    let out_of_a_map = "slot \"i\" type=\"integer\"\nslot \"x\" type=\"integer\"\nslot \"xs\" type=\"list<integer>\"\n\
         n0 \"map\" map in=\"[1, 2]\" item=\"i\" cap=2 give=\"x\" into=\"xs\" done=n2 {\n\
          n1 \"inner\" let into=\"x\" value=\"1\" next=HERE\n}\nn2 \"end\" exit completed";
    in_solve("regions", out_of_a_map, "break", "again");
}

/// The text form cannot say this: `again` has no target. So the graph is made by hand.
#[test]
fn again_to_own_header() {
    let graph = |to_outer: bool| {
        let mut builder = GraphBuilder::default();
        let counter = |builder: &mut GraphBuilder, name: &str| builder.slot(name, Type::Int);
        let (i, j) = (counter(&mut builder, "i"), counter(&mut builder, "j"));
        let at = Origin::default();
        let header = |counter| Node::Loop { bound: Bound::Times(2), counter };
        let outer = builder.add(header(i), "outer", None, at);
        let inner = builder.add(header(j.clone()), "inner", Some(outer), at);
        let bind = builder.add(Node::Let { into: j, value: Expr::literal(1) }, "bind", Some(inner), at);
        let end = builder.add(Node::Exit { ending: Ending::Completed }, "end", None, at);
        builder.connect(outer, Port::Body, Jump::On, inner);
        builder.connect(outer, Port::Done, Jump::On, end);
        builder.connect(inner, Port::Body, Jump::On, bind);
        builder.connect(inner, Port::Done, Jump::Again, outer);
        builder.connect(bind, Port::Next, Jump::Again, if to_outer { outer } else { inner });
        builder.finish("main")
    };
    let with = |to_outer| Program { solves: vec![graph(to_outer)], ..program(ENDS, "") };
    holds("again_to_own_header", &with(true), &with(false));
}

#[test]
fn acyclic() {
    let text = "slot \"x\" type=\"integer\"\nn0 \"fork\" branch when=\"turn > 0\" yes=n1 no=n2\n\
                n1 \"back\" let into=\"x\" value=\"1\" next=HERE\nn2 \"end\" exit completed";
    in_solve("acyclic", text, "n0", "n2");
}

#[test]
fn reachable() {
    let text = "n0 \"fork\" branch when=\"turn > 0\" yes=n1 no=HERE\nn1 \"end\" exit completed\nn2 \"other\" exit done";
    in_solve("reachable", text, "n1", "n2");
}

#[test]
fn bounds() {
    let text = "slot \"i\" type=\"integer\"\nslot \"x\" type=\"integer\"\nn0 \"loop\" loop times=HERE counter=\"i\" done=n2 {\n\
                 n1 \"inner\" let into=\"x\" value=\"1\" next=again\n}\nn2 \"end\" exit completed";
    in_solve("bounds", text, "0", "1");
    in_solve("bounds", text, "10001", "10000");
}

#[test]
fn unique_paths() {
    let text = "slot \"x\" type=\"integer\"\nn0 \"a\" let into=\"x\" value=\"1\" next=n1\nn1 \"HERE\" exit completed";
    in_solve("unique_paths", text, "a", "b");
}

#[test]
fn assigned_before_read() {
    let text = "slot \"x\" type=\"string\"\nn0 \"fork\" branch when=\"turn > 0\" yes=n1 no=HERE\n\
                n1 \"bind\" let into=\"x\" value=\"'a'\" next=n2\nn2 \"say\" append author=\"assistant\" text=\"x\" next=n3\n\
                n3 \"end\" exit completed";
    in_solve("assigned_before_read", text, "n2", "n3");
    let in_a_template = "slot \"x\" type=\"string\"\nn0 \"say\" append author=\"assistant\" say=\"HERE\" next=n1\n\
                         n1 \"bind\" let into=\"x\" value=\"'a'\" next=n2\nn2 \"end\" exit completed";
    in_solve("assigned_before_read", in_a_template, "{{ x }}", "{{ plan }}");
    // A body may run no times: what it binds is not bound after it.
    let after_a_loop = "slot \"i\" type=\"integer\"\nslot \"x\" type=\"string\"\n\
         n0 \"loop\" loop in=\"[turn]\" item=\"i2\" cap=2 counter=\"i\" done=n2 {\n\
          n1 \"inner\" let into=\"x\" value=\"'a'\" next=again\n}\n\
         n2 \"say\" append author=\"assistant\" text=\"HERE\" next=n3\nn3 \"end\" exit completed\nslot \"i2\" type=\"integer\"";
    in_solve("assigned_before_read", after_a_loop, "x", "plan");
}

const MAP: &str = "slot \"i\" type=\"integer\"\nslot \"x\" type=\"integer\"\nslot \"y\" type=\"integer\"\n\
     slot \"xs\" type=\"list<integer>\"\n\
     n0 \"map\" map in=\"[1, 2]\" item=\"i\" cap=2 give=\"x\" into=\"xs\" done=n3 {\n\
      n1 \"first\" let into=\"x\" value=\"1\" next=n2\n n2 \"second\" HERE next=again\n}\nn3 \"end\" exit completed";

#[test]
fn map_gives() {
    let text = MAP.replace("n1 \"first\" let into=\"x\"", "n1 \"first\" let into=\"y\"");
    in_solve("map_gives", &text, "let into=\"y\" value=\"2\"", "let into=\"x\" value=\"2\"");
    // Of a map only the list of results is seen outside: no slot is assigned on both sides.
    let both = MAP.replace("HERE next=again", "let into=\"y\" value=\"2\" next=again");
    let both = both.replace(
        "n3 \"end\" exit completed",
        "n3 \"after\" let into=\"HERE\" value=\"3\" next=n4\nn4 \"end\" exit completed\nslot \"z\" type=\"integer\"",
    );
    in_solve("map_gives", &both, "y", "z");
}

#[test]
fn types() {
    in_solve("types", "n0 \"fork\" branch when=\"HERE\" yes=n1 no=n1\nn1 \"end\" exit completed", "turn", "turn > 0");
    let bind =
        "slot \"x\" type=\"string\"\nn0 \"bind\" let into=\"x\" value=\"HERE\" next=n1\nn1 \"end\" exit completed";
    in_solve("types", bind, "1", "'1'");
    let say = "n0 \"say\" append author=\"assistant\" say=\"HERE\" next=n1\nn1 \"end\" exit completed";
    in_solve("types", say, "{{ plam }}", "{{ plan }}");
    in_solve("types", say, "{{ last }}", "{{ last.text }}");
}

#[test]
fn maps_are_pure() {
    in_solve("maps_are_pure", MAP, "append author=\"assistant\" say=\"Hi.\"", "let into=\"y\" value=\"2\"");
}

const SCORE: &str = "score \"s\" scale=boolean pass=@1 evidence=none {\nslot \"v\" type=\"verdict\"\n\
     n0 \"check\" check contains=\"a\" text=\"plan\" author=\"assistant\" turn=\"1\" into=\"v\" next=n1\nBETWEEN\n}";

#[test]
fn score_graphs_only_score() {
    let text = SCORE.replace("BETWEEN", "n1 \"score\" score scorer=\"s\" from=\"v\" next=n2\nn2 \"end\" exit HERE");
    behind("score_graphs_only_score", &text, "done", "completed");
    let text = SCORE.replace(
        "BETWEEN",
        "n1 \"score\" score scorer=\"s\" from=\"v\" next=n2\nn2 \"more\" HERE next=n3\nn3 \"end\" exit completed\nslot \"x\" type=\"integer\"",
    );
    behind("score_graphs_only_score", &text, "append author=\"assistant\" say=\"a\"", "let into=\"x\" value=\"1\"");
}

#[test]
fn one_score_each() {
    let text = SCORE.replace(
        "BETWEEN",
        "n1 \"fork\" branch when=\"turn > 0\" yes=n2 no=HERE\nn2 \"score\" score scorer=\"s\" from=\"v\" next=n3\nn3 \"end\" exit completed",
    );
    behind("one_score_each", &text, "n3", "n2");
    let twice = SCORE.replace(
        "BETWEEN",
        "n1 \"score\" score scorer=\"s\" from=\"v\" next=n2\nn2 \"more\" HERE next=n3\nn3 \"end\" exit completed\nslot \"x\" type=\"integer\"",
    );
    behind("one_score_each", &twice, "score scorer=\"s\" from=\"v\"", "let into=\"x\" value=\"1\"");
    let per_turn = "score \"t\" scale=boolean pass=@1 over=all evidence=none {\nslot \"i\" type=\"integer\"\nslot \"x\" type=\"integer\"\n\
         slot \"v\" type=\"verdict\"\nslot \"vs\" type=\"list<verdict>\"\nslot \"w\" type=\"verdict\"\n\
         n0 \"map\" map in=\"judged_turns()\" item=\"i\" cap=9 give=\"v\" into=\"vs\" done=n4 {\n\
          n1 \"check\" check contains=\"a\" text=\"said_in(i)\" author=\"assistant\" turn=\"i\" into=\"v\" next=n2\n\
          n2 \"score\" score scorer=\"t\" turn=\"i\" from=\"v\" next=n3\n n3 \"more\" HERE next=again\n}\n\
         n4 \"over\" reduce from=\"vs\" by=all into=\"w\" next=n5\nn5 \"whole\" score scorer=\"t\" from=\"w\" next=n6\nn6 \"end\" exit completed\n}";
    behind("one_score_each", per_turn, "score scorer=\"t\" turn=\"i\" from=\"v\"", "let into=\"x\" value=\"1\"");
}

#[test]
fn rules() {
    let text = "role \"user\" scripted {\n rule when=\"HERE\" say=\"a\"\n}";
    behind("rules", text, "turn", "turn > 0");
    behind("rules", "role \"user\" scripted {\n rule say=\"HERE\"\n}", "{{ nothing }}", "{{ plan }}");
}

#[test]
fn tools() {
    let tool = |rest: &str| {
        format!(
            "program \"p\" {{\nseed 0\nepochs 1\nstate @{{\"seats\":2}}\n}}\ntool \"t\" {{\n param \"n\" type=\"integer\"\n {rest}\n}}"
        )
    };
    behind("tools", &tool("require \"HERE\""), "n", "n > 0");
    behind("tools", &tool("set \"state.seats\" to=\"HERE\""), "'many'", "state.seats + n");
    behind("tools", &tool("set \"HERE\" to=\"n\""), "n", "state.seats");
    behind("tools", &tool("returns \"HERE\""), "state.seat", "{'seats': state.seats}");
}

/// An invariant without a test here is found.
#[test]
fn every_invariant_has_its_test() {
    let tests = std::fs::read_to_string(root().join("tests/invariants.rs")).unwrap();
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(root().join("compiler/ir/src/verify")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for opening in ["Found::new(\"", "violation(\"", "invariant: \"", "violation(\n                \""] {
            names.extend(text.split(opening).skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned));
        }
    }
    assert!(names.len() >= 17, "{names:?}");
    for name in names {
        assert!(tests.contains(&format!("fn {name}()")), "{name} has no test");
    }
}
