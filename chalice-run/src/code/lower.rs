//! From the resolved program to the form that runs.

mod exprs;
mod ghosts;
mod stmts;

use chalice::program::locking::Locking;
use chalice::program::walk::applied;
use chalice::program::{
    AccessTarget, Expr as Source, ExprKind, FieldId, FieldRef, FunctionId, LocalId, Type,
};
use chalice::{Options, Program};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Channel, Class, Code, Expr, Frame, Function, Kind, Method, Predicate, Recorded, index,
};
use crate::value::{Level, Seq, Value};

/// Returns the value a variable has where nobody chose one: what the original's generated programs
/// have (Hegi 2013 took over the defaults of its platform).
pub(crate) fn default_value(ty: &Type) -> Value {
    match ty {
        Type::Int => Value::Int(0),
        Type::Bool => Value::Bool(false),
        Type::String => Value::Text("".into()),
        Type::Mu => Value::Level(Level::BOTTOM),
        Type::Seq(_) => Value::Seq(Seq::Items([].into())),
        Type::Set(_) => Value::set([]),
        Type::Null | Type::Class(_) | Type::Channel(_) | Type::Token(_) | Type::Unknown => {
            Value::Null
        }
    }
}

/// The treatment of ghosts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ghosts {
    Kept,
    Erased,
}

/// Lowers a program.
pub(super) fn lower(mut program: Program, options: Options, ghosts: Ghosts) -> Code {
    chalice::elaborate(&mut program, options);
    let (mut erased, mut needs_ghosts) = (Vec::new(), false);
    if ghosts == Ghosts::Erased {
        (erased, needs_ghosts) = ghosts::erase(&mut program);
    }
    let layout = Layout::of(&program);
    let mut code = Code {
        classes: Vec::new(),
        channels: Vec::new(),
        methods: Vec::new(),
        functions: Vec::new(),
        predicates: Vec::new(),
        erased,
        needs_ghosts,
        recorded: Recorded::Nothing,
        options,
        program: Program::default(),
    };
    for (id, _) in program.classes.iter() {
        let class = class(&program, &layout, index(id), &mut code.recorded);
        code.classes.push(class);
    }
    for (id, _) in program.channels.iter() {
        let channel = channel(&program, &layout, index(id), &mut code.recorded);
        code.channels.push(channel);
    }
    for (_, predicate) in program.predicates.iter() {
        let mut member = Lowering::new(&program, &layout);
        member.slot_of_this();
        let body = member.expr(&predicate.body);
        code.recorded = code.recorded.max(member.recorded);
        let name = predicate.name.clone();
        code.predicates.push(Predicate { name, body, frame: member.frame });
    }
    let locking = Locking::of(&program);
    for (id, source) in program.functions.iter() {
        let mut function = function(&program, &layout, options, source, &mut code.recorded);
        function.asks_for_locks = locking.is_asking(id);
        code.functions.push(function);
    }
    for (_, source) in program.methods.iter() {
        let method = method(&program, &layout, options, source, &mut code.recorded);
        code.methods.push(method);
    }
    if options.termination {
        for (id, _) in program.functions.iter() {
            code.functions[index(id) as usize].circle = circle(&program, id);
        }
    }
    code.program = program;
    code
}

/// Where fields are in their objects.
struct Layout {
    cells: FxHashMap<FieldId, u32>,
    /// By the class pointed to and the tracked field.
    back_pointers: FxHashMap<(u32, FieldId), u32>,
    /// By class: types and names of all cells, and how many are declared.
    classes: Vec<(Vec<Type>, Vec<String>, usize)>,
}

impl Layout {
    fn of(program: &Program) -> Self {
        let mut layout = Self {
            cells: FxHashMap::default(),
            back_pointers: FxHashMap::default(),
            classes: Vec::new(),
        };
        for (_, class) in program.classes.iter() {
            let (mut types, mut names) = (vec![Type::Mu], vec!["mu".to_owned()]);
            for field in class.fields() {
                layout.cells.insert(field, types.len() as u32);
                types.push(program.fields[field].ty.clone());
                names.push(program.fields[field].name.clone());
            }
            let declared = types.len() - 1;
            layout.classes.push((types, names, declared));
        }
        for (id, field) in program.fields.iter() {
            let Type::Class(target) = &field.ty else { continue };
            if field.is_tracked {
                let (types, names, _) = &mut layout.classes[index(*target) as usize];
                layout.back_pointers.insert((index(*target), id), types.len() as u32);
                let source = &program.classes[field.class].name;
                types.push(Type::Set(Box::new(Type::Class(field.class))));
                names.push(format!("~({source}.{})", field.name));
            }
        }
        layout
    }
}

