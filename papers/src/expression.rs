//! The little language of targets: figures of our own runs, arithmetic and comparisons.
//!
//! `owd_p50[prague.static.with]` is the median one-way delay of the case whose overrides are the parts `prague`, `static` and
//! `with`; `rtt_mean[with/cubic]` that of its flow `cubic` alone; `throughput_mean[with/cubic@10..20]` from 10 s to 20 s of
//! the run. `change(a, b)` is the change from a to b in percent; `min`, `max`, `mean` and `geomean` take any number of values, `ln` is the natural logarithm.

use std::fmt;

use miette::{Result, miette};

/// A value to be worked out.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    /// A constant.
    Number(f64),
    /// A figure of a case.
    Measure(Measure),
    /// A function of its arguments.
    Call(Function, Vec<Expression>),
    /// Two sides with one of `+`, `-`, `*` and `/` between them.
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
    /// The value without its sign.
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
    /// Name of the flow; all flows without one.
    pub flow: Option<String>,
    /// First and last time in milliseconds from the start of the run, so that measures can be compared.
    pub window: Option<(u64, u64)>,
}

/// Values in a row with an order between each two of them.
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
    /// True for an order that equal values meet.
    pub(super) fn allows_equal(self) -> bool {
        matches!(self, Self::LessOrEqual | Self::GreaterOrEqual)
    }
    /// True for an order from the lower to the higher.
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
    /// The text, what was expected and where.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut parser = Parser { text, rest: text };
        let value = parser.sum()?;
        parser.end()?;
        Ok(value)
    }

    /// Works out the value; `None` where a figure in it was not measured.
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

    /// True if no run is needed to know it.
    pub(super) fn is_constant(&self) -> bool {
        let mut measures = Vec::new();
        self.measures(&mut measures);
        measures.is_empty()
    }

    /// Changes every figure that it needs.
    pub(super) fn change_measures(&mut self, change: &dyn Fn(&mut Measure)) {
        match self {
            Self::Number(_) => {}
            Self::Measure(measure) => change(measure),
            Self::Call(_, values) => values.iter_mut().for_each(|value| value.change_measures(change)),
            Self::Binary(_, sides) => sides.iter_mut().for_each(|value| value.change_measures(change)),
        }
    }

    /// Every figure that it needs.
    pub(super) fn measures<'a>(&'a self, into: &mut Vec<&'a Measure>) {
        match self {
            Self::Number(_) => {}
            Self::Measure(measure) => into.push(measure),
            Self::Call(_, values) => values.iter().for_each(|value| value.measures(into)),
            Self::Binary(_, sides) => sides.iter().for_each(|value| value.measures(into)),
        }
    }
}

impl Comparison {
    /// Reads a whole text.
    ///
    /// # Errors
    /// The text, what was expected and where.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut parser = Parser { text, rest: text };
        let (mut values, mut texts, mut orders) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            let before = parser.rest;
            values.push(parser.sum()?);
            texts.push(before[..before.len() - parser.rest.len()].trim().to_owned());
            match parser.order() {
                Some(order) => orders.push(order),
                None => break,
            }
        }
        parser.end()?;
        if orders.is_empty() {
            return Err(parser.expected("a comparison such as `a < b`"));
        }
        Ok(Self { values, texts, orders })
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

    /// Flow and time, as a formula has them behind the case.
    fn within_case(&self) -> String {
        let flow = self.flow.as_ref().map_or_else(String::new, |flow| format!("/{flow}"));
        let seconds = |(from, to): (u64, u64)| format!("@{}..{}", from as f64 / 1e3, to as f64 / 1e3);
        flow + &self.window.map_or_else(String::new, seconds)
    }
}

