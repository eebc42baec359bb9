//! The types that have a finite value.

use front::grow_stack;
use indexmap::IndexMap;

use crate::source::Span;
use crate::syntax::{Constructor, Type, TypeKind};

use super::Adts;
use super::tree::substitute;

/// How many instances of adts are looked at to find out about one, and of what size: `adt A[T] {
/// C(a: A[P[T, T]]) }` has ever more and ever larger ones.
const MAX_INSTANCES: usize = 200;
const MAX_SIZE: usize = 200;

/// An instance of an adt, and what is known of it.
struct Instance {
    ty: Type,
    /// For each constructor the instances that it needs a value of.
    constructors: Vec<Vec<usize>>,
    has_finite_value: bool,
}

impl Adts {
    /// Tells whether a type has a value that a constructor makes of finite values, and so on.
    /// Parameters of adts, like all types that are no adts, have one.
    ///
    /// COMPLETENESS: where there are too many instances to look at, the answer may be no.
    pub(super) fn has_finite_value(&self, ty: &Type) -> bool {
        let mut instances = Vec::new();
        let ty = substitute(ty, &IndexMap::new(), Span::default());
        if self.instance(&ty).is_none() {
            return true;
        }
        if !add(ty, &mut instances) {
            return false;
        }
        let mut next = 0;
        while next < instances.len() {
            instances[next].constructors = self.constructors(next, &mut instances);
            next += 1;
        }
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for index in 0..instances.len() {
                let has_value = |&one: &usize| instances[one].has_finite_value;
                if !instances[index].has_finite_value
                    && instances[index].constructors.iter().any(|it| it.iter().all(has_value))
                {
                    instances[index].has_finite_value = true;
                    has_changed = true;
                }
            }
        }
        instances[0].has_finite_value
    }

    /// Returns the instances that each constructor of an instance needs. Constructors that need an
    /// instance beyond the limits are left out.
    fn constructors(&self, index: usize, instances: &mut Vec<Instance>) -> Vec<Vec<usize>> {
        let Some((adt, values)) = self.instance(&instances[index].ty) else { return Vec::new() };
        let mut needed_by = |constructor: &Constructor| {
            let mut needed = Vec::new();
            for formal in &constructor.formals {
                let ty = substitute(&formal.ty, &values, Span::default());
                if self.instance(&ty).is_none() {
                    continue;
                }
                let known = instances.iter().position(|one| one.ty == ty);
                let known = known.or_else(|| add(ty, instances).then(|| instances.len() - 1));
                needed.push(known?);
            }
            Some(needed)
        };
        adt.constructors.iter().filter_map(&mut needed_by).collect()
    }
}

/// Looks at an instance of an adt from now on, unless that is too much.
fn add(ty: Type, instances: &mut Vec<Instance>) -> bool {
    let is_added = instances.len() < MAX_INSTANCES && size(&ty) < MAX_SIZE;
    if is_added {
        instances.push(Instance { ty, constructors: Vec::new(), has_finite_value: false });
    }
    is_added
}

fn size(ty: &Type) -> usize {
    grow_stack(|| match &ty.kind {
        TypeKind::Seq(element) | TypeKind::Set(element) | TypeKind::Multiset(element) => {
            1 + size(element)
        }
        TypeKind::Map(key, value) => 1 + size(key) + size(value),
        TypeKind::Named { arguments, .. } => 1 + arguments.iter().map(size).sum::<usize>(),
        _ => 1,
    })
}
