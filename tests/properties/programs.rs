//! Programs that hold together by construction.

use std::sync::Arc;

use aigo_ir::check::Between;
use aigo_ir::expr::{Comparison, Expr, Function, Kind, Operator};
use aigo_ir::gate::{AGGREGATES, Aggregate, Decide, Gate};
use aigo_ir::node::{Ending, Node, Unit};
use aigo_ir::program::{
    EXPECTATIONS, Field, Parameter, Persona, Player, Program, Role, Rule, Scorer, Tool, ToolAnswer, ToolRules,
};
use aigo_ir::reduce::Reducer;
use aigo_ir::span::Origin;
use aigo_ir::template::Template;
use aigo_ir::ty::Type;
use aigo_ir::value::Value;
use aigo_ir::verdict::{EvidenceRule, Scale};

use super::dice::Dice;
use super::graphs::{Maker, World};
use super::roles;

/// A program; `size` bounds the steps of each graph.
pub(crate) fn program(seed: u64, size: usize) -> Program {
    // Streams of their own: whoever else draws from the seed draws something else, and however many draws roles take, the
    // graphs are the same.
    let dice = &mut Dice::new(seed ^ 0x6772_6170_6873);
    let own = &mut Dice::new(seed.rotate_left(32) ^ 0x0072_6f6c_6573);
    let roles: Vec<Role> = ["assistant", "user", "judge", "\"odd\"\n#"].map(|name| role(own, name)).into();
    let tools: Vec<Tool> = (0..dice.below(3)).map(|n| tool(dice, n, &roles)).collect();
    let mut scorers: Vec<Scorer> = (0..dice.below(3)).map(|n| scorer(dice, n)).collect();
    let world = World {
        roles: roles.iter().map(|role| role.name.clone()).collect(),
        scorers: scorers.iter().map(|scorer| scorer.name.clone()).collect(),
        expects: dice.one_in(2),
        tools: tools.iter().map(|tool| tool.name.clone()).collect(),
    };
    for scorer in &mut scorers {
        score(dice, &world, scorer, size);
    }
    if world.expects {
        scorers.insert(0, Scorer { name: EXPECTATIONS.into(), ..plain_scorer() });
    }
    let gates = scorers.iter().map(|scorer| gate(&scorer.name, seed)).collect();
    let solves = ["main", "an \"odd\" way"].map(|name| {
        let mut maker = Maker::new(dice, &world, true, size);
        maker.block();
        maker.add(Node::Exit { ending: Ending::Completed });
        let mut graph = maker.finish(name);
        if dice.one_in(2) {
            graph.fields.push(Field { name: "own\u{202e}".into(), ty: odd_type(dice, 2) });
        }
        graph
    });
    Program {
        name: dice.hostile().into(),
        seed: dice.next(),
        epochs: 1 + dice.below(3) as u32,
        limits: roles::limits(own),
        state: Some(Value::map([("seats", Value::Int(2)), ("plan", Value::str(dice.hostile()))])),
        fields: vec![
            Field { name: "plan".into(), ty: Type::Str },
            Field { name: dice.pick(&["a field", "\u{202e}", "n0"]).to_owned().into(), ty: odd_type(dice, 3) },
        ],
        roles,
        tools,
        setup: (0..own.below(5).saturating_sub(2)).map(|n| roles::call(own, Some(n))).collect(),
        teardown: (0..own.below(4) / 3).map(|_| roles::call(own, None)).collect(),
        solves: solves.into(),
        scorers,
        gates,
        personas: vec![Persona {
            name: dice.hostile().into(),
            must: vec![dice.hostile().into()],
            probes: vec!["s0".into()],
        }],
        library: vec![(dice.hostile().into(), dice.below(9) as u32)],
    }
}

/// A tool that a role answers, or that has rules.
fn tool(dice: &mut Dice, n: usize, roles: &[Role]) -> Tool {
    let name = format!("t{n}{}", dice.hostile()).into();
    if dice.one_in(2) {
        let role = dice.pick(roles).name.clone();
        let answer = ToolAnswer::Role(role);
        if dice.one_in(2) {
            return Tool { name, description: "".into(), params: Vec::new(), answer, idempotent: false };
        }
        let params = vec![Parameter { name: "n".into(), ty: Type::Int, default: None }];
        return Tool { name, description: dice.hostile().into(), params, answer, idempotent: dice.one_in(2) };
    }
    let seats = || Expr::new(Kind::Attribute(Box::new(Expr::name("state")), "seats".into()));
    let more = Expr::new(Kind::Arithmetic(Operator::Add, Box::new(seats()), Box::new(Expr::name("n"))));
    let rules = ToolRules {
        require: dice.one_in(2).then(|| Expr::compare(Comparison::Greater, Expr::name("n"), Expr::literal(0))),
        set: vec![(seats(), more)],
        returns: dice.one_in(2).then(|| Expr::map(vec![(dice.hostile().into(), seats())])),
        fail: dice.one_in(2).then(|| (2, dice.hostile().into())),
        ends: dice.one_in(2).then_some(Ending::HandedOff),
    };
    let params = vec![
        Parameter { name: "n".into(), ty: Type::Int, default: dice.one_in(2).then_some(Value::Int(1)) },
        Parameter { name: "note".into(), ty: Type::Maybe(Box::new(Type::Str)), default: None },
    ];
    Tool {
        name,
        description: dice.hostile().into(),
        params,
        answer: ToolAnswer::Rules(Box::new(rules)),
        idempotent: false,
    }
}

