//! Bounds against all ways that a program can go: never below them, calls exactly, and tokens exactly where nothing branches.

use std::cell::{Cell, RefCell};

use aigo_compiler::NoSources;
use aigo_ir::bounds::{Bounds, Samples, bound, crude, least};
use aigo_ir::expr::{Expr, Function};
use aigo_ir::graph::{GraphBuilder, NodeId};
use aigo_ir::message::Conversation;
use aigo_ir::node::{Bound, Ending, Jump, Node, Port, Said, View};
use aigo_ir::print::print;
use aigo_ir::program::{Player, Program};
use aigo_ir::span::Origin;
use aigo_ir::template::Template;
use aigo_ir::ty::Type;
use aigo_ir::value::{Map, Value};
use aigo_ir::verify::verify;

use super::brute::{Brute, Figures};
use super::dice::Dice;
use super::programs::program;

/// The bounds of one sample that runs a graph, by role in the program's order, then of all.
fn bounded(program: &Program, graph: usize) -> Bounds {
    let once = Program { epochs: 1, ..program.clone() };
    bound(&once, &one(program, graph))
}

/// One sample that runs a graph.
fn one(program: &Program, graph: usize) -> Samples {
    let mut samples = Samples::of(program);
    samples.add(&program.solves[graph].name, &Map::default(), &Conversation::default());
    samples
}

/// Calls and prompts as the brute force has them. What has no bound is the greatest number.
fn figures(program: &Program, bounds: &Bounds) -> Figures {
    let of = |name: &str| bounds.roles.iter().find(|role| &*role.name == name);
    let mut calls: Vec<u64> = Vec::new();
    let mut prompts = Vec::new();
    for role in &program.roles {
        let role = of(&role.name);
        calls.push(role.map_or(0, |role| role.calls.a_sample.unwrap_or(u64::MAX)));
        prompts.push(role.map_or(0, |role| role.prompts.a_sample.unwrap_or(u64::MAX)));
    }
    calls.push(bounds.calls.a_sample.unwrap_or(u64::MAX));
    Figures { calls, prompts }
}

fn brute<'p>(program: &'p Program, bounds: &Bounds) -> Brute<'p> {
    let longest = |name: &str| bounds.roles.iter().find(|role| &*role.name == name).map_or(0, |role| role.longest.0);
    let answers = program.roles.iter().map(|role| longest(&role.name)).collect();
    Brute { program, least: false, answers, budget: Cell::new(8_000), scored: RefCell::default() }
}

fn below(found: &[u64], bound: &[u64]) -> bool {
    found.iter().zip(bound).all(|(found, bound)| found <= bound)
}

/// 1,000 generated programs: every node kind, nested loops and maps, breaks, exits, tools, score graphs.
#[test]
fn bounds_are_never_too_low_and_calls_are_exact() {
    let (mut checked, mut exact, mut reached, mut small, mut sure_of_some) = (0, 0, 0, 0, 0);
    for seed in 0..100_000 {
        let program = program(seed, 2 + (seed % 9) as usize);
        let bounds = bounded(&program, 0);
        let bound = figures(&program, &bounds);
        // Most programs ask hardly anybody: of those there are enough soon.
        let is_small = bound.calls[4] <= 3;
        if is_small && small == 600 {
            continue;
        }
        let Ok(most) = brute(&program, &bounds).sample(&program.solves[0]) else { continue };
        small += usize::from(is_small);
        let mut fewest = brute(&program, &bounds);
        fewest.least = true;
        let fewest = fewest.sample(&program.solves[0]).expect("as many ways as before").calls[4];
        let once = Program { epochs: 1, ..program.clone() };
        let sure = least(&once, &one(&program, 0));
        assert!(sure <= fewest, "seed {seed}: at least {sure} calls, and {fewest} are enough\n{}", print(&program));
        sure_of_some += usize::from(sure > 1);
        assert!(crude(&program) >= most.calls[4], "seed {seed}: the quick count is too low");
        assert!(below(&most.calls, &bound.calls), "seed {seed}: {most:?} above {bound:?}");
        assert!(below(&most.prompts, &bound.prompts), "seed {seed}: {most:?} above {bound:?}");
        if bounds.exact {
            assert_eq!(most.calls, bound.calls, "seed {seed}");
            exact += 1;
        }
        reached += usize::from(most.calls.iter().any(|n| *n > 3));
        checked += 1;
        if checked == 1000 {
            break;
        }
    }
    assert_eq!(checked, 1000, "so many programs have few enough ways to go them all");
    // What is not exact adds recorded messages, or goes through a list whose length the conversation decides.
    assert!(exact > 500 && reached > 120, "{exact} exact, {reached} with more than three calls");
    assert!(sure_of_some > 50, "{sure_of_some} are sure to make more than one call");
}

