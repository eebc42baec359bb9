//! The theories that lowered programs rest on: sets, maps, frames, paths, arrays.
//!
//! Each is a domain written as SIL text, with placeholders (`#S`) for the sorts it is about, and is
//! added to a program that uses it. Names of variables end with `$`, so that the program can use
//! them for what it declares. Why the axioms hold is said in `SOUNDNESS.md`.

use indexmap::{IndexMap, IndexSet};
use sil::build::{filled, parsed};
use sil::syntax::Member;

use super::types::Key;
use super::uses::owns_contents;
use crate::lower::annotations::values_called;
use spl::program::{Program, Type};

/// A domain of the prelude.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Part {
    /// The sort of a struct, of arrays, of cells, or an uninterpreted type.
    Sort(Type),
    /// Sets of a type.
    Set(Type),
    /// Maps between types.
    Map(Type, Type),
    /// Equality of such maps by what they hold.
    Alike(Type, Type),
    /// The meaning of `frame` for maps from references.
    Frame(Type, Type),
    /// Frames of such maps that programs claim.
    Claim(Type, Type),
    /// The meaning of `agree` for such maps.
    Agree(Type, Type),
    /// Paths along maps from a sort to itself.
    Reach(Type),
    /// Maps from a sort to itself that are no writes to others.
    Unwritten(Type),
    /// Paths along maps that lead to null from everywhere, and writes to such maps.
    Forest(Type),
    /// Paths where something changes.
    ReachFrame(Type),
    /// Arrays with such elements.
    Array(Type),
    /// The cells of arrays with such elements as maps from integers.
    ArrayCells(Type),
    /// The contents of these cells, as such maps.
    ArrayContents(Type),
    /// Operations on bits.
    Bits,
    /// `known` of a type.
    Known(Type),
    /// The order on sets of objects that exist.
    Smaller(Type),
    /// The order of measures.
    Order,
}

/// The parts that a program uses.
#[derive(Debug, Default)]
pub(super) struct Prelude {
    parts: IndexSet<Part>,
}

impl Prelude {
    /// Adds a part and all that it mentions.
    pub(super) fn want(&mut self, part: Part) {
        if self.parts.contains(&part) {
            return;
        }
        let needs = match &part {
            Part::Sort(_) | Part::Order | Part::Bits => vec![],
            Part::ArrayCells(element) | Part::ArrayContents(element) => {
                vec![Part::Array(element.clone())]
            }
            Part::Smaller(element) => vec![Part::Order, Part::Set(element.clone())],
            Part::Known(ty) => vec![Part::Sort(ty.clone())],
            Part::Set(element) => vec![Part::Sort(element.clone())],
            Part::Map(from, to) => vec![Part::Sort(from.clone()), Part::Sort(to.clone())],
            Part::Frame(from, to) | Part::Agree(from, to) => {
                vec![Part::Set(from.clone()), Part::Map(from.clone(), to.clone())]
            }
            Part::Alike(from, to) => vec![Part::Map(from.clone(), to.clone())],
            Part::Claim(from, to) => vec![Part::Frame(from.clone(), to.clone())],
            Part::Unwritten(sort) => vec![Part::Map(sort.clone(), sort.clone())],
            Part::Reach(sort) => vec![Part::Unwritten(sort.clone())],
            Part::Forest(sort) => vec![Part::Reach(sort.clone())],
            Part::ReachFrame(sort) => {
                vec![Part::Reach(sort.clone()), Part::Frame(sort.clone(), sort.clone())]
            }
            Part::Array(element) => {
                let cell = Type::ArrayCell(Box::new(element.clone()));
                vec![
                    Part::Sort(Type::Array(Box::new(element.clone()))),
                    Part::Sort(cell.clone()),
                    Part::Set(cell),
                ]
            }
        };
        needs.into_iter().for_each(|part| self.want(part));
        match part {
            Part::Sort(Type::Set(element)) => self.want(Part::Set(*element)),
            Part::Sort(Type::Map(from, to)) => self.want(Part::Map(*from, *to)),
            part => {
                self.parts.insert(part);
            }
        }
    }

