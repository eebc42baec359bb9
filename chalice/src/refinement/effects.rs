//! The effects of code: which variables and fields it changes.

use std::collections::BTreeSet;

use front::grow_stack;

use super::own_field;
use crate::source::Span;
use crate::syntax::{ExprKind, Generated, Stmt, StmtKind};

/// The variables and fields that statements change.
#[derive(Default)]
pub(super) struct Effects {
    pub(super) variables: BTreeSet<String>,
    pub(super) fields: BTreeSet<String>,
    /// Fields of other objects, with a place.
    pub(super) others: Vec<(String, Span)>,
    /// A statement that may change whatever it has permission to.
    pub(super) wild: Option<Span>,
}

impl Effects {
    /// Notes the effects of statements; `scope` has the variables that there are.
    pub(super) fn of(&mut self, stmts: &[Stmt], scope: &mut Vec<String>) {
        let outer = scope.len();
        for stmt in stmts {
            grow_stack(|| self.stmt(stmt, scope));
        }
        let declared = scope.split_off(outer);
        self.variables.retain(|one| !declared.contains(one) || scope.contains(one));
    }

    fn stmt(&mut self, stmt: &Stmt, scope: &mut Vec<String>) {
        match &stmt.kind {
            StmtKind::Assert(_) | StmtKind::Assume(_) | StmtKind::Fold(_) | StmtKind::Unfold(_) => {
            }
            StmtKind::Block(block) => self.of(&block.stmts, scope),
            StmtKind::Declare { formal, .. } => scope.push(formal.name.name.clone()),
            StmtKind::Specification { targets, .. } => {
                for target in targets {
                    if scope.contains(&target.name.name) {
                        self.variables.insert(target.name.name.clone());
                    } else {
                        scope.push(target.name.name.clone());
                    }
                }
            }
            StmtKind::Assign { target, .. } => match &target.kind {
                ExprKind::Name(name) if scope.contains(name) => {
                    self.variables.insert(name.clone());
                }
                _ => match own_field(target, &|_| false) {
                    Some(field) => {
                        self.fields.insert(field.to_owned());
                    }
                    None => {
                        if let ExprKind::Select { member, .. } = &target.kind {
                            self.others.push((member.name.clone(), stmt.span));
                        }
                    }
                },
            },
            StmtKind::If { arms, otherwise } => {
                arms.iter().for_each(|arm| self.of(&arm.body.stmts, scope));
                otherwise.iter().for_each(|one| self.of(std::slice::from_ref(one), scope));
            }
            StmtKind::While { body, .. } => self.of(&body.stmts, scope),
            StmtKind::Generated(generated) => match &**generated {
                Generated::Keep { name, .. } => scope.push(name.name.clone()),
                Generated::Ghost(block) => self.of(&block.stmts, scope),
                Generated::Prove { .. } => {}
            },
            StmtKind::Call { outs, .. }
            | StmtKind::Receive { outs, .. }
            | StmtKind::Join { outs, .. } => {
                for out in outs {
                    if scope.contains(&out.name) {
                        self.variables.insert(out.name.clone());
                    } else {
                        scope.push(out.name.clone());
                    }
                }
                self.wild.get_or_insert(stmt.span);
            }
            StmtKind::Fork { token, .. } => {
                self.variables.extend(token.iter().map(|token| token.name.clone()));
                self.wild.get_or_insert(stmt.span);
            }
            StmtKind::Lock { body, .. } | StmtKind::LockThis(body) => {
                self.of(&body.stmts, scope);
                self.wild.get_or_insert(stmt.span);
            }
            StmtKind::Share { .. }
            | StmtKind::Reorder { .. }
            | StmtKind::Unshare(_)
            | StmtKind::Acquire { .. }
            | StmtKind::Release { .. }
            | StmtKind::Downgrade(_)
            | StmtKind::Free(_)
            | StmtKind::Send { .. }
            | StmtKind::Wait(_)
            | StmtKind::Signal { .. } => {
                self.wild.get_or_insert(stmt.span);
            }
        }
    }
}

/// Returns the variables that statements declare, apart from those in blocks among them.
pub(super) fn declared_in(stmts: &[Stmt]) -> Vec<String> {
    let mut all = Vec::new();
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Declare { formal, .. } => all.push(formal.name.name.clone()),
            StmtKind::Specification { targets, .. } => {
                all.extend(targets.iter().map(|target| target.name.name.clone()));
            }
            StmtKind::Call { outs, .. } | StmtKind::Receive { outs, .. } => {
                all.extend(outs.iter().map(|out| out.name.clone()));
            }
            StmtKind::Fork { token, .. } => all.extend(token.iter().map(|one| one.name.clone())),
            StmtKind::Generated(generated) => {
                if let Generated::Keep { name, .. } = &**generated {
                    all.push(name.name.clone());
                }
            }
            _ => {}
        }
    }
    all
}
