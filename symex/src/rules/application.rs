//! Applications of functions whose preconditions have been looked at.

use sil::program::FunctionId;
use smt::terms::Term;

use crate::findings::incidents::Missing;
use crate::{Path, Stop};

impl Path<'_> {
    /// Returns the application of a function whose precondition has been looked at, and its limited
    /// form. `missing`: what the snapshot lacks.
    pub fn make_application(
        &mut self,
        function: FunctionId,
        snapshot: Term,
        arguments: &[Term],
        missing: Option<Missing>,
    ) -> Result<(Term, Term), Stop> {
        self.use_function(function);
        let symbols = self.function_symbols(function);
        let mut operands = vec![snapshot];
        operands.extend(arguments);
        let defined = self.terms.apply(symbols.precondition, &operands);
        self.assume(defined)?;
        let application = self.terms.apply(symbols.full, &operands);
        let limited = self.terms.apply(symbols.limited, &operands);
        if let Some(Missing { reported: Some(reported) }) = missing {
            // What fails because of the value is no news.
            self.taint(application, reported)?;
            self.taint(limited, reported)?;
        }
        Ok((application, limited))
    }

    /// Returns the form of an application that stands for it: not the one whose definition is
    /// unrolled, where the function is opaque or of the group that is being verified. If that knows
    /// its definition, it is unrolled here, and not where the value is.
    pub fn usable_application(
        &mut self,
        function: FunctionId,
        application: Term,
        limited: Term,
        is_opaque: bool,
    ) -> Result<Term, Stop> {
        if is_opaque {
            return Ok(limited);
        }
        if self.setting.recursion_group.contains(&function) {
            if self.setting.visible.definitions.contains(&function) {
                self.mention_unused(application)?;
            }
            return Ok(limited);
        }
        self.made.limited.insert(application, limited);
        Ok(application)
    }
}
