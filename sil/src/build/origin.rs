//! Annotations that say where generated code comes from, and how its failures are told.
//!
//! ```
//! use findings::ErrorId;
//! use sil::build::*;
//! use sil::print::Form;
//! use sil::source::LineColumn;
//! use sil::syntax::{Member, Method, Program};
//!
//! let place = |column| LineColumn { line: 3, column };
//! let check = assert(lt(int(2), int(1)))
//!     .with(source_at("0", place(5), place(17)))
//!     .with(said(ErrorId::AssertFailed, "the stack may be empty"));
//! let main = Member::from(Method::new("main").body([check])).with(source_file("0", "stack.lang"));
//! let loaded = sil::load::load_syntax(Program::default().with(main));
//! let text = sil::print::program(&loaded.program.unwrap(), Form::Structured);
//! assert!(text.contains(r#"@src.at("0", "3.5-3.17")"#), "{text}");
//! assert!(text.contains(r#"@src.say("assert.failed:*", "the stack may be empty")"#), "{text}");
//! ```

use findings::Pattern;

use super::{binary, conditional, eq, int};
use crate::source::{LineColumn, Name, Span};
use crate::syntax::{
    Annotation, Axiom, BinaryOp, DomainFunction, Expr, Implementation, Member, Node, Stmt,
};

/// `@key("value", ..)`; the values are escaped already.
pub fn annotation(key: &str, values: Vec<Name>) -> Annotation {
    Annotation { key: key.into(), values, span: Span::default() }
}

/// Quotes, newlines and percent signs as the values of annotations want them.
pub fn escaped(text: &str) -> Name {
    text.replace('%', "%25").replace('"', "%22").replace('\n', "%0a").replace('\r', "%0d").into()
}

/// `@src.file("key", "path")`, at the first member: a file of the original program.
pub fn source_file(key: &str, path: &str) -> Annotation {
    annotation("src.file", vec![key.into(), escaped(path)])
}

/// `@src.receivers()`, at the first member: where a field of the program cannot be read or written
/// and its receiver might be null, that is an error of its own (`receiver.null`), and what it
/// leaves to show is told beside it.
pub fn told_receivers() -> Annotation {
    annotation("src.receivers", Vec::new())
}

/// `@src.trusted("text")`, at the first member: what the original program takes for granted, named
/// in summaries.
pub fn trusted(text: &str) -> Annotation {
    annotation("src.trusted", vec![escaped(text)])
}

/// `@src.at("key", "line.column-line.column")`: where the node and all below it come from; `end` is
/// exclusive.
pub fn source_at(key: &str, start: LineColumn, end: LineColumn) -> Annotation {
    annotation("src.at", vec![key.into(), format!("{start}-{end}").into()])
}

/// `@src.note("key", "line.column-line.column", "text")`: a second place, shown with errors from
/// here.
pub fn noted(key: &str, start: LineColumn, end: LineColumn, text: &str) -> Annotation {
    annotation("src.note", vec![key.into(), format!("{start}-{end}").into(), escaped(text)])
}

/// `@src.none()`: generated code, which is reported at what stands around it.
pub fn generated() -> Annotation {
    annotation("src.none", Vec::new())
}

/// `@src.inner()`: errors from here are reported where what could not be shown stands, unless it is
/// wrong there anyway.
pub fn inner() -> Annotation {
    annotation("src.inner", Vec::new())
}

/// `@src.as("pattern", "id:reason")`: the id of errors from here; `*` stands for what the pattern's
/// `*` matched. An id `*:reason` is a name of the reason only: what failed may be named further
/// out.
pub fn renamed(of: impl Into<Pattern>, id: impl Into<Pattern>) -> Annotation {
    annotation("src.as", vec![of.into().to_string().into(), id.into().to_string().into()])
}

/// `@src.say("pattern", "text")`: the words of errors from here; in the text, `%e` stands for the
/// source of what could not be shown.
pub fn said(of: impl Into<Pattern>, text: &str) -> Annotation {
    annotation("src.say", vec![of.into().to_string().into(), text.into()])
}

/// `@src.name("text")`: what the original program calls a declaration, or `%n` in the words of
/// errors from here.
pub fn named(name: &str) -> Annotation {
    annotation("src.name", vec![escaped(name)])
}

/// `@src.variables("x", "n_1=n", ..)`, at a member: its variables that the original program has,
/// each with what it is called there where that differs. All others are the front end's own, and no
/// message names them.
pub fn variables<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Annotation {
    let value = |(name, called): (&str, &str)| {
        if name == called { name.into() } else { escaped(&format!("{name}={called}")) }
    };
    annotation("src.variables", pairs.into_iter().map(value).collect())
}

/// `@src.values("text")`, at a domain that the original program does not have: what values of it
/// are called.
pub fn values_called(text: &str) -> Annotation {
    annotation("src.values", vec![escaped(text)])
}

/// `@src.hide()`: if this fails, the translation is wrong, not the program.
pub fn hidden() -> Annotation {
    annotation("src.hide", Vec::new())
}

/// `@unsupported("construct")`: the engine refuses the expression, and says why.
fn unsupported_mark(construct: &str) -> Annotation {
    annotation(UNSUPPORTED, vec![escaped(construct)])
}

const UNSUPPORTED: &str = "unsupported";

/// Returns a value in place of something that cannot be translated: the engine refuses whatever
/// contains the value. Engines that do not know the annotation find a division by zero.
pub fn unsupported(construct: &str, value: Expr) -> Expr {
    let undefined = eq(binary(BinaryOp::Div, int(1), int(0)), int(1));
    let refused = undefined.with(unsupported_mark(construct));
    conditional(refused, value.clone(), value)
}

/// Returns the construct that [`unsupported`] names.
pub fn unsupported_construct(annotations: &[Annotation]) -> Option<String> {
    let mark = annotations.iter().find(|annotation| &*annotation.key == UNSUPPORTED)?;
    let construct = mark.values.first().map(|text| crate::source::map::unescape(text));
    Some(construct.unwrap_or_else(|| "this expression".to_owned()))
}

/// A node that can carry annotations.
pub trait Annotate: Sized {
    fn annotations(&mut self) -> &mut Vec<Annotation>;

    /// Adds an annotation after those that are there.
    #[must_use]
    fn with(mut self, annotation: Annotation) -> Self {
        self.annotations().push(annotation);
        self
    }
}

macro_rules! annotate {
    ($($node:ident)*) => {
        $(impl Annotate for $node {
            fn annotations(&mut self) -> &mut Vec<Annotation> {
                &mut self.annotations
            }
        })*
    };
}

annotate! { Expr Stmt Member Node Implementation DomainFunction Axiom }
