//! The parts of the state that a declaration needs, and those that it may change.
//!
//! A procedure gets and gives back only these. What its callees need it needs, too, so the table is
//! a fixpoint over the call graph. A procedure without a body may change all that its footprint can
//! hold.

use la_arena::ArenaMap;
use rustc_hash::FxHashSet;
use spl::program::{
    Access, Block, Clause, Dialect, Expr, ExprKind, FunctionId, NewObject, Place, PredicateId,
    ProcedureId, Program, Stmt, StmtKind, Type, Variable,
};

use super::types::Slot;

/// The needs of a declaration, or of a piece of one, from the state. The order of the entries is
/// that of their first use.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Uses {
    /// Parts of the state that are read.
    pub(super) slots: indexmap::IndexSet<Slot>,
    /// The slots that may change; all are in `slots`.
    pub(super) written: indexmap::IndexSet<Slot>,
    /// Sorts whose objects are owned, read or written.
    pub(super) sorts: indexmap::IndexSet<Type>,
    /// The sorts of which objects may be made or freed; all are in `sorts`.
    pub(super) resized: indexmap::IndexSet<Type>,
    /// The sorts of which assertions in it say that objects are owned; all are in `sorts`.
    pub(super) owned: indexmap::IndexSet<Type>,
    /// The sorts along whose fields paths are followed.
    paths: indexmap::IndexSet<Type>,
    /// The procedures and lemmas it calls itself.
    calls: indexmap::IndexSet<ProcedureId>,
}

impl Uses {
    fn add(&mut self, other: &Self) {
        self.add_state(other);
        self.owned.extend(other.owned.iter().cloned());
    }

    /// Adds what a value needs: that something is owned it does not say.
    fn add_state(&mut self, other: &Self) {
        self.slots.extend(other.slots.iter().cloned());
        self.written.extend(other.written.iter().cloned());
        self.sorts.extend(other.sorts.iter().cloned());
        self.resized.extend(other.resized.iter().cloned());
    }

    fn size(&self) -> usize {
        let state = self.slots.len() + self.written.len();
        state + self.sorts.len() + self.resized.len() + self.owned.len()
    }

    fn read(&mut self, program: &Program, slot: Slot) {
        self.sorts.extend(slot.sort(program));
        self.slots.insert(slot);
    }

    fn write(&mut self, program: &Program, slot: Slot) {
        self.read(program, slot.clone());
        self.written.insert(slot);
    }

    /// The globals that a contract mentions may change where there is no body; lemmas change ghost
    /// ones only.
    fn write_globals(&mut self, program: &Program, is_lemma: bool) {
        let written = self.slots.iter().filter(|slot| match slot {
            Slot::Global(global) => !is_lemma || program.globals[*global].is_ghost,
            _ => false,
        });
        self.written.extend(written.cloned());
    }

    fn own(&mut self, sort: Type) {
        self.sorts.insert(sort.clone());
        self.owned.insert(sort);
    }

    fn resize(&mut self, program: &Program, sort: &Type) {
        self.sorts.insert(sort.clone());
        self.resized.insert(sort.clone());
        for slot in slots_of(program, sort) {
            self.write(program, slot);
        }
        if let Type::Array(element) = sort {
            self.resize(program, &Type::ArrayCell(element.clone()));
        }
    }
}

/// Returns the parts of the state that hold the contents of the objects of a sort.
pub(super) fn slots_of(program: &Program, sort: &Type) -> Vec<Slot> {
    match sort {
        Type::Struct(id) => {
            program.structs[*id].fields.iter().map(|&field| Slot::Field(field)).collect()
        }
        Type::ArrayCell(element) => vec![Slot::Cells((**element).clone())],
        _ => Vec::new(),
    }
}

/// The uses of all declarations of a program.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) functions: ArenaMap<FunctionId, Uses>,
    pub(super) predicates: ArenaMap<PredicateId, Uses>,
    pub(super) procedures: ArenaMap<ProcedureId, Uses>,
    /// The sorts of which the program frees objects somewhere.
    pub(super) frees: FxHashSet<Type>,
    /// The sorts along whose fields the program follows paths somewhere.
    pub(super) paths: FxHashSet<Type>,
}

