//! The permissions of all holders in a recorded state.

use super::{Heap, Holder, Holdings, Loc, Object, Part};
use crate::amount::Amount;

/// The holders of permission in a recorded state.
#[derive(Debug, Clone)]
pub struct Permissions {
    /// The holder whose permissions are asked for.
    pub holder: Holder,
    objects: Vec<PermissionsToObject>,
}

#[derive(Debug, Clone, Default)]
struct PermissionsToObject {
    cells: Vec<Holdings>,
    /// By predicate.
    instances: Vec<(u32, Holdings)>,
}

impl Permissions {
    /// Returns the present state.
    pub fn of(heap: &Heap, holder: Holder) -> Self {
        let of = |object: &Object| {
            let cells = object.cells.iter().map(|cell| cell.holdings.clone()).collect();
            let instances = object.instances.iter();
            let instances = instances.map(|one| (one.predicate, one.holdings.clone())).collect();
            PermissionsToObject { cells, instances }
        };
        Self { holder, objects: heap.objects.iter().map(of).collect() }
    }

    /// Returns a state that is only told of.
    pub fn told() -> Self {
        Self { holder: Holder::Environment, objects: Vec::new() }
    }

    /// So much more was held of a location by the one in whose name the state is spoken of.
    pub fn tell(&mut self, loc: Loc, amount: &Amount) {
        let at = loc.object.0 as usize;
        if self.objects.len() <= at {
            self.objects.resize_with(at + 1, Default::default);
        }
        let PermissionsToObject { cells, instances } = &mut self.objects[at];
        let holdings = match loc.part {
            Part::Cell(cell) => {
                let cell = cell as usize;
                if cells.len() <= cell {
                    cells.resize_with(cell + 1, Default::default);
                }
                &mut cells[cell]
            }
            Part::Predicate(predicate) => {
                let known = instances.iter().position(|(one, _)| *one == predicate);
                let at = known.unwrap_or_else(|| {
                    instances.push((predicate, Holdings::default()));
                    instances.len() - 1
                });
                &mut instances[at].1
            }
        };
        holdings.add(self.holder, amount);
    }

    /// Returns the holders of permission to a location.
    pub fn holdings(&self, loc: Loc) -> Option<&Holdings> {
        let PermissionsToObject { cells, instances } = self.objects.get(loc.object.0 as usize)?;
        match loc.part {
            Part::Cell(cell) => cells.get(cell as usize),
            Part::Predicate(predicate) => {
                let instance = instances.iter().find(|(one, _)| *one == predicate);
                instance.map(|(_, holdings)| holdings)
            }
        }
    }
}
