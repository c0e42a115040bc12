//! The formula language of targets: figures of our own runs, arithmetic and comparisons.
//!
//! `owd_p50[prague.static.with]` is the median one-way delay of the case whose overrides are the parts `prague`, `static` and
//! `with`; `rtt_mean[with/cubic]` covers only its flow `cubic`; `throughput_mean[with/cubic@10..20]` covers 10 s to 20 s of
//! the run. `change(a, b)` is the change from a to b in percent; `min`, `max`, `mean` and `geomean` take any number of values, `ln` is the natural logarithm.
//!
//! The grammar uses winnow's combinators. No maintained evaluator has operands of several parts that can be listed before the runs and
//! changed between them: exmex, cel and minijinja take plain names; evalexpr 13 is under the AGPL.

use std::fmt;

use miette::{Result, miette};
use winnow::ascii::{alpha1, float, multispace0};
use winnow::combinator::Infix::Left;
use winnow::combinator::{
    alt, cut_err, delimited, dispatch, eof, expression, fail, opt, preceded, repeat, separated, separated_pair,
    terminated,
};
use winnow::error::{ContextError, ErrMode, StrContext, StrContextValue};
use winnow::stream::AsChar;
use winnow::token::{any, take_till, take_until, take_while};
use winnow::{ModalResult as Grammar, Parser};

/// Parser error, with the text that was expected.
type Fault = ErrMode<ContextError>;

/// An expression with a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    /// A constant.
    Number(f64),
    /// A figure of a case.
    Measure(Measure),
    /// A function of its arguments.
    Call(Function, Vec<Expression>),
    /// Two sides joined by `+`, `-`, `*` or `/`.
    Binary(char, Box<[Expression; 2]>),
}

/// A function of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Function {
    /// Change from the first to the second value, in percent.
    Change,
    /// The lowest value.
    Min,
    /// The highest value.
    Max,
    /// The absolute value.
    Abs,
    /// Arithmetic mean.
    Mean,
    /// Geometric mean.
    Geomean,
    /// Natural logarithm.
    Ln,
}

/// A figure of one case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Measure {
    /// Name of the figure, with its statistic: `owd_p50`.
    pub metric: String,
    /// Parts of the case's overrides, joined by dots.
    pub case: String,
    /// Name of the flow; `None` for all flows.
    pub flow: Option<String>,
    /// First and last time in milliseconds from the start of the run: integers, so that measures can be compared.
    pub window: Option<(u64, u64)>,
}

/// Chain of values with an order between neighbours.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Comparison {
    /// Values, one more than orders.
    pub values: Vec<Expression>,
    /// Texts of the values.
    pub texts: Vec<String>,
    /// Orders between neighbours.
    pub orders: Vec<Order>,
}

/// An order between two values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Order {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Order {
    /// True for `<=` and `>=`, which equal values meet.
    pub(super) fn allows_equal(self) -> bool {
        matches!(self, Self::LessOrEqual | Self::GreaterOrEqual)
    }
    /// True for `<` and `<=`.
    pub(super) fn rises(self) -> bool {
        matches!(self, Self::Less | Self::LessOrEqual)
    }
    fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Self::Less => left < right,
            Self::LessOrEqual => left <= right,
            Self::Greater => left > right,
            Self::GreaterOrEqual => left >= right,
        }
    }
}

impl Expression {
    /// Reads a whole text.
    ///
    /// # Errors
    /// A text that does not parse: the error names it, the expected part and the place.
    pub(super) fn parse(text: &str) -> Result<Self> {
        read(text, sum)
    }

    /// Computes the value; `None` if one of its figures was not measured.
    pub(super) fn evaluate(&self, measured: &dyn Fn(&Measure) -> Option<f64>) -> Option<f64> {
        Some(match self {
            Self::Number(number) => *number,
            Self::Measure(measure) => measured(measure)?,
            Self::Call(function, arguments) => {
                let values = arguments.iter().map(|value| value.evaluate(measured)).collect::<Option<Vec<_>>>()?;
                match function {
                    Function::Change => (values[1] / values[0] - 1.0) * 100.0,
                    Function::Min => values.into_iter().fold(f64::INFINITY, f64::min),
                    Function::Max => values.into_iter().fold(f64::NEG_INFINITY, f64::max),
                    Function::Abs => values[0].abs(),
                    Function::Mean => mean(&values),
                    Function::Geomean => mean(&values.into_iter().map(f64::ln).collect::<Vec<_>>()).exp(),
                    Function::Ln => values[0].ln(),
                }
            }
            Self::Binary(operator, sides) => {
                let [left, right] = [sides[0].evaluate(measured)?, sides[1].evaluate(measured)?];
                match operator {
                    '+' => left + right,
                    '-' => left - right,
                    '*' => left * right,
                    _ => left / right,
                }
            }
        })
    }

