//! Samples' keys: what names a sample for ever must not depend on the order in which rows stand.

use std::collections::BTreeSet;

use aigo_compiler::{NoSources, compile};

/// Rows without ids that are equal in what the steps read (`q`), and differ in what only a scorer reads (`want`).
fn rows(order: &[usize]) -> BTreeSet<(String, String)> {
    let lines = ["{q: A, want: x}", "{q: A, want: y}", "{q: A, want: y}", "{q: B, want: z}", "{want: u, q: A}"];
    let samples: Vec<&str> = order.iter().map(|at| lines[*at]).collect();
    let task = format!(
        "aigo: 1\nname: t\nmodels: {{assistant: {{scripted: [x]}}}}\ndataset: {{samples: [{}]}}\n\
         solvers: [{{user: \"{{{{ q }}}}\"}}, generate]\nscorers: [{{name: s, check: {{contains: \"{{{{ want }}}}\"}}}}]\n",
        samples.join(", ")
    );
    let compiled = compile("t.yaml", task.as_bytes(), &NoSources);
    let (_, dataset) = compiled.program.unwrap_or_else(|| panic!("{:?}", compiled.diagnostics));
    let rows = dataset.rows(&NoSources).map(|row| row.unwrap());
    rows.map(|row| (row.key.to_string(), format!("{:?} {:?}", row.fields.get("q"), row.fields.get("want")))).collect()
}

#[test]
fn keys_do_not_depend_on_the_order_of_the_rows() {
    let first = rows(&[0, 1, 2, 3, 4]);
    assert_eq!(first.len(), 5, "every row has a key of its own: {first:?}");
    for order in [[4, 3, 2, 1, 0], [2, 0, 4, 1, 3]] {
        assert_eq!(rows(&order), first);
    }
}