/// Lowers one member.
struct Lowering<'p> {
    program: &'p Program,
    layout: &'p Layout,
    frame: Frame,
    slots: FxHashMap<LocalId, u32>,
    /// Slots of the flags that say whether a constant is assigned.
    flags: FxHashMap<LocalId, u32>,
    result: Option<u32>,
    saw_old: bool,
    saw_read: bool,
    recorded: Recorded,
    body: stmts::Body,
}

impl<'p> Lowering<'p> {
    fn new(program: &'p Program, layout: &'p Layout) -> Self {
        Self {
            program,
            layout,
            frame: Frame::default(),
            slots: FxHashMap::default(),
            flags: FxHashMap::default(),
            result: None,
            saw_old: false,
            saw_read: false,
            recorded: Recorded::Nothing,
            body: stmts::Body::default(),
        }
    }

    fn new_slot(&mut self, ty: &Type, name: Option<&str>) -> u32 {
        self.frame.initial.push(default_value(ty));
        self.frame.names.push(name.map(str::to_owned));
        self.frame.types.push(Some(ty.clone()));
        self.frame.initial.len() as u32 - 1
    }

    /// Slot 0, which the names of the frame do not list: it is shown as the object itself.
    fn slot_of_this(&mut self) {
        self.new_slot(&Type::Null, None);
    }

    /// Returns the slot of a variable, made when it is first met.
    fn slot(&mut self, local: LocalId) -> u32 {
        if let Some(&slot) = self.slots.get(&local) {
            return slot;
        }
        let declared = &self.program.locals[local];
        let slot = self.new_slot(&declared.ty, Some(&declared.name));
        self.slots.insert(local, slot);
        if declared.is_const {
            let flag = self.new_slot(&Type::Bool, None);
            self.flags.insert(local, flag);
            self.frame.constants.push((slot, flag));
        }
        slot
    }

    fn slots_of(&mut self, locals: &[LocalId]) {
        for &local in locals {
            self.slot(local);
        }
    }

    fn exprs(&mut self, sources: &[Source]) -> Vec<Expr> {
        sources.iter().map(|source| self.expr(source)).collect()
    }

    fn cell(&self, field: FieldRef) -> u32 {
        match field {
            FieldRef::Declared(field) => self.layout.cells[&field],
            FieldRef::Mu | FieldRef::Joinable => 0,
        }
    }
}

fn class(program: &Program, layout: &Layout, id: u32, recorded: &mut Recorded) -> Class {
    let (_, source) = program.classes.iter().nth(id as usize).expect("the id is in the arena");
    let mut member = Lowering::new(program, layout);
    member.slot_of_this();
    let invariants = member.exprs(&source.invariants);
    *recorded = (*recorded).max(member.recorded);
    let (cells, cell_names, declared) = layout.classes[id as usize].clone();
    let is_tracked = |field: &FieldId| program.fields[*field].is_tracked;
    let tracked = source.fields().filter(is_tracked).map(|field| layout.cells[&field]).collect();
    Class {
        name: source.name.clone(),
        cells,
        tracked,
        cell_names,
        declared,
        invariants,
        frame: member.frame,
        has_history: member.saw_old,
        prints: source.is_external && source.name == "ChalicePrint",
        is_external: source.is_external,
    }
}

fn channel(program: &Program, layout: &Layout, id: u32, recorded: &mut Recorded) -> Channel {
    let (_, source) = program.channels.iter().nth(id as usize).expect("the id is in the arena");
    let mut member = Lowering::new(program, layout);
    member.slot_of_this();
    member.slots_of(&source.parameters);
    let where_clause = source.where_clause.as_ref().map(|clause| member.expr(clause));
    *recorded = (*recorded).max(member.recorded);
    let (name, parameters) = (source.name.clone(), source.parameters.len());
    Channel { name, parameters, where_clause, frame: member.frame }
}

fn function(
    program: &Program,
    layout: &Layout,
    options: Options,
    source: &chalice::program::Function,
    recorded: &mut Recorded,
) -> Function {
    let mut member = Lowering::new(program, layout);
    member.slot_of_this();
    member.slots_of(&source.parameters);
    let result = member.new_slot(&source.result, None);
    member.result = Some(result);
    let requires = member.exprs(&source.requires);
    let ensures = member.exprs(&source.ensures);
    let decreases = source.decreases.iter().map(|one| member.expr(&one.number)).collect();
    let mut body = source.body.as_ref().map(|body| member.expr(body));
    if options.defaults >= 1 {
        let own = member.own_predicates(&source.requires);
        body = body.map(|body| own.into_iter().rev().fold(body, opened_around));
    }
    let definition = source.ensures.iter().find_map(|clause| member.definition(clause));
    *recorded = (*recorded).max(member.recorded);
    Function {
        name: qualified(program, source.class, &source.name),
        class: index(source.class),
        is_static: source.is_static,
        asks_for_locks: false,
        parameters: source.parameters.len(),
        requires,
        ensures,
        decreases,
        circle: Vec::new(),
        body,
        definition,
        frame: member.frame,
        span: source.span,
    }
}

