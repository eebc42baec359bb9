//! Replaced code, run once more behind the new code, as ghost code on copies.

use std::cell::Cell;
use std::collections::BTreeSet;

use front::grow_stack;
use rustc_hash::{FxHashMap, FxHashSet};

use super::effects::{Effects, declared_in};
use super::{Found, error, name as member_name, own_field};
use crate::source::Span;
use crate::syntax::{
    Block, Class, DeclModifiers, Expr, ExprKind, Formal, Generated, Ident, MemberKind, Rhs,
    Signature, SpecKind, Stmt, StmtKind,
};

/// Names in the whole program.
#[derive(Default)]
pub(super) struct Names {
    /// The names of predicates and conditions: without types, a name is a predicate if any class
    /// has one that is called so.
    pub(super) predicates: FxHashSet<String>,
    /// The number of the last copy.
    pub(super) copies: Cell<usize>,
}

/// A method that is refined, and its class.
pub(super) struct Setting<'c> {
    names: &'c Names,
    /// The refined class.
    pub(super) class: &'c Class,
    /// The refining class.
    refining: &'c Class,
    /// Its fields that both sides have.
    shared: Vec<&'c str>,
    /// Its fields that only ghost code changes.
    replaced: Vec<&'c str>,
    asked: Asked,
}

/// The permissions that a contract asks for.
#[derive(Default)]
struct Asked {
    /// Fields of `this`.
    own: Vec<String>,
    /// Fields of other objects.
    others: Vec<String>,
    /// The clause may have more: predicates, credits, locks, or permissions under conditions.
    is_opaque: bool,
}

impl<'c> Setting<'c> {
    pub(super) fn new(
        names: &'c Names,
        (class, refining): (&'c Class, &'c Class),
        old: &'c Signature,
        replaced: &[String],
    ) -> Self {
        let asked = Asked::of(old, class, names);
        let (shared, replaced_fields) = Default::default();
        let mut setting = Self { names, class, refining, shared, replaced: replaced_fields, asked };
        for member in &class.members {
            let MemberKind::Field { is_ghost, is_replaced, formal, .. } = &member.kind else {
                continue;
            };
            let name = formal.name.name.as_str();
            if *is_ghost || *is_replaced || replaced.iter().any(|one| one == name) {
                setting.replaced.push(name);
            } else {
                setting.shared.push(name);
            }
        }
        setting
    }

