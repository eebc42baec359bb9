//! The Z3 interface below the `z3` crate: the plain solver kernel, error codes, and contexts that
//! are not bound to the default of their thread.
//!
//! The `Solver` of the `z3` crate ignores error codes, so an ill-formed assertion would be lost
//! without a word (SOUNDNESS: a goal that is lost this way could count as proved). Here a look at
//! the error code of the context follows each call.

#![expect(unsafe_code, reason = "calls into Z3 that the z3 crate does not offer")]

use std::cell::Cell;
use std::ffi::{CStr, CString};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use z3::ast::{Ast, Bool, Dynamic};
use z3::{Config, Context};
use z3_sys as ffi;

use super::ProverError;

/// A value that stays on its thread although a signature of the `z3` crate asks for a `Send`
/// closure.
struct Local<T>(T);

// SAFETY: `with_z3_context` runs its closure at once, on the calling thread, and hands its result
// back there. The bounds only guard against mixed contexts. `Prover` never mixes them, since it
// enters its own for each operation.
unsafe impl<T> Send for Local<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Local<T> {}

impl<T> Local<T> {
    fn into_inner(self) -> T {
        self.0
    }
}

/// Runs `body` with `context` as the one in which the `z3` crate builds terms.
pub(super) fn enter<R>(context: &Context, body: impl FnOnce() -> R) -> R {
    let body = Local(body);
    z3::with_z3_context(context, move || Local(body.into_inner()())).into_inner()
}

thread_local! {
    /// Tells whether the default context of this thread has been handed out.
    static DEFAULT_TAKEN: Cell<bool> = const { Cell::new(false) };
}

/// Held while Z3 reads a value that is set for the whole process.
static BEGINNING: Mutex<()> = Mutex::new(());

fn beginning() -> MutexGuard<'static, ()> {
    BEGINNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps tests that count steps apart from scripts, whose options hold for the whole process.
#[cfg(test)]
pub(super) fn alone() -> impl Drop {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns Z3's answer to a script.
#[cfg(test)]
pub(super) fn replay(script: &str) -> String {
    let _guards = (alone(), beginning());
    let context = new_context();
    let script = CString::new(script).expect("a text without NUL");
    // SAFETY: context and script are alive, and the answer is copied before the next call.
    let answer = unsafe {
        let answer = ffi::Z3_eval_smtlib2_string(context.get_z3_context(), script.as_ptr());
        CStr::from_ptr(answer).to_string_lossy().into_owned()
    };
    z3::reset_all_global_params();
    z3::set_global_param("memory_high_watermark", MEMORY);
    answer
}

/// The bytes that all contexts together may use. Z3 4.8.12 takes no larger number. Questions that
/// need more are given up.
///
/// Neither the limit on steps nor the clock ends Z3 between two looks at them: one round of
/// instantiations was seen to take 19 GB.
const MEMORY: &str = "4000000000";

/// Limits the memory of Z3, once for the process.
fn limit_memory() {
    static LIMITED: Once = Once::new();
    LIMITED.call_once(|| z3::set_global_param("memory_high_watermark", MEMORY));
}

/// Returns a context that nobody else has. The `z3` crate makes a context for every thread that
/// uses it. That context is handed out first, since contexts are expensive.
pub(super) fn new_context() -> Context {
    limit_memory();
    let context = if DEFAULT_TAKEN.replace(true) {
        configured_context(&Config::new())
    } else {
        Context::thread_local()
    };
    print_smtlib(&context);
    context
}

/// Returns a context that writes a trace to a file.
pub(super) fn new_traced_context(file: &Path) -> Context {
    limit_memory();
    let mut config = Config::new();
    config.set_bool_param_value("trace", true);
    config.set_param_value("trace_file_name", &file.to_string_lossy());
    let context = configured_context(&config);
    print_smtlib(&context);
    context
}

fn configured_context(config: &Config) -> Context {
    z3::with_z3_config(config, || Local(Context::thread_local())).into_inner()
}

fn print_smtlib(context: &Context) {
    // SAFETY: the context is alive.
    unsafe {
        ffi::Z3_set_ast_print_mode(context.get_z3_context(), ffi::AstPrintMode::Smtlib2Compliant);
    }
}

/// Returns the error of the last call into the context, if there was one.
pub(super) fn last_error(context: &Context) -> Result<(), ProverError> {
    let context = context.get_z3_context();
    // SAFETY: the context is alive, and the message is copied before the next call.
    unsafe {
        let code = ffi::Z3_get_error_code(context);
        if code == ffi::ErrorCode::Ok {
            return Ok(());
        }
        if code == ffi::ErrorCode::MemoutFail {
            return Err(ProverError::OutOfMemory);
        }
        let message = ffi::Z3_get_error_msg(context, code);
        let message = if message.is_null() {
            format!("{code:?}")
        } else {
            CStr::from_ptr(message).to_string_lossy().into_owned()
        };
        Err(ProverError::Solver(message))
    }
}

/// A solver of Z3.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SolverKind {
    /// The incremental SMT kernel alone.
    Simple,
    /// Z3's default: the kernel behind a front that may choose tactics.
    Combined,
}