impl Table {
    /// The table of a program.
    pub(super) fn of(program: &Program) -> Self {
        let mut table = Self { frees: freed(program), ..Self::default() };
        loop {
            let before = table.size();
            table.round(program);
            if table.size() == before {
                break;
            }
        }
        let mut axioms = Uses::default();
        for axiom in &program.axioms {
            table.expr(program, &axiom.condition, &mut axioms);
        }
        let all = table.functions.values().chain(table.predicates.values());
        let all = all.chain(table.procedures.values()).chain([&axioms]);
        let paths = all.flat_map(|uses| uses.paths.iter().cloned()).collect();
        Self { paths, ..table }
    }

    fn size(&self) -> usize {
        let all = self.functions.values().chain(self.predicates.values());
        all.chain(self.procedures.values()).map(Uses::size).sum()
    }

    fn round(&mut self, program: &Program) {
        for (id, function) in program.functions.iter() {
            let mut uses = self.functions.get(id).cloned().unwrap_or_default();
            self.clauses(program, &function.requires, &mut uses);
            self.clauses(program, &function.ensures, &mut uses);
            function.body.iter().for_each(|body| self.expr(program, body, &mut uses));
            self.functions.insert(id, uses);
        }
        for (id, predicate) in program.predicates.iter() {
            let mut uses = self.predicates.get(id).cloned().unwrap_or_default();
            match &predicate.body {
                Some(body) => self.expr(program, body, &mut uses),
                None if predicate.ty == Type::Permission => {
                    for sort in all_sorts(program) {
                        slots_of(program, &sort)
                            .into_iter()
                            .for_each(|slot| uses.read(program, slot));
                        uses.own(sort);
                    }
                }
                None => {
                    self.clauses(program, &predicate.requires, &mut uses);
                    self.clauses(program, &predicate.ensures, &mut uses);
                }
            }
            self.predicates.insert(id, uses);
        }
        for (id, procedure) in program.procedures.iter() {
            let mut uses = self.procedures.get(id).cloned().unwrap_or_default();
            self.clauses(program, &procedure.requires, &mut uses);
            self.clauses(program, &procedure.ensures, &mut uses);
            match &procedure.body {
                Some(body) => self.block(program, body, &mut uses),
                None => {
                    let sorts: Vec<Type> = uses.sorts.iter().cloned().collect();
                    sorts.iter().for_each(|sort| uses.resize(program, sort));
                    uses.write_globals(program, procedure.is_lemma());
                }
            }
            // Without a plain postcondition nothing is known of what is owned afterwards.
            if procedure.ensures.iter().all(|clause| clause.is_pure) {
                uses.resized.extend(uses.sorts.iter().cloned());
            }
            self.procedures.insert(id, uses);
        }
    }

    fn clauses(&self, program: &Program, clauses: &[Clause], uses: &mut Uses) {
        clauses.iter().for_each(|clause| self.expr(program, &clause.condition, uses));
    }