    /// Puts new code in front of the code that it replaces; both have to agree. `variables` are
    /// those of the refined method, `added` those that refinement has added. `declared` tells
    /// whether variables that both sides declare are compared, too.
    pub(super) fn side_by_side(
        &self,
        (variables, added): (&[String], &[String]),
        old: &[Stmt],
        new: &[Stmt],
        declared: bool,
        at: Span,
    ) -> Found<Vec<Stmt>> {
        let mut before = Effects::default();
        before.of(old, &mut variables.to_vec());
        if let Some(span) = before.wild {
            let words = "replaced code changes variables and fields of `this` only: this \
                         statement cannot be compared with other code";
            return Err(error(words, span));
        }
        if let Some((_, span)) = before.others.first() {
            return Err(error("replaced code changes fields of `this` only", *span));
        }
        let mut after = Effects::default();
        after.of(new, &mut [variables, added].concat());
        for (field, span) in &after.others {
            if self.asked.is_opaque || self.asked.others.contains(field) || self.knows(field) {
                let words = format!(
                    "the refined class knows fields `{field}` of other objects, and nothing tells whether they are the same afterwards"
                );
                return Err(error(words, *span));
            }
        }
        let hides = |name: &String| {
            self.shared.contains(&name.as_str()) || self.replaced.contains(&name.as_str())
        };
        if let Some(name) = declared_in(new).into_iter().find(hides) {
            let words = format!(
                "`{name}` is a field of the refined class, whose code would read this variable"
            );
            return Err(error(words, at));
        }
        if declared && let Some(name) = self.captured(old, new) {
            let words = format!(
                "the new code needs a variable `{name}`, or other code would read the member of that name"
            );
            return Err(error(words, at));
        }
        let mut fields: BTreeSet<&str> =
            before.fields.iter().chain(&after.fields).map(String::as_str).collect();
        if let Some(span) = after.wild {
            if self.asked.is_opaque || !self.asked.others.is_empty() {
                let words = "this may change what the contract asks for beside fields of `this`, \
                             and nothing tells whether it is the same afterwards";
                return Err(error(words, span));
            }
            fields.extend(self.asked.own.iter().map(String::as_str));
        } else if let Some(field) =
            after.fields.iter().find(|one| self.replaced.contains(&one.as_str()))
        {
            let words = format!("only the refined code changes `{field}`, which is replaced");
            return Err(error(words, at));
        }
        let is_compared = |field: &&str| {
            self.shared.contains(field) || after.wild.is_some() && self.replaced.contains(field)
        };
        fields.retain(is_compared);
        let changes_heap = !before.fields.is_empty()
            || !after.fields.is_empty()
            || !after.others.is_empty()
            || after.wild.is_some();
        let number = self.names.copies.replace(self.names.copies.get() + 1);
        let mut replay = Replay {
            setting: self,
            variables: variables.to_vec(),
            copies: FxHashMap::default(),
            fields: FxHashMap::default(),
            new: declared_in(new),
            all_new: added.to_vec(),
            changes_heap,
            number,
            at,
        };
        let mut all = Vec::new();
        let changed = before.variables.union(&after.variables);
        for variable in changed.filter(|one| variables.contains(one)) {
            let copy = replay.copy_of(variable);
            all.push(keep(&copy, name(variable, at), at));
            replay.copies.insert(variable.clone(), copy);
        }
        for field in fields {
            let copy = replay.copy_of(field);
            all.push(keep(&copy, this_field(field, at), at));
            replay.fields.insert(field.to_owned(), copy);
        }
        all.extend(new.iter().cloned());
        let (variables, fields) = (replay.copies.clone(), replay.fields.clone());
        let mut ghost = replay.stmts(old)?;
        let mut pairs: Vec<(String, Expr, String)> = Vec::new();
        pairs.extend(variables.into_iter().map(|(one, copy)| (one.clone(), name(&one, at), copy)));
        pairs.extend(
            fields.into_iter().map(|(one, copy)| (one.clone(), this_field(&one, at), copy)),
        );
        if declared {
            let both = declared_in(old).into_iter().filter(|one| replay.new.contains(one));
            pairs.extend(both.filter_map(|one| {
                let copy = replay.copies.get(&one)?.clone();
                Some((one.clone(), name(&one, at), copy))
            }));
        }
        pairs.sort_by(|one, other| one.0.cmp(&other.0));
        for (called, value, copy) in pairs {
            let words = format!("`{called}` might differ from what the refined code makes of it");
            ghost.push(prove(equal(value, name(&copy, at)), words, at));
        }
        all.push(ghost_code(ghost, at));
        Ok(all)
    }

    /// Tells whether the refined class may mention a field of this name. The tree in full has each
    /// name in quotes, wherever in the class it stands.
    fn knows(&self, field: &str) -> bool {
        let tree = format!("{:?}", self.class);
        tree.contains(&format!("{field:?}")) || tree.contains("AllFields(")
    }

    /// Returns a variable of the replaced code that the new code does not have, and whose name in
    /// other code would then be that of a member.
    fn captured(&self, old: &[Stmt], new: &[Stmt]) -> Option<String> {
        let new = declared_in(new);
        let mut members = self.class.members.iter().chain(&self.refining.members);
        let mut is_member = |one: &String| {
            members.any(|member| member_name(member).is_some_and(|it| it.name == *one))
        };
        declared_in(old).into_iter().find(|one| !new.contains(one) && is_member(one))
    }

    /// Tells whether a function of the refined class reads nothing of the heap.
    fn is_of_arguments(&self, function: &str) -> bool {
        self.class.members.iter().any(|member| match &member.kind {
            MemberKind::Function { signature, .. } if signature.name.name == function => {
                signature.specs.iter().all(|spec| match &spec.kind {
                    SpecKind::Requires(clause) => !self.names.asks(clause),
                    _ => true,
                })
            }
            _ => false,
        })
    }
}

impl Asked {
    fn of(signature: &Signature, class: &Class, names: &Names) -> Self {
        let mut asked = Self::default();
        for spec in &signature.specs {
            if let SpecKind::Requires(clause) = &spec.kind {
                asked.add(clause, signature, class, names);
            }
        }
        asked
    }

