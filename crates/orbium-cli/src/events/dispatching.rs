// SPDX-License-Identifier: MIT OR Apache-2.0
//! The threads by which a served channel pushes to its consumers.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use orbium_event::{Channel, ChannelConfig, Dispatching, qos_by_schedule};
use orbium_executor::{Policy, SchedulerContext, TaskQos};
use orbium_sched::Table;

use crate::failure::Failure;
use crate::sched::check::AnalysisArgs;
use crate::sched::info_tables;
use crate::serving::because;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Threads {
    /// A thread and a queue for each consumer
    PerConsumer,
    /// The thread of the supplier's request
    Reactive,
    /// A thread for each queue of the schedule of a table
    Scheduled,
    /// The threads of a scheduler context, by its policy
    Contexts,
}

#[derive(Debug, Args)]
pub(super) struct DispatchingArgs {
    /// The threads that push events to consumers
    #[arg(
        long,
        value_enum,
        default_value = "per-consumer",
        conflicts_with = "jetstream"
    )]
    dispatching: Threads,
    /// Dispatch by the schedule of this table of operations, as `orbium sched check` takes it: the
    /// RT_Info of a consumer is the number of its operation, from 1
    #[arg(
        long,
        value_name = "FILE",
        required_if_eq("dispatching", "scheduled"),
        conflicts_with = "jetstream"
    )]
    schedule: Option<PathBuf>,
    /// Continue without native priorities if the host refuses them
    #[arg(long, requires = "schedule")]
    soft: bool,
    /// A consumer with a period gets its next events no earlier than that after the last ones while its queue has other work, so that
    /// a burst does not delay others (ChannelConfig::release_guard)
    #[arg(long, requires = "schedule")]
    release_guard: bool,
    /// The policy of the scheduler context, by priorities, periods and execution times of the schedule;
    /// fifo if it is not given
    #[arg(long, value_parser = policy(), requires = "schedule")]
    policy: Option<Policy>,
    /// The threads of the scheduler context; 1 if it is not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), conflicts_with = "jetstream")]
    threads: Option<u16>,
    #[command(flatten)]
    analysis: AnalysisArgs,
}

fn policy() -> impl TypedValueParser<Value = Policy> {
    let names = PossibleValuesParser::new(Policy::ALL.map(Policy::name));
    // The parser has refused other names.
    names.map(|name| {
        let mut all = Policy::ALL.into_iter();
        all.find(|it| it.name() == name).unwrap_or_default()
    })
}

/// A channel, and the context that runs its consumers.
type Dispatched = (Channel, Option<SchedulerContext>);

impl DispatchingArgs {
    /// Makes a channel with these threads.
    pub(super) fn channel(&self, config: ChannelConfig) -> Result<Dispatched, Failure> {
        if self.release_guard && self.dispatching != Threads::Scheduled {
            return Err(Failure::wrong_usage(
                "--release-guard is for --dispatching scheduled",
            ));
        }
        let of_contexts = self.policy.is_some() || self.threads.is_some();
        if of_contexts && self.dispatching != Threads::Contexts {
            return Err(Failure::wrong_usage(
                "--policy and --threads are for --dispatching contexts",
            ));
        }
        let dispatching = match (self.dispatching, self.table()?) {
            (Threads::PerConsumer, None) => Dispatching::PerConsumer,
            (Threads::Reactive, None) => Dispatching::Reactive,
            (Threads::Scheduled, Some(table)) => Dispatching::Scheduled(table),
            (Threads::Contexts, table) => return self.on_context(config, table),
            // The parser of arguments refuses the one without the other, but for this.
            _ => {
                return Err(Failure::wrong_usage(
                    "--schedule is for --dispatching scheduled or contexts",
                ));
            }
        };
        let channel = Channel::new(ChannelConfig {
            dispatching,
            soft: self.soft,
            release_guard: self.release_guard,
            ..config
        });
        Ok((channel, None))
    }

    fn table(&self) -> Result<Option<&'static Table>, Failure> {
        let scheduled = |path| info_tables::scheduled(path, &self.analysis.options()?);
        self.schedule.as_deref().map(scheduled).transpose()
    }

    fn on_context(
        &self,
        config: ChannelConfig,
        table: Option<&'static Table>,
    ) -> Result<Dispatched, Failure> {
        let context = SchedulerContext::builder("events")
            .policy(self.policy.unwrap_or_default())
            .threads(usize::from(self.threads.unwrap_or(1)))
            .build()
            .map_err(because)?;
        let channel = match table {
            Some(table) => Channel::on_context(config, &context, qos_by_schedule(table)),
            None => Channel::on_context(config, &context, |_| TaskQos::default()),
        };
        Ok((channel, Some(context)))
    }
}