/// The result of a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Satisfiability {
    Unsat,
    Sat,
    Unknown,
}

/// Z3 handles SIGINT itself during a question, unless this option forbids it. A user who presses
/// Ctrl-C means the program.
const KEYBOARD: (&str, Setting) = ("ctrl_c", Setting::Bool(false));

/// A solver of a context.
pub(super) struct Kernel {
    context: Context,
    solver: ffi::Z3_solver,
    /// The limit on the conflicts of a question; 0 is no limit.
    conflicts: Cell<u32>,
}

impl Kernel {
    /// Makes a kernel with these parameters; an unknown name or value is an error.
    ///
    /// Z3 makes an instance of a quantifier at once if it costs at most `eager_threshold`, and else
    /// when the search comes to an end. As a parameter the threshold has no effect on Z3 4.8.12,
    /// which reads the value that holds for the whole process. It reads the value not when a solver
    /// is made, but when the solver is first told or asked something. So the solver is asked for
    /// its statistics here, while no other thread changes the value.
    pub(super) fn new(
        context: &Context,
        kind: SolverKind,
        settings: &[(&str, Setting)],
        eager_threshold: u32,
    ) -> Result<Kernel, ProverError> {
        let raw = context.get_z3_context();
        // SAFETY: the kernel holds the context, which thus lives as long; the solver is counted.
        let kernel = unsafe {
            let solver = match kind {
                SolverKind::Simple => ffi::Z3_mk_simple_solver(raw),
                SolverKind::Combined => ffi::Z3_mk_solver(raw),
            };
            let Some(solver) = solver else {
                last_error(context)?;
                return Err(ProverError::Solver("no solver".to_owned()));
            };
            ffi::Z3_solver_inc_ref(raw, solver);
            Kernel { context: context.clone(), solver, conflicts: Cell::new(0) }
        };
        let alone = beginning();
        z3::set_global_param("smt.qi.eager_threshold", &eager_threshold.to_string());
        kernel.set_params(settings)?;
        kernel.set_params(&[KEYBOARD])?;
        kernel.statistics(|_| ());
        drop(alone);
        Ok(kernel)
    }

    /// Limits the conflicts of the questions that follow; 0 is no limit.
    pub(super) fn limit_conflicts(&self, conflicts: u32) -> Result<(), ProverError> {
        if self.conflicts.replace(conflicts) == conflicts {
            return Ok(());
        }
        let limit = if conflicts == 0 { u32::MAX } else { conflicts };
        self.set_params(&[("max_conflicts", Setting::Uint(limit))])
    }

    fn set_params(&self, settings: &[(&str, Setting)]) -> Result<(), ProverError> {
        let raw = self.context.get_z3_context();
        // SAFETY: context and solver are alive, the parameter set is counted while used.
        unsafe {
            let Some(params) = ffi::Z3_mk_params(raw) else { return last_error(&self.context) };
            ffi::Z3_params_inc_ref(raw, params);
            for &(name, setting) in settings {
                let name = CString::new(name).expect("a name without NUL");
                let Some(symbol) = ffi::Z3_mk_string_symbol(raw, name.as_ptr()) else { continue };
                match setting {
                    Setting::Bool(value) => ffi::Z3_params_set_bool(raw, params, symbol, value),
                    Setting::Uint(value) => ffi::Z3_params_set_uint(raw, params, symbol, value),
                }
            }
            ffi::Z3_solver_set_params(raw, self.solver, params);
            let outcome = last_error(&self.context);
            ffi::Z3_params_dec_ref(raw, params);
            outcome
        }
    }

    pub(super) fn assert(&self, formula: &Bool) -> Result<(), ProverError> {
        // SAFETY: all three are alive and of this context, which the term was made in.
        unsafe {
            ffi::Z3_solver_assert(self.context.get_z3_context(), self.solver, formula.get_z3_ast());
        }
        last_error(&self.context)
    }

