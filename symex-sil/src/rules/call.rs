//! `xs := m(es)`: a call gives the precondition away and receives the postcondition.

use sil::program::{Contract, Expr, LocalId, Method, MethodId, Stmt};
use smt::terms::Term;

use crate::analysis::has_two_readings;
use crate::rules::Sil;
use symex::findings::blame::{Blame, ErrorId};
use symex::rules::language::Language;
use symex::state::heap::Heap;
use symex::{Stop, View, Watch};

impl Sil<'_, '_> {
    /// Executes `xs := m(es)`: gives the precondition away, and receives the postcondition.
    pub(crate) fn exec_call(
        &mut self,
        stmt: &Stmt,
        targets: &[LocalId],
        method: MethodId,
        arguments: &[Expr],
    ) -> Result<(), Stop> {
        let program = self.program;
        let callee = &program.methods[method];
        let arguments = self.eval_all(arguments, Blame::new(ErrorId::CallFailed, stmt.span))?;
        let mut frame = self.frame.of_used(&callee.locals);
        for (&formal, &argument) in callee.formals.iter().zip(&arguments) {
            frame.store.set(formal, argument);
        }
        let in_package = self.here.may_transfer();
        frame.assertion.keeps_snapshots = in_package;
        let before = (!in_package).then(|| self.here.heap.clone());
        let (results, _) = self.in_frame(frame, |sil| sil.call(stmt, callee, before));
        for (&target, result) in targets.iter().zip(results?) {
            self.frame.store.set(target, result);
        }
        Ok(())
    }

    /// Runs a call in the callee's state, and returns the results. `before`: the heap that `old`
    /// refers to, if it is known.
    fn call(
        &mut self,
        stmt: &Stmt,
        callee: &Method,
        before: Option<Heap>,
    ) -> Result<Vec<Term>, Stop> {
        let Contract { preconditions, postconditions, .. } = &callee.contract;
        let blame = Blame::new(ErrorId::CallPrecondition, stmt.span).trusted();
        self.remember_heap();
        let (snapshot, seen) =
            self.watched(|sil| sil.consume_all(preconditions, |clause| blame.clause(clause.span)));
        let snapshot = snapshot?;
        self.frame.past.old = Some(match before {
            Some(before) => before,
            None => taken(self, preconditions, snapshot)?,
        });
        self.begin_epoch();
        self.havoc(callee.returns.iter().copied());
        let blame = Blame::new(ErrorId::CallFailed, stmt.span);
        // SOUNDNESS: the contract's check has seen the consequences of the inhale reading of the
        // precondition, and the call has met the other reading. So the postcondition need not be
        // defined here (trap T17e).
        let two = preconditions.iter().any(has_two_readings);
        let blame = if two { blame } else { blame.trusted() };
        self.produce_all(postconditions, None, |_| blame)?;
        let value = |&result| self.frame.store.get(result).expect("havocked above");
        let results: Vec<Term> = callee.returns.iter().map(value).collect();
        if seen.unassumed {
            // The call of an ill-formed method promises nothing.
            let reported = self.log.rely_on_earlier_report();
            for &result in &results {
                self.taint(result, reported)?;
            }
        }
        Ok(results)
    }
}

/// Returns the heap that a precondition describes, with the values at the time of its consume.
/// `old` refers to this heap in the postcondition of a call in a package, whose permissions may
/// have come from several heaps (trap T18).
fn taken(sil: &mut Sil<'_, '_>, preconditions: &[Expr], snapshot: Term) -> Result<Heap, Stop> {
    let blame = |clause: &Expr| Blame::new(ErrorId::CallFailed, clause.span).trusted();
    let (produced, taken) = sil.exchanging(
        |engine| &mut engine.here.heap,
        Heap::default(),
        |sil| sil.produce_all(preconditions, Some(snapshot), blame),
    );
    produced.map(|()| taken)
}
