//! Places for boxes and the ways between them: boxes in layers, ways from layer to layer (K. Sugiyama, S. Tagawa, M. Toda,
//! "Methods for visual understanding of hierarchical system structures"). All coordinates are whole pixels, so that a picture is
//! the same everywhere.

use super::measure::width;

/// Between boxes side by side.
const BESIDE: i64 = 28;
/// Between a way that passes and what stands beside it.
const PASSING: i64 = 18;
/// Between layers: room for a label and a bend.
const BELOW: i64 = 44;
/// How much more the place of what goes on counts than that of an end beside it.
const HEAVY: i64 = 64;
/// The size of labels.
pub(super) const LABEL: u32 = 12;

/// A way from a box to another, with its label.
#[derive(Clone, Copy)]
pub(super) struct Edge<'e> {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) label: &'e str,
}

/// A way, from point to point; between the points of one layer it goes straight down.
pub(super) struct Route {
    pub(super) points: Vec<(i64, i64)>,
}

/// Where everything is.
#[derive(Default)]
pub(super) struct Layout {
    /// The left upper corner of each box.
    pub(super) corners: Vec<(i64, i64)>,
    /// One for each edge.
    pub(super) routes: Vec<Route>,
    pub(super) size: (i64, i64),
}

/// Something in a layer: a box, or the place where a way passes.
#[derive(Clone, Copy)]
struct Cell {
    size: (i64, i64),
    passes: bool,
}

