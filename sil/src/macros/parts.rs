//! Parts of a macro's body in its expansion.
//!
//! An expansion stands where its macro is used. So that a message can say which conjunct of the
//! body it is about, each conjunct of an expansion carries an annotation [`KEY`]: its span is the
//! place in the body, its values are the parameters and the places of their arguments. Text is made
//! of these where somebody asks for it.
//!
//! The statements of an expansion stand in the macro's body, and carry where the macro is used.

use rustc_hash::FxHashMap;

use front::grow_stack;

use crate::program::Program;
use crate::source::map::outward;
use crate::source::{FileId, Name, OriginId, Sources, Span};
use crate::syntax::{Annotation, BinaryOp, Expr, ExprKind, Stmt};

/// The annotation of a conjunct. Nobody writes it, and it is not printed.
const KEY: &str = "src.macro";

/// The annotation of a statement that a macro has made: its span is the place where the macro is
/// used. The statement itself stands in the macro's body. Nobody writes it, and it is not printed.
const USE: &str = "src.use";

/// How many characters of a conjunct are shown.
const LONGEST: usize = 120;

/// Notes at the conjuncts of a body, or of an argument in place of one, where they are written.
/// Conjuncts with a note keep it.
pub(super) fn note(expr: &mut Expr, parameters: &[Name]) {
    grow_stack(|| {
        match &mut expr.kind {
            ExprKind::And(operands) => {
                operands.iter_mut().for_each(|operand| note(operand, parameters));
                return;
            }
            ExprKind::Binary { op: BinaryOp::Implies, left, right } => {
                note(left, parameters);
                note(right, parameters);
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                [condition, then, otherwise].into_iter().for_each(|part| note(part, parameters));
            }
            ExprKind::Quantified { body, .. }
            | ExprKind::Let { body, .. }
            | ExprKind::Unfolding { body, .. } => note(body, parameters),
            _ => {}
        }
        if !expr.annotations.iter().any(is_note) {
            let values = parameters.to_vec();
            expr.annotations.push(Annotation { key: KEY.into(), values, span: expr.span });
        }
    });
}

pub(crate) fn is_note(annotation: &Annotation) -> bool {
    &*annotation.key == KEY
}

/// Tells whether the expansion of macros has made an annotation.
pub(crate) fn is_of_macros(annotation: &Annotation) -> bool {
    is_note(annotation) || &*annotation.key == USE
}

/// Notes on statements of a macro's body where the macro is used.
pub(super) fn note_use(statements: &mut [Stmt], used: Span) {
    let note = Annotation { key: USE.into(), values: Vec::new(), span: used };
    statements.iter_mut().for_each(|statement| statement.annotations.push(note.clone()));
}

/// Returns the places where the macros around a node are used, innermost first.
pub(crate) fn uses(program: &Program, origin: OriginId) -> impl Iterator<Item = Span> {
    let annotations = outward(program, origin).flat_map(|origin| &origin.annotations);
    annotations.filter(|annotation| &*annotation.key == USE).map(|annotation| annotation.span)
}

/// Returns the values of a note: each parameter, and the place of its argument.
pub(super) fn parameters<'a>(places: impl Iterator<Item = (&'a Name, Span)>) -> Vec<Name> {
    let place = |span: Span| format!("{}:{}:{}", span.file.0, span.start, span.end);
    places.flat_map(|(name, span)| [name.clone(), place(span).into()]).collect()
}

fn place(text: &str) -> Option<Span> {
    let mut numbers = text.split(':').map(|number| number.parse::<u32>().ok());
    let (file, start, end) = (numbers.next()??, numbers.next()??, numbers.next()??);
    (start <= end).then(|| Span::new(FileId(file), start as usize, end as usize))
}

/// Returns the conjunct of a macro's body that a node belongs to: its place, and its text with
/// arguments for parameters; `None` for what no macro has made.
pub(crate) fn conjunct(
    program: &Program,
    sources: &Sources,
    origin: OriginId,
) -> Option<(Span, String)> {
    let notes = outward(program, origin).flat_map(|origin| origin.annotations.iter().rev());
    let mut notes: Vec<_> = notes.filter(|note| is_note(note)).collect();
    let written = notes.first()?.span;
    // Outermost first: an argument in the body of another macro mentions parameters of that one.
    notes.reverse();
    let mut known: Vec<(Span, Arguments<'_>)> = Vec::with_capacity(notes.len());
    for note in notes {
        let mut arguments = Arguments::default();
        for pair in note.values.chunks_exact(2) {
            if let Some(argument) = place(&pair[1]) {
                arguments.insert(&*pair[0], text(sources, argument, &known)?);
            }
        }
        known.push((note.span, arguments));
    }
    Some((written, text(sources, written, &known)?))
}

fn is_inside(inner: Span, outer: Span) -> bool {
    inner.file == outer.file && outer.start <= inner.start && inner.end <= outer.end
}

/// The arguments of the parameters in a conjunct.
type Arguments<'a> = FxHashMap<&'a str, String>;

/// Returns the text of a place, in one line, with arguments for the parameters of the body that the
/// place is in.
fn text(sources: &Sources, span: Span, known: &[(Span, Arguments<'_>)]) -> Option<String> {
    let mut around = known.iter().rev();
    let around = around.find(|(outer, known)| !known.is_empty() && is_inside(span, *outer));
    let written = sources.text(span)?.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let mut result = String::new();
    let mut length = 0;
    let mut rest = &*written;
    while let Some(first) = rest.chars().next() {
        if length > LONGEST {
            let end = result.char_indices().nth(LONGEST).map_or(result.len(), |(end, _)| end);
            result.truncate(end);
            return Some(format!("{} …", result.trim_end()));
        }
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len()).max(first.len_utf8());
        let (word, behind) = rest.split_at(end);
        let argument = around.and_then(|(_, arguments)| arguments.get(word));
        let added = match argument {
            Some(argument) if is_operand(argument) || stands_alone(&result, behind) => {
                argument.clone()
            }
            Some(argument) => format!("({argument})"),
            None => word.to_owned(),
        };
        length += added.chars().count();
        result.push_str(&added);
        rest = behind;
    }
    Some(result)
}

/// Tells whether a text is a name, a call or a location: an operand without parentheses.
fn is_operand(text: &str) -> bool {
    let mut depth = 0usize;
    text.chars().all(|c| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > 0 || c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | ')' | ']')
    })
}

/// Tells whether what stands between these texts has brackets or commas on both sides, or nothing.
fn stands_alone(before: &str, behind: &str) -> bool {
    let ends = |c: Option<char>| c.is_none_or(|c| matches!(c, '(' | ')' | '[' | ']' | ','));
    ends(before.trim_end().chars().next_back()) && ends(behind.trim_start().chars().next())
}