impl fmt::Display for Measure {
    /// Writes it as a formula has it.
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

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn expected(&self, expected: &str) -> miette::Report {
        miette!("`{}`: expected {expected} at `{}`", self.text, self.rest)
    }
    fn take(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        let Some(rest) = self.rest.strip_prefix(token) else { return false };
        self.rest = rest;
        true
    }
    fn end(&mut self) -> Result<()> {
        if self.rest.trim().is_empty() { Ok(()) } else { Err(self.expected("the end")) }
    }
    fn order(&mut self) -> Option<Order> {
        let orders =
            [("<=", Order::LessOrEqual), (">=", Order::GreaterOrEqual), ("<", Order::Less), (">", Order::Greater)];
        orders.into_iter().find(|(token, _)| self.take(token)).map(|(_, order)| order)
    }
    fn sum(&mut self) -> Result<Expression> {
        self.chain(&["+", "-"], Self::product)
    }
    fn product(&mut self) -> Result<Expression> {
        self.chain(&["*", "/"], Self::atom)
    }
    fn chain(&mut self, operators: &[&str], part: fn(&mut Self) -> Result<Expression>) -> Result<Expression> {
        let mut left = part(self)?;
        while let Some(operator) = operators.iter().find(|operator| self.take(operator)) {
            let operator = operator.chars().next().unwrap_or('+');
            left = Expression::Binary(operator, Box::new([left, part(self)?]));
        }
        Ok(left)
    }
    fn atom(&mut self) -> Result<Expression> {
        if self.take("(") {
            let inner = self.sum()?;
            return if self.take(")") { Ok(inner) } else { Err(self.expected("`)`")) };
        }
        self.rest = self.rest.trim_start();
        let number = self.prefix(|c| c.is_ascii_digit() || c == '.' || c == '-');
        if let Ok(number) = number.parse() {
            self.rest = &self.rest[number_len(self.rest)..];
            return Ok(Expression::Number(number));
        }
        let name = self.prefix(|c| c.is_ascii_alphanumeric() || c == '_');
        self.rest = &self.rest[name.len()..];
        if self.take("[") {
            let Some((inside, rest)) = self.rest.split_once(']') else { return Err(self.expected("`]`")) };
            self.rest = rest;
            return self.measure(name, inside);
        }
        let function = match name {
            "change" => Function::Change,
            "min" => Function::Min,
            "max" => Function::Max,
            "abs" => Function::Abs,
            "mean" => Function::Mean,
            "geomean" => Function::Geomean,
            "ln" => Function::Ln,
            _ => return Err(self.expected("a number, a figure `metric[case]` or a function")),
        };
        if !self.take("(") {
            return Err(self.expected("`(`"));
        }
        let mut arguments = vec![self.sum()?];
        while self.take(",") {
            arguments.push(self.sum()?);
        }
        if function == Function::Change && arguments.len() != 2 {
            return Err(self.expected("two values in `change`"));
        }
        if self.take(")") { Ok(Expression::Call(function, arguments)) } else { Err(self.expected("`)`")) }
    }
    fn measure(&self, metric: &str, inside: &str) -> Result<Expression> {
        let (inside, window) = match inside.split_once('@') {
            None => (inside, None),
            Some((inside, window)) => {
                let ends = window.split_once("..").and_then(|(from, to)| Some((millis(from)?, millis(to)?)));
                (inside, Some(ends.ok_or_else(|| self.expected("a time such as `@10..20` in seconds"))?))
            }
        };
        let (case, flow) = inside.split_once('/').map_or((inside, None), |(case, flow)| (case, Some(flow.into())));
        Ok(Expression::Measure(Measure { metric: metric.into(), case: case.into(), flow, window }))
    }
    fn prefix(&self, belongs: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        &self.rest[..end]
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn number_len(text: &str) -> usize {
    text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(text.len())
}

fn millis(seconds: &str) -> Option<u64> {
    seconds.trim().parse::<f64>().ok().map(|seconds| (seconds * 1e3) as u64)
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
        for text in ["", "1 +", "f(1)", "x[a", "(1", "change(1)", "1 2", "x[a@1]"] {
            let error = Expression::parse(text).unwrap_err().to_string();
            assert!(error.contains("expected"), "{text}: {error}");
        }
        assert!(Comparison::parse("1 + 2").is_err());
    }
}