    fn add(&mut self, e: &Expr, signature: &Signature, class: &Class, names: &Names) {
        match &e.kind {
            ExprKind::And(parts) => {
                for part in parts {
                    grow_stack(|| self.add(part, signature, class, names));
                }
            }
            ExprKind::Access { target, .. } => {
                let is_formal = |name: &str| {
                    let mut formals = signature.parameters.iter().chain(&signature.results);
                    formals.any(|formal| formal.name.name == name)
                };
                let is_field = |name: &str| {
                    class.members.iter().any(|member| {
                        matches!(&member.kind, MemberKind::Field { formal, .. } if formal.name.name == name)
                    })
                };
                match (own_field(target, &is_formal), &target.kind) {
                    (Some(field), _) if is_field(field) => self.own.push(field.to_owned()),
                    // The other meanings of a field: a predicate, or one that the language gives
                    // objects.
                    (None, ExprKind::Select { member, .. })
                        if !names.predicates.contains(&member.name) && member.name != "mu" =>
                    {
                        self.others.push(member.name.clone());
                    }
                    _ => self.is_opaque = true,
                }
            }
            _ => self.is_opaque |= names.asks(e),
        }
    }
}

impl Names {
    /// Tells whether an assertion may ask for permission, credits or locks. A predicate without
    /// `acc` is a name like others.
    fn asks(&self, e: &Expr) -> bool {
        e.any(&mut |part| match &part.kind {
            ExprKind::Access { .. }
            | ExprKind::Credit { .. }
            | ExprKind::Holds { .. }
            | ExprKind::Eval { .. } => true,
            ExprKind::Name(name) => self.predicates.contains(name),
            ExprKind::Select { member, .. } => self.predicates.contains(&member.name),
            _ => false,
        })
    }
}

/// Replaced code on its way to ghost code.
struct Replay<'s> {
    setting: &'s Setting<'s>,
    /// The variables of the refined method that are in scope.
    variables: Vec<String>,
    /// Copies of variables.
    copies: FxHashMap<String, String>,
    /// Copies of fields of `this`.
    fields: FxHashMap<String, String>,
    /// The variables that the new code declares.
    new: Vec<String>,
    /// The variables that earlier new code has declared.
    all_new: Vec<String>,
    /// Is the heap no longer that before the new code?
    changes_heap: bool,
    number: usize,
    at: Span,
}