/// Makes programs in which nothing branches: what is said, asked, repeated.
struct Straight<'d> {
    dice: &'d mut Dice,
    builder: GraphBuilder,
    open: Vec<(NodeId, Port)>,
    regions: Vec<NodeId>,
    count: usize,
}

impl<'d> Straight<'d> {
    fn new(dice: &'d mut Dice) -> Self {
        let (builder, open, regions) = (GraphBuilder::default(), Vec::new(), Vec::new());
        Self { dice, builder, open, regions, count: 0 }
    }

    fn add(&mut self, node: Node) -> NodeId {
        self.count += 1;
        let id = self.builder.add(node, format!("n{}", self.count), self.regions.last().copied(), Origin::default());
        for (from, port) in std::mem::take(&mut self.open) {
            self.builder.connect(from, port, Jump::On, id);
        }
        self.open = self.builder.ports(id).iter().map(|port| (id, *port)).collect();
        id
    }

    fn text(&mut self) -> Template {
        let words = 1 + self.dice.below(9);
        Template::new("word ".repeat(words))
    }

    fn say(&mut self) {
        let author = (*self.dice.pick(&["user", "user", "assistant", "critic"])).into();
        let audience = self.dice.one_in(5).then(|| (*self.dice.pick(&["assistant", "critic"])).into());
        let said = Said::Template(self.text());
        self.add(Node::Append { author, audience, said });
    }

    /// Asks a role. What it says is appended, whether or not there was a fault: nothing branches.
    fn ask(&mut self) {
        let role: std::sync::Arc<str> = (*self.dice.pick(&["assistant", "assistant", "critic"])).into();
        let into = self.builder.slot(format!("of_{role}").as_str(), Type::Reply);
        let (system, opening) = (self.dice.one_in(2).then(|| self.text()), self.dice.one_in(3).then(|| self.text()));
        let view = View::Chat { system, opening };
        self.add(Node::Generate {
            role: role.clone(),
            view,
            schema: None,
            tools: false,
            timeout_s: None,
            into: into.clone(),
        });
        self.add(Node::Append { author: role, audience: None, said: Said::Reply(into) });
    }

    fn repeat(&mut self, depth: usize) {
        self.count += 1;
        let counter = self.builder.slot(format!("i{}", self.count).as_str(), Type::Int);
        let bound = if self.dice.one_in(2) {
            Bound::Times(1 + self.dice.below(5) as u32)
        } else {
            let item = self.builder.slot(format!("x{}", self.count).as_str(), Type::Int);
            let items = (0..self.dice.below(4)).map(|n| Value::Int(n as i64)).collect();
            Bound::Items { list: Expr::literal(Value::list(items)), item, cap: 9 }
        };
        let header = self.add(Node::Loop { bound, counter });
        self.regions.push(header);
        self.open = vec![(header, Port::Body)];
        self.ask();
        self.steps(depth + 1);
        self.regions.pop();
        for (from, port) in std::mem::take(&mut self.open) {
            self.builder.connect(from, port, Jump::Again, header);
        }
        self.open = vec![(header, Port::Done)];
    }

    fn steps(&mut self, depth: usize) {
        for _ in 0..self.dice.below(4) {
            match self.dice.below(4) {
                0 if depth < 3 => self.repeat(depth),
                1 | 2 => self.ask(),
                _ => self.say(),
            }
        }
    }

