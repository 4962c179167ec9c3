//! The picture of one graph: where each step stands, its text broken into lines, the ways between.

use std::collections::BTreeMap;

use super::layers::{self, Edge, LABEL};
use super::measure::{lines, width};
use super::steps::{Shape, Step, Steps};
use crate::span::Origin;

/// The sizes of titles and of the lines below them.
pub(super) const TITLE: u32 = 13;
pub(super) const DETAIL: u32 = 12;
/// The heights of their lines.
pub(super) const TITLE_LINE: i64 = 18;
pub(super) const DETAIL_LINE: i64 = 16;
/// Bold letters are this much wider.
const BOLD: u32 = 1;
/// The widest text.
const WIDEST: i64 = 300;
/// The most lines of a title, of one detail, and of all details.
const TITLE_LINES: usize = 3;
const DETAIL_LINES: usize = 3;
const ALL_DETAILS: usize = 9;
/// Around the text of a box, and within a region.
pub(super) const PAD: i64 = 12;

/// A box in its place.
pub(super) struct Drawn {
    pub(super) shape: Shape,
    pub(super) at: (i64, i64),
    pub(super) size: (i64, i64),
    pub(super) title: Vec<String>,
    pub(super) details: Vec<String>,
    pub(super) role: Option<String>,
    /// All of its text.
    pub(super) whole: String,
    pub(super) origin: Origin,
}

/// A way in its place.
pub(super) struct Line {
    pub(super) points: Vec<(i64, i64)>,
    pub(super) label: String,
}

/// A graph's picture.
#[derive(Default)]
pub(super) struct Panel {
    pub(super) boxes: Vec<Drawn>,
    pub(super) lines: Vec<Line>,
    pub(super) size: (i64, i64),
}

/// The picture of a graph's steps.
pub(super) fn panel(steps: &Steps) -> Panel {
    let mut inside: Vec<Vec<usize>> = vec![Vec::new(); steps.steps.len() + 1];
    for (at, step) in steps.steps.iter().enumerate() {
        let region = step.region.unwrap_or(steps.steps.len());
        if let Some(own) = inside.get_mut(region) {
            own.push(at);
        }
    }
    let mut ways: Vec<Vec<usize>> = vec![Vec::new(); steps.steps.len() + 1];
    for (at, way) in steps.ways.iter().enumerate() {
        let region = steps.steps.get(way.from).and_then(|step| step.region).unwrap_or(steps.steps.len());
        if let Some(own) = ways.get_mut(region) {
            own.push(at);
        }
    }
    Maker { steps, inside, ways }.region(steps.steps.len(), 0)
}

struct Maker<'s> {
    steps: &'s Steps,
    /// The steps of each region; behind the last step's, those in no region.
    inside: Vec<Vec<usize>>,
    /// The ways of each region.
    ways: Vec<Vec<usize>>,
}

/// A step with its text, and what is in it.
struct Made {
    drawn: Drawn,
    inner: Panel,
}

/// Regions that are nested deeper are drawn without what is in them. No task comes near this.
const DEEPEST: usize = 60;

