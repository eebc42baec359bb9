//! SIL: the intermediate verification language, a superset of Viper's.
//!
//! In reading order: [`source`] (files and spans), [`syntax`] (what the parser yields, names as
//! text), [`program`] (what the resolver yields, names as ids and every expression typed), and the
//! passes between and behind them. Whoever wants a program to verify, print or walk wants
//! [`program::Program`].
//!
//! # From text to a program
//!
//! [`load`] does all at once: it reads a file and what it imports, expands macros, resolves names
//! and types, and checks consistency. What is wrong is a list of [`diagnostics`], each with a
//! place; [`render`] shows them.
//!
//! ```
//! let loaded = sil::load::load_text(
//!     "stack.sil",
//!     "field top: Int
//!      method push(stack: Ref, value: Int)
//!        requires acc(stack.top)
//!        ensures acc(stack.top) && stack.top == value
//!      { stack.top := value }",
//! );
//! let program = loaded.program.expect("there are no errors");
//! assert_eq!(program.methods.len(), 1);
//!
//! let loaded = sil::load::load_text("wrong.sil", "method m() { assert x }");
//! let finding = &loaded.diagnostics[0];
//! assert_eq!(finding.code.id(), "typechecker.error");
//! let (start, _) = loaded.sources.range(finding.span).expect("it is in this file");
//! assert_eq!((start.line, start.column), (1, 21));
//! ```
//!
//! # From code to a program
//!
//! A front end for another language makes the tree with [`mod@build`] and hands it to
//! [`load::load_syntax`]. Nodes carry annotations that say where they come from; [`source::map`]
//! leads errors back there.
//!
//! # Walking and rewriting
//!
//! [`syntax::walk`] visits and changes trees before they are resolved, [`mod@walk`] visits resolved
//! ones, where names are ids; [`program::Expr::rewrite`] and [`program::Expr::substitute`] change
//! expressions.
//!
//! ```
//! use sil::program::ExprKind;
//! use sil::walk::{Visit, walk_body, walk_expr};
//!
//! let text = "field f: Int method m(x: Ref, y: Ref) requires acc(x.f) && acc(y.f) { x.f := y.f + y.f }";
//! let program = sil::load::load_text("m.sil", text).program.expect("there are no errors");
//! let (_, method) = program.methods.iter().next().expect("there is one");
//! let mut reads = 0;
//! walk_body(&method.implementations[0].body, |visit| {
//!     if let Visit::Expr(root) = visit {
//!         walk_expr(root, |expr| reads += usize::from(matches!(expr.kind, ExprKind::FieldRead { .. })));
//!     }
//! });
//! assert_eq!(reads, 2);
//! ```
//!
//! # From a program to text, and to graphs
//!
//! [`mod@print`] writes a program in either of two forms, plain Viper and explicit graphs; both are
//! read back as the same program. [`mod@cfg`] makes the graph of a body, with all repetition in
//! loop blocks, which is what an engine wants.
//!
//! ```
//! use sil::print::Form;
//!
//! let text = "method count(n: Int)
//!   requires 0 <= n
//! {
//!   var i: Int := 0
//!   while (i < n)
//!     invariant i <= n
//!   {
//!     i := i + 1
//!   }
//! }
//! ";
//! let program = sil::load::load_text("count.sil", text).program.expect("there are no errors");
//! assert_eq!(sil::print::program(&program, Form::Structured), text);
//! assert!(sil::print::program(&program, Form::Graph).contains("loop"));
//!
//! let (id, _) = program.methods.iter().next().expect("there is one");
//! let cfg = sil::cfg::build(&program, id, 0, &mut Vec::new()).expect("its control flow is valid");
//! let loops = cfg.blocks.values().filter(|block| matches!(block.kind, sil::cfg::BlockKind::Loop(_)));
//! assert_eq!(loops.count(), 1);
//! ```
//!
//! # What can be relied on
//!
//! * No input makes it panic, overflow the stack or hang: what is too deep or too large is an error
//!   with a place.
//! * The same input gives the same output, to the byte.
//! * Programs, trees, graphs and findings are plain data, `Send + Sync`.

pub mod build;
pub mod cfg;
pub mod consistency;
pub mod diagnostics;
pub mod imports;
pub mod load;
pub mod macros;
pub mod parser;
pub mod plugins;
pub mod print;
pub mod program;
pub mod recursion;
pub mod render;
pub mod resolve;
pub mod source;
pub mod syntax;
pub mod triggers;
pub mod walk;