    /// Adds what an expression needs.
    pub(super) fn expr(&self, program: &Program, e: &Expr, uses: &mut Uses) {
        match &e.kind {
            ExprKind::FieldRead { field, .. } | ExprKind::FieldMap(field) => {
                uses.read(program, Slot::Field(*field));
            }
            ExprKind::Global(global) => uses.read(program, Slot::Global(*global)),
            ExprKind::CellContent(cell) => {
                if let Type::ArrayCell(element) = &cell.ty {
                    uses.read(program, Slot::Cells((**element).clone()));
                }
            }
            ExprKind::Element { array, .. } | ExprKind::ArrayMap(array) => {
                if let Type::Array(element) = &array.ty {
                    uses.sorts.insert(array.ty.clone());
                    uses.read(program, Slot::Cells((**element).clone()));
                }
            }
            ExprKind::ArrayLength(array) => {
                uses.sorts.insert(array.ty.clone());
            }
            ExprKind::Access(access) => {
                accessed(access).into_iter().for_each(|sort| {
                    if owns_contents(program) && matches!(sort, Type::Array(_)) {
                        uses.own(super::terms::cell_type(&sort));
                    }
                    uses.own(sort);
                });
            }
            ExprKind::PointsTo { location, .. } => {
                holder(program, location).into_iter().for_each(|sort| uses.own(sort));
            }
            ExprKind::Btwn { field, .. } | ExprKind::Reach { field, .. } => {
                if let Type::Map(sort, _) = &field.ty {
                    uses.paths.insert((**sort).clone());
                }
            }
            ExprKind::Apply { function, .. } => {
                self.functions.get(*function).iter().for_each(|other| uses.add_state(other));
            }
            ExprKind::Predicate(predicate) => {
                let other = self.predicates.get(predicate.predicate);
                other.iter().for_each(|other| uses.add(other));
            }
            _ => {}
        }
        front::grow_stack(|| e.for_each_child(&mut |child| self.expr(program, child, uses)));
    }

    /// Adds what the statements of a block need.
    pub(super) fn block(&self, program: &Program, block: &Block, uses: &mut Uses) {
        block.stmts.iter().for_each(|stmt| self.stmt(program, stmt, uses));
    }

    fn variable(&self, program: &Program, variable: Variable, uses: &mut Uses) {
        match variable {
            Variable::Local(_) => {}
            Variable::Global(global) => uses.write(program, Slot::Global(global)),
            Variable::FieldMap(field) => uses.write(program, Slot::Field(field)),
        }
    }

    fn place(&self, program: &Program, place: &Place, uses: &mut Uses) {
        match place {
            Place::Variable(variable) => self.variable(program, *variable, uses),
            Place::Field { receiver, field } => {
                self.expr(program, receiver, uses);
                uses.write(program, Slot::Field(*field));
            }
            Place::Element { array, index } => {
                self.expr(program, array, uses);
                self.expr(program, index, uses);
                if let Type::Array(element) = &array.ty {
                    uses.sorts.insert(array.ty.clone());
                    uses.write(program, Slot::Cells((**element).clone()));
                }
            }
            Place::Cell(cell) => {
                self.expr(program, cell, uses);
                if let Type::ArrayCell(element) = &cell.ty {
                    uses.write(program, Slot::Cells((**element).clone()));
                }
            }
        }
    }

    /// Adds what a statement needs.
    pub(super) fn stmt(&self, program: &Program, stmt: &Stmt, uses: &mut Uses) {
        let expr = |e: &Expr, uses: &mut Uses| self.expr(program, e, uses);
        match &stmt.kind {
            StmtKind::Declare(_) => {}
            StmtKind::Block(block) => self.block(program, block, uses),
            StmtKind::Havoc(variables) => {
                variables.iter().for_each(|it| self.variable(program, *it, uses));
            }
            StmtKind::Assign { places, values } => {
                values.iter().for_each(|value| expr(value, uses));
                places.iter().for_each(|place| self.place(program, place, uses));
            }
            StmtKind::AssignText { array, .. } => {
                expr(array, uses);
                if let Type::Array(element) = &array.ty {
                    uses.sorts.insert(array.ty.clone());
                    uses.write(program, Slot::Cells((**element).clone()));
                }
            }
            StmtKind::Call { targets, procedure, arguments } => {
                arguments.iter().for_each(|argument| expr(argument, uses));
                targets.iter().for_each(|it| self.variable(program, *it, uses));
                let callee = self.procedures.get(*procedure);
                callee.iter().for_each(|other| uses.add(other));
                uses.calls.insert(*procedure);
            }
            StmtKind::New { target, object } => {
                self.variable(program, *target, uses);
                match object {
                    NewObject::Struct(id) => {
                        let sort = Type::Struct(*id);
                        uses.sorts.insert(sort.clone());
                        uses.resized.insert(sort.clone());
                        if self.frees.contains(&sort) {
                            uses.resize(program, &sort);
                        }
                    }
                    NewObject::Array { element, length } => {
                        expr(length, uses);
                        let array = Type::Array(Box::new(element.clone()));
                        let cell = Type::ArrayCell(Box::new(element.clone()));
                        uses.sorts.extend([array.clone(), cell.clone()]);
                        uses.resized.extend([array, cell]);
                    }
                }
            }
            StmtKind::Free(e) => {
                expr(e, uses);
                uses.resize(program, &e.ty);
            }
            StmtKind::Assume { condition, .. } => expr(condition, uses),
            StmtKind::Assert { condition, proof, .. } => {
                expr(condition, uses);
                proof.iter().for_each(|proof| self.block(program, proof, uses));
            }
            StmtKind::Split(e) => expr(e, uses),
            StmtKind::Return(values) => values.iter().for_each(|value| expr(value, uses)),
            StmtKind::Fold(predicate) | StmtKind::Unfold(predicate) => {
                predicate.arguments.iter().for_each(|argument| expr(argument, uses));
            }
            StmtKind::If { condition, then, otherwise } => {
                expr(condition, uses);
                self.block(program, then, uses);
                otherwise.iter().for_each(|block| self.block(program, block, uses));
            }
            StmtKind::Choose(blocks) => {
                blocks.iter().for_each(|block| self.block(program, block, uses));
            }
            StmtKind::While { before_guard, condition, invariants, body } => {
                before_guard.iter().for_each(|stmt| self.stmt(program, stmt, uses));
                expr(condition, uses);
                self.clauses(program, invariants, uses);
                self.block(program, body, uses);
            }
        }
    }