impl Maker<'_> {
    fn region(&self, region: usize, depth: usize) -> Panel {
        let own = self.inside.get(region).map_or(&[][..], Vec::as_slice);
        let made: Vec<Made> =
            own.iter().filter_map(|at| Some(self.made(*at, self.steps.steps.get(*at)?, depth))).collect();
        let numbers: BTreeMap<usize, usize> = own.iter().enumerate().map(|(at, step)| (*step, at)).collect();
        let place = |step: usize| numbers.get(&step).copied();
        let places: Vec<(usize, usize, &str)> = self
            .ways
            .get(region)
            .into_iter()
            .flatten()
            .filter_map(|way| self.steps.ways.get(*way))
            .filter_map(|way| Some((place(way.from)?, place(way.to)?, way.label.as_str())))
            .collect();
        let sizes: Vec<(i64, i64)> = made.iter().map(|made| made.drawn.size).collect();
        let edges: Vec<Edge<'_>> =
            places.iter().map(|(from, to, label)| Edge { from: *from, to: *to, label }).collect();
        let layout = layers::layout(&sizes, &edges);
        let mut panel = Panel { size: layout.size, ..Panel::default() };
        for (made, corner) in made.into_iter().zip(&layout.corners) {
            let Made { mut drawn, inner } = made;
            drawn.at = *corner;
            let at = (corner.0 + (drawn.size.0 - inner.size.0) / 2, corner.1 + header(&drawn));
            panel.boxes.push(drawn);
            panel.take(inner, at);
        }
        for (route, (.., label)) in layout.routes.into_iter().zip(&places) {
            panel.lines.push(Line { points: route.points, label: (*label).to_owned() });
        }
        panel
    }

    fn made(&self, at: usize, step: &Step, depth: usize) -> Made {
        let mut drawn = text(step);
        let inner =
            if step.shape == Shape::Region && depth < DEEPEST { self.region(at, depth + 1) } else { Panel::default() };
        if step.shape == Shape::Region {
            let height = header(&drawn) + inner.size.1 + PAD + 2;
            drawn.size = (drawn.size.0.max(inner.size.0 + 2 * PAD + 4), height);
        }
        Made { drawn, inner }
    }
}

/// The height of what a region says of itself.
fn header(drawn: &Drawn) -> i64 {
    let titles = i64::try_from(drawn.title.len()).unwrap_or(0);
    let details = i64::try_from(drawn.details.len()).unwrap_or(0);
    2 * PAD + titles * TITLE_LINE + details * DETAIL_LINE
}

impl Panel {
    /// Takes in another one at a place.
    pub(super) fn take(&mut self, other: Self, at: (i64, i64)) {
        for mut drawn in other.boxes {
            drawn.at = (drawn.at.0 + at.0, drawn.at.1 + at.1);
            self.boxes.push(drawn);
        }
        for mut line in other.lines {
            line.points.iter_mut().for_each(|point| *point = (point.0 + at.0, point.1 + at.1));
            self.lines.push(line);
        }
    }
}

/// A step with its text in lines.
fn text(step: &Step) -> Drawn {
    let title = lines(&step.words.title, TITLE + BOLD, WIDEST, TITLE_LINES);
    let mut details: Vec<String> = Vec::new();
    for detail in &step.words.lines {
        details.extend(lines(detail, DETAIL, WIDEST, DETAIL_LINES));
    }
    if details.len() > ALL_DETAILS {
        details.truncate(ALL_DETAILS - 1);
        details.push("…".to_owned());
    }
    let of_title = title.iter().map(|line| width(line, TITLE + BOLD)).max().unwrap_or(0);
    let of_details = details.iter().map(|line| width(line, DETAIL)).max().unwrap_or(0);
    let wide = of_title.max(of_details);
    let heights =
        i64::try_from(title.len()).unwrap_or(1) * TITLE_LINE + i64::try_from(details.len()).unwrap_or(0) * DETAIL_LINE;
    let size = match step.shape {
        Shape::Pill => (width(&title.join(" "), DETAIL) + 28, heights + 8),
        Shape::Fork => (wide + 2 * PAD + 36, heights + 2 * PAD - 6),
        Shape::Box | Shape::Region => ((wide + 2 * PAD + 8).max(90), heights + 2 * PAD - 4),
    };
    let size = if step.shape == Shape::Pill { (size.0.max(of_title + 28), size.1) } else { size };
    Drawn {
        shape: step.shape,
        at: (0, 0),
        size,
        title,
        details,
        role: step.words.role.clone(),
        whole: step.words.whole(),
        origin: step.origin,
    }
}

/// The width that a label takes.
pub(super) fn label_width(label: &str) -> i64 {
    width(label, LABEL) + 8
}
