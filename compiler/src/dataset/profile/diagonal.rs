//! A matrix as its values show it, without its combinations: a file of a page can have thousands.

use std::collections::BTreeSet;
use std::sync::Arc;

use aigo_ir::value::{Map, Value};

use super::Profile;
use crate::dataset::prepare::{From, Prepared};
use crate::dataset::raw::value_id;

impl Profile {
    /// Takes a matrix that is the whole dataset from as many rows as its longest column has values: the first of each column,
    /// the second of each, and so on. In them every value is there once, and in the order in which the combinations first have
    /// it; all fields are in all rows. Says whether that is all that there is to know; nothing has been taken where it is not.
    pub(super) fn diagonal(&mut self, source: &Prepared) -> bool {
        let From::Matrix(columns) = &source.from else { return false };
        let is_cut = source.filter.is_some() || source.shuffle.is_some() || source.limit.is_some();
        if is_cut || source.cluster.is_some() || columns.iter().any(|(name, _)| matches!(&**name, "id" | "tags")) {
            return false;
        }
        let count: usize = columns.iter().map(|(_, values)| values.len()).product();
        let longest = columns.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
        // Ids stand twice where, and only where, those of two values of a column are one.
        if columns.is_empty() || count == 0 || longest == count || !columns.iter().all(|(_, values)| differ(values)) {
            return false;
        }
        let main: Arc<str> = crate::MAIN.into();
        let row = |nth: usize| {
            let value = |values: &[Value]| values.get(nth).or(values.last()).cloned().unwrap_or_default();
            let fields = columns.iter().map(|(name, values)| (name.clone(), value(values))).collect();
            source.combined(Map::of_unique(fields), &main).and_then(|raw| source.marked(raw))
        };
        let Ok(rows) = (0..longest).map(row).collect::<Result<Vec<_>, _>>() else { return false };
        for raw in &rows {
            self.take(raw);
        }
        self.count = count;
        for group in &mut self.groups {
            group.count = count;
            group.fields.iter_mut().for_each(|field| (field.present, field.seen) = (count, count));
        }
        true
    }
}

/// Whether no two values have one id.
fn differ(values: &[Value]) -> bool {
    let mut ids = BTreeSet::new();
    values.iter().all(|value| ids.insert(value_id(value)))
}

#[cfg(test)]
mod tests {
    use aigo_ir::diagnostic::Diagnostics;
    use aigo_ir::span::SourceMap;

    use super::super::{FieldProfile, Profile, profile};
    use crate::NoSources;

    /// What is known of a matrix: by its values, or by all of its combinations.
    fn known(matrix: &str, for_dataset: bool) -> (Profile, String) {
        let text = format!("aigo: 1\ndataset:\n  matrix: {matrix}\n");
        let (mut sources, mut found) = (SourceMap::default(), Diagnostics::default());
        let file = sources.add("t", text.as_str());
        let tree = aigo_source::parse(&text, file).tree;
        let task = crate::parse::parse(&tree, &mut Diagnostics::default());
        let prepared = crate::dataset::prepare(&task, &NoSources, &mut sources, &mut found);
        let profile = profile(prepared, for_dataset, &NoSources, &mut sources, &mut found);
        let told: Vec<String> = found.finish().iter().map(|one| format!("{one:?}")).collect();
        (profile, told.join("\n"))
    }

    #[test]
    fn a_matrix_is_known_by_its_values() {
        let matrices = [
            "{a: [1, 2.5, 3], b: [x], c: [true, false]}",
            "{a: [x, 1, y], b: [{id: p, t: 1}, {id: q, t: x, u: 2}, {id: r, u: [1]}], c: [1, 2]}",
            "{a: [{id: p, l: [1, x]}, {id: q, l: []}], b: [{id: 1, n: null}, {id: 2, n: 3}, {id: 3}]}",
            "{a: [1, 1], b: [x, y]}",
            "{a: [1, 2], turn: [x, y]}",
            "{a: [1, 2], id: [x, y]}",
            "{a: [1, 2], tags: [x, y]}",
            "{a: [1, 2]}",
            "{a: [x/y, x], b: [y, z]}",
            "{}",
            "{a: [], b: [x, y]}",
        ];
        for matrix in matrices {
            let ((quick, told), (whole, wanted)) = (known(matrix, false), known(matrix, true));
            let fields = |profile: &Profile| {
                let of_group =
                    |fields: &[FieldProfile]| fields.iter().map(|field| format!("{field:?}")).collect::<Vec<_>>();
                let groups: Vec<_> = profile.groups.iter().map(|group| of_group(group.fields())).collect();
                (groups, of_group(profile.joined.fields()), profile.count, profile.tags.clone(), profile.without_id)
            };
            assert_eq!(fields(&quick), fields(&whole), "{matrix}");
            assert_eq!(told, wanted, "{matrix}");
            assert_eq!(format!("{:?}", quick.joined), format!("{:?}", whole.joined), "{matrix}");
        }
    }
}
