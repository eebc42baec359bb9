//! Coupling invariants: who asks for a replaced field asks for what it is tied to, too.

use front::grow_stack;

use super::{Found, error, own_field};
use crate::source::Span;
use crate::syntax::{
    AccessForm, Block, Class, Expr, ExprKind, Generated, Ident, Member, MemberKind, Signature,
    SpecKind, Stmt, StmtKind,
};

/// `replaces f, g by e`
pub(super) struct Coupling {
    pub(super) fields: Vec<String>,
    /// The locations and predicates that `e` asks for, as a whole.
    places: Vec<Expr>,
    /// The rest of `e`.
    facts: Vec<Expr>,
}

/// Returns the coupling invariants of a class.
pub(super) fn of(class: &Class, refined: &Class) -> Found<Vec<Coupling>> {
    let mut all: Vec<Coupling> = Vec::new();
    for member in &class.members {
        let MemberKind::Coupling { fields, invariant } = &member.kind else { continue };
        for (at, field) in fields.iter().enumerate() {
            let is_field = |one: &Member| matches!(&one.kind, MemberKind::Field { formal, is_ghost: false, is_replaced: false, .. } if formal.name.name == field.name);
            if !refined.members.iter().any(is_field) {
                let (of, name) = (&refined.name.name, &field.name);
                return Err(error(format!("`{of}` has no field `{name}` to replace"), field.span));
            }
            let is_replaced = all.iter().any(|other| other.fields.contains(&field.name));
            if is_replaced || fields[..at].iter().any(|one| one.name == field.name) {
                return Err(error(format!("`{}` is replaced twice", field.name), field.span));
            }
        }
        let fields: Vec<_> = fields.iter().map(|field| field.name.clone()).collect();
        let mut coupling = Coupling { fields, places: Vec::new(), facts: Vec::new() };
        let mut invariant = invariant.clone();
        qualify(&mut invariant, &mut Vec::new());
        coupling.add(&invariant, &|name| {
            class.members.iter().chain(&refined.members).any(|member| {
                matches!(&member.kind, MemberKind::Predicate { name: one, .. } if one.name == name)
            })
        })?;
        all.push(coupling);
    }
    let is_replaced = |place: &Expr| {
        let field = own_field(place, &|_| false);
        field.is_some_and(|field| all.iter().any(|one| one.fields.iter().any(|of| of == field)))
    };
    match all.iter().flat_map(|one| &one.places).find(|place| is_replaced(place)) {
        Some(place) => Err(error(
            "who asks for a replaced field has it: the coupling asks for others",
            place.span,
        )),
        None => Ok(all),
    }
}

impl Coupling {
    /// Claims that the coupling holds where a method ends that gives the fields back. The
    /// contract says the same; here it has a name of its own.
    pub(super) fn at_end(&self, contract: &Signature, at: Span) -> Vec<Stmt> {
        let names: Vec<_> = contract.parameters.iter().chain(&contract.results).collect();
        let is_variable = |name: &str| names.iter().any(|one| one.name.name == name);
        let gives = |clause: &Expr| {
            let parts = match &clause.kind {
                ExprKind::And(parts) => parts.as_slice(),
                _ => std::slice::from_ref(clause),
            };
            let given = |part: &Expr| {
                asked(part, &is_variable)
                    .is_some_and(|one| self.fields.iter().any(|field| field == one))
            };
            parts.iter().any(given)
        };
        let gives_back = contract.specs.iter().any(|spec| match &spec.kind {
            SpecKind::Ensures(clause) => gives(clause),
            _ => false,
        });
        let claim = |fact: &Expr| {
            let words = "the coupling invariant might not hold where the new code ends";
            let claim = Expr { span: at, ..fact.clone() };
            let generated = Generated::Prove { claim, words: words.to_owned() };
            Stmt { kind: StmtKind::Generated(Box::new(generated)), span: at }
        };
        if gives_back { self.facts.iter().map(claim).collect() } else { Vec::new() }
    }

    /// Sorts the conjuncts of the invariant.
    fn add(&mut self, e: &Expr, is_predicate: &dyn Fn(&str) -> bool) -> Found<()> {
        match &e.kind {
            ExprKind::And(parts) => parts.iter().try_for_each(|part| self.add(part, is_predicate)),
            ExprKind::Access { form: AccessForm::Acc, target, amount: None } => {
                self.places.push((**target).clone());
                Ok(())
            }
            ExprKind::Select { receiver, member }
                if receiver.kind == ExprKind::This && is_predicate(&member.name) =>
            {
                self.places.push(e.clone());
                Ok(())
            }
            _ => {
                let asks = |part: &Expr| {
                    matches!(&part.kind, ExprKind::Access { .. } | ExprKind::Credit { .. })
                        || matches!(&part.kind, ExprKind::Select { member, .. } if is_predicate(&member.name))
                };
                let is_opened = matches!(e.kind, ExprKind::Unfolding { .. });
                if !is_opened && e.any(&mut |part| asks(part)) {
                    let words =
                        "a coupling invariant asks for whole locations, outside of conditions";
                    return Err(error(words, e.span));
                }
                self.facts.push(e.clone());
                Ok(())
            }
        }
    }

