//! Applications of functions whose preconditions have been checked.

use sil::program::FunctionId;
use smt::terms::Term;

use crate::findings::incidents::Missing;
use crate::{Path, Stop};

impl Path<'_> {
    /// Returns the application of a function whose precondition has been checked, and its limited
    /// form. `missing`: the permission that the snapshot lacks.
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
            // Failures because of the value are no news.
            self.taint(application, reported)?;
            self.taint(limited, reported)?;
        }
        Ok((application, limited))
    }

    /// Returns the form of an application that stands for it. If the function is opaque or of the
    /// group that is being verified, this is the limited form, whose definition is not unrolled. If
    /// the definition is known in that group, it is unrolled here, and not where the value is used.
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
