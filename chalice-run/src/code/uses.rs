//! The uses of a method: the expressions of its statements, and the functions and predicates in
//! those.

use front::grow_stack;
use rustc_hash::FxHashSet;

use super::{Access, Bound, Bounds, Code, Expr, Frame, Kind, Op, Rhs, Target};

/// A use in a contract or body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Used {
    /// A function: its contract and its body.
    Function(u32),
    /// A predicate: its body.
    Predicate(u32),
    /// The precondition of a method.
    Precondition(u32),
    /// A method: its contract and its body.
    Method(u32),
}

impl Used {
    /// Returns its variables, if it has some of its own.
    pub(crate) fn frame(self, code: &Code) -> &Frame {
        match self {
            Self::Function(function) => &code.functions[function as usize].frame,
            Self::Predicate(predicate) => &code.predicates[predicate as usize].frame,
            Self::Precondition(method) | Self::Method(method) => {
                &code.methods[method as usize].frame
            }
        }
    }

    /// Calls `visit` on each expression that it consists of; those inside of others do not count.
    pub(crate) fn for_each_expr<'c>(self, code: &'c Code, visit: &mut dyn FnMut(&'c Expr)) {
        match self {
            Self::Function(function) => {
                let function = &code.functions[function as usize];
                let clauses = function.requires.iter().chain(&function.ensures);
                let clauses = clauses.chain(&function.decreases);
                clauses.chain(&function.body).for_each(visit);
            }
            Self::Predicate(predicate) => visit(&code.predicates[predicate as usize].body),
            Self::Precondition(method) => {
                code.methods[method as usize].requires.iter().for_each(visit);
            }
            Self::Method(method) => {
                let method = &code.methods[method as usize];
                let clauses = method.requires.iter().chain(&method.ensures);
                clauses.chain(&method.lock_changes).for_each(&mut *visit);
                method.body.iter().for_each(|instr| instr.op.for_each_expr(visit));
                for described in &method.loops {
                    visit(&described.guard);
                    let clauses = described.invariants.iter().chain(&described.lock_changes);
                    clauses.for_each(&mut *visit);
                }
            }
        }
    }
}

impl Code {
    /// Lists everything that a run of a method may come to: the methods that it calls and forks,
    /// directly and through others, itself among them, and the functions and predicates that all of
    /// these mention.
    pub(crate) fn reached_from(&self, method: u32) -> Vec<Used> {
        let mut reached = Vec::new();
        let mut seen = FxHashSet::default();
        let mut later = vec![Used::Method(method)];
        while let Some(used) = later.pop() {
            if !seen.insert(used) {
                continue;
            }
            reached.push(used);
            used.for_each_expr(self, &mut |e| e.for_each_used(&mut |used| later.push(used)));
            let Used::Method(method) = used else { continue };
            for instr in &*self.methods[method as usize].body {
                instr.op.for_each_used(&mut |used| later.push(used));
                if let Op::Call(site) | Op::Fork(site) = &instr.op {
                    later.push(Used::Method(site.method));
                }
            }
        }
        reached
    }

    /// Lists the assumptions of runs of a method, in words: the bodies of methods that are
    /// implemented elsewhere and, unless that is checked, the claim that functions read only the
    /// permissions of their preconditions.
    pub fn taken_for_granted(&self, method: u32, checks_functions: bool) -> Vec<String> {
        let mut granted: Vec<String> = Vec::new();
        let mut functions = Vec::new();
        for used in self.reached_from(method) {
            match used {
                Used::Method(method) => {
                    let method = &self.methods[method as usize];
                    let class = &self.classes[method.class as usize];
                    if class.is_external && !class.prints {
                        let name = &method.name;
                        granted.push(format!("{name} is external: its body is taken as written"));
                    }
                }
                Used::Function(function) => {
                    let function = &self.functions[function as usize];
                    let reads =
                        |e: &Expr| e.any(&mut |part| matches!(part.kind, Kind::Field { .. }));
                    if !checks_functions && function.body.as_ref().is_some_and(reads) {
                        functions.push(function.name.as_str());
                    }
                }
                Used::Predicate(_) | Used::Precondition(_) => {}
            }
        }
        granted.sort();
        granted.splice(0..0, self.options.trusted().map(|it| format!("trusted: {it}")));
        functions.sort_unstable();
        if let Some(first) = functions.first() {
            let (who, verb) = match functions.len() {
                1 => ((*first).to_owned(), "reads"),
                more => (format!("{first} and {} more", more - 1), "read"),
            };
            granted.push(format!(
                "what {who} {verb} was not compared with the precondition: --check-functions does"
            ));
        }
        granted
    }
}

