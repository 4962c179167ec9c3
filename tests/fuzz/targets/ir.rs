//! The text form: whatever can be read prints and reads back the same; verification, linking and a run of what is sound end
//! without a panic. The front end over the same bytes never panics either.
#![no_main]

use std::sync::Arc;

use aigo_ir::{expr_parse, print, read, ty, verify};
use aigo_machine::{Answer, Linked, Sample, Trial};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(expr) = expr_parse::parse(text) {
        let printed = expr.to_string();
        assert_eq!(expr_parse::parse(&printed).as_ref(), Ok(&expr), "{printed}");
    }
    let _ = ty::Type::parse(text);
    let compiled = aigo_compiler::compile("task.yaml", data, &aigo_compiler::NoSources);
    for diagnostic in &compiled.diagnostics {
        let _ = diagnostic.concise(&compiled.sources);
        assert_ne!(diagnostic.row.code, "E0507", "{}", diagnostic.message);
    }
    let program = match read::read(text) {
        Ok(program) => program,
        Err(_) => match compiled.program {
            Some((program, _)) => program,
            None => return,
        },
    };
    let printed = print::print(&program);
    assert_eq!(read::read(&printed).as_ref(), Ok(&program), "{printed}");
    let sound = verify::verify(&program).is_empty();
    let Ok(linked) = Linked::new(program) else {
        assert!(!sound || printed.contains("{{") || printed.contains("{%"));
        return;
    };
    let linked = Arc::new(linked);
    for graph in linked.program.solves.iter().map(|graph| graph.name.clone()) {
        let sample = Sample { key: "s".into(), epoch: 1, graph, row: Arc::default(), conversation: Arc::default(), tags: Arc::default(), cluster: None };
        let (mut trial, mut pending) = Trial::start(Arc::clone(&linked), Arc::new(sample));
        // Loops are bounded by the program, so this ends; a bound of many passes in passes is cut here.
        for n in 0..200 {
            let Some(next) = pending.pop() else {
                assert!(trial.outcome().is_some());
                break;
            };
            let text = ["ok", "{\"score\": 1}", "", "{\"message\": \"m\", \"status\": \"done\"}"][n % 4];
            pending.extend(trial.answer(next.lane, Answer { text: text.into(), stop: "stop".into(), ..Answer::default() }));
        }
    }
});