    /// Returns the parts that come with the replaced fields, asked for in the amount of `asked`.
    fn parts(&self, asked: &Expr) -> Vec<Expr> {
        let ExprKind::Access { form, amount, .. } = &asked.kind else { return Vec::new() };
        let place = |place: &Expr| {
            let target = Box::new(place.clone());
            let kind = ExprKind::Access { form: *form, target, amount: amount.clone() };
            Expr { kind, span: asked.span }
        };
        let facts = self.facts.iter().map(|fact| Expr { span: asked.span, ..fact.clone() });
        self.places.iter().map(place).chain(facts).collect()
    }
}

/// Names members as those of `this`: where the coupling comes to stand, a variable may have the
/// same name.
fn qualify(e: &mut Expr, bound: &mut Vec<String>) {
    match &mut e.kind {
        ExprKind::Name(name) if !bound.contains(name) => {
            let member = Ident { name: std::mem::take(name), span: e.span };
            let receiver = Box::new(Expr { kind: ExprKind::This, span: e.span });
            e.kind = ExprKind::Select { receiver, member };
        }
        ExprKind::Quantified { variables, .. } => {
            let outer = bound.len();
            bound.extend(variables.iter().map(|variable| variable.name.clone()));
            e.for_each_child_mut(&mut |child| grow_stack(|| qualify(child, bound)));
            bound.truncate(outer);
        }
        _ => e.for_each_child_mut(&mut |child| grow_stack(|| qualify(child, bound))),
    }
}

/// Makes the replaced fields of a member ghosts, and adds the coupling to its assertions.
pub(super) fn couple_member(member: &mut Member, couplings: &[Coupling]) -> Found<()> {
    if couplings.is_empty() {
        return Ok(());
    }
    match &mut member.kind {
        MemberKind::Field { is_replaced, formal, .. } => {
            *is_replaced |= couplings.iter().any(|one| one.fields.contains(&formal.name.name));
            Ok(())
        }
        MemberKind::Invariant(clause) | MemberKind::Predicate { body: clause, .. } => {
            couple(clause, couplings, &|_| false)
        }
        MemberKind::Condition { where_clause, .. } => {
            where_clause.iter_mut().try_for_each(|clause| couple(clause, couplings, &|_| false))
        }
        MemberKind::Function { signature, .. } => couple_signature(signature, couplings),
        MemberKind::Method { signature, body } => {
            couple_signature(signature, couplings)?;
            let mut names: Vec<String> = Vec::new();
            let formals = signature.parameters.iter().chain(&signature.results);
            names.extend(formals.map(|formal| formal.name.name.clone()));
            couple_block(body, couplings, &mut names)
        }
        MemberKind::Coupling { .. } | MemberKind::Refine { .. } | MemberKind::Transform { .. } => {
            Ok(())
        }
    }
}

fn couple_signature(signature: &mut Signature, couplings: &[Coupling]) -> Found<()> {
    let formals = signature.parameters.iter().chain(&signature.results);
    let names: Vec<_> = formals.map(|formal| formal.name.name.clone()).collect();
    let is_variable = |name: &str| names.iter().any(|one| one == name);
    signature.specs.iter_mut().try_for_each(|spec| match &mut spec.kind {
        SpecKind::Requires(clause) | SpecKind::Ensures(clause) | SpecKind::Invariant(clause) => {
            couple(clause, couplings, &is_variable)
        }
        SpecKind::LockChange(_) | SpecKind::Decreases(_) => Ok(()),
    })
}

/// Assertions in a body: those of loops and of `assert`.
fn couple_block(block: &mut Block, couplings: &[Coupling], names: &mut Vec<String>) -> Found<()> {
    let outer = names.len();
    for stmt in &mut block.stmts {
        grow_stack(|| couple_stmt(stmt, couplings, names))?;
    }
    names.truncate(outer);
    Ok(())
}

