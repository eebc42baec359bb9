//! Programs made by code: what a front end for another language uses.
//!
//! Expressions and statements are made by functions named after the syntax they make ([`mod@expr`],
//! [`mod@stmt`]), declarations and graphs by constructors and methods of their types
//! ([`mod@member`], [`mod@graph`]); all yield nodes of the parse tree, [`crate::syntax`], which
//! [`crate::load::load_syntax`] resolves and checks like a program that was read.
//!
//! Nodes made by code have no place of their own. Where they come from is said by annotations
//! ([`mod@origin`]), which the printed text carries too: whoever verifies it reports errors at the
//! original program.
//!
//! ```
//! use sil::build::*;
//! use sil::print::Form;
//! use sil::syntax::{Method, Program, TypeKind};
//!
//! let cell = field(var("cell"), "value");
//! let program = Program::default()
//!     .with(field_member("value", TypeKind::Int))
//!     .with(
//!         Method::new("increment")
//!             .formal("cell", TypeKind::Ref)
//!             .formal("by", TypeKind::Int)
//!             .requires(and([acc(cell.clone(), write()), lt(int(0), var("by"))]))
//!             .ensures(acc(cell.clone(), write()))
//!             .ensures(eq(cell.clone(), old(cell.clone()) + var("by")))
//!             .body([assign(cell.clone(), cell + var("by"))]),
//!     );
//! let loaded = sil::load::load_syntax(program);
//! assert!(loaded.diagnostics.is_empty());
//! let text = sil::print::program(&loaded.program.unwrap(), Form::Structured);
//! assert_eq!(
//!     text,
//!     "field value: Int
//!
//! method increment(cell: Ref, by: Int)
//!   requires acc(cell.value) && 0 < by
//!   ensures acc(cell.value)
//!   ensures cell.value == old(cell.value) + by
//! {
//!   cell.value := cell.value + by
//! }
//! "
//! );
//! ```

pub mod expr;
pub mod graph;
pub mod member;
pub mod origin;
pub mod stmt;
pub mod text;
pub mod ty;
pub mod words;

pub use expr::*;
pub use member::*;
pub use origin::*;
pub use stmt::*;
pub use text::{filled, parsed};
pub use ty::*;
pub use words::*;

use crate::source::Span;
use crate::syntax::Ident;

/// Returns a name without a place.
pub fn ident(name: &str) -> Ident {
    Ident { name: name.into(), span: Span::default() }
}