    /// Returns the lemmas and procedures that a procedure calls, itself among them if it is
    /// recursive.
    pub(super) fn reached(&self, from: ProcedureId) -> FxHashSet<ProcedureId> {
        let mut reached = FxHashSet::default();
        let direct =
            |id| self.procedures.get(id).into_iter().flat_map(|uses| uses.calls.iter().copied());
        let mut todo: Vec<ProcedureId> = direct(from).collect();
        while let Some(next) = todo.pop() {
            if reached.insert(next) {
                todo.extend(direct(next));
            }
        }
        reached
    }
}

/// Returns the sorts of which the program frees objects somewhere.
fn freed(program: &Program) -> FxHashSet<Type> {
    let mut sorts = FxHashSet::default();
    for body in program.procedures.iter().filter_map(|(_, procedure)| procedure.body.as_ref()) {
        body.for_each_stmt(&mut |stmt| {
            if let StmtKind::Free(e) = &stmt.kind {
                sorts.insert(e.ty.clone());
            }
        });
    }
    sorts
}

/// Returns all sorts of objects that structs of the program declare.
pub(super) fn all_sorts(program: &Program) -> Vec<Type> {
    program.structs.iter().map(|(id, _)| Type::Struct(id)).collect()
}

/// Does an array own its cells? The original has two readings: cells are objects of their own, or,
/// with `-simplearrays` and for its first symbolic executor, whoever owns an array owns what it
/// holds.
pub(super) fn owns_contents(program: &Program) -> bool {
    program.options.simple_arrays || program.dialect == Dialect::ClassicParts
}

/// Returns the sort of the object that holds a location.
fn holder(program: &Program, location: &Expr) -> Option<Type> {
    match &location.kind {
        ExprKind::FieldRead { field, .. } => Some(Type::Struct(program.fields[*field].parent)),
        ExprKind::Element { array, .. } => Some(super::terms::cell_type(&array.ty)),
        ExprKind::CellContent(cell) => Some(cell.ty.clone()),
        _ => None,
    }
}

/// Returns the sort of which an access is.
pub(super) fn accessed(access: &Access) -> Option<Type> {
    match access {
        Access::Object(object) => Some(object.ty.clone()),
        Access::Objects(objects) => match &objects.ty {
            Type::Set(element) => Some((**element).clone()),
            _ => None,
        },
        Access::Cell { array, .. } => match &array.ty {
            Type::Array(element) => Some(Type::ArrayCell(element.clone())),
            _ => None,
        },
        Access::Field { .. } => None,
    }
}