fn couple_stmt(stmt: &mut Stmt, couplings: &[Coupling], names: &mut Vec<String>) -> Found<()> {
    match &mut stmt.kind {
        StmtKind::Assert(clause) | StmtKind::Assume(clause) => {
            couple(clause, couplings, &|name| names.iter().any(|one| one == name))
        }
        StmtKind::Declare { formal, .. } => {
            names.push(formal.name.name.clone());
            Ok(())
        }
        StmtKind::Specification { targets, .. } => {
            names.extend(targets.iter().map(|formal| formal.name.name.clone()));
            Ok(())
        }
        StmtKind::Call { outs, .. } | StmtKind::Receive { outs, .. } => {
            names.extend(outs.iter().map(|out| out.name.clone()));
            Ok(())
        }
        StmtKind::Fork { token, .. } => {
            names.extend(token.iter().map(|token| token.name.clone()));
            Ok(())
        }
        StmtKind::Block(block) | StmtKind::Lock { body: block, .. } | StmtKind::LockThis(block) => {
            couple_block(block, couplings, names)
        }
        StmtKind::If { arms, otherwise } => {
            for arm in arms {
                couple_block(&mut arm.body, couplings, names)?;
            }
            otherwise.iter_mut().try_for_each(|stmt| {
                let outer = names.len();
                let done = couple_stmt(stmt, couplings, names);
                names.truncate(outer);
                done
            })
        }
        StmtKind::While { specs, body, .. } => {
            for spec in specs {
                if let SpecKind::Invariant(clause) = &mut spec.kind {
                    couple(clause, couplings, &|name| names.iter().any(|one| one == name))?;
                }
            }
            couple_block(body, couplings, names)
        }
        _ => Ok(()),
    }
}

/// Adds the coupling behind each place where replaced fields are asked for.
fn couple(e: &mut Expr, couplings: &[Coupling], is_variable: &dyn Fn(&str) -> bool) -> Found<()> {
    match &mut e.kind {
        ExprKind::And(parts) => {
            let mut all = std::mem::take(parts);
            for part in &mut all {
                if asked(part, is_variable).is_none() {
                    grow_stack(|| couple(part, couplings, is_variable))?;
                }
            }
            *parts = coupled(all, couplings, is_variable)?;
            Ok(())
        }
        ExprKind::Access { target, .. } => {
            if matches!(&target.kind, ExprKind::AllFields(object) if object.kind == ExprKind::This)
            {
                let words = "`this.*` includes replaced fields: name the fields that are meant";
                return Err(error(words, e.span));
            }
            let span = e.span;
            let mut all = coupled(vec![e.clone()], couplings, is_variable)?;
            if all.len() == 1 {
                *e = all.remove(0);
            } else {
                *e = Expr { kind: ExprKind::And(all), span };
            }
            Ok(())
        }
        ExprKind::Unfolding { .. } => Ok(()),
        _ => {
            let mut done = Ok(());
            e.for_each_child_mut(&mut |child| {
                if done.is_ok() {
                    done = grow_stack(|| couple(child, couplings, is_variable));
                }
            });
            done
        }
    }
}

/// Returns the field of `this` that a conjunct asks for.
fn asked<'e>(e: &'e Expr, is_variable: &dyn Fn(&str) -> bool) -> Option<&'e str> {
    match &e.kind {
        ExprKind::Access { target, .. } => own_field(target, is_variable),
        _ => None,
    }
}

/// Conjuncts with the coupling of the fields among them, behind the last of these.
fn coupled(
    mut all: Vec<Expr>,
    couplings: &[Coupling],
    is_variable: &dyn Fn(&str) -> bool,
) -> Found<Vec<Expr>> {
    for coupling in couplings {
        for times in 0.. {
            // The asked-for places of each field, in order.
            let places: Vec<Option<usize>> = coupling
                .fields
                .iter()
                .map(|field| {
                    let is_asked =
                        |(_, part): &(usize, &Expr)| asked(part, is_variable) == Some(field);
                    all.iter().enumerate().filter(is_asked).nth(times).map(|(at, _)| at)
                })
                .collect();
            let Some(last) = places.iter().flatten().max().copied() else { break };
            let amounts: Vec<_> = places.iter().flatten().map(|&at| amount(&all[at])).collect();
            if places.iter().any(Option::is_none) || amounts.iter().any(|one| *one != amounts[0]) {
                let words = "fields that are replaced together are asked for together: side by \
                             side, with the same amount";
                return Err(error(words, all[last].span));
            }
            let parts = coupling.parts(&all[last]);
            all.splice(last + 1..=last, parts);
        }
    }
    Ok(all)
}

/// Returns the form of an access and its amount.
fn amount(e: &Expr) -> Option<(AccessForm, Option<&Expr>)> {
    match &e.kind {
        ExprKind::Access { form, amount, .. } => Some((*form, amount.as_deref())),
        _ => None,
    }
}