    /// A judge of each turn, one of the whole, and a second question to each.
    fn score(mut self, name: &str) -> aigo_ir::graph::Graph {
        let slot = |maker: &mut Self, name: &str, ty| maker.builder.slot(name, ty);
        let (item, reply) = (slot(&mut self, "t", Type::Int), slot(&mut self, "r", Type::Reply));
        let (verdict, list) =
            (slot(&mut self, "v", Type::Verdict), slot(&mut self, "l", Type::List(Box::new(Type::Verdict))));
        let nothing = Expr::literal(Value::map([("outcome", Value::str("void"))]));
        let turns = Expr::call(Function::JudgedTurns, Vec::new());
        let (give, into) = (verdict.clone(), list);
        let header = self.add(Node::Map { list: turns, item: item.clone(), cap: 10_000, give, into });
        self.regions.push(header);
        self.open = vec![(header, Port::Body)];
        for _ in 0..=self.dice.below(2) {
            self.judge(Some(Expr::name(&item)), &reply);
        }
        self.add(Node::Let { into: verdict.clone(), value: nothing.clone() });
        for (from, port) in std::mem::take(&mut self.open) {
            self.builder.connect(from, port, Jump::Again, header);
        }
        self.regions.pop();
        self.open = vec![(header, Port::Done)];
        self.judge(None, &reply);
        self.add(Node::Let { into: verdict, value: nothing });
        self.add(Node::Exit { ending: Ending::Completed });
        self.builder.finish(name)
    }

    fn judge(&mut self, up_to: Option<Expr>, into: &std::sync::Arc<str>) {
        let sees_system = up_to.is_none() && self.dice.one_in(2);
        let view = View::Text {
            system: Some(self.text()),
            question: self.text(),
            up_to,
            window: None,
            sees_system,
            only: None,
        };
        self.add(Node::Generate {
            role: "judge".into(),
            view,
            schema: None,
            tools: false,
            timeout_s: None,
            into: into.clone(),
        });
    }
}

fn straight(seed: u64) -> Program {
    let dice = &mut Dice::new(seed ^ 0x0073_7472_6169);
    let mut program = program(seed, 1);
    let chat = |dice: &mut Dice| {
        let mut model = super::roles::chat(dice);
        model.parameters = vec![("max_tokens".into(), Value::Int(1 + dice.below(90) as i64))];
        Player::Chat(model)
    };
    for (role, name) in program.roles.iter_mut().zip(["assistant", "user", "judge", "critic"]) {
        role.name = name.into();
        role.player = chat(dice);
    }
    program.tools.clear();
    let mut maker = Straight::new(dice);
    maker.say();
    maker.steps(0);
    maker.add(Node::Exit { ending: Ending::Completed });
    program.solves = vec![maker.builder.finish("main")];
    program.scorers.truncate(1);
    for scorer in &mut program.scorers {
        scorer.name = "s".into();
        scorer.graph = Some(Straight::new(dice).score("s"));
    }
    program
}

#[test]
fn tokens_are_exact_where_nothing_branches() {
    let (mut checked, mut longest, mut scored) = (0, 0_u64, 0);
    for seed in 0..4_000 {
        let program = straight(seed);
        let bounds = bounded(&program, 0);
        let Ok(most) = brute(&program, &bounds).sample(&program.solves[0]) else { continue };
        assert!(bounds.exact, "seed {seed}");
        assert_eq!(figures(&program, &bounds), most, "seed {seed}\n{}", aigo_ir::print::print(&program));
        longest = longest.max(most.prompts.iter().sum());
        scored += usize::from(most.calls[2] > 1);
        checked += 1;
        if checked == 1000 {
            break;
        }
    }
    assert!(checked == 1000 && longest > 1000 && scored > 100, "{checked} checked, {longest} tokens, {scored} scored");
}