fn odd_type(dice: &mut Dice, depth: usize) -> Type {
    match dice.below(if depth == 0 { 4 } else { 7 }) {
        0 => Type::Any,
        1 => Type::Str,
        2 => Type::Number,
        3 => Type::Bool,
        4 => Type::List(Box::new(odd_type(dice, depth - 1))),
        5 => Type::Maybe(Box::new(odd_type(dice, depth - 1))),
        _ => Type::Record(vec![
            ("plain".into(), odd_type(dice, depth - 1)),
            (format!("k{}", dice.hostile()).into(), odd_type(dice, depth - 1)),
        ]),
    }
}

pub(super) fn template(dice: &mut Dice) -> Template {
    let text = dice.literal();
    Template::new(if dice.one_in(2) { format!("{text}{{{{ plan }}}}") } else { text })
}

fn role(dice: &mut Dice, name: &str) -> Role {
    let player = match dice.below(4) {
        0 => Player::Chat(roles::chat(dice)),
        1 => Player::Http(Box::new(roles::http(dice))),
        2 => Player::Command(roles::command_role(dice)),
        _ => Player::Scripted((0..=dice.below(3)).map(|_| rule(dice)).collect()),
    };
    Role { name: name.into(), player, origin: Origin::default() }
}

fn rule(dice: &mut Dice) -> Rule {
    let when = dice.one_in(2).then(|| Expr::compare(Comparison::Less, Expr::name("judged"), Expr::name("turn")));
    let answer = roles::answer(dice);
    Rule { when, answer, calls: roles::scripted_calls(dice), context: roles::chunks(dice) }
}

fn plain_scorer() -> Scorer {
    Scorer {
        name: "".into(),
        scale: Scale::Boolean,
        pass: 1.0,
        over: None,
        evidence: EvidenceRule::None,
        skips: false,
        at: None,
        turns: None,
        completion: false,
        tags: Vec::new(),
        graph: None,
    }
}

fn scorer(dice: &mut Dice, n: usize) -> Scorer {
    let scale = match dice.below(4) {
        0 => Scale::Boolean,
        1 => Scale::Unit,
        2 => Scale::Range(-(dice.below(3) as i64), 5),
        _ => Scale::Labels(vec![(format!("a{}", dice.hostile()).into(), 1.0), ("b".into(), 0.1 + 0.2)]),
    };
    let over = dice.one_in(2).then(|| *dice.pick(&Reducer::ALL));
    let evidence = *dice.pick(&EvidenceRule::ALL);
    let at = dice.one_in(4).then(|| dice.hostile().into());
    let tags = if dice.one_in(4) { vec![dice.hostile().into(), "b".into()] } else { Vec::new() };
    let skips = dice.one_in(2);
    let completion = dice.one_in(4);
    let (least, most) = (Some(dice.below(4) as u32), dice.one_in(2).then(|| dice.below(9) as u32));
    let turns = dice.one_in(12).then_some(Between { least, most });
    let name = format!("s{n}").into();
    Scorer { name, scale, pass: 1.0 / 3.0, over, evidence, skips, at, turns, completion, tags, graph: None }
}

/// Gives the scorer its graph: some steps, a map over turns where it has values for them, one score of the whole.
fn score(dice: &mut Dice, world: &World, scorer: &mut Scorer, size: usize) {
    let mut maker = Maker::new(dice, world, false, size);
    maker.block();
    let name: Arc<str> = scorer.name.clone();
    if scorer.over.is_some() {
        let list = Expr::call(Function::JudgedTurns, Vec::new());
        maker.map(list, |maker| {
            let (from, turn) = (maker.last_verdict(), maker.int());
            maker.add(Node::Score { scorer: name.clone(), unit: Unit::Turn(turn), from });
        });
    }
    maker.check();
    let from = maker.last_verdict();
    maker.add(Node::Score { scorer: name, unit: Unit::Conversation, from });
    maker.add(Node::Exit { ending: Ending::Completed });
    scorer.graph = Some(maker.finish(&scorer.name));
}

fn gate(scorer: &Arc<str>, seed: u64) -> Gate {
    let comparisons = [Comparison::GreaterOrEqual, Comparison::Less, Comparison::NotEqual];
    let at = |n: usize| (seed % n as u64) as usize;
    let of = AGGREGATES[at(AGGREGATES.len())];
    let aggregate = [
        Aggregate::Of(of),
        Aggregate::Count,
        Aggregate::Quantile(0.1 + 0.2),
        Aggregate::PassAt(3),
        Aggregate::PassAll(1),
        Aggregate::CiLow,
        Aggregate::Delta(of),
        Aggregate::Regressed,
        Aggregate::NotInferior(1e-7),
    ][at(9)];
    let counts = matches!(aggregate, Aggregate::Count | Aggregate::Of(Reducer::Rate)) && at(2) == 0;
    let number = [0.95, 4.0, 1.0 / 3.0, -2.5][at(4)];
    Gate {
        aggregate,
        scorer: scorer.clone(),
        counted: counts.then_some((comparisons[at(3)], number)),
        of_turns: at(11) == 0,
        by: (at(3) == 0).then(|| "goal.id".into()).filter(|_| !matches!(aggregate, Aggregate::NotInferior(_))),
        tags: (at(5) == 0).then(|| "p0 and not (slow or x)".into()),
        condition: (!aggregate.is_condition()).then_some((comparisons[at(3)], number)),
        min_n: at(7) as u32,
        max_missing: 0.05,
        decide: Decide::ALL[at(3)],
        origin: Origin::default(),
    }
}