impl Expr {
    /// Calls `visit` on each function and predicate that it mentions.
    pub(crate) fn for_each_used(&self, visit: &mut dyn FnMut(Used)) {
        match &self.kind {
            Kind::Apply { function, .. } => visit(Used::Function(*function)),
            Kind::Access(access) => access.predicate().into_iter().for_each(&mut *visit),
            Kind::Unfolding(parts) => parts.0.predicate().into_iter().for_each(&mut *visit),
            _ => {}
        }
        grow_stack(|| self.for_each_child(&mut |child| child.for_each_used(visit)));
    }
}

impl Access {
    /// Returns the predicate, if it is about instances of one.
    pub(crate) fn predicate(&self) -> Option<Used> {
        match &self.target {
            Target::Predicate { predicate, .. } | Target::Predicates { predicate, .. } => {
                Some(Used::Predicate(*predicate))
            }
            Target::Cell { .. } | Target::AllFields { .. } | Target::Elements { .. } => None,
        }
    }
}

impl Op {
    /// Calls `visit` on each expression of the statement; those inside of others do not count.
    pub(crate) fn for_each_expr<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match self {
            Self::Assert(e, _)
            | Self::Assume(e)
            | Self::Branch { condition: e, .. }
            | Self::Unshare(e)
            | Self::Downgrade(e)
            | Self::Free(e)
            | Self::Acquire { target: e, .. }
            | Self::Release { target: e, .. }
            | Self::Join { token: e, .. }
            | Self::Receive { channel: e, .. } => visit(e),
            Self::Assign { value, .. } => value.for_each_expr(visit),
            Self::AssignField { receiver, value, .. } => {
                visit(receiver);
                value.for_each_expr(visit);
            }
            Self::Specification(specification) => {
                specification.pre.iter().for_each(&mut *visit);
                visit(&specification.post);
            }
            Self::Call(site) | Self::Fork(site) => {
                visit(&site.receiver);
                site.arguments.iter().for_each(visit);
            }
            Self::Place { target, bounds, .. } => {
                visit(target);
                bounds.for_each_expr(visit);
            }
            Self::Send { channel, arguments } => {
                visit(channel);
                arguments.iter().for_each(visit);
            }
            Self::Fold(access) | Self::Unfold(access) => access.target.receiver(visit),
            Self::Havoc { .. }
            | Self::Jump(_)
            | Self::LoopEnter(_)
            | Self::LoopTest(_)
            | Self::LoopBack(_)
            | Self::Unsupported(_)
            | Self::Return => {}
        }
    }

    /// Calls `visit` on each function, predicate and precondition that the statement mentions.
    pub(crate) fn for_each_used(&self, visit: &mut dyn FnMut(Used)) {
        self.for_each_expr(&mut |e| e.for_each_used(visit));
        match self {
            Self::Call(site) | Self::Fork(site) => visit(Used::Precondition(site.method)),
            Self::Fold(access) | Self::Unfold(access) => {
                access.predicate().into_iter().for_each(visit);
            }
            _ => {}
        }
    }
}

impl Rhs {
    fn for_each_expr<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match self {
            Self::Expr(e) => visit(e),
            Self::New { initialisers, .. } => initialisers.iter().for_each(|one| visit(&one.value)),
            Self::NewChannel { bounds, .. } => bounds.for_each_expr(visit),
        }
    }
}

impl Bounds {
    fn for_each_expr<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        for bound in self.lower.iter().chain(&self.upper) {
            if let Bound::Object(e) | Bound::Level(e) = bound {
                visit(e);
            }
        }
    }
}
