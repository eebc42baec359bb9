/// An infix operator of a language.
pub trait Infix: Copy {
    /// The type of both sides: an expression, with everything that a larger expression has to know
    /// of it.
    type Operand;

    /// Higher binds tighter.
    fn level(self) -> u8;

    /// Does `a op b op c` mean `a op (b op c)`?
    fn is_right_associative(self) -> bool;

    /// Returns the operator between two operands.
    fn join(self, left: Self::Operand, right: Self::Operand) -> Self::Operand;
}

/// Operands and the operators between them that wait for what follows.
///
/// A grammar yields operands and operators alternately; two stacks turn them into a tree without
/// recursion (Dijkstra 1961), so a chain costs no stack however long it is.
pub struct Chain<I: Infix> {
    operands: Vec<I::Operand>,
    /// Levels never decrease, and increase except between right-associative operators.
    operators: Vec<I>,
}

impl<I: Infix> Default for Chain<I> {
    fn default() -> Self {
        Self { operands: Vec::new(), operators: Vec::new() }
    }
}

impl<I: Infix> Chain<I> {
    /// Adds an operand; call it before the first and after each operator.
    pub fn operand(&mut self, operand: I::Operand) {
        self.operands.push(operand);
    }

    /// Adds an operator.
    pub fn operator(&mut self, infix: I) {
        while let Some(&top) = self.operators.last() {
            let waits = top.level() < infix.level()
                || top.level() == infix.level() && infix.is_right_associative();
            if waits {
                break;
            }
            self.reduce();
        }
        self.operators.push(infix);
    }

    /// Returns the operator of a level that an operator of the same level would come to stand
    /// beside, with nothing looser between.
    pub fn neighbour(&self, level: u8) -> Option<I> {
        let tightest = self.operators.iter().rev().find(|operator| operator.level() <= level);
        tightest.copied().filter(|operator| operator.level() == level)
    }

    /// Returns the whole chain as one operand.
    ///
    /// # Panics
    /// There is no operand, or not one more than there are operators.
    pub fn finish(mut self) -> I::Operand {
        while !self.operators.is_empty() {
            self.reduce();
        }
        self.operands.pop().expect("a chain has an operand")
    }

    /// Applies the last operator to the last two operands.
    fn reduce(&mut self) {
        let infix = self.operators.pop().expect("there is an operator to apply");
        let right = self.operands.pop().expect("an operator has a right operand");
        let left = self.operands.pop().expect("an operator has a left operand");
        self.operands.push(infix.join(left, right));
    }
}

/// Declares the infix operators of a language, each with its spellings; it is written by the first.
#[macro_export]
macro_rules! operators {
    (
        $(#[$about:meta])*
        pub enum $operators:ident {
            $($(#[$note:meta])* $operator:ident = $symbol:literal $(| $other:literal)*,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $operators {
            $(
                #[doc = concat!("`", $symbol, "`" $(, ", `", $other, "`")*)]
                $(#[$note])*
                $operator,
            )*
        }

        impl $operators {
            /// Returns how the operator is written.
            pub fn symbol(self) -> &'static str {
                match self {
                    $(Self::$operator => $symbol,)*
                }
            }

            /// Reads a symbol.
            pub fn of_symbol(symbol: &str) -> Option<Self> {
                match symbol {
                    $($symbol $(| $other)* => Some(Self::$operator),)*
                    _ => None,
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `>` is right-associative, `+` binds tighter.
    impl Infix for char {
        type Operand = String;

        fn level(self) -> u8 {
            if self == '+' { 2 } else { 1 }
        }

        fn is_right_associative(self) -> bool {
            self == '>'
        }

        fn join(self, left: String, right: String) -> String {
            format!("({left}{self}{right})")
        }
    }

    fn chain(text: &str) -> Chain<char> {
        let mut chain = Chain::default();
        for c in text.chars() {
            if c.is_alphabetic() {
                chain.operand(c.to_string());
            } else {
                chain.operator(c);
            }
        }
        chain
    }

    #[test]
    fn operators_bind_as_they_say() {
        assert_eq!(chain("a+b+c").finish(), "((a+b)+c)");
        assert_eq!(chain("a>b>c").finish(), "(a>(b>c))");
        assert_eq!(chain("a+b>c+d>e").finish(), "((a+b)>((c+d)>e))");
    }

    #[test]
    fn what_is_looser_separates_neighbours() {
        assert_eq!(chain("a+b").neighbour(2), Some('+'));
        assert_eq!(chain("a+b>c").neighbour(2), None);
        assert_eq!(chain("a>b+c").neighbour(1), Some('>'));
    }
}