/// What tasks are lowered to: loops with simulated users, judges with repairs, panels, draws, confirmations, graphs of judges.
#[test]
fn bounds_of_tasks_are_exact() {
    let scorers = [
        "judge: {rubric: It is polite., scale: boolean}",
        "judge: {rubric: It is polite., scale: boolean, per: turn}",
        "judge: {rubric: It is polite., scale: 1..5}, runs: 3",
        "judge: {rubric: It is polite., scale: boolean, per: turn}, confirm: 3",
        "judge: {rubric: It is polite., scale: boolean, panel: [judge, second, third]}",
        "check: {contains: thanks}",
        "judge: {rubric: It is polite., scale: boolean, per: turn}, when: \"plan == 'Pro'\"",
        "graph: {scale: boolean, steps: [{extract: {prompt: Find the facts., items: {fact: string}, max_items: 3}, as: facts}, {each: {in: facts, as: f, steps: [{judge: {rubric: It is kept., scale: boolean}}]}, as: kept}, {score: kept}]}, over: all",
    ];
    let steps = [
        "- user: Hello.\n- generate",
        "- loop: {max_turns: 3, solvers: [{simulate_user: {goal: Find a price.}}, generate]}",
        "- loop: {max_turns: 2, until: turn > 3, solvers: [{simulate_user: {goal: Find a price., min_turns: 2}}, generate]}\n- user: Bye.\n- generate",
        "- script: [One., Two., Three.]\n- judge: {rubric: It is short., scale: boolean}\n  as: checked\n  on_fail: stop\n- user: More.\n- generate",
        "- for_each: {in: questions, as: q, solvers: [{user: \"{{ q }}\"}, generate, {stop: {when: \"'x' in last.text\", loop: true}}]}",
        "- user: Hello.\n- generate: {}\n  expect: [{contains: hi}]\n  on_fail: stop\n- if: {when: \"plan == 'Pro'\", then: [{user: A.}, generate, {user: B.}, generate], else: [{user: C.}, generate]}",
    ];
    for (at, steps) in steps.iter().enumerate() {
        let solvers = steps.lines().map(|line| format!("  {line}\n")).collect::<Vec<_>>().concat();
        for (n, scorer) in scorers.iter().enumerate() {
            let text = format!(
                "aigo: 1\nname: t\nmodels:\n  assistant: {{scripted: [{{say: Yes.}}]}}\n  user: {{scripted: [{{say: Hi.}}]}}\n  judge: {{scripted: [{{verdict: {{score: true}}}}]}}\n  second: {{scripted: [{{verdict: {{score: true}}}}]}}\n  third: {{scripted: [{{verdict: {{score: true}}}}]}}\n\
                 dataset:\n  samples: [{{plan: Pro, questions: [a, b]}}, {{plan: Free, questions: [c, d]}}]\nsolvers:\n{solvers}scorers:\n  - {{name: s, {scorer}}}\n"
            );
            let compiled = aigo_compiler::compile("t.yaml", text.as_bytes(), &NoSources);
            let shown: Vec<&str> = compiled.diagnostics.iter().map(|found| found.message.as_str()).collect();
            let Some((program, dataset)) = compiled.program else {
                panic!("steps {at}, scorer {n}: {shown:?}\n{text}")
            };
            assert_eq!(verify(&program), []);
            let mut samples = Samples::of(&program);
            for row in dataset.rows(&NoSources) {
                let row = row.unwrap();
                samples.add(&row.graph, &row.fields, &row.conversation);
            }
            let bounds = bound(&program, &samples);
            let most = lists(&program);
            let most = Brute { budget: Cell::new(5_000_000), ..brute(&most, &bounds) }.sample(&most.solves[0]).unwrap();
            let found = figures(&program, &bounds);
            assert!(bounds.exact, "steps {at}, scorer {n}");
            assert_eq!(most.calls, found.calls, "steps {at}, scorer {n}");
            assert!(below(&most.prompts, &found.prompts), "steps {at}, scorer {n}");
            assert_eq!(bounds.calls.in_all, bounds.calls.a_sample.map(|n| 2 * n));
        }
    }
}

/// The program with the rows' list in its place, and three facts found: what the brute force is to go through.
fn lists(program: &Program) -> Program {
    let text = aigo_ir::print::print(program);
    let text = text.replace("in=\"questions\"", "in=\"['a', 'b']\"").replace("in=\"facts\"", "in=\"[1, 2, 3]\"");
    aigo_ir::read::read(&text).unwrap_or_else(|error| panic!("{error}"))
}

/// Numbers that no machine can count are no bound, and nothing overflows.
#[test]
fn what_cannot_be_counted_has_no_bound() {
    let mut text = String::from("- user: Hi.\n- generate\n");
    for _ in 0..6 {
        let inner = text.lines().map(|line| format!("      {line}\n")).collect::<Vec<_>>().concat();
        text = format!("- loop:\n    max_turns: 10000\n    solvers:\n{inner}");
    }
    let solvers = text.lines().map(|line| format!("  {line}\n")).collect::<Vec<_>>().concat();
    let task = format!(
        "aigo: 1\nname: t\nmodels: {{assistant: {{scripted: [{{say: Yes.}}]}}}}\ndataset: {{samples: [{{a: 1}}]}}\nsolvers:\n{solvers}scorers: [{{name: c, check: {{contains: x}}}}]\n"
    );
    let compiled = aigo_compiler::compile("t.yaml", task.as_bytes(), &NoSources);
    let (program, _) = compiled.program.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
    let bounds = bounded(&program, 0);
    assert_eq!((bounds.calls.a_sample, bounds.calls.in_all), (None, None));
    assert!(bounds.text().contains("no bound"), "{}", bounds.text());
}