    pub(super) fn push(&self) -> Result<(), ProverError> {
        // SAFETY: context and solver are alive.
        unsafe { ffi::Z3_solver_push(self.context.get_z3_context(), self.solver) };
        last_error(&self.context)
    }

    pub(super) fn pop(&self) -> Result<(), ProverError> {
        // SAFETY: context and solver are alive.
        unsafe { ffi::Z3_solver_pop(self.context.get_z3_context(), self.solver, 1) };
        last_error(&self.context)
    }

    pub(super) fn check(&self) -> Result<Satisfiability, ProverError> {
        // SAFETY: context and solver are alive.
        let answer = unsafe { ffi::Z3_solver_check(self.context.get_z3_context(), self.solver) };
        last_error(&self.context)?;
        Ok(match answer {
            ffi::Z3_L_FALSE => Satisfiability::Unsat,
            ffi::Z3_L_TRUE => Satisfiability::Sat,
            _ => Satisfiability::Unknown,
        })
    }

    /// Returns the cause of the last `Unknown`.
    pub(super) fn reason_unknown(&self) -> String {
        // SAFETY: context and solver are alive, and the text is copied at once.
        unsafe {
            let text =
                ffi::Z3_solver_get_reason_unknown(self.context.get_z3_context(), self.solver);
            if text.is_null() {
                String::new()
            } else {
                CStr::from_ptr(text).to_string_lossy().into_owned()
            }
        }
    }

    /// Returns the values of terms in the state that the last check ended in, if there is one.
    pub(super) fn values(&self, terms: &[Dynamic]) -> Option<Vec<String>> {
        let raw = self.context.get_z3_context();
        // SAFETY: context, solver and terms are alive; the model is counted while read, a value
        // while it is written down.
        unsafe {
            let model = ffi::Z3_solver_get_model(raw, self.solver)?;
            ffi::Z3_model_inc_ref(raw, model);
            let mut values = Some(Vec::with_capacity(terms.len()));
            for term in terms {
                let ast = term.get_z3_ast();
                let mut value = ast;
                if !ffi::Z3_model_eval(raw, model, ast, true, &raw mut value) {
                    values = None;
                    break;
                }
                ffi::Z3_inc_ref(raw, value);
                // Z3 counts truth values as numerals, which have no digits.
                let is_truth = ffi::Z3_get_bool_value(raw, value) != ffi::Z3_L_UNDEF;
                let text = if !is_truth && ffi::Z3_is_numeral_ast(raw, value) {
                    ffi::Z3_get_numeral_string(raw, value)
                } else {
                    ffi::Z3_ast_to_string(raw, value)
                };
                if let Some(values) = &mut values {
                    values.push(CStr::from_ptr(text).to_string_lossy().into_owned());
                }
                ffi::Z3_dec_ref(raw, value);
            }
            ffi::Z3_model_dec_ref(raw, model);
            values
        }
    }

    /// Returns a number of Z3's statistics, 0 if it is not there.
    pub(super) fn statistic(&self, name: &str) -> u64 {
        let raw = self.context.get_z3_context();
        // SAFETY: the context is alive, the statistics are counted, indices are in range.
        let value = self.statistics(|statistics| unsafe {
            let index = (0..ffi::Z3_stats_size(raw, statistics)).find(|&index| {
                let key = ffi::Z3_stats_get_key(raw, statistics, index);
                !key.is_null() && CStr::from_ptr(key).to_bytes() == name.as_bytes()
            })?;
            ffi::Z3_stats_is_uint(raw, statistics, index)
                .then(|| ffi::Z3_stats_get_uint_value(raw, statistics, index).into())
        });
        value.flatten().unwrap_or(0)
    }

    /// Shows Z3's statistics to `read`.
    fn statistics<R>(&self, read: impl FnOnce(ffi::Z3_stats) -> R) -> Option<R> {
        let raw = self.context.get_z3_context();
        // SAFETY: context and solver are alive, the statistics are counted while read.
        unsafe {
            let statistics = ffi::Z3_solver_get_statistics(raw, self.solver)?;
            ffi::Z3_stats_inc_ref(raw, statistics);
            let value = read(statistics);
            ffi::Z3_stats_dec_ref(raw, statistics);
            Some(value)
        }
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        // SAFETY: counted in `new`; the context is still held.
        unsafe { ffi::Z3_solver_dec_ref(self.context.get_z3_context(), self.solver) };
    }
}

/// The value of a solver parameter.
#[derive(Clone, Copy, Debug)]
pub(super) enum Setting {
    Bool(bool),
    Uint(u32),
}
