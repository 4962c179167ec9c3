//! A calibration for people.

use std::fmt::Write as _;

use aigo_ir::bounds::plural;
use aigo_ir::text::excerpt;

use super::{Calibration, Figure, Part};
use crate::text::short;
use crate::{FEW_CLUSTERS, LEAST_CLUSTERS};

/// The calibration.
pub fn text(calibration: &Calibration) -> String {
    let mut out = String::new();
    for part in &calibration.parts {
        let name = part.group.as_ref().map_or_else(|| "all".to_owned(), |group| excerpt(group, 60));
        let _ = writeln!(out, "{name}   {}", intervals(part));
        for section in part.sections.iter().filter(|section| section.items > 0) {
            let _ = writeln!(out, "  {}: {}", section.title, plural(section.items, "item"));
            let width = section.figures.iter().map(|figure| figure.name.len()).max().unwrap_or(0);
            for one in &section.figures {
                let _ = writeln!(out, "    {:<width$}  {}", one.name, figure(one));
            }
        }
        rest(part, &mut out);
        out.push('\n');
    }
    out
}

fn intervals(part: &Part) -> String {
    match part.clusters {
        n if n < LEAST_CLUSTERS => format!("{}: too few for intervals", plural(n.into(), "cluster")),
        n if n < FEW_CLUSTERS => format!("intervals of 95% that resample {n} clusters: approximate"),
        n => format!("intervals of 95% that resample {n} clusters"),
    }
}

fn figure(figure: &Figure) -> String {
    let value = figure.value.map_or_else(|| "–".to_owned(), |x| format!("{x:.3}"));
    let interval = figure.interval.map_or_else(String::new, |(low, high)| format!("   {low:.3} to {high:.3}"));
    let counts = figure.counts.map_or_else(String::new, |(same, of)| format!("   {same} of {of}"));
    format!("{value}{interval}{counts}")
}

fn rest(part: &Part, out: &mut String) {
    if !part.confusion.is_empty() {
        let names: Vec<String> = part.confusion.iter().map(|(name, _)| name.clone()).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(6);
        let heads: Vec<String> = names.iter().map(|name| format!("{name:>width$}")).collect();
        let _ = writeln!(out, "  {:<width$}  {}   people say", "judge", heads.join("  "));
        for (name, counts) in &part.confusion {
            let cells: Vec<String> = counts.iter().map(|n| format!("{n:>width$}")).collect();
            let _ = writeln!(out, "  {name:<width$}  {}", cells.join("  "));
        }
    }
    if part.flips.both > 0 {
        let share = part.flips.flipped as f64 / part.flips.both as f64;
        let _ = writeln!(
            out,
            "  its answer turns with the order in {} of {} items ({}%), which count as ties",
            part.flips.flipped,
            part.flips.both,
            short(share * 100.0, 3)
        );
    }
    if part.split > 0 {
        let items = plural(part.split, "item");
        let _ = writeln!(out, "  {items} on which as many people say one thing as another");
    }
    let (unlabelled, unjudged) = part.unmatched;
    let parts = [(unlabelled, "without a label"), (unjudged, "without a verdict")];
    let parts = parts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", plural(n, "item")));
    let parts: Vec<String> = parts.collect();
    if !parts.is_empty() {
        let _ = writeln!(out, "  {}", parts.join(", "));
    }
}