    fn binary(operator: char, left: Self, right: Self) -> Self {
        Self::Binary(operator, Box::new([left, right]))
    }

    /// True if its value needs no run.
    pub(super) fn is_constant(&self) -> bool {
        let mut measures = Vec::new();
        self.measures(&mut measures);
        measures.is_empty()
    }

    /// Applies a change to every figure in it.
    pub(super) fn change_measures(&mut self, change: &dyn Fn(&mut Measure)) {
        match self {
            Self::Number(_) => {}
            Self::Measure(measure) => change(measure),
            Self::Call(_, values) => values.iter_mut().for_each(|value| value.change_measures(change)),
            Self::Binary(_, sides) => sides.iter_mut().for_each(|value| value.change_measures(change)),
        }
    }

    /// Lists every figure in it.
    pub(super) fn measures<'a>(&'a self, into: &mut Vec<&'a Measure>) {
        match self {
            Self::Number(_) => {}
            Self::Measure(measure) => into.push(measure),
            Self::Call(_, values) => values.iter().for_each(|value| value.measures(into)),
            Self::Binary(_, sides) => sides.iter().for_each(|value| value.measures(into)),
        }
    }
}

impl Function {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "change" => Self::Change,
            "min" => Self::Min,
            "max" => Self::Max,
            "abs" => Self::Abs,
            "mean" => Self::Mean,
            "geomean" => Self::Geomean,
            "ln" => Self::Ln,
            _ => return None,
        })
    }
}

impl Comparison {
    /// Reads a whole text.
    ///
    /// # Errors
    /// A text that does not parse: the error names it, the expected part and the place.
    pub(super) fn parse(text: &str) -> Result<Self> {
        read(text, comparison)
    }

    /// True if every order holds between these values.
    pub(super) fn holds(&self, values: &[f64]) -> bool {
        self.orders.iter().zip(values.windows(2)).all(|(order, pair)| order.holds(pair[0], pair[1]))
    }
}

impl Measure {
    /// Name of the figure within its case: `rtt_mean/slow@10..20`.
    pub(super) fn name(&self) -> String {
        format!("{}{}", self.metric, self.within_case())
    }

    /// Flow and time, as written after the case in a formula.
    fn within_case(&self) -> String {
        let flow = self.flow.as_ref().map_or_else(String::new, |flow| format!("/{flow}"));
        let seconds = |(from, to): (u64, u64)| format!("@{}..{}", from as f64 / 1e3, to as f64 / 1e3);
        flow + &self.window.map_or_else(String::new, seconds)
    }
}

impl fmt::Display for Measure {
    /// Writes the figure as in a formula.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}{}]", self.metric, self.case, self.within_case())
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        })
    }
}

/// Reads a whole text by a grammar.
fn read<'a, T>(text: &'a str, grammar: impl Parser<&'a str, T, Fault>) -> Result<T> {
    terminated(grammar, eof.context(expected("the end"))).parse(text).map_err(|error| {
        let expected = error.inner().to_string().replace('\n', ", ");
        miette!("`{text}`: {expected} at `{}`", &text[error.offset()..])
    })
}

/// Reads a chain of values, with their texts and the orders between them.
fn comparison(text: &mut &str) -> Grammar<Comparison> {
    let value = || sum.with_taken().map(|(value, text): (_, &str)| (value, text.trim().to_owned()));
    let order = alt((
        "<=".value(Order::LessOrEqual),
        ">=".value(Order::GreaterOrEqual),
        '<'.value(Order::Less),
        '>'.value(Order::Greater),
    ))
    .context(expected("a comparison such as `a < b`"));
    let first = value().parse_next(text)?;
    let others: Vec<_> = repeat(1.., (order, value())).parse_next(text)?;
    let (orders, others): (Vec<_>, Vec<_>) = others.into_iter().unzip();
    let (values, texts) = std::iter::once(first).chain(others).unzip();
    Ok(Comparison { values, texts, orders })
}

/// Reads values joined by operators; `*` and `/` bind tighter than `+` and `-`.
fn sum(text: &mut &str) -> Grammar<Expression> {
    let missing = fail.context(expected("a number, a figure `metric[case]` or a function"));
    expression(delimited(multispace0, value, multispace0))
        .prefix(missing)
        .infix(dispatch! { any;
            '+' => Left(1, |_, left, right| Ok(Expression::binary('+', left, right))),
            '-' => Left(1, |_, left, right| Ok(Expression::binary('-', left, right))),
            '*' => Left(2, |_, left, right| Ok(Expression::binary('*', left, right))),
            '/' => Left(2, |_, left, right| Ok(Expression::binary('/', left, right))),
            _ => fail,
        })
        .parse_next(text)
}