/// Returns the functions with a measure that the body of one with a measure applies, and that may
/// apply it in turn.
fn circle(program: &Program, id: FunctionId) -> Vec<u32> {
    if program.functions[id].decreases.is_empty() {
        return Vec::new();
    }
    let has_measure = |other: &FunctionId| !program.functions[*other].decreases.is_empty();
    let leads_back = |other: &FunctionId| {
        let (mut pending, mut seen) = (vec![*other], FxHashSet::default());
        while let Some(function) = pending.pop() {
            if function == id {
                return true;
            }
            if seen.insert(function) {
                pending.extend(applied(&program.functions[function].body));
            }
        }
        false
    };
    let applied = applied(&program.functions[id].body).into_iter();
    applied.filter(has_measure).filter(leads_back).map(index).collect()
}

/// Returns the body with a predicate of the precondition open, if it is not below a condition.
fn opened_around(body: Expr, predicate: Expr) -> Expr {
    let Kind::Access(access) = predicate.kind else { return body };
    let (span, is_pure) = (body.span, body.is_pure);
    Expr { kind: Kind::Unfolding(Box::new((*access, body))), span, is_pure }
}

fn method(
    program: &Program,
    layout: &Layout,
    options: Options,
    source: &chalice::program::Method,
    recorded: &mut Recorded,
) -> Method {
    let mut member = Lowering::new(program, layout);
    member.slot_of_this();
    member.slots_of(&source.parameters);
    member.slots_of(&source.results);
    let requires = member.exprs(&source.requires);
    let ensures = member.exprs(&source.ensures);
    let has_read_fraction = member.saw_read;
    let lock_changes = member.exprs(&source.lock_changes);
    let (mut opened, mut closed) = (Vec::new(), Vec::new());
    if options.defaults >= 1 {
        opened = member.own_predicates(&source.requires);
        closed = member.own_predicates(&source.ensures);
    }
    let (body, loops) = member.method_body(&source.body);
    *recorded = (*recorded).max(member.recorded);
    Method {
        name: qualified(program, source.class, &source.name),
        class: index(source.class),
        parameters: source.parameters.len(),
        results: source.results.len(),
        requires,
        ensures,
        lock_changes,
        body: body.into(),
        loops,
        frame: member.frame,
        has_read_fraction,
        has_old: member.saw_old,
        span: source.span,
        opened,
        closed,
    }
}

fn qualified(program: &Program, class: chalice::program::ClassId, name: &str) -> String {
    format!("{}.{name}", program.classes[class].name)
}

impl Lowering<'_> {
    /// Returns the predicates of the receiver that clauses mention, below their conditions.
    fn own_predicates(&mut self, clauses: &[Source]) -> Vec<Expr> {
        let mut found = Vec::new();
        for clause in clauses {
            self.collect_own(clause, &mut Vec::new(), &mut found);
        }
        found
    }

    fn collect_own(&mut self, clause: &Source, guards: &mut Vec<Expr>, found: &mut Vec<Expr>) {
        match &clause.kind {
            ExprKind::And(parts) => {
                for part in parts {
                    self.collect_own(part, guards, found);
                }
            }
            ExprKind::Implies { guard, body } => {
                let guard = self.expr(guard);
                guards.push(guard);
                self.collect_own(body, guards, found);
                guards.pop();
            }
            ExprKind::Access(access) => {
                let AccessTarget::Predicate { receiver, .. } = &access.target else { return };
                if matches!(receiver.kind, ExprKind::This) {
                    let access = self.expr(clause);
                    found.push(guards.iter().rev().fold(access, |body, guard| Expr {
                        span: body.span,
                        is_pure: body.is_pure,
                        kind: Kind::Implies(Box::new((guard.clone(), body))),
                    }));
                }
            }
            _ => {}
        }
    }

    /// `e` of a clause `result == e` in which the value does not occur otherwise.
    fn definition(&mut self, clause: &Source) -> Option<Expr> {
        let ExprKind::Binary { op: chalice::program::BinaryOp::Eq, left, right } = &clause.kind
        else {
            return None;
        };
        let is_result = |e: &Source| matches!(e.kind, ExprKind::Result);
        let other = match (is_result(left), is_result(right)) {
            (true, false) => right,
            (false, true) => left,
            _ => return None,
        };
        if other.any(&mut |part| is_result(part)) {
            return None;
        }
        Some(self.expr(other))
    }
}