/// Lays out boxes of these sizes.
pub(super) fn layout(sizes: &[(i64, i64)], edges: &[Edge<'_>]) -> Layout {
    let layer = layers(sizes.len(), edges);
    let mut grid = Grid::new(sizes, edges, &layer);
    grid.order();
    let x = grid.across();
    grid.finish(sizes, edges, &x)
}

/// The layer of each box: behind all from which ways lead to it.
fn layers(count: usize, edges: &[Edge<'_>]) -> Vec<usize> {
    let mut layer = vec![0_usize; count];
    // Ways never lead back, so this many rounds are enough.
    for _ in 0..count {
        let mut moved = false;
        for edge in edges {
            let least = layer.get(edge.from).copied().unwrap_or(0) + 1;
            if let Some(own) = layer.get_mut(edge.to).filter(|own| **own < least && least <= count) {
                *own = least;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    layer
}

struct Grid {
    cells: Vec<Cell>,
    /// The cells of each layer, from left to right.
    rows: Vec<Vec<usize>>,
    /// From each cell, the cells of the next layer; and from each the other way.
    down: Vec<Vec<usize>>,
    up: Vec<Vec<usize>>,
    /// Of each edge: its cells, the boxes at both ends included.
    chains: Vec<Vec<usize>>,
}

impl Grid {
    fn new(sizes: &[(i64, i64)], edges: &[Edge<'_>], layer: &[usize]) -> Self {
        let mut grid = Self {
            cells: sizes.iter().map(|size| Cell { size: *size, passes: false }).collect(),
            rows: vec![Vec::new(); layer.iter().max().map_or(0, |most| most + 1)],
            down: vec![Vec::new(); sizes.len()],
            up: vec![Vec::new(); sizes.len()],
            chains: Vec::new(),
        };
        for (at, layer) in layer.iter().enumerate() {
            grid.row(*layer, at);
        }
        for edge in edges {
            let ends = [edge.from, edge.to].map(|at| layer.get(at).copied().unwrap_or(0));
            let mut chain = vec![edge.from];
            for between in ends[0] + 1..ends[1] {
                let cell = grid.cells.len();
                grid.cells.push(Cell { size: (2, 0), passes: true });
                grid.down.push(Vec::new());
                grid.up.push(Vec::new());
                grid.row(between, cell);
                chain.push(cell);
            }
            chain.push(edge.to);
            for pair in chain.windows(2) {
                if let [from, to] = pair {
                    if let Some(down) = grid.down.get_mut(*from) {
                        down.push(*to);
                    }
                    if let Some(up) = grid.up.get_mut(*to) {
                        up.push(*from);
                    }
                }
            }
            grid.chains.push(chain);
        }
        grid
    }

    fn row(&mut self, layer: usize, cell: usize) {
        if let Some(row) = self.rows.get_mut(layer) {
            row.push(cell);
        }
    }

    /// Puts the cells of each layer in the order of those that they are connected to, until fewer crossings are not found.
    fn order(&mut self) {
        let mut best = (self.crossings(), self.rows.clone());
        for sweep in 0..12 {
            if best.0 == 0 {
                break;
            }
            let downward = sweep % 2 == 0;
            let count = self.rows.len();
            for step in 1..count {
                let (row, beside) = if downward { (step, step - 1) } else { (count - 1 - step, count - step) };
                self.sort(row, beside, downward);
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.rows.clone());
            }
        }
        self.rows = best.1;
    }

    fn sort(&mut self, row: usize, beside: usize, downward: bool) {
        let mut place = vec![0_i64; self.cells.len()];
        for (at, cell) in (0_i64..).zip(self.rows.get(beside).into_iter().flatten()) {
            if let Some(place) = place.get_mut(*cell) {
                *place = at;
            }
        }
        let near = if downward { &self.up } else { &self.down };
        let Some(cells) = self.rows.get_mut(row) else { return };
        let mut keyed: Vec<(i64, usize)> = Vec::with_capacity(cells.len());
        for (at, cell) in (0_i64..).zip(cells.iter()) {
            let of = near.get(*cell).map_or(&[][..], Vec::as_slice);
            let sum: i64 = of.iter().filter_map(|other| place.get(*other)).sum();
            let count = i64::try_from(of.len()).unwrap_or(1);
            keyed.push((if count == 0 { at * 1000 } else { sum * 1000 / count }, *cell));
        }
        keyed.sort_by_key(|(key, _)| *key);
        *cells = keyed.into_iter().map(|(_, cell)| cell).collect();
    }

    fn crossings(&self) -> usize {
        let mut place = vec![0_usize; self.cells.len()];
        for row in &self.rows {
            for (at, cell) in row.iter().enumerate() {
                if let Some(place) = place.get_mut(*cell) {
                    *place = at;
                }
            }
        }
        let at = |cell: &usize| place.get(*cell).copied().unwrap_or(0);
        let mut sum = 0;
        for row in &self.rows {
            let mut edges: Vec<(usize, usize)> = Vec::new();
            for cell in row {
                edges.extend(self.down.get(*cell).into_iter().flatten().map(|to| (at(cell), at(to))));
            }
            // Wide layers are rare; two hundred ways between two layers are still few pairs.
            for (n, a) in edges.iter().enumerate().take(400) {
                sum += edges
                    .iter()
                    .skip(n + 1)
                    .take(400)
                    .filter(|b| (a.0 < b.0 && a.1 > b.1) || (a.0 > b.0 && a.1 < b.1))
                    .count();
            }
        }
        sum
    }

    fn of(&self, cell: usize) -> Cell {
        self.cells.get(cell).copied().unwrap_or(Cell { size: (0, 0), passes: true })
    }

    /// Whether nothing follows.
    fn is_end(&self, cell: usize) -> bool {
        self.down.get(cell).is_none_or(Vec::is_empty)
    }

    fn gap(&self, a: usize, b: usize) -> i64 {
        if self.of(a).passes || self.of(b).passes { PASSING } else { BESIDE }
    }

    /// The centre of each cell: as near to those that it is connected to as the others of its layer let it be.
    fn across(&self) -> Vec<i64> {
        let mut x = vec![0_i64; self.cells.len()];
        for row in &self.rows {
            self.settle(row, &mut x, &|_, _| 0);
        }
        for sweep in 0..10 {
            let downward = sweep % 2 == 0;
            let rows: Vec<&Vec<usize>> =
                if downward { self.rows.iter().collect() } else { self.rows.iter().rev().collect() };
            let near = if downward { &self.up } else { &self.down };
            let wanted = |cell: usize, x: &[i64]| {
                let of = near.get(cell).map_or(&[][..], Vec::as_slice);
                // Where the way goes on decides: what ends beside it must not push the rest of the picture aside.
                let goes_on = of.iter().any(|other| !self.is_end(*other));
                let chosen = of.iter().filter(|other| !goes_on || !self.is_end(**other));
                let places: Vec<i64> = chosen.filter_map(|other| x.get(*other)).copied().collect();
                let count = i64::try_from(places.len()).unwrap_or(1);
                if count == 0 {
                    x.get(cell).copied().unwrap_or(0)
                } else {
                    places.iter().sum::<i64>().div_euclid(count)
                }
            };
            for row in rows {
                self.settle(row, &mut x, &wanted);
            }
        }
        x
    }

    /// Moves the cells of a layer to where each wants to be, least squares, none over another (pool adjacent violators).
    fn settle(&self, row: &[usize], x: &mut [i64], wanted: &dyn Fn(usize, &[i64]) -> i64) {
        let mut offsets = Vec::with_capacity(row.len());
        let mut offset = 0;
        for (at, cell) in row.iter().enumerate() {
            if let Some(before) = at.checked_sub(1).and_then(|before| row.get(before)) {
                offset += i64::midpoint(self.of(*before).size.0, self.of(*cell).size.0) + self.gap(*before, *cell);
            }
            offsets.push(offset);
        }
        // Of each pool: the weighted sum of places, the weight, the number of cells.
        let mut pools: Vec<(i64, i64, i64)> = Vec::new();
        for (cell, offset) in row.iter().zip(&offsets) {
            let weight = if self.is_end(*cell) { 1 } else { HEAVY };
            let mut pool = ((wanted(*cell, x) - offset) * weight, weight, 1);
            while let Some(last) = pools.last().copied() {
                if last.0 * pool.1 <= pool.0 * last.1 {
                    break;
                }
                pools.pop();
                pool = (pool.0 + last.0, pool.1 + last.1, pool.2 + last.2);
            }
            pools.push(pool);
        }
        let places = pools.into_iter().flat_map(|(sum, weight, count)| (0..count).map(move |_| sum.div_euclid(weight)));
        for ((cell, offset), place) in row.iter().zip(&offsets).zip(places) {
            if let Some(x) = x.get_mut(*cell) {
                *x = place + offset;
            }
        }
    }

    fn finish(&self, sizes: &[(i64, i64)], edges: &[Edge<'_>], x: &[i64]) -> Layout {
        let left = (0..self.cells.len()).map(|cell| x.get(cell).copied().unwrap_or(0) - self.of(cell).size.0 / 2).min();
        let left = left.unwrap_or(0);
        let centre = |cell: usize| x.get(cell).copied().unwrap_or(0) - left;
        let mut top = vec![0_i64; self.cells.len()];
        let mut bottom_of_layer = vec![0_i64; self.cells.len()];
        let mut y = 0;
        for row in &self.rows {
            let height = row.iter().map(|cell| self.of(*cell).size.1).max().unwrap_or(0);
            for cell in row {
                if let (Some(top), Some(bottom)) = (top.get_mut(*cell), bottom_of_layer.get_mut(*cell)) {
                    (*top, *bottom) = (y, y + height);
                }
            }
            y += height + BELOW;
        }
        let at = |of: &[i64], cell: usize| of.get(cell).copied().unwrap_or(0);
        let leaves = self.ends(edges, &centre, true);
        let arrives = self.ends(edges, &centre, false);
        let mut routes = Vec::new();
        for (number, chain) in self.chains.iter().enumerate() {
            let mut points = Vec::new();
            for (place, cell) in chain.iter().enumerate() {
                let height = self.of(*cell).size.1;
                if place == 0 {
                    points.push((at(&leaves, number), at(&top, *cell) + height));
                } else if place + 1 == chain.len() {
                    points.push((at(&arrives, number), at(&top, *cell)));
                } else {
                    points.push((centre(*cell), at(&top, *cell)));
                    points.push((centre(*cell), at(&bottom_of_layer, *cell)));
                }
            }
            routes.push(Route { points });
        }
        let corners = (0..sizes.len()).map(|cell| (centre(cell) - self.of(cell).size.0 / 2, at(&top, cell))).collect();
        let right = (0..self.cells.len()).map(|cell| centre(cell) + self.of(cell).size.0 / 2).max().unwrap_or(0);
        // A label at the edge needs its place, too.
        let labels = edges.iter().zip(&leaves).map(|(edge, x)| x + width(edge.label, LABEL) / 2 + 4).max().unwrap_or(0);
        Layout { corners, routes, size: (right.max(labels), (y - BELOW).max(0)) }
    }

    /// Where each edge leaves its box, or arrives: side by side in the order of the other ends, labels apart.
    fn ends(&self, edges: &[Edge<'_>], centre: &dyn Fn(usize) -> i64, leaving: bool) -> Vec<i64> {
        let mut out = vec![0_i64; edges.len()];
        let mut of_cells: Vec<Vec<(usize, &Edge<'_>)>> = vec![Vec::new(); self.cells.len()];
        for (number, edge) in edges.iter().enumerate() {
            if let Some(own) = of_cells.get_mut(if leaving { edge.from } else { edge.to }) {
                own.push((number, edge));
            }
        }
        for (cell, mut own) in of_cells.into_iter().enumerate() {
            own.sort_by_key(|(number, _)| {
                let chain = self.chains.get(*number).map_or(&[][..], Vec::as_slice);
                let next = if leaving { chain.get(1) } else { chain.len().checked_sub(2).and_then(|at| chain.get(at)) };
                (next.map_or(0, |cell| centre(*cell)), *number)
            });
            let room = self.of(cell).size.0 - 16;
            let widths: Vec<i64> =
                own.iter().map(|(_, edge)| if leaving { width(edge.label, LABEL).max(6) + 14 } else { 16 }).collect();
            let total: i64 = widths.iter().sum();
            let mut x = centre(cell) - total / 2;
            for ((number, _), width) in own.iter().zip(&widths) {
                let place = x + width / 2;
                // Where the box is too narrow the ends stand at its sides.
                let place = place.clamp(centre(cell) - room.max(0) / 2, centre(cell) + room.max(0) / 2);
                if let Some(out) = out.get_mut(*number) {
                    *out = place;
                }
                x += width;
            }
        }
        out
    }
}