fn value(text: &mut &str) -> Grammar<Expression> {
    let inside = delimited('(', sum, cut_err(')').context(expected("`)`")));
    alt((inside, measure.map(Expression::Measure), call, float.map(Expression::Number))).parse_next(text)
}

fn call(text: &mut &str) -> Grammar<Expression> {
    let function = terminated(alpha1, '(').verify_map(Function::named).parse_next(text)?;
    let number = if function == Function::Change { 2..=2 } else { 1..=usize::MAX };
    let arguments =
        cut_err(separated(number, sum, ',')).context(expected("values, two in `change`")).parse_next(text)?;
    cut_err(')').context(expected("`)`")).parse_next(text)?;
    Ok(Expression::Call(function, arguments))
}

fn measure(text: &mut &str) -> Grammar<Measure> {
    let metric = terminated(take_while(1.., (AsChar::is_alphanum, '_')), '[').parse_next(text)?;
    let case = take_till(0.., ['/', '@', ']']).parse_next(text)?;
    let flow = opt(preceded('/', take_till(0.., ['@', ']']))).parse_next(text)?;
    let millis = |seconds: f64| (seconds * 1e3) as u64;
    let from = take_until(1.., "..").parse_to().map(millis);
    let window = separated_pair(from, "..", take_till(1.., [']']).parse_to().map(millis));
    let window = opt(preceded('@', cut_err(window).context(expected("a time such as `@10..20` in seconds"))))
        .parse_next(text)?;
    cut_err(']').context(expected("`]`")).parse_next(text)?;
    Ok(Measure { metric: metric.into(), case: case.into(), flow: flow.map(str::to_owned), window })
}

fn expected(what: &'static str) -> StrContext {
    StrContext::Expected(StrContextValue::Description(what))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<f64> {
        Expression::parse(text).unwrap().evaluate(&|measure| (measure.metric != "nothing").then_some(4.0))
    }

    #[test]
    fn arithmetic_as_at_school() {
        assert_eq!(value("1 + 2 * 3"), Some(7.0));
        assert_eq!(value("(1 + 2) * 3 / 9 - -1"), Some(2.0));
        assert_eq!(value("change(8, 2)"), Some(-75.0));
        assert_eq!(value("max(1, x[a], min(9, 7)) + abs(-1)"), Some(8.0));
        assert_eq!(value("1 + nothing[a]"), None);
        assert_eq!(value("mean(1, 2, 6) + ln(1)"), Some(3.0));
        assert!((value("geomean(2, 4, 8)").unwrap() - 4.0).abs() < 1e-12);
    }

    #[test]
    fn a_figure_names_its_case_its_flow_and_its_time() {
        let Expression::Measure(measure) = Expression::parse("rtt_p50[a.16/slow@2.5..10]").unwrap() else { panic!() };
        let expected = Measure {
            metric: "rtt_p50".into(),
            case: "a.16".into(),
            flow: Some("slow".into()),
            window: Some((2_500, 10_000)),
        };
        assert_eq!(measure, expected);
        assert_eq!(measure.to_string(), "rtt_p50[a.16/slow@2.5..10]");
    }

    #[test]
    fn comparisons_may_be_chained() {
        let chain = Comparison::parse("a[x] < b[x] <= 3").unwrap();
        assert!(chain.holds(&[1.0, 3.0, 3.0]) && !chain.holds(&[3.0, 3.0, 3.0]) && !chain.holds(&[1.0, 4.0, 3.0]));
    }

    #[test]
    fn an_error_says_what_was_expected() {
        for (text, expected) in [
            ("", "a number, a figure `metric[case]` or a function at ``"),
            ("1 +", "a number, a figure `metric[case]` or a function at ``"),
            ("f(1)", "a number, a figure `metric[case]` or a function at `f(1)`"),
            ("x[a", "`]` at ``"),
            ("(1", "`)` at ``"),
            ("change(1)", "values, two in `change` at `)`"),
            ("1 2", "the end at `2`"),
            ("x[a@1]", "a time such as `@10..20` in seconds at `1]`"),
            ("x[a@1..s]", "a time such as `@10..20` in seconds at `s]`"),
        ] {
            let error = Expression::parse(text).unwrap_err().to_string();
            assert_eq!(error, format!("`{text}`: expected {expected}"));
        }
        assert!(Comparison::parse("1 + 2").is_err());
    }
}
