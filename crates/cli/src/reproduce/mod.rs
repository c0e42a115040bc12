//! `tidemark reproduce`: published experiments, run once more, their figures beside ours.

mod document;
mod egress;
mod expression;
mod measured;
mod outcome;
mod procedure;
mod processing;
mod reduction;
pub(crate) mod rfc8867;
mod runs;
mod switches;
mod target;
mod tunnels;
mod value;

use std::fs;
use std::path::PathBuf;

use clap::Args;
use miette::{Context, IntoDiagnostic, Result, miette};

use crate::print::say;
use outcome::Outcome;
use runs::Runs;
use target::{Target, Targets};

/// Arguments of `tidemark reproduce`.
#[derive(Args)]
pub(crate) struct Reproduce {
    /// The targets: whole names or their beginnings up to a dot, e.g. l4span.fig9 or al4s
    #[arg(default_value = "l4span.fig9")]
    id: Vec<String>,
    /// Every target
    #[arg(long)]
    all: bool,
    /// Seeds to run; figures are taken over the pooled packets of all seeds
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// Write a page with every figure; a page that is there keeps its sections about other targets
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Keep the results of every run in this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Reproduce {
    /// Runs the targets, prints their outcomes and writes the page.
    ///
    /// # Errors
    /// An unknown target, a run that fails, a page that can't be written.
    pub(crate) fn execute(&self) -> Result<()> {
        let targets = Targets::load()?;
        let chosen = self.choose(&targets)?;
        let mut runs = Runs::new(&targets, self.out.clone());
        let mut outcomes = Vec::new();
        for target in chosen {
            if let Some(reason) = procedure::unavailable(&target.scenario) {
                say!("{}: SKIPPED: {reason}", target.id);
                continue;
            }
            let outcome = Outcome::of(target, &mut runs, self.seeds).wrap_err_with(|| target.id.clone())?;
            say!("{}", document::on_terminal(target, &outcome));
            outcomes.push((target, outcome));
        }
        if let Some(file) = &self.markdown {
            let before = if file.exists() { fs::read_to_string(file) } else { Ok(String::new()) };
            let ids = targets.target.iter().map(|target| target.id.as_str());
            before
                .and_then(|before| fs::write(file, document::page(ids, &outcomes, &before)))
                .into_diagnostic()
                .wrap_err_with(|| file.display().to_string())?;
        }
        let agree = outcomes.iter().filter(|(_, outcome)| outcome.agrees()).count();
        say!("{agree} of {} targets agree", outcomes.len());
        Ok(())
    }

    fn choose<'a>(&self, targets: &'a Targets) -> Result<Vec<&'a Target>> {
        let known = || targets.target.iter().map(|target| target.id.as_str()).collect::<Vec<_>>().join(", ");
        let named = |target: &Target, id: &str| {
            target.id.strip_prefix(id).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        if let Some(id) = self.id.iter().find(|id| !targets.target.iter().any(|target| named(target, id))) {
            return Err(miette!("there is no target `{id}`: use one of, or the beginning of, {}", known()));
        }
        let wanted = |target: &&Target| self.all || self.id.iter().any(|id| named(target, id));
        Ok(targets.target.iter().filter(wanted).collect())
    }
}