impl Replay<'_> {
    fn copy_of(&self, name: &str) -> String {
        format!("{name}${}", self.number)
    }

    fn is_variable(&self, name: &str) -> bool {
        self.variables.iter().any(|one| one == name)
    }

    fn declare(&mut self, variable: &Ident) -> Ident {
        let copy = self.copy_of(&variable.name);
        self.variables.push(variable.name.clone());
        self.copies.insert(variable.name.clone(), copy.clone());
        Ident { name: copy, span: variable.span }
    }

    fn block(&mut self, block: &Block) -> Found<Block> {
        let (variables, copies) = (self.variables.clone(), self.copies.clone());
        let stmts = self.stmts(&block.stmts)?;
        (self.variables, self.copies) = (variables, copies);
        Ok(Block { stmts, span: block.span })
    }

    fn stmts(&mut self, stmts: &[Stmt]) -> Found<Vec<Stmt>> {
        let mut all = Vec::new();
        for stmt in stmts {
            all.extend(grow_stack(|| self.stmt(stmt))?);
        }
        Ok(all)
    }

    fn stmt(&mut self, stmt: &Stmt) -> Found<Vec<Stmt>> {
        let span = stmt.span;
        let kind = match &stmt.kind {
            // The code shows the assertion where it is written, and changes no values.
            StmtKind::Assert(_) | StmtKind::Fold(_) | StmtKind::Unfold(_) => return Ok(Vec::new()),
            StmtKind::Assume(fact) => {
                let words = "the refined code assumes what might not hold here";
                return Ok(vec![prove(self.expr(fact)?, words.to_owned(), self.at)]);
            }
            StmtKind::Block(block) => StmtKind::Block(self.block(block)?),
            StmtKind::Declare { formal, value, .. } => {
                let value = value.as_ref().map(|value| self.rhs(value, span)).transpose()?;
                let name = self.declare(&formal.name);
                let modifiers = DeclModifiers { is_ghost: true, is_const: false, is_spec: false };
                StmtKind::Declare {
                    modifiers,
                    formal: Formal { name, ty: formal.ty.clone() },
                    value,
                }
            }
            StmtKind::Specification { targets, pre, post, .. } => {
                return self.choice(targets, pre.as_ref(), post);
            }
            StmtKind::Assign { target, value } => {
                StmtKind::Assign { target: self.expr(target)?, value: self.rhs(value, span)? }
            }
            StmtKind::If { arms, otherwise } => {
                let mut new = arms.clone();
                for arm in &mut new {
                    arm.condition = self.expr(&arm.condition)?;
                    arm.body = self.block(&arm.body)?;
                }
                let otherwise = match otherwise {
                    None => None,
                    Some(stmt) => {
                        let block = Block { stmts: vec![(**stmt).clone()], span: stmt.span };
                        let kind = StmtKind::Block(self.block(&block)?);
                        Some(Box::new(Stmt { kind, span: stmt.span }))
                    }
                };
                StmtKind::If { arms: new, otherwise }
            }
            StmtKind::While { guard, specs, body } => {
                if !specs.iter().any(|spec| matches!(spec.kind, SpecKind::Decreases(_))) {
                    let words = "replaced code has to end, or nothing can be compared with it: \
                                 give the loop a `decreases`";
                    return Err(error(words, span));
                }
                let mut specs = specs.clone();
                for spec in &mut specs {
                    match &mut spec.kind {
                        SpecKind::Invariant(clause) => *clause = self.invariant(clause)?,
                        SpecKind::Decreases(all) | SpecKind::LockChange(all) => {
                            for e in all {
                                *e = self.expr(e)?;
                            }
                        }
                        SpecKind::Requires(_) | SpecKind::Ensures(_) => {}
                    }
                }
                StmtKind::While { guard: self.expr(guard)?, specs, body: self.block(body)? }
            }
            StmtKind::Generated(generated) => match &**generated {
                Generated::Keep { name, value } => {
                    let value = self.expr(value)?;
                    let name = self.declare(name);
                    StmtKind::Generated(Box::new(Generated::Keep { name, value }))
                }
                Generated::Ghost(block) => StmtKind::Block(self.block(block)?),
                Generated::Prove { claim, words } => {
                    return Ok(vec![prove(self.expr(claim)?, words.clone(), self.at)]);
                }
            },
            _ => return Err(error("this statement cannot be compared with other code", span)),
        };
        Ok(vec![Stmt { kind, span }])
    }

    /// A specification statement has the values that the new code has chosen.
    fn choice(&mut self, targets: &[Formal], pre: Option<&Expr>, post: &Expr) -> Found<Vec<Stmt>> {
        let mut all = Vec::new();
        if post.any(&mut |part| matches!(part.kind, ExprKind::Old(_)))
            || self.setting.names.asks(post)
        {
            let words = "a specification statement with `old` or permissions cannot be replaced";
            return Err(error(words, post.span));
        }
        if let Some(pre) = pre {
            let words = "the precondition of the refined code might not hold here";
            all.push(prove(self.expr(pre)?, words.to_owned(), self.at));
        }
        for target in targets {
            let chosen = &target.name.name;
            if !self.is_variable(chosen) {
                if !self.new.contains(chosen) && !self.all_new.contains(chosen) {
                    let words = format!(
                        "the new code has to say which value `{chosen}` has: it needs a variable of that name"
                    );
                    return Err(error(words, self.at));
                }
                let copy = self.declare(&target.name);
                all.push(keep(&copy.name, name(chosen, self.at), self.at));
            } else if let Some(copy) = self.copies.get(chosen) {
                let (target, value) = (name(copy, self.at), Rhs::Expr(name(chosen, self.at)));
                all.push(Stmt { kind: StmtKind::Assign { target, value }, span: self.at });
            }
        }
        let words = "the new code might choose values that the refined code does not allow";
        all.push(prove(self.expr(post)?, words.to_owned(), self.at));
        Ok(all)
    }

    fn rhs(&mut self, value: &Rhs, span: Span) -> Found<Rhs> {
        match value {
            Rhs::Expr(value) => Ok(Rhs::Expr(self.expr(value)?)),
            Rhs::New(_) => Err(error("objects that replaced code makes cannot be compared", span)),
        }
    }

    /// Returns an invariant without the permissions to fields that have copies.
    fn invariant(&mut self, e: &Expr) -> Found<Expr> {
        let is_variable = |name: &str| self.is_variable(name);
        let holds = |span| Expr { kind: ExprKind::Bool(true), span };
        match &e.kind {
            ExprKind::And(parts) => {
                let parts = parts.iter().map(|part| self.invariant(part)).collect::<Found<_>>()?;
                Ok(Expr { kind: ExprKind::And(parts), span: e.span })
            }
            ExprKind::Access { target, .. } => match own_field(target, &is_variable) {
                Some(field) if self.fields.contains_key(field) => Ok(holds(e.span)),
                _ => self.expr(e),
            },
            _ => self.expr(e),
        }
    }

    fn expr(&mut self, e: &Expr) -> Found<Expr> {
        let mut e = e.clone();
        self.rename(&mut e, false)?;
        Ok(e)
    }

    fn rename(&mut self, e: &mut Expr, in_old: bool) -> Found<()> {
        match &mut e.kind {
            ExprKind::Name(name) => {
                if self.is_variable(name) {
                    if let Some(copy) = self.copies.get(name) {
                        name.clone_from(copy);
                    }
                } else if let Some(copy) = self.fields.get(name).filter(|_| !in_old) {
                    name.clone_from(copy);
                }
                return Ok(());
            }
            ExprKind::Select { receiver, member } if receiver.kind == ExprKind::This => {
                if let Some(copy) = self.fields.get(&member.name).filter(|_| !in_old) {
                    e.kind = ExprKind::Name(copy.clone());
                }
                return Ok(());
            }
            ExprKind::Apply { receiver, function, .. }
                if self.changes_heap
                    && (receiver.as_ref().is_some_and(|it| it.kind != ExprKind::This)
                        || !self.setting.is_of_arguments(&function.name)) =>
            {
                let words = "replaced code that applies a function of the heap cannot be compared \
                             with code that changes the heap";
                return Err(error(words, e.span));
            }
            ExprKind::Unfolding { .. } if self.changes_heap => {
                let words = "replaced code that opens predicates cannot be compared with code \
                             that changes the heap";
                return Err(error(words, e.span));
            }
            ExprKind::Quantified { variables, .. } => {
                let outer = self.variables.len();
                self.variables.extend(variables.iter().map(|one| one.name.clone()));
                let done = self.rename_children(e, in_old);
                self.variables.truncate(outer);
                return done;
            }
            ExprKind::Old(_) => return self.rename_children(e, true),
            _ => {}
        }
        self.rename_children(e, in_old)
    }

    fn rename_children(&mut self, e: &mut Expr, in_old: bool) -> Found<()> {
        let mut done = Ok(());
        e.for_each_child_mut(&mut |child| {
            if done.is_ok() {
                done = grow_stack(|| self.rename(child, in_old));
            }
        });
        done
    }
}

fn name(name: &str, span: Span) -> Expr {
    Expr { kind: ExprKind::Name(name.to_owned()), span }
}

fn this_field(field: &str, span: Span) -> Expr {
    let receiver = Box::new(Expr { kind: ExprKind::This, span });
    let member = Ident { name: field.to_owned(), span };
    Expr { kind: ExprKind::Select { receiver, member }, span }
}

fn equal(left: Expr, right: Expr) -> Expr {
    let span = left.span;
    let (left, right) = (Box::new(left), Box::new(right));
    Expr { kind: ExprKind::Binary { op: crate::syntax::BinaryOp::Eq, left, right }, span }
}

fn generated(generated: Generated, span: Span) -> Stmt {
    Stmt { kind: StmtKind::Generated(Box::new(generated)), span }
}

fn keep(copy: &str, value: Expr, span: Span) -> Stmt {
    generated(Generated::Keep { name: Ident { name: copy.to_owned(), span }, value }, span)
}

fn prove(claim: Expr, words: String, span: Span) -> Stmt {
    generated(Generated::Prove { claim, words }, span)
}

fn ghost_code(stmts: Vec<Stmt>, span: Span) -> Stmt {
    generated(Generated::Ghost(Block { stmts, span }), span)
}
