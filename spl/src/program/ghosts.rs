//! Ghost code and ghost variables.

use super::{Block, Place, Program, StmtKind, Variable};

impl Program {
    /// Does a block do more than ghost code may?
    pub fn has_effects(&self, block: &Block) -> bool {
        let mut found = false;
        block.for_each_stmt(&mut |stmt| {
            found |= match &stmt.kind {
                StmtKind::Assign { places, .. } => {
                    places.iter().any(|place| !self.is_ghost_place(place))
                }
                StmtKind::Havoc(variables) => variables.iter().any(|&it| !self.is_ghost(it)),
                StmtKind::New { .. }
                | StmtKind::Free(_)
                | StmtKind::Return(_)
                | StmtKind::AssignText { .. } => true,
                StmtKind::Call { targets, procedure, .. } => {
                    !self.procedures[*procedure].is_lemma()
                        || targets.iter().any(|&target| !self.is_ghost(target))
                }
                StmtKind::Block(_)
                | StmtKind::Declare(_)
                | StmtKind::Assume { .. }
                | StmtKind::Assert { .. }
                | StmtKind::Split(_)
                | StmtKind::Fold(_)
                | StmtKind::Unfold(_)
                | StmtKind::If { .. }
                | StmtKind::Choose(_)
                | StmtKind::While { .. } => false,
            };
        });
        found
    }

    /// Is what is assigned there ghost?
    pub(crate) fn is_ghost_place(&self, place: &Place) -> bool {
        match place {
            Place::Variable(variable) => self.is_ghost(*variable),
            Place::Field { field, .. } => self.fields[*field].is_ghost,
            Place::Element { .. } | Place::Cell(_) => false,
        }
    }

    /// Is the variable ghost?
    pub fn is_ghost(&self, variable: Variable) -> bool {
        match variable {
            Variable::Local(local) => self.locals[local].is_ghost,
            Variable::Global(global) => self.globals[global].is_ghost,
            Variable::FieldMap(field) => self.fields[field].is_ghost,
        }
    }
}