    /// Returns the domains of all parts.
    pub(super) fn members(&mut self, program: &Program) -> Vec<Member> {
        for part in self.parts.clone() {
            if let Part::Frame(from, to) = part
                && from == to
                && self.parts.contains(&Part::Reach(from.clone()))
            {
                self.want(Part::ReachFrame(from));
            }
        }
        let mut texts: IndexMap<String, Option<String>> = IndexMap::new();
        for part in &self.parts {
            if let Some(text) = text(program, part) {
                texts.insert(text, part.ty().map(|ty| ty.show(program)));
            }
        }
        let mut members = Vec::new();
        for (text, values) in texts {
            let mut domains = parsed(&text);
            if let (Some(values), Some(first)) = (values, domains.first_mut()) {
                first.annotations.push(values_called(&values));
            }
            members.extend(domains);
        }
        members
    }
}

impl Part {
    /// Returns the type whose values are those of the part's domain.
    fn ty(&self) -> Option<Type> {
        match self {
            Self::Sort(ty) => Some(ty.clone()),
            Self::Set(element) => Some(Type::set(element.clone())),
            Self::Map(from, to) => Some(Type::Map(Box::new(from.clone()), Box::new(to.clone()))),
            _ => None,
        }
    }
}

fn text(program: &Program, part: &Part) -> Option<String> {
    let key = |ty: &Type| Key(program, ty).to_string();
    // The values of placeholders: of a type, of maps between two, of arrays.
    let of = |ty: &Type| vec![('K', key(ty)), ('S', key(ty)), ('E', key(ty))];
    let map = |from: &Type, to: &Type| {
        let name = format!("{}${}", key(from), key(to));
        vec![('K', name), ('S', key(from)), ('D', key(from)), ('R', key(to))]
    };
    let array = |element: &Type| {
        vec![
            ('B', within(program, &key(element))),
            ('T', key(element)),
            ('E', key(element)),
            ('A', key(&Type::Array(Box::new(element.clone())))),
            ('C', key(&Type::ArrayCell(Box::new(element.clone())))),
        ]
    };
    let (template, values) = match part {
        Part::Sort(ty) => match ty {
            Type::Struct(_) | Type::Array(_) | Type::ArrayCell(_) | Type::Null | Type::Unknown => {
                (include_str!("prelude/sort.sil"), of(ty))
            }
            Type::Sort(_) => return Some(format!("domain {} {{ }}", key(ty))),
            _ => return None,
        },
        Part::Set(element) => (include_str!("prelude/set.sil"), of(element)),
        Part::Known(ty) => (include_str!("prelude/known.sil"), of(ty)),
        Part::Smaller(element) => (include_str!("prelude/smaller.sil"), of(element)),
        Part::Map(from, to) => (include_str!("prelude/map.sil"), map(from, to)),
        Part::Alike(from, to) => (include_str!("prelude/alike.sil"), map(from, to)),
        Part::Frame(from, to) => (include_str!("prelude/frame.sil"), map(from, to)),
        Part::Claim(from, to) => (include_str!("prelude/claim.sil"), map(from, to)),
        Part::Agree(from, to) => (include_str!("prelude/agree.sil"), map(from, to)),
        Part::Reach(sort) => (include_str!("prelude/reach.sil"), map(sort, sort)),
        Part::Unwritten(sort) => (include_str!("prelude/unwritten.sil"), map(sort, sort)),
        Part::Forest(sort) => (include_str!("prelude/forest.sil"), map(sort, sort)),
        Part::ReachFrame(sort) => (include_str!("prelude/reach_frame.sil"), map(sort, sort)),
        Part::Array(element) => (include_str!("prelude/array.sil"), array(element)),
        Part::ArrayCells(element) => (include_str!("prelude/array_cells.sil"), array(element)),
        Part::ArrayContents(element) => {
            (include_str!("prelude/array_contents.sil"), array(element))
        }
        Part::Bits => (include_str!("prelude/bits.sil"), Vec::new()),
        Part::Order => (include_str!("prelude/order.sil"), Vec::new()),
    };
    Some(filled(template, &values))
}

/// Returns which cells of an array are its own, besides that they are of it. Where an array owns
/// what it holds, it owns all it maps indices to, as in the original: what is out of bounds has a
/// value that nobody reads or writes.
fn within(program: &Program, element: &str) -> String {
    if owns_contents(program) {
        return String::new();
    }
    format!(" && 0 <= index${element}(c$) && index${element}(c$) < length${element}(a$)")
}
